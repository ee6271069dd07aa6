// Members of the types in this module bear the names they have on the wire.

/// One field that was wrong, and how.
public struct ErrorDetail: Codable, Sendable, Hashable {
    /// The parameter's path in the body (`item.brand`), its name in the query, or the header's name.
    public var field: String
    /// What was wrong and what would be right.
    public var problem: String

    /// Makes one from its members.
    public init(_ field: String, _ problem: String) {
        self.field = field
        self.problem = problem
    }
}

/// The body of every answer that is an error [D].
public struct ErrorEnvelope: Codable, Sendable {
    /// One sentence; a string because published client samples print it.
    public var error: String
    /// The error's name, for instance `bad_request`.
    public var code: String
    /// What the vendor's SDK makes of it; null where it calls a delegate method of its own.
    @Nullable public var sdk_error: String?
    /// Each field that was wrong, and how.
    public var details: [ErrorDetail]
    /// The same as the header `X-Request-Id`.
    public var request_id: String
    /// The submission that a capture has already become, on a 409 [D].
    public var entrupy_id: String?
    /// Still valid on a 409 for conflicting user data [S].
    public var signed_authorization_request: String?
    /// Stands beside `signed_authorization_request`.
    public var username: String?
    /// How many requests matched, on a verification's 409 [D].
    public var count: Int?
    /// What came near, on a verification's 409 [D].
    public var nearest: [NearMiss]?
    /// How a scenario stands, on its verification's 409 [D].
    public var scenario: ScenarioRun?
    /// False on the 409 of a namespace that did not settle [D]; so are the next three members there.
    public var settled: Bool?
    /// As ``Settlement/pending``.
    public var pending: Int?
    /// As ``Settlement/clock``.
    public var clock: ClockState?
    /// As ``Settlement/next_due_at``.
    public var next_due_at: Nullable<Double>?

    /// Makes one from its members.
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

/// What the vendor's SDK calls an error; raw values are its own [P].
public enum SDKErrorCode: Int, Codable, Sendable, CaseIterable {
    case ErrorCodeOfflineAccess = 0
    case ErrorCodeBadRequest
    case ErrorCodeUnauthorizedAccess
    case ErrorCodeForbiddenError
    case ErrorCodeInternalServerError
    case ErrorCodeRequestTimeoutError
    case ErrorCodeServerTimeoutError
    case ErrorCodeTooManyRequests
    case ErrorCodeImageUploadError
    case ErrorCodeUserDeniedPermissions
    case ErrorCodeUnknownError
    case ErrorCodeSearchItemNotFound
    case ErrorCodeSearchItemFound
}
