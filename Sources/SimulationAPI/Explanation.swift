extension Explanation.Step {
    /// The kind of a step.
    public enum Kind: String, Codable, Sendable, CaseIterable {
        case request, event
        case dueWork = "due_work"
        case delivery, attempt, rule, limit, setting, control, scenario
    }
}
