// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

/// A problem of a part of a rule.
public struct RuleNote: Codable, Sendable, Hashable {
    /// The path of the part.
    public var field: String
    public var problem: String
    /// Whether a later event can resolve the note, such as the creation of a user.
    public var may_change: Bool

    public init(_ field: String, _ problem: String, may_change: Bool = false) {
        self.field = field
        self.problem = problem
        self.may_change = may_change
    }
}

/// An outcome rule as the control API shows it [D outcome-rules].
public struct OutcomeInfo: Codable, Sendable {
    public var id: String
    /// The condition as it was sent.
    public var match: JSONValue
    /// A result of items, or one that a component can have.
    public var result: String
    /// The reason of an invalid result, or null [D invalid-reason].
    @Nullable public var reason: String?
    /// The delay as it was sent.
    @Nullable public var after: JSONValue?
    /// The maximum number of items that the rule decides; null if unlimited.
    @Nullable public var times: Int?
    /// The number of items that the rule has decided.
    public var hits: Int
    /// Warnings about possible mistakes.
    public var notes: [String]
    /// The same notes with their fields.
    public var note_details: [RuleNote]

    public init(
        id: String, match: JSONValue, result: String, reason: String?, after: JSONValue?, times: Int?, hits: Int,
        note_details: [RuleNote]
    ) {
        self.id = id
        self.match = match
        self.result = result
        _reason = Nullable(wrappedValue: reason)
        _after = Nullable(wrappedValue: after)
        _times = Nullable(wrappedValue: times)
        self.hits = hits
        self.notes = note_details.map(\.problem)
        self.note_details = note_details
    }
}

/// `GET /_sim/outcomes`.
public struct OutcomeList: Codable, Sendable {
    /// The rules in order of creation. The first that matches decides.
    public var outcomes: [OutcomeInfo]

    public init(outcomes: [OutcomeInfo]) {
        self.outcomes = outcomes
    }
}

/// A fault rule as the control API shows it [D fault-rules].
public struct FaultInfo: Codable, Sendable {
    /// The rule's id. Answers that the rule affects carry it in the header `X-Sim-Fault`.
    public var id: String
    /// The condition as it was sent.
    public var match: JSONValue
    /// The effect as it was sent.
    public var effect: JSONValue
    /// The probability that a matching request triggers the rule, from 0 to 1; null means always.
    @Nullable public var probability: Double?
    /// The maximum number of times that the rule is triggered; null if unlimited.
    @Nullable public var times: Int?
    /// The number of matching requests that pass before the rule takes effect.
    public var after_requests: Int
    /// The number of requests that the rule has matched.
    public var seen: Int
    /// The number of times that the rule has been triggered.
    public var hits: Int
    /// Warnings about possible mistakes.
    public var notes: [String]
    /// The same notes with their fields.
    public var note_details: [RuleNote]

    public init(
        id: String, match: JSONValue, effect: JSONValue, probability: Double?, times: Int?, after_requests: Int,
        seen: Int, hits: Int, note_details: [RuleNote]
    ) {
        self.id = id
        self.match = match
        self.effect = effect
        _probability = Nullable(wrappedValue: probability)
        _times = Nullable(wrappedValue: times)
        self.after_requests = after_requests
        self.seen = seen
        self.hits = hits
        self.notes = note_details.map(\.problem)
        self.note_details = note_details
    }
}

/// `GET /_sim/faults`.
public struct FaultList: Codable, Sendable {
    /// The rules in order of creation. The first that is triggered wins.
    public var faults: [FaultInfo]

    public init(faults: [FaultInfo]) {
        self.faults = faults
    }
}
