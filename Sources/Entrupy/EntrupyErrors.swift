import EntrupyAPI
import Simulation
import SimulationAPI
import Storage

extension PlatformError.Kind {
    /// Required regions have no image yet.
    package static let missingRegions = Self("missing_regions")
    /// A user's data differs from the values first set [S].
    package static let userDataConflict = Self("user_data_conflict")
    /// The capture's two hours have passed [S].
    package static let captureTimedOut = Self("capture_timed_out")
}

extension PlatformError {
    /// - Parameter entrupyID: the submission that a capture has become [D submitted-twice].
    static func wrongState(
        _ message: String, _ details: [ErrorDetail] = [], entrupyID: String?, because: String
    ) -> Self {
        Self(
            .wrongState, message, details, payload: entrupyID.map { .fact(Submission(entrupyID: $0)) }, because: because
        )
    }

    /// A request without an active session. Apps with the newest SDK look for `authorized` and `ecode` [P].
    static func sessionRefused(_ message: String, _ kind: Kind = .unauthorized, because: String? = nil) -> Self {
        Self(kind, message, [], payload: .fact(RefusedSession()), because: because)
    }

    static func missingRegions(_ regions: [String]) -> Self {
        Self(
            .missingRegions, "required images are missing: \(regions.joined(separator: ", "))",
            regions.map { ErrorDetail($0, "is required and has no image yet") })
    }

    static func userDataConflict(fields: [String], signed: AuthorizeUserResponse, because: String) -> Self {
        let problem = "differs from the value first set; the first value stays"
        return Self(
            .userDataConflict, "\(fields.joined(separator: ", ")) \(problem)", fields.map { ErrorDetail($0, problem) },
            payload: .fact(ValidRequest(signed: signed)), because: because)
    }

    static func captureTimedOut(captureID: String, at moment: Instant) -> Self {
        Self(
            .captureTimedOut, "the capture timed out at \(moment.display); start another one",
            [ErrorDetail("capture_id", "\(captureID) timed out at \(moment.display)")])
    }

    private struct RefusedSession: PlatformFact {
        func add(to envelope: inout ErrorEnvelope) {
            envelope.authorized = false
            envelope.ecode = "invalid_session_token"
        }
    }

    /// The submission that a capture has become.
    private struct Submission: PlatformFact {
        let entrupyID: String

        func add(to envelope: inout ErrorEnvelope) { envelope.entrupy_id = entrupyID }
    }

    /// The signed request. It is valid although the user's data differs [S].
    private struct ValidRequest: PlatformFact {
        let signed: AuthorizeUserResponse

        func add(to envelope: inout ErrorEnvelope) {
            envelope.signed_authorization_request = signed.signed_authorization_request
            envelope.username = signed.username
        }
    }
}
