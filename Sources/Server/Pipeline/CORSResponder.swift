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

    private func preflight(_ request: IncomingRequest) -> Response {
        var response = Response(status: .noContent)
        response.headers[.accessControlAllowMethods] = "GET, HEAD, POST, PUT, PATCH, DELETE"
        response.headers[.accessControlAllowHeaders] = request.headers[.accessControlRequestHeaders]
        // The seconds of real time for which a browser may remember it.
        response.headers[.accessControlMaxAge] = "600"
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
