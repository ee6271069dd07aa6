import Storage

/// A counter that survives a crash: numbers are reserved in blocks and never given twice.
struct ReservedCounter {
    /// The last number that was given; 0 before the first.
    private(set) var last: Int64
    /// The last number that is reserved in the database.
    private var reserved: Int64
    private let key: NamespaceKey

    /// The number of numbers that one write to the database reserves. So many may be skipped where a copy of the database, or a
    /// killed process, goes on.
    private let block: Int64

    /// Continues after the last number that may have been given.
    init(_ key: NamespaceKey, block: Int64, _ transaction: Transaction) throws {
        self.key = key
        self.block = block
        last = Int64(try transaction.namespaceValue(key) ?? "") ?? 0
        reserved = last
    }

    /// Gives the next number. May write.
    ///
    /// - Parameter plural: what is numbered, for the error.
    /// - Throws: ``PlatformError/unavailable(_:)`` if none are left, which is only possible in a file that was tampered with.
    mutating func next(_ plural: String, _ transaction: Transaction) throws -> Int64 {
        guard StoredCount.range.contains(last), last < StoredCount.range.upperBound else {
            throw PlatformError.unavailable(
                "the namespace has no more \(plural), its counter is \(last); POST /_sim/reset resets it")
        }
        if last >= reserved {
            try transaction.setNamespaceValue(key, String(last + block))
            reserved = last + block
        }
        last += 1
        return last
    }

    /// Gives no number up to this one. One that no counter can reach, of a file that was tampered with, is not followed.
    mutating func skip(to number: Int64) {
        if StoredCount.range.contains(number) { last = max(last, number) }
    }

    /// Takes note of the database's number after a transaction was lost. Numbers that were given are not given again, and what
    /// is reserved in the database stays reserved.
    mutating func reread(_ stored: ReservedCounter) { reserved = max(last, stored.last) }

    /// Stores the last number, so that the rest of its block is not lost. Writes.
    mutating func flush(_ transaction: Transaction) throws {
        try transaction.setNamespaceValue(key, String(last))
        reserved = last
    }
}
