// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

/// The body of every error answer [D error-envelope].
public struct ErrorEnvelope: Codable, Sendable {
    /// The message, one sentence.
    public var error: String
    /// The name of the error.
    public var code: String
    /// The error that the vendor's SDK reports; null if the SDK calls a special delegate method instead, and under
    /// `/components`.
    @Nullable public var sdk_error: String?
    /// The problem of each wrong field, at most 100.
    public var details: [ErrorDetail]
    /// The request's id, also in the header `X-Request-Id`.
    public var request_id: String
    /// The item of an earlier submission of the same capture [D submitted-twice].
    public var entrupy_id: String?
    /// On an error of `/sdk` about a session token, together with `ecode` [P] [D ended-sessions].
    public var authorized: Bool?
    /// Source: [P].
    public var ecode: String?
    /// The signed request, which is valid even on a 409 for conflicting user data [S].
    public var signed_authorization_request: String?
    /// The user's name, present together with `signed_authorization_request`.
    public var username: String?
    /// The error of Fourthline's document, on routes of App Components [D workflow-errors].
    public var workflow_error: WorkflowErrorInfo?
    /// The number of matching requests, on a verification's 409 [D control-api].
    public var count: Int?
    /// The requests that almost matched, or the last that matched if there were too many, on a verification's 409 [D
    /// control-api].
    public var nearest: [NearMiss]?
    /// The number in the journal from which it remembers all requests, on the 409 of a verification that asks about earlier
    /// ones [D request-verification].
    public var sequence: Int64?
    /// The first step of a sequence that was not found, from 0, on its verification's 409 [D sequences].
    public var step: Int?
    /// The state of the scenario, on its verification's 409 [D scenarios].
    public var scenario: ScenarioRun?
    /// False on the 409 of a namespace that did not settle [D settle]. Only that answer has this member and the next three.
    public var settled: Bool?
    /// The open work, as in ``Settlement/pending``.
    public var pending: Int?
    /// The clock, as in ``Settlement/clock``.
    public var clock: ClockState?
    /// The time of the next due work, as in ``Settlement/next_due_at``.
    public var next_due_at: Nullable<Double>?

    public init(
        error: String, code: String, sdk_error: String?, details: [ErrorDetail], request_id: String,
        entrupy_id: String? = nil, authorized: Bool? = nil, ecode: String? = nil,
        signed_authorization_request: String? = nil, username: String? = nil, workflow_error: WorkflowErrorInfo? = nil,
        count: Int? = nil, nearest: [NearMiss]? = nil, sequence: Int64? = nil, step: Int? = nil,
        scenario: ScenarioRun? = nil, settled: Bool? = nil, pending: Int? = nil, clock: ClockState? = nil,
        next_due_at: Nullable<Double>? = nil
    ) {
        self.error = error
        self.code = code
        _sdk_error = Nullable(wrappedValue: sdk_error)
        self.details = details
        self.request_id = request_id
        self.entrupy_id = entrupy_id
        self.authorized = authorized
        self.ecode = ecode
        self.signed_authorization_request = signed_authorization_request
        self.username = username
        self.workflow_error = workflow_error
        self.count = count
        self.nearest = nearest
        self.sequence = sequence
        self.step = step
        self.scenario = scenario
        self.settled = settled
        self.pending = pending
        self.clock = clock
        self.next_due_at = next_due_at
    }
}

/// A problem with one field.
public struct ErrorDetail: Codable, Sendable, Hashable {
    /// The path in the body, or the name of the parameter or header.
    public var field: String
    /// The problem, and what would be valid.
    public var problem: String

    public init(_ field: String, _ problem: String) {
        self.field = field
        self.problem = problem
    }
}

/// The error of Fourthline's document, on routes of App Components [S].
public struct WorkflowErrorInfo: Codable, Sendable {
    public var type: String
    public var code: String?
    /// The code that the vendor's support asks for.
    public var message_code: String?

    public init(type: String, code: String? = nil, message_code: String? = nil) {
        self.type = type
        self.code = code
        self.message_code = message_code
    }
}
