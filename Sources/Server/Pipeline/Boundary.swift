import HTTPTypes
import Hummingbird
import Simulation

/// The checks before all others: the method 501, then `Host` and `Origin` 403 [D hosts] [D methods].
struct Boundary: Sendable {
    let hosts: HostGuard
    /// The replay in progress, whose requests passed the boundary when they were recorded; `nil` if this is not a replay.
    let replay: Replay?

    /// The reason why a request is refused; `nil` if it is allowed.
    func refusal(_ request: HTTPRequest) -> BoundaryRefusal? {
        if let replay, replay.request(HTTPField.Name(Replay.header).flatMap { request.headerFields[$0] }) != nil {
            return nil
        }
        guard HTTPRequest.Method.known.contains(request.method) else { return .method(request.method.rawValue) }
        return hosts.refusal(request, isControl: Target(request.path ?? "/").isControl)
    }
}

/// Answers a request that the boundary refuses. No namespace, journal or recording sees it.
struct RefusingResponder: RequestResponder {
    let refusal: BoundaryRefusal
    let refused: RefusedRequests
    let environment: Simulation.Environment

    func respond(to request: IncomingRequest) async throws -> Answer {
        refused.note(refusal)
        return await Answer(refusal.error, to: request, environment)
            .shownAsPage(for: request, of: environment.address.url)
    }
}
