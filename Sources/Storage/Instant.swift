import GRDB

/// A moment on a namespace's clock: microseconds since 1970-01-01T00:00:00Z.
package struct Instant: Hashable, Comparable, Sendable {
    package var microseconds: Int64

    package init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    package static func < (left: Instant, right: Instant) -> Bool {
        left.microseconds < right.microseconds
    }
}

extension Instant: DatabaseValueConvertible, StatementColumnConvertible {
    package var databaseValue: DatabaseValue { microseconds.databaseValue }

    package static func fromDatabaseValue(_ value: DatabaseValue) -> Instant? {
        Int64.fromDatabaseValue(value).map(Instant.init(microseconds:))
    }

    package init?(sqliteStatement: SQLiteStatement, index: CInt) {
        self.init(microseconds: Int64(sqliteStatement: sqliteStatement, index: index))
    }
}
