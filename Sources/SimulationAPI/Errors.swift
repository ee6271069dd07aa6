// The members of the types in this module have the same names on the wire.

/// A problem with one field.
public struct ErrorDetail: Codable, Sendable, Hashable {
    /// The parameter's path in the body (`item.brand`), its name in the query, or the header's name.
    public var field: String
    /// The problem, and what would be valid.
    public var problem: String

    public init(_ field: String, _ problem: String) {
        self.field = field
        self.problem = problem
    }
}

/// An error of App Components, as Fourthline's documentation names it [S].
public struct WorkflowErrorInfo: Codable, Sendable {
    /// The error, for instance `ModuleError`.
    public var type: String
    /// The value that comes with it, for instance `IdentityVerification.DocumentExpired`.
    public var code: String?
    /// The code that the vendor's support asks for, of an unexpected error.
    public var message_code: String?

    public init(type: String, code: String?, message_code: String?) {
        self.type = type
        self.code = code
        self.message_code = message_code
    }
}

/// The body of every error answer [D error-envelope].
public struct ErrorEnvelope: Codable, Sendable {
    /// The message, one sentence. It is a string because published client samples print it.
    public var error: String
    /// The name of the error, for instance `bad_request`.
    public var code: String
    /// The error that the vendor's SDK reports; null if the SDK calls a special delegate method instead.
    @Nullable public var sdk_error: String?
    /// The problem of each wrong field.
    public var details: [ErrorDetail]
    /// The request's id, also in the header `X-Request-Id`.
    public var request_id: String
    /// The item of an earlier submission, on a 409 for a capture submitted twice [D submitted-twice].
    public var entrupy_id: String?
    /// False on an error of `/sdk` about a session token, as its ``ecode`` says [P] [D ended-sessions].
    public var authorized: Bool?
    /// `invalid_session_token` on an error of `/sdk` about a session token [P].
    public var ecode: String?
    /// The signed request, which is valid even on a 409 for conflicting user data [S].
    public var signed_authorization_request: String?
    /// The user's name, present together with `signed_authorization_request`.
    public var username: String?
    /// The error as Fourthline's documentation names it, on routes of App Components [D workflow-errors].
    public var workflow_error: WorkflowErrorInfo?
    /// The number of matching requests, on a verification's 409 [D control-api].
    public var count: Int?
    /// The requests that almost matched, or the last that matched if there were too many, on a verification's 409 [D control-api].
    public var nearest: [NearMiss]?
    /// The number in the journal from which it remembers all requests, on the 409 of a verification that asks about earlier ones
    /// [D request-verification].
    public var sequence: Int64?
    /// The first step of a sequence that was not found, from 0, on its verification's 409 [D sequences].
    public var step: Int?
    /// The state of the scenario, on its verification's 409 [D scenarios].
    public var scenario: ScenarioRun?
    /// False on the 409 of a namespace that did not settle [D settle]. Only that answer has this member and the
    /// next three.
    public var settled: Bool?
    /// Has the meaning of ``Settlement/pending``.
    public var pending: Int?
    /// Has the meaning of ``Settlement/clock``.
    public var clock: ClockState?
    /// Has the meaning of ``Settlement/next_due_at``.
    public var next_due_at: Nullable<Double>?

    public init(error: String, code: String, sdk_error: String?, details: [ErrorDetail], request_id: String) {
        self.error = error
        self.code = code
        self._sdk_error = Nullable(wrappedValue: sdk_error)
        self.details = details
        self.request_id = request_id
    }

    /// Adds the members of a settlement.
    public mutating func add(_ settlement: Settlement) {
        settled = settlement.settled
        pending = settlement.pending
        clock = settlement.clock
        next_due_at = Nullable(wrappedValue: settlement.next_due_at)
    }
}
