import GRDB

/// A record that a table stores.
package protocol StoredRecord: Sendable {
    static var table: Table<Self> { get }
}

extension Transaction {
    /// Adds a row. Columns that the database assigns get their values here.
    ///
    /// - Parameter replacing: whether a row with the same key is replaced.
    /// - Returns: the row id.
    @discardableResult
    package func insert<Record: StoredRecord>(_ record: Record, replacing: Bool = false) throws -> Int64 {
        let table = Record.table
        try statement(replacing ? table.replace : table.insert) { statement in
            try Table.bind(record, table.inserted, to: statement)
            try statement.run()
        }
        return database.lastInsertedRowID
    }

    /// Writes some members of a record.
    package func update<Record>(_ record: Record, _ update: Update<Record>) throws {
        try statement(update.sql) { statement in
            try Table.bind(record, update.members, to: statement)
            try statement.run()
        }
    }

    /// The first record that a condition finds; `nil` if there is none.
    ///
    /// - Parameter condition: SQL from `WHERE` on.
    package func record<Record: StoredRecord>(
        _ condition: String, _ arguments: [any ColumnValue]
    ) throws -> Record? {
        try first(Record.table.select + condition, arguments, Record.table.record)
    }

    /// Every record that a condition finds.
    ///
    /// - Parameter condition: SQL from `WHERE` or `ORDER BY` on.
    package func records<Record: StoredRecord>(
        _ condition: String, _ arguments: [any ColumnValue] = []
    ) throws -> [Record] {
        try read(Record.table.select + condition, arguments, Record.table.all)
    }
}
