import Foundation
import HTTPTypes
import Hummingbird
import Simulation
import SimulationAPI

/// Turns errors of the console's addresses into pages, for browsers: a missing namespace, a missing control token, a host
/// that is not allowed, a server that is not ready. Redirects `/` to the console [D console].
struct ConsoleProblemResponder<Inner: RequestResponder>: RequestResponder {
    let inner: Inner

    func respond(to request: IncomingRequest) async throws -> Answer {
        let path = request.target.path
        // Answered before the journal: opening the console is not a request to the platform.
        if path.isIdentical(to: "/"), request.method == .get || request.method == .head {
            return Answer(ConsoleRoutes.home(of: request.target.namespace))
        }
        var answer = try await inner.respond(to: request)
        guard answer.response.status.code >= 400, ConsoleRoutes.isPage(path),
            request.method == .get, Self.takesPages(request.headers),
            answer.response.headers[.contentType] == "application/json"
        else { return answer }
        let body = await answer.response.collectedBody()
        let envelope = try? WireJSON.decode(ErrorEnvelope.self, from: Data(body.readableBytesView))
        var page = ConsoleRoutes.problem(
            answer.response.status.code, envelope, request.target.namespace)
        page.headers[.requestID] = answer.response.headers[.requestID]
        answer.response = page
        return answer
    }

    /// Whether the client is a browser that shows a page.
    private static func takesPages(_ headers: HTTPFields) -> Bool {
        headers[values: .accept].contains { line in
            line.split(at: ",").contains { $0.trimmed.begins(with: "text/html") }
        }
    }
}

extension RequestResponder {
    /// Shows errors of the console's addresses as pages.
    func showingConsoleProblems() -> ConsoleProblemResponder<Self> { ConsoleProblemResponder(inner: self) }
}
