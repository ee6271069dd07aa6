import Foundation
import GRDB
import GRDBSQLite

/// A statement of GRDB, executed through SQLite's own interface.
///
/// SQLite finds or stores a row in 3,000 to 20,000 instructions; GRDB adds 10,000 to 20,000. GRDB compiles and owns the
/// statement, and does not see its steps. So no such statement may begin or end a transaction.
@usableFromInline
package struct DirectStatement: ~Copyable {
    private let database: Database
    /// Retained, because GRDB may not cache the statement.
    private let owner: Statement
    @usableFromInline let statement: SQLiteStatement

    /// - Parameter statement: a statement that is not running.
    package init(_ database: Database, _ statement: Statement) {
        self.database = database
        owner = statement
        self.statement = statement.sqliteStatement
    }

    deinit {
        // Resets the statement for its next use, and ends its read.
        withExtendedLifetime(owner) { _ = sqlite3_reset(statement) }
    }

    /// The number of arguments that the statement takes.
    var argumentCount: Int { Int(sqlite3_bind_parameter_count(statement)) }

    /// Moves to the next row; `false` if there is none.
    package func next() throws -> Bool {
        switch sqlite3_step(statement) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw failure(code)
        }
    }

    /// Runs the statement to its end.
    package func run() throws {
        while try next() {}
    }

    /// A column of the current row, counted from 0.
    package subscript<Value: ColumnValue>(_ column: CInt) -> Value {
        get throws { try Value(self, column) }
    }

    /// The type of a column's value, one of SQLite's constants. Columns are counted from 0.
    package func type(_ column: CInt) -> CInt { sqlite3_column_type(statement, column) }

    /// The name of a column, counted from 0.
    package func name(_ column: CInt) -> String {
        sqlite3_column_name(statement, column).map { String(cString: $0) } ?? ""
    }

    /// A column of the current row, counted from 0.
    package func real(_ column: CInt) -> Double { sqlite3_column_double(statement, column) }

    /// A column of the current row, counted from 0.
    package func integer(_ column: CInt) -> Int64 { sqlite3_column_int64(statement, column) }

    /// A column of the current row that is not null.
    package func text(_ column: CInt) -> String {
        guard let text = sqlite3_column_text(statement, column) else { return "" }
        return String(
            decoding: UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(statement, column))),
            as: UTF8.self)
    }

    /// Passes the bytes of a column to `body`; `nil` if the column is null. The bytes are valid only during the call.
    @inlinable package func withBytes<Value>(_ column: CInt, _ body: (UnsafeRawBufferPointer) -> Value) -> Value? {
        guard sqlite3_column_type(statement, column) != SQLITE_NULL else { return nil }
        let bytes = sqlite3_column_blob(statement, column)
        return body(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(statement, column))))
    }

    /// Throws the error of a call of SQLite that failed.
    func check(_ code: CInt) throws {
        if code != SQLITE_OK { throw failure(code) }
    }

    private func failure(_ code: CInt) -> StorageError {
        .from(DatabaseError(resultCode: ResultCode(rawValue: code), message: database.lastErrorMessage))
    }
}
