import NIOConcurrencyHelpers
import Simulation

/// Requests that the server makes itself, without a connection: those that are sent again, and the console's to the control
/// API.
///
/// The pipeline holds the router, whose routes hold this. So it is connected once the pipeline is built.
final class InternalRequests: Sendable {
    private let first = NIOLockedValueBox<(any RequestResponder)?>(nil)

    /// - Parameter responder: answers and journals requests of a known namespace.
    func connect(_ responder: any RequestResponder) {
        first.withLockedValue { $0 = responder }
    }

    func respond(to request: IncomingRequest) async throws -> Answer {
        guard let first = first.withLockedValue({ $0 }) else {
            throw PlatformError.bug("the pipeline is not connected")
        }
        return try await first.respond(to: request)
    }
}
