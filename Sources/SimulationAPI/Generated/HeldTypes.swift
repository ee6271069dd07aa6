// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

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
    /// Whether it is held before it is handled, or after, with its answer kept.
    public var when: String
    /// The real time at which the hold began, in epoch seconds.
    public var since: Double
    /// The real time at which the request goes on by itself, in epoch seconds.
    public var until: Double

    public init(id: String, request: HeldRequestInfo, when: String, since: Double, until: Double) {
        self.id = id
        self.request = request
        self.when = when
        self.since = since
        self.until = until
    }
}

/// Source: [D secrets].
public struct HeldRequestInfo: Codable, Sendable, Equatable {
    /// The request's id, also in the answer's `X-Request-Id`.
    public var id: String
    /// The number that the request gets in the journal.
    public var sequence: Int64
    public var method: String
    /// Without the namespace and the query.
    public var path: String
    /// The user of the request's session, or of a login's signed request.
    @Nullable public var username: String?
    /// The value of `X-Sim-Test`.
    @Nullable public var test: String?
    /// The trace id of its `traceparent`.
    @Nullable public var trace: String?

    public init(
        id: String, sequence: Int64, method: String, path: String, username: String?, test: String?, trace: String?
    ) {
        self.id = id
        self.sequence = sequence
        self.method = method
        self.path = path
        _username = Nullable(wrappedValue: username)
        _test = Nullable(wrappedValue: test)
        _trace = Nullable(wrappedValue: trace)
    }
}
