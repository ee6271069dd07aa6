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
        try statement.bind(self, at: index)
    }
}

/// A count: see ``StoredCount``.
extension Int: ColumnValue {
    package init(_ row: borrowing DirectStatement, _ column: CInt) {
        let range = StoredCount.range
        self = Int(Swift.min(Swift.max(row.integer(column), range.lowerBound), range.upperBound))
    }

    package func bind(to statement: borrowing DirectStatement, at index: CInt) throws {
        try statement.bind(Int64(self), at: index)
    }
}

extension Bool: ColumnValue {
    package init(_ row: borrowing DirectStatement, _ column: CInt) { self = row.integer(column) != 0 }

    package func bind(to statement: borrowing DirectStatement, at index: CInt) throws {
        try statement.bind(self ? 1 : 0 as Int64, at: index)
    }
}

extension Double: ColumnValue {
    package init(_ row: borrowing DirectStatement, _ column: CInt) { self = row.real(column) }

    package func bind(to statement: borrowing DirectStatement, at index: CInt) throws {
        try statement.bind(self, at: index)
    }
}

extension String: ColumnValue {
    package init(_ row: borrowing DirectStatement, _ column: CInt) { self = row.text(column) }

    package func bind(to statement: borrowing DirectStatement, at index: CInt) throws {
        try statement.bind(self, at: index)
    }
}

extension Data: ColumnValue {
    package init(_ row: borrowing DirectStatement, _ column: CInt) {
        self = row.withBytes(column) { Data($0) } ?? Data()
    }

    package func bind(to statement: borrowing DirectStatement, at index: CInt) throws {
        try statement.bind(self, at: index)
    }
}

extension Instant: ColumnValue {
    package init(_ row: borrowing DirectStatement, _ column: CInt) {
        self.init(microseconds: row.integer(column))
    }

    package func bind(to statement: borrowing DirectStatement, at index: CInt) throws {
        try statement.bind(microseconds, at: index)
    }
}

/// `nil` is null.
extension Optional: ColumnValue where Wrapped: ColumnValue {
    package init(_ row: borrowing DirectStatement, _ column: CInt) throws {
        self = row.type(column) == SQLITE_NULL ? nil : try Wrapped(row, column)
    }

    package func bind(to statement: borrowing DirectStatement, at index: CInt) throws {
        if let self { try self.bind(to: statement, at: index) } else { try statement.bind(nil as Int64?, at: index) }
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
        try statement.bind(rawValue, at: index)
    }
}
