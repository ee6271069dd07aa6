import GRDB

/// An entry of the event log, recorded in the transaction that caused it.
package struct EventRecord: Sendable, Hashable {
    package var sequence: Int64
    package var at: Instant
    /// The kind of event, for instance `capture.timed_out`.
    package var kind: String
    /// The id of the item, capture, session or other object it belongs to.
    package var subject: String
    /// A JSON object.
    package var data: String

    package init(sequence: Int64, at: Instant, kind: String, subject: String, data: String) {
        self.sequence = sequence
        self.at = at
        self.kind = kind
        self.subject = subject
        self.data = data
    }
}

/// Work that is due at a later time.
package struct DueRecord: Sendable, Hashable {
    package var id: Int64
    package var dueAt: Instant
    /// The kind of work.
    package var kind: String
    /// The id of the object the work is for.
    package var subject: String
}

extension Transaction {
    /// Adds an event and returns its sequence number.
    @discardableResult
    package func insertEvent(at moment: Instant, kind: String, subject: String, data: String) throws -> Int64 {
        try runDirectly("INSERT INTO events (at, kind, subject, data) VALUES (?, ?, ?, ?)") { statement in
            try statement.bind(moment, at: 1)
            try statement.bind(kind, at: 2)
            try statement.bind(subject, at: 3)
            try statement.bind(data, at: 4)
        }
        return database.lastInsertedRowID
    }

    /// The events after a sequence number, oldest first.
    package func events(after sequence: Int64, limit: Int) throws -> [EventRecord] {
        try all(
            "SELECT sequence, at, kind, subject, data FROM events WHERE sequence > ? ORDER BY sequence LIMIT ?",
            [sequence, limit]
        ) { EventRecord(row: $0) }
    }

    /// The events between two sequence numbers, newest first. Neither of the two is included.
    package func events(after first: Int64, before last: Int64, limit: Int) throws -> [EventRecord] {
        try all(
            """
            SELECT sequence, at, kind, subject, data FROM events WHERE sequence > ? AND sequence < ?
            ORDER BY sequence DESC LIMIT ?
            """, [first, last, limit]
        ) { EventRecord(row: $0) }
    }

    /// The events of a subject between two sequence numbers, newest first. Neither of the two is included.
    ///
    /// Events of the kinds that no index holds are looked for among the last `recent` events alone.
    package func events(
        of subject: String, after first: Int64, before last: Int64, recent: Int64, limit: Int
    ) throws -> [EventRecord] {
        let columns = "SELECT sequence, at, kind, subject, data FROM events WHERE subject = ?"
        let range = "AND sequence > ? AND sequence < ? ORDER BY sequence DESC LIMIT ?"
        let oldest = try min(last, lastEventSequence() + 1) - recent - 1
        let indexed = try all("\(columns) AND \(Schema.isOfItem) \(range)", [subject, first, last, limit]) {
            EventRecord(row: $0)
        }
        // The plus keeps SQLite from the index, which does not hold these events.
        let others = try all(
            "SELECT sequence, at, kind, subject, data FROM events WHERE +subject = ? AND NOT (\(Schema.isOfItem)) \(range)",
            [subject, max(first, oldest), last, limit]
        ) { EventRecord(row: $0) }
        return Array((indexed + others).sorted { $0.sequence > $1.sequence }.prefix(limit))
    }

    /// The sequence number of the last event; 0 before the first.
    package func lastEventSequence() throws -> Int64 {
        try first("SELECT COALESCE(MAX(sequence), 0) FROM events") { $0[0] } ?? 0
    }

    /// The time of the last event; `nil` before the first. No later job may have an earlier time.
    package func lastEventTime() throws -> Instant? {
        try first("SELECT at FROM events ORDER BY sequence DESC LIMIT 1") { $0[0] }
    }

    package func insertDue(at moment: Instant, kind: String, subject: String) throws {
        try runDirectly("INSERT INTO due (due_at, kind, subject) VALUES (?, ?, ?)") { statement in
            try statement.bind(moment, at: 1)
            try statement.bind(kind, at: 2)
            try statement.bind(subject, at: 3)
        }
    }

    /// The work that is due first; `nil` if there is none.
    package func nextDue() throws -> DueRecord? {
        try first("SELECT id, due_at, kind, subject FROM due ORDER BY due_at, id LIMIT 1") {
            DueRecord(id: $0[0], dueAt: $0[1], kind: $0[2], subject: $0[3])
        }
    }

    /// The work that is due next, soonest first.
    package func due(limit: Int) throws -> [DueRecord] {
        try all("SELECT id, due_at, kind, subject FROM due ORDER BY due_at, id LIMIT ?", [limit]) {
            DueRecord(id: $0[0], dueAt: $0[1], kind: $0[2], subject: $0[3])
        }
    }

    /// The number of pieces of due work of some kinds, and the earliest time of them.
    package func unsettled(kinds: [String]) throws -> (count: Int, next: Instant?) {
        try kinds.reduce((0, nil)) { sum, kind in
            let found: (Int, Instant?) =
                try first("SELECT COUNT(*), MIN(due_at) FROM due WHERE kind = ?", [kind]) { ($0[0], $0[1]) } ?? (0, nil)
            return (sum.0 + found.0, [sum.1, found.1].compactMap { $0 }.min())
        }
    }

    /// The number of pieces of work due by a moment.
    package func countDue(upTo moment: Instant) throws -> Int {
        try first("SELECT COUNT(*) FROM due WHERE due_at <= ?", [moment]) { $0[0] } ?? 0
    }

    package func deleteDue(id: Int64) throws {
        try run("DELETE FROM due WHERE id = ?", [id])
    }

    /// Deletes the work of a kind for a subject that is due at `moment`.
    package func deleteDue(at moment: Instant, kind: String, subject: String) throws {
        try run(Self.deleteDueSQL, [moment, subject, kind])
    }

    static let deleteDueSQL = "DELETE FROM due WHERE due_at = ? AND subject = ? AND kind = ?"
}

extension EventRecord {
    /// Reads the columns `sequence, at, kind, subject, data`.
    package init(row: Row) {
        self.init(sequence: row[0], at: row[1], kind: row[2], subject: row[3], data: row[4])
    }
}
