import NIOConcurrencyHelpers

/// A lock for each key: work on one key is done once at a time, and does not wait for work on others.
final class KeyedLocks: Sendable {
    private struct Entry {
        let lock = NIOLock()
        /// The number of holders and of those who wait. Without any, the entry is removed.
        var users = 0
    }

    private let entries = NIOLockedValueBox<[String: Entry]>([:])

    /// Runs `body` while no other work on the key runs. Blocks.
    func withLock<Value>(_ key: String, _ body: () throws -> Value) rethrows -> Value {
        let lock = entries.withLockedValue { entries in
            entries[key, default: Entry()].users += 1
            return entries[key, default: Entry()].lock
        }
        defer {
            entries.withLockedValue { entries in
                entries[key]?.users -= 1
                if entries[key]?.users == 0 { entries[key] = nil }
            }
        }
        return try lock.withLock(body)
    }
}
