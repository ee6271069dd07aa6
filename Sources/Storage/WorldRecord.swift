import GRDB

/// What a world is made of besides its tables' rows: text values under fixed keys.
package enum NamespaceKey: String, Sendable, CaseIterable {
    /// The random seed, a decimal integer.
    case randomSeed = "random_seed"
    /// Name and text of the seed data it was made from.
    case seedName = "seed_name"
    case seedText = "seed_text"
    /// The clock: `running` or `frozen`, and microseconds (the offset from real time, or the moment).
    case clockMode = "clock_mode"
    case clockValue = "clock_value"
    /// The clock it was made with, which a reset goes back to: empty, or the moment it was frozen at.
    case madeFrozenAt = "made_frozen_at"
    /// The settings document now, and as the namespace was made.
    case settings
    case madeSettings = "made_settings"
    /// How long it may go unused before it is dropped, in microseconds of real time; absent: for ever.
    case ttl
    /// Request ids up to this counter may have been given out.
    case requestCounter = "request_counter"
    /// The scenario that was started here, and what came of its timeline; absent where none was.
    case scenario
    /// What a snapshot is of; only snapshots have it.
    case snapshot
    /// Goes into what stored renderings must have been made under to be good; absent where the world was never uploaded. It follows
    /// from the whole file, so that no file can hold renderings which look good here.
    case renderingSalt = "rendering_salt"
}

extension Transaction {
    /// A world value, or nil where none was stored.
    package func namespaceValue(_ key: NamespaceKey) throws -> String? {
        try first("SELECT value FROM world WHERE key = ?", [key.rawValue]) { $0[0] }
    }

    /// Stores a world value.
    package func setNamespaceValue(_ key: NamespaceKey, _ value: String) throws {
        try run(
            "INSERT INTO world VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value", [key.rawValue, value])
    }

    /// Removes a world value.
    package func removeNamespaceValue(_ key: NamespaceKey) throws {
        try run("DELETE FROM world WHERE key = ?", [key.rawValue])
    }

    /// Writes what is there already, some dozen kilobytes with the seed's text, to find out whether anything can be written.
    package func writeNothing() throws {
        // An update to the same value would write nothing.
        try run("INSERT OR REPLACE INTO world SELECT key, value FROM world")
    }

    /// The last number drawn of a kind of id, as it was stored; 0 before the first.
    package func counter(_ kind: String) throws -> Int64 {
        try first("SELECT value FROM counters WHERE kind = ?", [kind]) { $0[0] } ?? 0
    }

    /// Stores the last number drawn of a kind of id.
    package func setCounter(_ kind: String, _ value: Int64) throws {
        try runDirectly("INSERT INTO counters VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value") {
            try $0.bind(kind, at: 1)
            try $0.bind(value, at: 2)
        }
    }

    /// How many rows the countable tables hold: users, living sessions, captures, items, events.
    package func counts() throws -> (users: Int, sessions: Int, captures: Int, items: Int, events: Int) {
        try first(
            """
            SELECT (SELECT COUNT(*) FROM users), (SELECT COUNT(*) FROM sessions WHERE ended_at IS NULL),
                (SELECT COUNT(*) FROM captures), (SELECT COUNT(*) FROM items), (SELECT COUNT(*) FROM events)
            """
        ) { (users: $0[0], sessions: $0[1], captures: $0[2], items: $0[3], events: $0[4]) }!
    }

    /// Bytes of the database file's pages.
    package func databaseBytes() throws -> Int {
        try first("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()") { $0[0] }!
    }
}
