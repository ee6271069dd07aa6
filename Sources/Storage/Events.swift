import GRDB

/// Something that happened, recorded in the transaction that did it.
package struct EventRecord: Sendable, Hashable {
    package var sequence: Int64
    package var at: Instant
    /// For instance `capture.timed_out`.
    package var kind: String
    /// The id of what it happened to.
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

/// Something that will happen.
package struct DueRecord: Sendable, Hashable {
    package var id: Int64
    package var dueAt: Instant
    /// Which rule runs.
    package var kind: String
    /// The id of what it runs on.
    package var subject: String
}

extension Transaction {
    package func insertEvent(at moment: Instant, kind: String, subject: String, data: String) throws {
        try runDirectly("INSERT INTO events (at, kind, subject, data) VALUES (?, ?, ?, ?)") { statement in
            try statement.bind(moment, at: 1)
            try statement.bind(kind, at: 2)
            try statement.bind(subject, at: 3)
            try statement.bind(data, at: 4)
        }
    }

    /// The log after a sequence number, oldest first.
    package func events(after sequence: Int64, limit: Int) throws -> [EventRecord] {
        try all(
            "SELECT sequence, at, kind, subject, data FROM events WHERE sequence > ? ORDER BY sequence LIMIT ?",
            [sequence, limit]
        ) { EventRecord(sequence: $0[0], at: $0[1], kind: $0[2], subject: $0[3], data: $0[4]) }
    }

    /// The place of the last event in the log; 0 before the first.
    package func lastEventSequence() throws -> Int64 {
        try first("SELECT COALESCE(MAX(sequence), 0) FROM events") { $0[0] } ?? 0
    }

    /// What happened to an item, oldest first.
    package func events(entrupyID: String) throws -> [EventRecord] {
        try all(Self.eventsOfItem, [entrupyID]) {
            EventRecord(sequence: $0[0], at: $0[1], kind: $0[2], subject: $0[3], data: $0[4])
        }
    }

    /// Names what is never said of an item just as the index `events_of_items` does; SQLite does not use it otherwise.
    static let eventsOfItem = """
        SELECT sequence, at, kind, subject, data FROM events
        WHERE subject = ? AND \(Schema.isOfItem)
        ORDER BY sequence
        """

    /// The time of the last event, which no later job's time may lie before.
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

    /// What falls due first.
    package func nextDue() throws -> DueRecord? {
        try first("SELECT id, due_at, kind, subject FROM due ORDER BY due_at, id LIMIT 1") {
            DueRecord(id: $0[0], dueAt: $0[1], kind: $0[2], subject: $0[3])
        }
    }

    /// What falls due next, soonest first.
    package func due(limit: Int) throws -> [DueRecord] {
        try all("SELECT id, due_at, kind, subject FROM due ORDER BY due_at, id LIMIT ?", [limit]) {
            DueRecord(id: $0[0], dueAt: $0[1], kind: $0[2], subject: $0[3])
        }
    }

    /// How much of some kinds is to come, and when the first of it.
    package func unsettled(kinds: [String]) throws -> (count: Int, next: Instant?) {
        try kinds.reduce((0, nil)) { sum, kind in
            let found: (Int, Instant?) =
                try first("SELECT COUNT(*), MIN(due_at) FROM due WHERE kind = ?", [kind]) { ($0[0], $0[1]) } ?? (0, nil)
            return (sum.0 + found.0, [sum.1, found.1].compactMap { $0 }.min())
        }
    }

    /// When an item's result is due.
    package func resultDueTime(entrupyID: String) throws -> Instant? {
        try first("SELECT due_at FROM due WHERE subject = ? AND kind = 'result'", [entrupyID]) { $0[0] }
    }

    /// How much falls due by a moment.
    package func countDue(upTo moment: Instant) throws -> Int {
        try first("SELECT COUNT(*) FROM due WHERE due_at <= ?", [moment]) { $0[0] } ?? 0
    }

    package func deleteDue(id: Int64) throws {
        try run("DELETE FROM due WHERE id = ?", [id])
    }

    /// Takes back a subject's work of a kind that is due at `moment`.
    package func deleteDue(at moment: Instant, kind: String, subject: String) throws {
        try run(Self.deleteDueSQL, [moment, subject, kind])
    }

    static let deleteDueSQL = "DELETE FROM due WHERE due_at = ? AND subject = ? AND kind = ?"

    /// Takes back an item's result, whenever it is due.
    package func deleteDueResult(entrupyID: String) throws {
        try run(Self.deleteDueResultSQL, [entrupyID])
    }

    static let deleteDueResultSQL = "DELETE FROM due WHERE subject = ? AND kind = 'result'"
}
