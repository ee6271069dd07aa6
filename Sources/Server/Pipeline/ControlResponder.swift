import Foundation
import HTTPTypes
import Hummingbird
import Simulation
import SimulationAPI

/// Checks requests to the control API and the console, and leads all others past these checks. Redirects `/` to the console
/// [D console].
///
/// Turns errors of the console's addresses into pages, for browsers: a missing namespace, a missing control token, a host
/// that is not allowed, a server that is not ready.
struct ControlResponder<Inner: RequestResponder>: RequestResponder {
    let inner: Inner
    let access: ControlAccess
    let environment: Simulation.Environment

    func respond(to request: IncomingRequest) async throws -> Answer {
        let isRoot = request.target.path.isIdentical(to: "/")
        guard isRoot || request.target.isControl else { return try await inner.respond(to: request) }
        // Answered before the journal: opening the console is not a request to the platform.
        if isRoot, request.method == .get || request.method == .head {
            return Answer(ConsoleRoutes.home(of: request.target.namespace))
        }
        return try await checked(request)
            .shownAsPage(for: request, of: environment.address.url(askedAt: request.head.address))
    }

    /// Refuses requests without the control token if the server requires one, and those of pages of another run
    /// [D control-token]. In a replay it also refuses foreign hosts and pages, as the recorded server did; a live one does
    /// that at its boundary.
    private func checked(_ request: IncomingRequest) async throws -> Answer {
        if let refusal = access.refusal(request.http.head, request.target.path) {
            return Answer(refusal, to: request, environment)
        }
        if let redirect = access.key.cookieRedirect(request.target) { return Answer(redirect) }
        return try await inner.respond(to: request)
    }
}

extension Answer {
    /// The answer as a page, if it is an error, the console's address was asked for, and the client is a browser.
    func shownAsPage(for request: IncomingRequest, of server: String) async -> Answer {
        let path = request.target.path
        guard response.status.code >= 400, ConsoleRoutes.isPage(path) || path.isIdentical(to: "/"),
            request.method == .get, Self.acceptsHTML(request.headers),
            response.headers[.contentType] == "application/json"
        else { return self }
        let body = await response.collectedBody()
        // An answer that is no envelope is shown by its status alone.
        let envelope = try? WireJSON.decode(ErrorEnvelope.self, from: Data(body.readableBytesView))
        var page = ConsoleRoutes.problem(
            response.status.code, envelope, request.target.namespace, server: server)
        page.headers[.requestID] = response.headers[.requestID]
        return replacing(page)
    }

    /// Whether the client is a browser that shows a page.
    private static func acceptsHTML(_ headers: HTTPFields) -> Bool {
        headers[values: .accept].contains { line in
            line.split(at: ",").contains { $0.trimmed.begins(with: "text/html") }
        }
    }
}
