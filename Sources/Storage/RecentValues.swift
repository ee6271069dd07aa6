/// A cache of the most recently used values, limited in number and in bytes.
///
/// Dropping a value takes time proportional to the number of values.
package struct RecentValues<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private var entries: [Key: (value: Value, bytes: Int, lastUse: Int)] = [:]
    private var bytes = 0
    private var uses = 0
    private let maxCount: Int
    private let maxBytes: Int

    /// - Parameters:
    ///   - maxCount: the maximum number of values.
    ///   - maxBytes: the maximum size of all values together, as given to ``insert(_:for:bytes:)``.
    package init(maxCount: Int, maxBytes: Int = .max) {
        self.maxCount = maxCount
        self.maxBytes = maxBytes
    }

    /// The number of values.
    package var count: Int { entries.count }

    /// Whether there is a value of a key. Does not count as a use.
    package func has(_ key: Key) -> Bool { entries[key] != nil }

    /// The value of a key; `nil` if there is none. Counts as a use.
    package mutating func value(of key: Key) -> Value? {
        guard let index = entries.index(forKey: key) else { return nil }
        uses += 1
        entries.values[index].lastUse = uses
        return entries.values[index].value
    }

    /// Inserts or replaces a value.
    ///
    /// - Returns: the values that were dropped: the least recently used, or the new one if it is too large.
    package mutating func insert(_ value: Value, for key: Key, bytes size: Int = 0) -> [Value] {
        guard size <= maxBytes else { return [value] }
        uses += 1
        bytes += size - (entries[key]?.bytes ?? 0)
        entries[key] = (value, size, uses)
        var dropped: [Value] = []
        while entries.count > maxCount || bytes > maxBytes,
            let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            entries[oldest.key] = nil
            bytes -= oldest.value.bytes
            dropped.append(oldest.value.value)
        }
        return dropped
    }

    /// Removes the value of a key.
    package mutating func remove(_ key: Key) {
        bytes -= entries.removeValue(forKey: key)?.bytes ?? 0
    }
}
