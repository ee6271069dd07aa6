import Foundation
import Hummingbird
import NIOCore
import ServiceLifecycle

struct HTTPService: Service {
    let application: any ApplicationProtocol
    /// The option that chose the port.
    let option: String
    let port: Int

    func run() async throws {
        do {
            try await application.run()
        } catch let error as IOError {
            guard let reason = PortRefused.Reason(errorNumber: error.errnoCode) else { throw error }
            throw PortRefused(port: port, option: option, reason: reason)
        }
    }
}

/// Listens on `::1` too, on the port that the server has on 127.0.0.1, so that `localhost` reaches it whichever address comes first
/// [D listening].
struct SecondLoopback: Service {
    static let address = "::1"

    /// The port on 127.0.0.1, once it is open.
    let first: OpenedPort
    /// Gets the port on `::1`; `nil` if there is none.
    let second: OpenedPort
    let option: String
    /// Whether the port was chosen, and not any free one.
    let isChosen: Bool
    let application: @Sendable (_ port: Int) -> any ApplicationProtocol
    /// Stops the server with an error.
    let fail: @Sendable (_ error: any Error) async -> Void

    func run() async throws {
        if let port = await first.number {
            do {
                return try await application(port).run()
            } catch let error as IOError {
                // The machine has no such address, or another program has the free port there.
                if isChosen, error.errnoCode == EADDRINUSE {
                    await fail(PortRefused(port: port, option: option, reason: .inUse, address: Self.address))
                }
                second.open(nil)
            }
        }
        // Throws if the task is cancelled, and the server stops then too.
        try? await gracefulShutdown()
    }
}

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
