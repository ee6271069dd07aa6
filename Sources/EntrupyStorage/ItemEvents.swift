import Storage

extension Transaction {
    /// The events of an item, oldest first.
    package func events(entrupyID: String) throws -> [EventRecord] {
        try records(Self.eventsOfItem, [entrupyID])
    }

    /// Has the same condition as the index `events_of_items`; SQLite uses the index only then.
    static let eventsOfItem = "WHERE subject = ? AND \(Schema.isOfItem) ORDER BY sequence"

    /// The time at which an item's result is due; `nil` if none is.
    package func resultDueTime(entrupyID: String) throws -> Instant? {
        try first("SELECT due_at FROM due WHERE subject = ? AND kind = 'result'", [entrupyID]) { try $0[0] }
    }

    /// Deletes the due result of an item, at any time.
    package func deleteDueResult(entrupyID: String) throws {
        try run(Self.deleteDueResultSQL, [entrupyID])
    }

    static let deleteDueResultSQL = "DELETE FROM due WHERE subject = ? AND kind = 'result'"
}
