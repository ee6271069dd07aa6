extension ObjectDifference {
    public enum Change: String, Codable, Sendable, CaseIterable {
        case added, removed, changed
    }
}
