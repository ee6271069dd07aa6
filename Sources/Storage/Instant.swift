import GRDB

/// A moment on a namespace's clock: microseconds since 1970-01-01T00:00:00Z.
public struct Instant: Hashable, Comparable, Sendable {
    public var microseconds: Int64

    public init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    public static func < (left: Instant, right: Instant) -> Bool {
        left.microseconds < right.microseconds
    }
}

extension Instant: DatabaseValueConvertible, StatementColumnConvertible {
    public var databaseValue: DatabaseValue { microseconds.databaseValue }

    public static func fromDatabaseValue(_ value: DatabaseValue) -> Instant? {
        Int64.fromDatabaseValue(value).map(Instant.init(microseconds:))
    }

    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        self.init(microseconds: Int64(sqliteStatement: sqliteStatement, index: index))
    }
}
