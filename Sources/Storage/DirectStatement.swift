import GRDB
import GRDBSQLite

/// A statement of the library, stepped through SQLite's own interface.
///
/// For the few that come with nearly every request: around a row that SQLite finds or stores in 3,000 to 20,000 instructions the
/// library does 10,000 to 20,000 more. It lends the statement, which it compiled and keeps, and knows nothing of the steps: none
/// of them begins or ends a transaction.
struct DirectStatement: ~Copyable {
    private let database: Database
    /// Kept, since one that the library does not keep would go with its last owner.
    private let owner: Statement
    private let statement: SQLiteStatement

    /// Takes a statement that is at rest and has its arguments.
    init(_ database: Database, _ statement: Statement) {
        self.database = database
        owner = statement
        self.statement = statement.sqliteStatement
    }

    /// Takes a statement without arguments, to be given them by ``bind(_:at:)``.
    init(_ database: Database, sql: String) throws {
        self.init(database, try database.cachedStatement(sql: sql))
    }

    deinit {
        // Whatever uses the statement next finds it at rest, and no read is left open.
        withExtendedLifetime(owner) { _ = sqlite3_reset(statement) }
    }

    /// Gives an argument, counted from 1.
    func bind(_ value: Instant, at index: CInt) throws {
        try bind(value.microseconds, at: index)
    }

    /// Gives an argument, counted from 1; nil is null.
    func bind(_ value: Int64?, at index: CInt) throws {
        try check(
            value.map { sqlite3_bind_int64(statement, index, $0) } ?? sqlite3_bind_null(statement, index))
    }

    /// Gives an argument, counted from 1; nil is null. The text is copied.
    func bind(_ value: String?, at index: CInt) throws {
        guard var value else { return try check(sqlite3_bind_null(statement, index)) }
        let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        try check(
            value.withUTF8 { text in
                text.withMemoryRebound(to: CChar.self) { text in
                    // Without an address it would be null.
                    text.baseAddress.map { sqlite3_bind_text(statement, index, $0, CInt(text.count), copied) }
                        ?? sqlite3_bind_text(statement, index, "", 0, copied)
                }
            })
    }

    /// Goes to the next row; false where there is none.
    func next() throws -> Bool {
        switch sqlite3_step(statement) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw failure(code)
        }
    }

    /// Goes to the end: for what changes rows.
    func run() throws {
        while try next() {}
    }

    /// The type of a column's value, one of SQLite's constants.
    func type(_ column: CInt) -> CInt { sqlite3_column_type(statement, column) }

    /// A column of the row, counted from 0.
    func real(_ column: CInt) -> Double { sqlite3_column_double(statement, column) }

    /// A column of the row, counted from 0.
    func integer(_ column: CInt) -> Int64 { sqlite3_column_int64(statement, column) }

    /// A column of the row that is not null.
    func text(_ column: CInt) -> String {
        guard let text = sqlite3_column_text(statement, column) else { return "" }
        return String(
            decoding: UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(statement, column))),
            as: UTF8.self)
    }

    /// The bytes of a column, as long as the row is; nil where it is null.
    func withBytes<Value>(_ column: CInt, _ body: (UnsafeRawBufferPointer) -> Value) -> Value? {
        guard sqlite3_column_type(statement, column) != SQLITE_NULL else { return nil }
        let bytes = sqlite3_column_blob(statement, column)
        return body(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(statement, column))))
    }

    private func check(_ code: CInt) throws {
        if code != SQLITE_OK { throw failure(code) }
    }

    private func failure(_ code: CInt) -> StorageError {
        .from(DatabaseError(resultCode: ResultCode(rawValue: code), message: database.lastErrorMessage))
    }
}
