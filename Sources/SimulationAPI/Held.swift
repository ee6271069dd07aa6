/// `GET /_sim/held` [D hold].
public struct HeldList: Codable, Sendable {
    /// The requests that faults hold, the oldest first.
    public var held: [HeldInfo]

    public init(held: [HeldInfo]) {
        self.held = held
    }
}

/// A request that a fault holds [D hold].
public struct HeldInfo: Codable, Sendable, Equatable {
    /// The id under which it is released.
    public var id: String
    public var request: HeldRequestInfo
    /// `before` if the request is not handled yet, `after` if it was handled and its answer is kept.
    public var when: String
    /// The real time at which the hold began, in epoch seconds with microseconds.
    public var since: Double
    /// The real time at which the request goes on by itself, in epoch seconds with microseconds.
    public var until: Double

    public init(id: String, request: HeldRequestInfo, when: String, since: Double, until: Double) {
        self.id = id
        self.request = request
        self.when = when
        self.since = since
        self.until = until
    }
}

/// The names of a held request. Secrets are masked [D secrets].
public struct HeldRequestInfo: Codable, Sendable, Equatable {
    /// The request's id, also in the answer's header `X-Request-Id`.
    public var id: String
    /// The number that the request gets in the journal.
    public var sequence: Int64
    public var method: String
    /// The path, without the namespace and the query.
    public var path: String
    /// The user of the request's session, or null.
    @Nullable public var username: String?
    /// The caller's header `X-Sim-Test`, or null.
    @Nullable public var test: String?
    /// The id of the trace that the request belongs to, or null.
    @Nullable public var trace: String?

    public init(
        id: String, sequence: Int64, method: String, path: String, username: String?, test: String?, trace: String?
    ) {
        self.id = id
        self.sequence = sequence
        self.method = method
        self.path = path
        self._username = Nullable(wrappedValue: username)
        self._test = Nullable(wrappedValue: test)
        self._trace = Nullable(wrappedValue: trace)
    }
}
