import Storage

/// The numbers that ids and tokens follow from, one sequence for each kind.
///
/// They are drawn in memory and stored once for all jobs that share a transaction, before it is committed. A number that a
/// job drew before it failed is not drawn again.
struct Counters {
    private var last: [SeededGenerator.Kind: Int64] = [:]
    private var changed: Set<SeededGenerator.Kind> = []

    /// The first of the next `count` numbers of a kind, from 1.
    ///
    /// - Throws: ``PlatformError/unavailable(_:)`` if there are no more, which only a file that was tampered with brings about.
    mutating func next(_ kind: SeededGenerator.Kind, count: Int = 1, _ transaction: Transaction) throws -> Int64 {
        let before = try last[kind] ?? transaction.counter(kind.rawValue)
        guard StoredCount.range.contains(before), before <= StoredCount.range.upperBound - Int64(count) else {
            throw PlatformError.unavailable(
                "the namespace has no more ids of the kind \(kind.rawValue), its counter is \(before); POST /_sim/reset begins anew"
            )
        }
        last[kind] = before + Int64(count)
        changed.insert(kind)
        return before + 1
    }

    /// Stores what was drawn since this was last done.
    mutating func store(_ transaction: Transaction) throws {
        for kind in changed {
            try transaction.setCounter(kind.rawValue, last[kind] ?? 0)
        }
        changed = []
    }
}
