import Storage

/// The counters from which ids and tokens are derived, one for each kind.
///
/// They increase in memory and are stored once for all jobs that share a transaction, before it is committed. A
/// number taken by a job that failed is not reused.
package struct Counters {
    private var last: [IDKind: Int64] = [:]
    private var changed: Set<IDKind> = []

    /// Takes the next `count` numbers of a kind and returns the first of them. Numbers start at 1.
    ///
    /// - Throws: ``PlatformError/unavailable(_:)`` if none are left, which is only possible in a file that was
    ///   tampered with.
    package mutating func next(_ kind: IDKind, count: Int = 1, _ transaction: Transaction) throws -> Int64 {
        let before = try last[kind] ?? transaction.counter(kind.name)
        guard StoredCount.range.contains(before), before <= StoredCount.range.upperBound - Int64(count) else {
            throw PlatformError.unavailable(
                "the namespace has no more ids of the kind \(kind.name), its counter is \(before); reset the namespace with POST /_sim/reset"
            )
        }
        last[kind] = before + Int64(count)
        changed.insert(kind)
        return before + 1
    }

    /// Stores the counters that changed since the last call. Writes.
    package mutating func store(_ transaction: Transaction) throws {
        for kind in changed {
            try transaction.setCounter(kind.name, last[kind] ?? 0)
        }
        changed = []
    }
}
