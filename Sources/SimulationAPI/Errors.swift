extension ErrorEnvelope {
    /// Adds the members of a settlement.
    public mutating func add(_ settlement: Settlement) {
        settled = settlement.settled
        pending = settlement.pending
        clock = settlement.clock
        next_due_at = Nullable(wrappedValue: settlement.next_due_at)
    }
}
