/// A hint at a possible mistake: a part of a rule or scenario that nothing matches.
public struct RuleNote: Codable, Sendable, Hashable {
    /// The path of the part, for instance `match.route`.
    public var field: String
    /// The problem, and what would be valid.
    public var problem: String
    /// Whether a later event can resolve it, such as the creation of a user. Otherwise it stays, and is probably a mistake.
    public var may_change: Bool

    public init(_ field: String, _ problem: String, mayChange: Bool = false) {
        self.field = field
        self.problem = problem
        may_change = mayChange
    }

    public init(_ detail: ErrorDetail) {
        self.init(detail.field, detail.problem)
    }
}
