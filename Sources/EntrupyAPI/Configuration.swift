/// The capture workflow of a client [S].
public enum ConfigType: String, Codable, Sendable, CaseIterable {
    /// The full workflow.
    case production
    /// A shorter workflow for development. Every item submitted with it becomes Invalid.
    case debug
}
