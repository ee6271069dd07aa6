/// An outcome rule as the control API shows it [D].
public struct OutcomeInfo: Codable, Sendable {
    /// The rule's id.
    public var id: String
    /// What it matches, as it was given; empty: every item.
    public var match: JSONValue
    /// The result such items get.
    public var result: String
    /// The reason of an invalid result, or null.
    @Nullable public var reason: String?
    /// How long after the submission, as it was given; null: the namespace's delay.
    @Nullable public var after: JSONValue?
    /// How many items it decides at most; null: any number.
    @Nullable public var times: Int?
    /// How many it has decided.
    public var hits: Int
    /// What may have been overlooked, for instance a brand the catalogue lacks.
    public var notes: [String]

    /// Makes one from its members.
    public init(
        id: String, match: JSONValue, result: String, reason: String?, after: JSONValue?, times: Int?, hits: Int,
        notes: [String]
    ) {
        self.id = id
        self.match = match
        self.result = result
        self._reason = Nullable(wrappedValue: reason)
        self._after = Nullable(wrappedValue: after)
        self._times = Nullable(wrappedValue: times)
        self.hits = hits
        self.notes = notes
    }
}

/// `GET /_sim/outcomes`.
public struct OutcomeList: Codable, Sendable {
    /// First made first; the first that matches decides.
    public var outcomes: [OutcomeInfo]

    /// Makes one from its members.
    public init(outcomes: [OutcomeInfo]) {
        self.outcomes = outcomes
    }
}

/// A fault rule as the control API shows it [D].
public struct FaultInfo: Codable, Sendable {
    /// The rule's id; answers it has touched carry it as `X-Sim-Fault`.
    public var id: String
    /// What it matches, as it was given; empty: every request.
    public var match: JSONValue
    /// What it does, as it was given.
    public var effect: JSONValue
    /// How likely it strikes, from 0 to 1; null: always.
    @Nullable public var probability: Double?
    /// How often it strikes at most; null: any number.
    @Nullable public var times: Int?
    /// How many requests it lets pass first.
    public var after_requests: Int
    /// How many requests it has matched.
    public var seen: Int
    /// How often it has struck.
    public var hits: Int
    /// What may have been overlooked, for instance a route the server does not have.
    public var notes: [String]

    /// Makes one from its members.
    public init(
        id: String, match: JSONValue, effect: JSONValue, probability: Double?, times: Int?, after_requests: Int,
        seen: Int, hits: Int, notes: [String]
    ) {
        self.id = id
        self.match = match
        self.effect = effect
        self._probability = Nullable(wrappedValue: probability)
        self._times = Nullable(wrappedValue: times)
        self.after_requests = after_requests
        self.seen = seen
        self.hits = hits
        self.notes = notes
    }
}

/// `GET /_sim/faults`.
public struct FaultList: Codable, Sendable {
    /// First made first; the first that strikes wins.
    public var faults: [FaultInfo]

    /// Makes one from its members.
    public init(faults: [FaultInfo]) {
        self.faults = faults
    }
}
