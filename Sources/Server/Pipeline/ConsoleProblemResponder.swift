import Foundation
import HTTPTypes
import Hummingbird
import Simulation
import SimulationAPI

/// Turns errors of the console's addresses into pages, for browsers: a missing namespace, a missing control token, a host
/// that is not allowed, a server that is not ready. Redirects `/` to the console [D console].
struct ConsoleProblemResponder<Inner: RequestResponder>: RequestResponder {
    let inner: Inner
    /// The server's URL for the client that asked, which is known once it listens.
    let server: @Sendable (AskedAddress?) -> String

    func respond(to request: IncomingRequest) async throws -> Answer {
        let path = request.target.path
        // Answered before the journal: opening the console is not a request to the platform.
        if path.isIdentical(to: "/"), request.method == .get || request.method == .head {
            return Answer(ConsoleRoutes.home(of: request.target.namespace))
        }
        return try await inner.respond(to: request).shownAsPage(for: request, of: server(request.head.address))
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
