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
        try runDirectly(replacing ? table.replace : table.insert) { try Table.bind(record, table.inserted, to: $0) }
        return database.lastInsertedRowID
    }

    /// Writes some members of a record.
    package func update<Record>(_ record: Record, _ update: Update<Record>) throws {
        try runDirectly(update.sql) { try Table.bind(record, update.members, to: $0) }
    }

    /// The first record that a condition finds; `nil` if there is none.
    ///
    /// - Parameter condition: SQL from `WHERE` on.
    package func record<Record: StoredRecord>(
        _ condition: String, _ arguments: [any ColumnValue]
    ) throws -> Record? {
        try read(Record.table.select + condition, arguments) { row in
            try row.next() ? try Record.table.record(row) : nil
        }
    }

    /// Every record that a condition finds.
    ///
    /// - Parameter condition: SQL from `WHERE` or `ORDER BY` on.
    package func records<Record: StoredRecord>(
        _ condition: String, _ arguments: [any ColumnValue] = []
    ) throws -> [Record] {
        try read(Record.table.select + condition, arguments, Record.table.all)
    }

    /// Reads the rows of a cached statement with `body`.
    package func read<Value>(
        _ sql: String, _ arguments: [any ColumnValue], _ body: (borrowing DirectStatement) throws -> Value
    ) throws -> Value {
        do {
            let row = try DirectStatement(database, sql: sql)
            for (index, argument) in arguments.enumerated() { try argument.bind(to: row, at: CInt(index + 1)) }
            return try body(row)
        } catch {
            throw Self.failure(error)
        }
    }
}
