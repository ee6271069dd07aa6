import EntrupyAPI
import Storage

/// Everything a rule can refuse, by name. Says what was wrong and where; `Server` alone knows the status codes.
package enum PlatformError: Error, Sendable {
    /// Headers or parameters are missing or incorrect [S].
    case invalid(String, [ErrorDetail])
    /// The token is missing, expired, revoked or malformed [S].
    case unauthorized(String)
    /// The bundle is not registered, a signed request was used again [S], flagging is switched off, a quota is used up.
    case forbidden(String, [ErrorDetail] = [])
    /// No such item, or somebody else's, which looks exactly the same.
    case notFound(String)
    /// No route of this path; which is meant, perhaps.
    case unknownRoute(String, [ErrorDetail] = [])
    /// No namespace of this name; which is meant, perhaps.
    case unknownNamespace(String, [ErrorDetail] = [])
    /// The route has other methods.
    case methodNotAllowed(String, allowed: [String])
    /// The body is larger than the route takes, in bytes.
    case bodyTooLarge(limit: Int)
    case unsupportedMediaType(String)
    /// The body's `Content-Encoding` is not one that is understood [D].
    case unsupportedEncoding(String)
    /// The body did not arrive in time, in seconds [D].
    case bodyTimedOut(seconds: Int)
    /// The thing is not in a state that allows this; the submission a capture has become, where it has [D].
    case wrongState(String, [ErrorDetail] = [], entrupyID: String? = nil)
    /// First values stay for good; the request is signed with them all the same [S].
    case userDataConflict(fields: [String], signed: AuthorizeUserResponse)
    /// The capture's two hours are over [S].
    case captureTimedOut(captureID: String, at: Instant)
    /// Required regions have no image yet.
    case missingRegions([String])
    /// The image is broken, or not what its digest says.
    case imageRejected(String)
    /// A limit is exceeded; whole seconds until a retry succeeds, at least 1 [S].
    case rateLimited(String, retryAfter: Int, details: [ErrorDetail])
    /// It was not asked as often as it should have been [D]; what came near.
    case unverified(String, count: Int, [NearMiss])
    /// A scenario is not as it expects [D]; how it stands.
    case scenarioFailed(ScenarioRun)
    /// Results or webhooks are still to come [D]; how it stands.
    case unsettled(Settlement)
    /// A fault rule answers instead [D]; without a body, the error envelope of the status.
    case injected(faultID: String, status: Int, body: JSONValue?)
    /// Storage cannot be read or written.
    case unavailable(String)
    /// The server has not finished starting.
    case notReady
    /// A mistake of ours.
    case bug(String)

    /// One parameter is wrong.
    static func invalid(field: String, _ problem: String) -> PlatformError {
        .invalid("\(field) \(problem)", [ErrorDetail(field, problem)])
    }

    /// A file cannot be written.
    package static func unwritable(_ path: String, _ error: any Error) -> PlatformError {
        .unavailable("\(path) cannot be written: \(StorageError.reason(error))")
    }

    /// Several parameters are wrong; the first makes the sentence.
    package static func invalid(_ details: [ErrorDetail]) -> PlatformError {
        guard let first = details.first else { return .invalid("bad request", []) }
        let more = details.count > 1 ? " (and \(details.count - 1) more)" : ""
        return .invalid((first.field.isEmpty ? "" : "\(first.field) ") + first.problem + more, details)
    }
}

extension PlatformError: CustomStringConvertible {
    /// What was wrong, in one sentence.
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
        case .unsettled(let settlement): "not settled: \(settlement.pending) to come"
        case .scenarioFailed(let run):
            "the scenario \(run.name) is not as it expects: \(run.failures.count) of "
                + "\(run.timeline.count + run.expectations.count) are not met"
        }
    }
}
