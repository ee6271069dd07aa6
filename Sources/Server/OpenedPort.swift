import Foundation

/// The number of a port, once it is open, for one task that waits.
struct OpenedPort: Sendable {
    private let numbers = AsyncStream<Int>.makeStream()

    /// Waits for the port; `nil` if there is none, or the server stops before.
    var number: Int? {
        get async {
            for await number in numbers.stream { return number }
            return nil
        }
    }

    func open(_ number: Int?) {
        if let number { numbers.continuation.yield(number) }
        numbers.continuation.finish()
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
    /// The address, where another one has the port.
    package var address: String?
}
