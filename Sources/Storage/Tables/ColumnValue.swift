import Foundation
import GRDBSQLite

/// A value that a column stores.
package protocol ColumnValue: Sendable {
    /// Reads a column of the current row, counted from 0. A value of another type, from a damaged file, is read as SQLite
    /// converts it.
    ///
    /// - Throws: ``StorageError/damaged(_:)`` if no value of the type is stored so.
    init(_ row: borrowing DirectStatement, _ column: CInt) throws
    /// Binds the value as an argument, counted from 1.
    func bind(to statement: borrowing DirectStatement, at index: CInt) throws
}

extension Int64: ColumnValue {
    package init(_ row: borrowing DirectStatement, _ column: CInt) { self = row.integer(column) }

    package func bind(to statement: borrowing DirectStatement, at index: CInt) throws {
        try statement.check(sqlite3_bind_int64(statement.statement, index, self))
    }
}

/// A count: see ``StoredCount``.
extension Int: ColumnValue {
    package init(_ row: borrowing DirectStatement, _ column: CInt) {
        let range = StoredCount.range
        self = Int(Swift.min(Swift.max(row.integer(column), range.lowerBound), range.upperBound))
    }

    package func bind(to statement: borrowing DirectStatement, at index: CInt) throws {
        try Int64(self).bind(to: statement, at: index)
    }
}

extension Bool: ColumnValue {
    package init(_ row: borrowing DirectStatement, _ column: CInt) { self = row.integer(column) != 0 }

    package func bind(to statement: borrowing DirectStatement, at index: CInt) throws {
        try Int64(self ? 1 : 0).bind(to: statement, at: index)
    }
}

extension Double: ColumnValue {
    package init(_ row: borrowing DirectStatement, _ column: CInt) { self = row.real(column) }

    package func bind(to statement: borrowing DirectStatement, at index: CInt) throws {
        try statement.check(sqlite3_bind_double(statement.statement, index, self))
    }
}

/// Tells SQLite to copy the bytes that it is given.
private var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

extension String: ColumnValue {
    package init(_ row: borrowing DirectStatement, _ column: CInt) { self = row.text(column) }

    package func bind(to statement: borrowing DirectStatement, at index: CInt) throws {
        var text = self
        let code = text.withUTF8 { text in
            text.withMemoryRebound(to: CChar.self) { text in
                // Without an address, SQLite would bind null.
                text.baseAddress.map { sqlite3_bind_text(statement.statement, index, $0, CInt(text.count), copied) }
                    ?? sqlite3_bind_text(statement.statement, index, "", 0, copied)
            }
        }
        try statement.check(code)
    }
}

extension Data: ColumnValue {
    package init(_ row: borrowing DirectStatement, _ column: CInt) {
        self = row.withBytes(column) { Data($0) } ?? Data()
    }

    package func bind(to statement: borrowing DirectStatement, at index: CInt) throws {
        let code = withUnsafeBytes { bytes in
            // Without an address, SQLite would bind null.
            bytes.isEmpty
                ? sqlite3_bind_zeroblob(statement.statement, index, 0)
                : sqlite3_bind_blob(statement.statement, index, bytes.baseAddress, CInt(bytes.count), copied)
        }
        try statement.check(code)
    }
}

extension Instant: ColumnValue {
    package init(_ row: borrowing DirectStatement, _ column: CInt) {
        self.init(microseconds: row.integer(column))
    }

    package func bind(to statement: borrowing DirectStatement, at index: CInt) throws {
        try microseconds.bind(to: statement, at: index)
    }
}

/// `nil` is null.
extension Optional: ColumnValue where Wrapped: ColumnValue {
    package init(_ row: borrowing DirectStatement, _ column: CInt) throws {
        self = row.type(column) == SQLITE_NULL ? nil : try Wrapped(row, column)
    }

    package func bind(to statement: borrowing DirectStatement, at index: CInt) throws {
        guard let self else { return try statement.check(sqlite3_bind_null(statement.statement, index)) }
        try self.bind(to: statement, at: index)
    }
}

/// An id or a state that is stored as its text. A row with a text that is none of the type's cannot be read: no upload may have one, and
/// this program writes none.
package protocol StoredWord: ColumnValue, RawRepresentable<String> {}

extension StoredWord {
    package init(_ row: borrowing DirectStatement, _ column: CInt) throws {
        let text = row.text(column)
        guard let value = Self(rawValue: text) else {
            throw StorageError.damaged("the column \(row.name(column)) has \"\(text)\", which is no \(Self.self)")
        }
        self = value
    }

    package func bind(to statement: borrowing DirectStatement, at index: CInt) throws {
        try rawValue.bind(to: statement, at: index)
    }
}
