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
    /// What caused it; `nil` if that is not known.
    package var cause: Cause?

    package init(sequence: Int64, at: Instant, kind: String, subject: String, data: String, cause: Cause? = nil) {
        self.cause = cause
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
    /// What scheduled it; `nil` if that is not known.
    package var cause: Cause?
    /// The trace of the request that scheduled it, as ``TraceContext/stored``; `nil` if it has none.
    package var trace: String?
}

extension EventRecord: StoredRecord {
    package static let table = Table(
        "events", key: .counted, blank: EventRecord(sequence: 0, at: .epoch, kind: "", subject: "", data: "")
    ) {
        $0.column("sequence", \.sequence, .row, isAssigned: true)
        $0.column("at", \.at, .time)
        $0.column("kind", \.kind, .named("event_kind"))
        $0.column("subject", \.subject, .text(0...1000))
        $0.column("data", \.data, .object)
        $0.column("cause", \.cause, .cause)
    }
}

extension DueRecord: StoredRecord {
    package static let table = Table(
        "due", key: .counted, blank: DueRecord(id: 0, dueAt: .epoch, kind: "", subject: "")
    ) {
        $0.column("id", \.id, .row, isAssigned: true)
        $0.column("due_at", \.dueAt, .time)
        $0.column("kind", \.kind, .named("due_kind"))
        $0.column("subject", \.subject, .text(1...1000).secret)
        $0.column("cause", \.cause, .cause)
        $0.column("trace", \.trace, .trace)
        $0.references("subject", to: "deliveries", "id", where: "r.kind = 'webhook.attempt'")
        $0.check(
            "subject", where: "r.kind = 'scenario.action' AND (r.subject GLOB '*[^0-9]*' OR length(r.subject) > 4)",
            "must be the index of an action in the scenario's timeline")
    }
}

extension Transaction {
    /// Adds an event and returns its sequence number.
    @discardableResult
    package func insertEvent(
        at moment: Instant, kind: String, subject: String, data: String, cause: Cause? = nil
    ) throws -> Int64 {
        try insert(EventRecord(sequence: 0, at: moment, kind: kind, subject: subject, data: data, cause: cause))
    }

    /// The events after a sequence number, oldest first.
    package func events(after sequence: Int64, limit: Int) throws -> [EventRecord] {
        try records("WHERE sequence > ? ORDER BY sequence LIMIT ?", [sequence, limit])
    }

    /// The events between two sequence numbers, newest first. Neither of the two is included.
    package func events(after first: Int64, before last: Int64, limit: Int) throws -> [EventRecord] {
        try records("WHERE sequence > ? AND sequence < ? ORDER BY sequence DESC LIMIT ?", [first, last, limit])
    }

    /// The events of a subject between two sequence numbers, newest first. Neither of the two is included.
    ///
    /// Events of the kinds that no index holds are looked for among the last `recent` events alone.
    package func events(
        of subject: String, after first: Int64, before last: Int64, recent: Int64, limit: Int
    ) throws -> [EventRecord] {
        let range = "AND sequence > ? AND sequence < ? ORDER BY sequence DESC LIMIT ?"
        let oldest = try min(last, lastEventSequence() + 1) - recent - 1
        let indexed: [EventRecord] = try records(
            "WHERE subject = ? AND \(Schema.isOfItem) \(range)", [subject, first, last, limit])
        // The plus keeps SQLite from the index, which does not hold these events.
        let others: [EventRecord] = try records(
            "WHERE +subject = ? AND NOT (\(Schema.isOfItem)) \(range)", [subject, max(first, oldest), last, limit])
        return Array((indexed + others).sorted { $0.sequence > $1.sequence }.prefix(limit))
    }

    /// The events of some kinds among the last ones, oldest first.
    ///
    /// - Parameter recent: the number of events that are looked at.
    package func events(kinds: [String], recent: Int64) throws -> [EventRecord] {
        let places = kinds.map { _ in "?" }.joined(separator: ", ")
        let arguments: [any ColumnValue] = [try lastEventSequence() - recent] + kinds
        return try records("WHERE sequence > ? AND kind IN (\(places)) ORDER BY sequence", arguments)
    }

    /// The sequence number of the last event; 0 before the first.
    package func lastEventSequence() throws -> Int64 {
        try first("SELECT COALESCE(MAX(sequence), 0) FROM events") { try $0[0] } ?? 0
    }

    /// The time of the last event; `nil` before the first. No later job may have an earlier time.
    package func lastEventTime() throws -> Instant? {
        try first("SELECT at FROM events ORDER BY sequence DESC LIMIT 1") { try $0[0] }
    }

    package func insertDue(
        at moment: Instant, kind: String, subject: String, cause: Cause? = nil, trace: TraceContext? = nil
    ) throws {
        try insert(DueRecord(id: 0, dueAt: moment, kind: kind, subject: subject, cause: cause, trace: trace?.stored))
    }

    /// The work that is due first; `nil` if there is none.
    package func nextDue() throws -> DueRecord? { try record("ORDER BY due_at, id LIMIT 1", []) }

    /// The work that is due next, soonest first.
    package func due(limit: Int) throws -> [DueRecord] { try records("ORDER BY due_at, id LIMIT ?", [limit]) }

    /// The due work of some kinds, soonest first.
    package func due(kinds: [String], limit: Int) throws -> [DueRecord] {
        let marks = Array(repeating: "?", count: kinds.count).joined(separator: ", ")
        return try records("WHERE kind IN (\(marks)) ORDER BY due_at, id LIMIT ?", kinds + [limit])
    }

    /// The number of pieces of due work of some kinds, and the earliest time of them.
    package func unsettled(kinds: [String]) throws -> (count: Int, next: Instant?) {
        let marks = kinds.map { _ in "?" }.joined(separator: ", ")
        return try first("SELECT COUNT(*), MIN(due_at) FROM due WHERE kind IN (\(marks))", kinds) {
            try (count: $0[0], next: $0[1])
        }!
    }

    /// The number of pieces of work due by a moment.
    package func countDue(upTo moment: Instant) throws -> Int {
        try first("SELECT COUNT(*) FROM due WHERE due_at <= ?", [moment]) { try $0[0] } ?? 0
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
