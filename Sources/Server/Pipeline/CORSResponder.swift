import HTTPTypes
import Hummingbird
import Simulation

/// Lets web pages of some origins use the platforms' routes [D cors]. The control API stays closed to them.
///
/// The journal and recordings hold answers without these fields, and no preflight.
struct CORSResponder<Inner: RequestResponder>: RequestResponder {
    let inner: Inner
    /// Empty to leave every request alone.
    let origins: AllowedOrigins

    /// The real time for which a browser may remember a preflight, in seconds.
    private static var preflightLifetime: String { "600" }

    func respond(to request: IncomingRequest) async throws -> Answer {
        guard !origins.isEmpty, !request.target.isControl, let origin = request.headers[.origin],
            origins.contains(origin)
        else { return try await inner.respond(to: request) }
        if request.method == .options, request.headers[.accessControlRequestMethod] != nil {
            return Answer(allowing(origin, preflight(request)))
        }
        let answer = try await inner.respond(to: request)
        return answer.replacing(allowing(origin, answer.response))
    }

    /// The answer to a browser that asks what it may send.
    private func preflight(_ request: IncomingRequest) -> Response {
        var response = Response(status: .noContent)
        response.headers[.accessControlAllowMethods] = "GET, HEAD, POST, PUT, PATCH, DELETE"
        response.headers[.accessControlAllowHeaders] = request.headers[.accessControlRequestHeaders]
        response.headers[.accessControlMaxAge] = Self.preflightLifetime
        return response
    }

    private func allowing(_ origin: String, _ response: Response) -> Response {
        var response = response
        response.headers[.accessControlAllowOrigin] = origin
        response.headers[.accessControlExposeHeaders] = "X-Request-Id, X-Sim-Fault, Retry-After, ETag"
        response.headers.append(HTTPField(name: .vary, value: "Origin"))
        return response
    }
}

extension RequestResponder {
    /// Lets pages of `origins` use the platforms' routes.
    func allowingPages(of origins: AllowedOrigins) -> CORSResponder<Self> {
        CORSResponder(inner: self, origins: origins)
    }
}
