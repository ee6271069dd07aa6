// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

/// `GET /_sim/requests` [D journal].
public struct RequestList: Codable, Sendable {
    /// The requests, newest first.
    public var requests: [JournaledRequest]
    /// The start of the next page; null on the last page.
    @Nullable public var next_cursor: String?

    public init(requests: [JournaledRequest], next_cursor: String?) {
        self.requests = requests
        _next_cursor = Nullable(wrappedValue: next_cursor)
    }
}

/// A request of the journal. Secrets are masked [D secrets].
public struct JournaledRequest: Codable, Sendable {
    /// The id in `X-Request-Id`. Several requests can have the same one.
    public var id: String
    /// The request's own number in the journal.
    public var sequence: Int64?
    public var at: Double
    public var method: String
    /// The path, without the namespace and the query.
    public var path: String
    @Nullable public var query: String?
    /// The status of the answer, whether or not it reached the client; null if the request was lost before it was handled.
    @Nullable public var status: Int?
    /// Whether the whole answer left the server. False if a fault lost it, or if the connection failed before the kernel took
    /// the last byte. Becomes false later where that shows later.
    public var delivered: Bool
    /// The effect of the fault that was triggered, as its rule gave it, for instance `{"drop_connection": true}`. It stays when
    /// the rule is deleted.
    @Nullable public var effect: JSONObject?
    /// The duration in milliseconds of real time.
    public var duration_ms: Double
    /// The real time at which the server received the head of the request, in epoch seconds to the microsecond; null if it is
    /// not known.
    @Nullable public var started_real: Double?
    /// The real time at which the client could have the answer, after the delay of a fault, in epoch seconds to the
    /// microsecond; null if it is not known.
    @Nullable public var ended_real: Double?
    /// The user of the session.
    @Nullable public var username: String?
    /// The `X-Sim-Test` header of the caller.
    @Nullable public var test: String?
    public var decided_by: DecidedRequest
    /// For a 403, 404 or 409, the fact behind it, for instance `the item belongs to DemoOrg-b; the session is DemoOrg-a's`,
    /// with secrets masked; for an item that is read without a final result, when that is due: `item AAAA2222 under review, due
    /// in 5 s`; for one that ended as `not_supported`, what the catalogue lacks. The caller never sees it, in the body or in a
    /// header. Null for other answers.
    @Nullable public var because: String?
    /// The id of the trace that the request belongs to: 32 hexadecimal digits of its valid `traceparent` header. The webhooks
    /// that the request causes go on with it.
    @Nullable public var trace: String?
    /// The entries of the event log that the request added, those after `after` up to `through`; null if they are not known.
    @Nullable public var changes: RequestChanges?
    public var request: JournaledMessage?
    public var response: JournaledMessage?
    /// Digests of the masked secrets, with which requests can be compared. Only in bundles.
    public var digests: RequestDigests?
    /// A number that the requests of one connection have in common. Only in bundles.
    public var connection: Int?
    /// The time by which tests had moved the clock until the request, in seconds. Only in bundles.
    public var moved: Double?
    /// Whether it is a request of the journal that was sent again. Only in bundles, where it was.
    public var resent: Bool?

    public init(
        id: String, sequence: Int64? = nil, at: Double, method: String, path: String, query: String?, status: Int?,
        delivered: Bool = true, effect: JSONObject? = nil, duration_ms: Double, started_real: Double? = nil,
        ended_real: Double? = nil, username: String?, test: String?, decided_by: DecidedRequest, because: String? = nil,
        trace: String? = nil, changes: RequestChanges?, request: JournaledMessage? = nil,
        response: JournaledMessage? = nil, digests: RequestDigests? = nil, connection: Int? = nil, moved: Double? = nil,
        resent: Bool? = nil
    ) {
        self.id = id
        self.sequence = sequence
        self.at = at
        self.method = method
        self.path = path
        _query = Nullable(wrappedValue: query)
        _status = Nullable(wrappedValue: status)
        self.delivered = delivered
        _effect = Nullable(wrappedValue: effect)
        self.duration_ms = duration_ms
        _started_real = Nullable(wrappedValue: started_real)
        _ended_real = Nullable(wrappedValue: ended_real)
        _username = Nullable(wrappedValue: username)
        _test = Nullable(wrappedValue: test)
        self.decided_by = decided_by
        _because = Nullable(wrappedValue: because)
        _trace = Nullable(wrappedValue: trace)
        _changes = Nullable(wrappedValue: changes)
        self.request = request
        self.response = response
        self.digests = digests
        self.connection = connection
        self.moved = moved
        self.resent = resent
    }
}

public struct DecidedRequest: Codable, Sendable {
    /// The fault rule that was triggered.
    @Nullable public var fault: String?
    /// The exceeded limits.
    public var limits: [String]
    /// The outcome rule that decided the item's result.
    @Nullable public var outcome: String?
    /// The facts that decided the answer, and what would have changed it. Absent if there are none.
    public var facts: [DecidingFact]?
    /// The state that refused the request. Absent if none did.
    public var state: RefusingState?

    public init(
        fault: String?, limits: [String], outcome: String?, facts: [DecidingFact]? = nil, state: RefusingState? = nil
    ) {
        _fault = Nullable(wrappedValue: fault)
        self.limits = limits
        _outcome = Nullable(wrappedValue: outcome)
        self.facts = facts
        self.state = state
    }
}

/// The state that refused the request. Absent if none did [D explain].
public struct RefusingState: Codable, Sendable, Equatable {
    /// The id of the object: the subject of the events, or else a value of their data.
    public var about: String
    /// The kinds of events that make the state: the newest one before the request counts. None means that nothing has the id.
    public var kinds: [String]
    /// A value that the data of the events has too. Absent if it is not needed.
    public var named: String?

    public init(_ about: String, _ kinds: [String], named: String? = nil) {
        self.about = about
        self.kinds = kinds
        self.named = named
    }
}

/// The entries of the event log that a request added.
public struct RequestChanges: Codable, Sendable {
    public var after: Int64
    public var through: Int64

    public init(after: Int64, through: Int64) {
        self.after = after
        self.through = through
    }
}

/// A fact that decided an answer or a result, noted when it was decided [D explain].
public struct DecidingFact: Codable, Sendable, Equatable {
    public var kind: Kind
    /// The id of the rule, or the name of the limit or setting.
    public var name: String
    public var text: String
    /// A change that would have led to another answer. Absent if that is not known.
    public var otherwise: String?
    /// The id of the object whose history led to it. Absent if there is none.
    public var about: String?

    public init(_ kind: Kind, _ name: String, _ text: String, otherwise: String? = nil, about: String? = nil) {
        self.kind = kind
        self.name = name
        self.text = text
        self.otherwise = otherwise
        self.about = about
    }
}

/// The headers and body of a request or an answer.
public struct JournaledMessage: Codable, Sendable {
    /// The header fields as pairs of name and value, in the order in which they arrived.
    public var headers: [[String]]
    /// The stored part of the body, with secrets masked; null if the body is not text.
    @Nullable public var body: String?
    /// The size of the whole body in bytes.
    public var bytes: Int
    /// Whether the stored body is shorter than the whole.
    public var truncated: Bool

    public init(headers: [[String]], body: String?, bytes: Int, truncated: Bool) {
        self.headers = headers
        _body = Nullable(wrappedValue: body)
        self.bytes = bytes
        self.truncated = truncated
    }
}
