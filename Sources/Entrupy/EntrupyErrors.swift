import EntrupyAPI
import Simulation
import SimulationAPI

extension PlatformError.Kind {
    /// Required regions have no image yet.
    package static let missingRegions = Self("missing_regions")
    /// A user's data differs from the values first set [S].
    package static let userDataConflict = Self("user_data_conflict")
    /// The capture's two hours have passed [S].
    package static let captureTimedOut = Self("capture_timed_out")
}

extension [ErrorDetail] {
    /// Adds a problem of a field, if there is one.
    mutating func add(_ field: String, _ problem: String?) {
        if let problem { append(ErrorDetail(field, problem)) }
    }

    /// Throws ``PlatformError/invalid(_:_:)`` if there are problems.
    func check() throws {
        if !isEmpty { throw PlatformError.invalid(self) }
    }
}

extension JobContext {
    /// Notes a fact that decided the answer, for the journal.
    func note(_ fact: DecidingFact) {
        note { $0.facts.append(fact) }
    }
}

extension StoredJSON {
    /// The members of an object; empty for any other value.
    static func members(_ text: String) throws -> JSONObject { try decode(text).members ?? [:] }
}

extension PlatformError {
    /// - Parameter entrupyID: the submission that a capture has become [D submitted-twice].
    static func wrongState(
        _ message: String, _ details: [ErrorDetail] = [], entrupyID: String?, because: Because
    ) -> Self {
        let fact = entrupyID.map { id in Fact { $0.entrupy_id = id } }
        return Self(.wrongState, message, details, payload: fact.map { .fact($0) }, because: because)
    }

    /// A request without an active session. Apps with the newest SDK look for `authorized` and `ecode` [P].
    static func sessionRefused(_ message: String, _ kind: Kind = .unauthorized, because: Because? = nil) -> Self {
        let fact = Fact {
            $0.authorized = false
            $0.ecode = "invalid_session_token"
        }
        return Self(kind, message, payload: .fact(fact), because: because)
    }

    static func missingRegions(_ regions: [String]) -> Self {
        Self(
            .missingRegions, "required images are missing: \(regions.joined(separator: ", "))",
            regions.map { ErrorDetail($0, "is required and has no image yet") })
    }

    static func userDataConflict(fields: [String], signed: AuthorizeUserResponse, because: Because) -> Self {
        let problem = "differs from the value first set; the first value stays"
        // The signed request is valid although the user's data differs [S].
        let fact = Fact {
            $0.signed_authorization_request = signed.signed_authorization_request
            $0.username = signed.username
        }
        return Self(
            .userDataConflict, "\(fields.joined(separator: ", ")) \(problem)", fields.map { ErrorDetail($0, problem) },
            payload: .fact(fact), because: because)
    }

    /// A fact that changes the answer's envelope.
    private struct Fact: PlatformFact {
        let change: @Sendable (inout ErrorEnvelope) -> Void

        func add(to envelope: inout ErrorEnvelope) { change(&envelope) }
    }
}
