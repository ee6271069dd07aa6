import EntrupyAPI
import Storage

/// The errors of the platform's rules. Each says what is wrong and where; only `Server` knows the status codes.
package enum PlatformError: Error, Sendable {
    /// Headers or parameters are missing or incorrect [S].
    case invalid(String, [ErrorDetail])
    /// The token is missing, expired, revoked or malformed [S].
    case unauthorized(String)
    /// The bundle is not registered, a signed request was used twice [S], flagging is off, or a quota is used up.
    case forbidden(String, [ErrorDetail] = [])
    /// There is no such item, or it belongs to another user. Both cases look the same.
    case notFound(String)
    /// No route has this path. The details may name a similar one.
    case unknownRoute(String, [ErrorDetail] = [])
    /// There is no namespace of this name. The details may name a similar one.
    case unknownNamespace(String, [ErrorDetail] = [])
    /// The route has no such method; `allowed` are its methods.
    case methodNotAllowed(String, allowed: [String])
    /// The body is larger than the route accepts; `limit` is in bytes.
    case bodyTooLarge(limit: Int)
    case unsupportedMediaType(String)
    /// The body's `Content-Encoding` is not supported [D content-encoding].
    case unsupportedEncoding(String)
    /// The body did not arrive in time [D body-timeout].
    case bodyTimedOut(seconds: Int)
    /// The object is in the wrong state. For a capture that was submitted before, `entrupyID` is its item
    /// [D submitted-twice].
    case wrongState(String, [ErrorDetail] = [], entrupyID: String? = nil)
    /// The user's first values are permanent. The request is signed with them all the same [S].
    case userDataConflict(fields: [String], signed: AuthorizeUserResponse)
    /// The capture's two hours are over [S]; `at` is the moment they ended.
    case captureTimedOut(captureID: String, at: Instant)
    /// Required regions have no image yet.
    case missingRegions([String])
    /// The image is damaged, or does not match its digest.
    case imageRejected(String)
    /// A limit is exceeded. `retryAfter` is in whole seconds, at least 1 [S].
    case rateLimited(String, retryAfter: Int, details: [ErrorDetail])
    /// The journal does not hold the expected number of matching requests; the near misses come closest
    /// [D request-verification].
    case unverified(String, count: Int, [NearMiss])
    /// A scenario's expectations are not met [D scenarios]; the run shows its state.
    case scenarioFailed(ScenarioRun)
    /// Results or webhook attempts are still pending [D settle].
    case unsettled(Settlement)
    /// A fault rule answers instead [D fault-rules]. If `body` is `nil`, the answer is the error envelope of the
    /// status.
    case injected(faultID: String, status: Int, body: JSONValue?)
    /// Storage cannot be read or written.
    case unavailable(String)
    /// The server has not finished starting.
    case notReady
    /// An internal error.
    case bug(String)

    static func invalid(field: String, _ problem: String) -> PlatformError {
        .invalid("\(field) \(problem)", [ErrorDetail(field, problem)])
    }

    package static func unwritable(_ path: String, _ error: any Error) -> PlatformError {
        .unavailable("\(path) cannot be written: \(StorageError.reason(error))")
    }

    /// Several parameters are wrong. The text is about the first.
    package static func invalid(_ details: [ErrorDetail]) -> PlatformError {
        guard let first = details.first else { return .invalid("bad request", []) }
        let more = details.count > 1 ? " (and \(details.count - 1) more)" : ""
        return .invalid((first.field.isEmpty ? "" : "\(first.field) ") + first.problem + more, details)
    }
}

extension PlatformError: CustomStringConvertible {
    /// The problem in one sentence.
    package var description: String {
        switch self {
        case .invalid(let text, _), .unauthorized(let text), .forbidden(let text, _), .notFound(let text),
            .unknownRoute(let text, _), .unknownNamespace(let text, _), .methodNotAllowed(let text, _),
            .unsupportedMediaType(let text), .unsupportedEncoding(let text), .wrongState(let text, _, _),
            .imageRejected(let text), .rateLimited(let text, _, _), .unverified(let text, _, _), .unavailable(let text),
            .bug(let text):
            text
        case .bodyTooLarge(let limit): "the body is larger than \(limit) bytes"
        case .bodyTimedOut(let seconds): "the body did not arrive within \(seconds) seconds"
        case .userDataConflict(let fields, _): "\(fields.joined(separator: ", ")) differs from what was set first"
        case .captureTimedOut(_, let moment): "the capture timed out at \(moment.display)"
        case .missingRegions(let regions): "required images are missing: \(regions.joined(separator: ", "))"
        case .injected(let id, let status, _): "\(status), by the fault rule \(id)"
        case .notReady: "the server is starting"
        case .unsettled(let settlement): "not settled: \(settlement.pending) still pending"
        case .scenarioFailed(let run):
            "the scenario \(run.name) did not pass: \(run.failures.count) of "
                + "\(run.timeline.count + run.expectations.count) checks failed"
        }
    }
}
