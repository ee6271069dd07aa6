import Simulation

/// Refuses control requests without the control token if the server requires one, and those of pages of another run
/// [D control-token]. In a replay it also refuses foreign hosts and pages, as the recorded server did; a live one does that
/// at its boundary.
struct ControlAccessResponder<Inner: RequestResponder>: RequestResponder {
    let inner: Inner
    let access: ControlAccess
    let environment: Simulation.Environment

    func respond(to request: IncomingRequest) async throws -> Answer {
        if let refusal = access.refusal(request.http.head, request.target.path) {
            return Answer(refusal, to: request, environment)
        }
        if let redirect = access.key.cookieRedirect(request.target) { return Answer(redirect) }
        return try await inner.respond(to: request)
    }
}
