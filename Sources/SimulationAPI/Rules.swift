extension FaultInfo {
    /// Whether the rule has been triggered `times` times, so it has no effect any more.
    public var isSpent: Bool { times.map { hits >= $0 } ?? false }
}
