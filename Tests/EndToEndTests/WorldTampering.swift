import Foundation
import GRDB
import SimulationAPI
import TestSupport

/// A random generator with a seed, so that a round can be repeated.
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var value = state
        value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
        return value ^ (value >> 31)
    }
}

/// Changes snapshots as an attacker would.
struct WorldTampering {
    /// A changed snapshot, and a description of the change.
    struct Tampered: Sendable {
        let archive: Data
        let change: String
        /// The table and column of the changed value, `nil` for any other change.
        var cell: (table: String, column: String)?
    }

    /// Values that a column may not have, as SQL.
    static let hostile = [
        "-1", "0", "9223372036854775807", "-9223372036854775808", "253402300800000000", "1e308", "-1e308", "1e999",
        "0.5",
        "NULL", "''", "x''", "x'ff00'", "CAST(x'ff' AS TEXT)", "CAST(x'61ed a080' AS TEXT)".replacing(" ", with: ""),
        "'x' || char(0) || 'y'", "'{'", "'[]'", "'{\"a\":1e999}'", "'\u{301}\u{301}'", "'../../etc/passwd'",
        "'unknown'",
        "CAST(zeroblob(100000) AS TEXT)", "printf('%.*c', 300000, 'x')", "printf('%.*c', 200, '[')",
        "'9223372036854775807'", "'-1'", "'running'", "'10000-01-01T00:00:00Z'",
    ]

    /// Statements that change the schema.
    static let schemas = [
        "CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM items; END", "CREATE VIEW v AS SELECT 1",
        "CREATE TABLE mine (x)", "DROP INDEX due_by_time", "DROP TABLE attempts", "CREATE INDEX mine ON events (at)",
        "ALTER TABLE items ADD COLUMN more TEXT", "ALTER TABLE items DROP COLUMN catalog",
        "ALTER TABLE due ADD COLUMN twice INTEGER GENERATED ALWAYS AS (due_at * 2)", "PRAGMA user_version = 7",
        "PRAGMA application_id = 7", "DELETE FROM grdb_migrations WHERE rowid = 1", "ANALYZE",
        "INSERT INTO grdb_migrations VALUES ('of tomorrow')",
        "UPDATE grdb_migrations SET identifier = x'00' WHERE rowid = 2",
        "DELETE FROM world WHERE key = 'settings'", "DELETE FROM world WHERE key = 'seed_text'",
        "CREATE VIRTUAL TABLE f USING fts5(x)",
    ]

    private let sample: TarFile
    private let path: String
    /// The columns of every table.
    private let columns: [(table: String, column: String)]

    init(_ sample: TarFile, in directory: String) throws {
        // With the checksum, the server would only ever report damage.
        self.sample = sample.withItsChecksum
        path = directory + "/tampered.sqlite"
        try sample.entries[1].bytes.write(to: URL(fileURLWithPath: path))
        let queue = try DatabaseQueue(path: path)
        columns = try queue.read { database in
            try String.fetchAll(
                database,
                sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'grdb_migrations' ORDER BY name"
            ).flatMap { table in try database.columns(in: table).map { (table, $0.name) } }
        }
        try queue.close()
    }

    /// The number of changes that ``value(_:)`` can make.
    var values: Int { columns.count * Self.hostile.count }

    /// Puts a hostile value into the first row of a column. `number` selects value and column.
    func value(_ number: Int) throws -> Tampered? {
        let cell = columns[number / Self.hostile.count]
        let value = Self.hostile[number % Self.hostile.count]
        var tampered = try change(
            "UPDATE \(cell.table) SET \(cell.column) = \(value) WHERE \(first(of: cell.table))", isLoose: true)
        tampered?.cell = cell
        return tampered
    }

    private func first(of table: String) -> String {
        // In tables without row ids, the key selects the first row.
        switch table {
        case "world", "counters", "api_tokens", "bundles", "signed_requests", "sessions", "capture_images",
            "partner_sessions", "attempts":
            let key = columns.first { $0.table == table }!.column
            return "\(key) = (SELECT \(key) FROM \(table) ORDER BY 1 LIMIT 1)"
        default: return "rowid = (SELECT MIN(rowid) FROM \(table))"
        }
    }

    /// Makes a random change.
    func any(_ numbers: inout SeededNumbers) throws -> Tampered? {
        let cell = columns.randomElement(using: &numbers)!
        let other = columns.randomElement(using: &numbers)!
        let row =
            "\(cell.column) IS (SELECT \(cell.column) FROM \(cell.table) ORDER BY abs(\(Int64.random(in: 0...1 << 40, using: &numbers)) % (1 + length(\(cell.column)))) LIMIT 1)"
        switch Int.random(in: 0..<10, using: &numbers) {
        case 0...4:
            let value = Self.hostile.randomElement(using: &numbers)!
            return try change("UPDATE \(cell.table) SET \(cell.column) = \(value) WHERE \(row)", isLoose: true)
        case 5:
            return try change(
                "UPDATE \(cell.table) SET \(cell.column) = (SELECT \(other.column) FROM \(other.table) LIMIT 1) WHERE \(row)",
                isLoose: true)
        case 6: return try change("DELETE FROM \(cell.table) WHERE \(row)", isLoose: true)
        case 7: return try change(Self.schemas.randomElement(using: &numbers)!, isLoose: false)
        default: return flip(&numbers)
        }
    }

    /// Flips bits of the file.
    private func flip(_ numbers: inout SeededNumbers) -> Tampered {
        var changed = sample
        let count = Int.random(in: 1...20, using: &numbers)
        for _ in 0..<count {
            let place = Int.random(in: 0..<changed.entries[1].bytes.count, using: &numbers)
            changed.entries[1].bytes[place] ^= UInt8.random(in: 1...255, using: &numbers)
        }
        return Tampered(archive: changed.bytes, change: "\(count) bytes flipped")
    }

    /// The snapshot after running SQL, `nil` if SQLite refuses it.
    ///
    /// - Parameter isLoose: whether to remove types and constraints before, and restore them afterwards.
    private func change(_ sql: String, isLoose: Bool) throws -> Tampered? {
        for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) }
        try sample.entries[1].bytes.write(to: URL(fileURLWithPath: path))
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        func run(_ sql: [String]) throws {
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            defer { try? queue.close() }
            try queue.writeWithoutTransaction { database in for sql in sql { try database.execute(sql: sql) } }
        }
        do {
            if isLoose {
                try run([
                    "PRAGMA writable_schema = ON", "CREATE TABLE old_schema AS SELECT name, sql FROM sqlite_schema",
                    """
                    UPDATE sqlite_schema SET sql = replace(replace(replace(sql, ') STRICT, WITHOUT', ') WITHOUT'),
                        ') STRICT', ')'), ' NOT NULL', '')
                    WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'old_schema'
                    """,
                ])
                try run([sql])
                try run([
                    "PRAGMA writable_schema = ON",
                    """
                    UPDATE sqlite_master SET sql = (SELECT o.sql FROM old_schema o WHERE o.name = sqlite_master.name)
                    WHERE name IN (SELECT name FROM old_schema)
                    """,
                ])
                try run(["DROP TABLE old_schema"])
            } else {
                try run([sql])
            }
        } catch is DatabaseError {
            return nil
        }
        var changed = sample
        changed.entries[1].bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        return Tampered(archive: changed.bytes, change: sql)
    }
}
