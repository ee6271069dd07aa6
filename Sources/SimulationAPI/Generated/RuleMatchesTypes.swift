// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

/// `GET /_sim/authentications/{entrupy_id}/rules`, `GET /_sim/requests/{id}/rules` [D rule-matches].
public struct RuleMatchList: Codable, Sendable {
    /// The rules in order of creation.
    public var rules: [RuleMatch]

    public init(rules: [RuleMatch]) {
        self.rules = rules
    }
}

/// The rules in order of creation.
public struct RuleMatch: Codable, Sendable {
    /// The id of the fault or outcome rule.
    public var id: String
    /// Whether every part of the condition fits.
    public var matches: Bool
    /// Whether the rule decided the answer or the result.
    public var decided: Bool
    /// The parts of the condition. Empty if the rule has none, and so matches everything.
    public var parts: [RulePart]
    /// A reason besides the condition for which the rule may not have applied.
    @Nullable public var note: String?

    public init(id: String, matches: Bool, decided: Bool, parts: [RulePart], note: String?) {
        self.id = id
        self.matches = matches
        self.decided = decided
        self.parts = parts
        _note = Nullable(wrappedValue: note)
    }
}

/// The parts of the condition. Empty if the rule has none, and so matches everything.
public struct RulePart: Codable, Sendable {
    /// The part's name in `match`, for instance `route`.
    public var field: String
    /// The value that the rule asks for.
    public var expected: String
    /// The value of the request or item; null if it has none.
    @Nullable public var actual: String?
    /// Whether the value fits.
    public var matches: Bool

    public init(field: String, expected: String, actual: String?, matches: Bool) {
        self.field = field
        self.expected = expected
        _actual = Nullable(wrappedValue: actual)
        self.matches = matches
    }
}
