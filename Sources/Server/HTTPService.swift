import Foundation
import Hummingbird
import NIOCore
import ServiceLifecycle

struct HTTPService: Service, CustomStringConvertible {
    let application: any ApplicationProtocol
    /// The option that chose the port.
    let option: String
    let port: Int
    var description: String { "HTTP" }

    func run() async throws {
        do {
            try await application.run()
        } catch let error as IOError {
            guard let reason = PortRefused.Reason(errorNumber: error.errnoCode) else { throw error }
            throw PortRefused(port: port, option: option, reason: reason)
        }
    }
}

/// A port on which the system does not let the server listen.
package struct PortRefused: Error {
    /// The system's reason.
    package enum Reason: Sendable {
        case inUse
        /// The port is below 1024, and the user is not root.
        case needsRights
        /// `--host` is an address of another machine.
        case foreignAddress

        /// `nil` for any other error.
        init?(errorNumber: CInt) {
            switch errorNumber {
            case EADDRINUSE: self = .inUse
            case EACCES: self = .needsRights
            case EADDRNOTAVAIL: self = .foreignAddress
            default: return nil
            }
        }
    }

    package let port: Int
    /// The option that chose the port.
    package let option: String
    package let reason: Reason
}
