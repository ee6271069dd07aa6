/// The keys of a namespace's own values. They are texts, stored beside the rows of the other tables.
package enum NamespaceKey: String, Sendable, CaseIterable {
    /// The random seed, a decimal integer.
    case randomSeed = "random_seed"
    /// The name and text of the seed data that the namespace was made from.
    case seedName = "seed_name"
    case seedText = "seed_text"
    /// The clock: `running` or `frozen`, and microseconds. These are the offset from real time of a running clock, or
    /// the moment of a frozen one.
    case clockMode = "clock_mode"
    case clockValue = "clock_value"
    /// The initial clock, which a reset restores: empty, or the moment at which it was frozen.
    case madeFrozenAt = "made_frozen_at"
    /// The current settings document, and the initial one.
    case settings
    case madeSettings = "made_settings"
    /// The time to live while unused, in microseconds of real time; absent if it has none.
    case ttl
    /// The upper limit of request ids that may have been used.
    case requestCounter = "request_counter"
    /// The upper limit of journal numbers that requests may have been given.
    case sequenceCounter = "sequence_counter"
    /// The scenario that was started here, and the results of its timeline; absent if none was started.
    case scenario
    /// The description of a snapshot; absent in a namespace.
    case snapshot
    /// The time on the namespace's clock to which it was restored last, in microseconds; absent if it never was.
    case restoredAt = "restored_at"
    /// The same, of the last restore that took deliveries of webhooks away.
    case deliveriesForgottenBefore = "deliveries_forgotten_before"
    /// Part of the key under which stored renderings are valid; absent if the database was never uploaded. It is
    /// derived from the whole file, so no uploaded file can contain renderings that seem valid here.
    case renderingSalt = "rendering_salt"
}

extension Transaction {
    /// A value of the namespace; `nil` if it is not stored.
    package func namespaceValue(_ key: NamespaceKey) throws -> String? {
        try first("SELECT value FROM world WHERE key = ?", [key.rawValue]) { try $0[0] }
    }

    /// Stores a value of the namespace.
    package func setNamespaceValue(_ key: NamespaceKey, _ value: String) throws {
        try run(
            "INSERT INTO world VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value", [key.rawValue, value])
    }

    /// Removes a value of the namespace.
    package func removeNamespaceValue(_ key: NamespaceKey) throws {
        try run("DELETE FROM world WHERE key = ?", [key.rawValue])
    }

    /// Rewrites the stored values, some dozen kilobytes with the seed's text, to test whether storage can be written.
    package func testWriting() throws {
        // An update to the same value would not write.
        try run("INSERT OR REPLACE INTO world SELECT key, value FROM world")
    }

    /// The last stored number for a kind of id; 0 before the first.
    package func counter(_ kind: String) throws -> Int64 {
        try first("SELECT value FROM counters WHERE kind = ?", [kind]) { try $0[0] } ?? 0
    }

    /// Stores the last number used for a kind of id.
    package func setCounter(_ kind: String, _ value: Int64) throws {
        try run("INSERT INTO counters VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value", [kind, value])
    }

    /// The number of users, active sessions, captures, items and events.
    package func counts() throws -> (users: Int, sessions: Int, captures: Int, items: Int, events: Int) {
        try first(
            """
            SELECT (SELECT COUNT(*) FROM users), (SELECT COUNT(*) FROM sessions WHERE ended_at IS NULL),
                (SELECT COUNT(*) FROM captures), (SELECT COUNT(*) FROM items), (SELECT COUNT(*) FROM events)
            """
        ) { try (users: $0[0], sessions: $0[1], captures: $0[2], items: $0[3], events: $0[4]) }!
    }

    /// The size of the database file's pages in bytes.
    package func databaseBytes() throws -> Int {
        try first("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()") { try $0[0] }!
    }
}
