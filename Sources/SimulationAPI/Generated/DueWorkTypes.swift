// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

/// `GET /_sim/due` [D control-api].
public struct DueList: Codable, Sendable {
    /// The scheduled work, soonest first.
    public var due: [DueEntry]
    /// The total number of entries, including those that are not listed.
    public var total: Int

    public init(due: [DueEntry], total: Int) {
        self.due = due
        self.total = total
    }
}

/// The scheduled work, soonest first.
public struct DueEntry: Codable, Sendable {
    /// The kind of work: `capture.timeout`, `result`, `session.expiry`, `webhook.attempt`, `scenario.action` or
    /// `component.session.expiry`.
    public var kind: String
    /// The id of a capture, an item, a session or a delivery.
    public var subject: String
    /// The time since which the work is waited for; null if it is not known.
    @Nullable public var since: Double?
    /// The due time by the namespace's clock, in epoch seconds.
    public var at: Double
    /// The time left by the namespace's clock, in seconds.
    public var seconds_left: Double
    /// The id of what scheduled it, for `GET /_sim/explain/{id}`; null if it is not known.
    @Nullable public var cause: String?

    public init(kind: String, subject: String, since: Double?, at: Double, seconds_left: Double, cause: String? = nil) {
        self.kind = kind
        self.subject = subject
        _since = Nullable(wrappedValue: since)
        self.at = at
        self.seconds_left = seconds_left
        _cause = Nullable(wrappedValue: cause)
    }
}

/// The answer of `POST /_sim/settle` [D settle].
public struct Settlement: Codable, Sendable {
    /// Whether no result and no webhook is pending.
    public var settled: Bool
    /// The number of pending results and webhook attempts, including attempts in progress.
    public var pending: Int
    /// The state of the namespace's clock.
    public var clock: ClockState
    /// The time at which the next of them is due.
    @Nullable public var next_due_at: Double?

    public init(settled: Bool, pending: Int, clock: ClockState, next_due_at: Double?) {
        self.settled = settled
        self.pending = pending
        self.clock = clock
        _next_due_at = Nullable(wrappedValue: next_due_at)
    }
}
