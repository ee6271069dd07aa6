import Foundation
import GRDB
import Testing

@testable import Entrupy
@testable import Simulation
@testable import Storage

/// Uploaded databases of this version and of older ones.
@Suite struct UploadedDatabaseTests {
    static let migrator = Schema.migrator(appending: Platforms.simulated.migrations)

    private func withFile(_ body: (String) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("uploaded-\(UUID()).sqlite").path
        defer { NamespaceStore.removeDatabase(path) }
        try body(path)
    }

    /// Writes a database of an older schema, with the values that every namespace has and a capture.
    private func write(version: Int, to path: String, startedAt: Int64 = 0) throws {
        let queue = try DatabaseQueue(path: path)
        try Self.migrator.migrate(queue, upTo: Self.migrator.migrations[version - 1])
        let seed = try Seed.standard()
        try queue.write { database in
            for (key, value) in [
                ("random_seed", "7"), ("seed_name", seed.name), ("seed_text", seed.text), ("settings", "{}"),
                ("clock_mode", "frozen"), ("clock_value", "0"),
            ] {
                try database.execute(sql: "INSERT INTO world VALUES (?, ?)", arguments: [key, value])
            }
            let chance = SeededGenerator(randomSeed: 7)
            try database.execute(
                sql: """
                    INSERT INTO organizations VALUES (1, 'DemoOrg', 1);
                    INSERT INTO users (id, organization_id, username, unique_user_id, is_test_user, created_at)
                        VALUES (1, 1, 'DemoOrg-some-user', 'some-user', 0, 0);
                    INSERT INTO counters VALUES ('capture', 1);
                    """)
            try database.execute(
                sql: """
                    INSERT INTO captures (id, user_id, status, config_type, category, item, started_at, expires_at)
                        VALUES (?, 1, 'started', 'production', 'sneakers', '{}', ?, 7200000000)
                    """, arguments: [chance.text(.capture, counter: 1), startedAt])
        }
        try queue.close()
    }

    @Test(arguments: 1...Self.migrator.migrations.count) func aDatabaseOfAnOlderSchemaIsMigratedAndChecked(
        version: Int
    ) throws {
        try withFile { path in
            try write(version: version, to: path)
            try UploadedDatabase.prepare(path, migrations: Platforms.simulated.migrations)
            let checked = try SnapshotStore.read(path) {
                try UploadedNamespace.check($0, settings: .object([:]), .simulated)
            }
            #expect(checked.randomSeed == 7 && checked.seed == "standard")
        }
        try withFile { path in
            try write(version: version, to: path, startedAt: -1)
            try UploadedDatabase.prepare(path, migrations: Platforms.simulated.migrations)
            #expect {
                try SnapshotStore.read(path) { try UploadedNamespace.check($0, settings: .object([:]), .simulated) }
            } throws: { error in
                guard case StorageError.invalidRow(let row) = error else { return false }
                return (row.table, row.row, row.column) == ("captures", "1", "started_at")
            }
        }
    }

    @Test(arguments: [
        "CREATE TRIGGER t AFTER INSERT ON events BEGIN SELECT 1; END", "CREATE VIEW v AS SELECT 1",
        "CREATE TABLE x (y)",
        "CREATE INDEX i ON captures (item)", "ALTER TABLE captures ADD COLUMN z TEXT", "PRAGMA user_version = 1",
        "ANALYZE",
        "PRAGMA application_id = 1", "DELETE FROM grdb_migrations", "INSERT INTO grdb_migrations VALUES ('tomorrow')",
        "UPDATE grdb_migrations SET identifier = x'00' WHERE rowid = 1",
    ])
    func anOlderSchemaThatWasChangedIsRefusedBeforeItIsMigrated(sql: String) throws {
        for version in [1, Self.migrator.migrations.count] {
            try withFile { path in
                try write(version: version, to: path)
                let queue = try DatabaseQueue(path: path)
                try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
                try queue.close()
                #expect(throws: StorageError.self) {
                    try UploadedDatabase.prepare(path, migrations: Platforms.simulated.migrations)
                }
            }
        }
    }

    /// Pages of a table that refer to one page many times: a scan of a few pages has 10^13 rows.
    @Test(.timeLimit(.minutes(15)), arguments: ["grdb_migrations", "world"])
    func pagesThatReferToOnePageManyTimesAreRefused(table: String) throws {
        try withFile { path in
            try write(version: Self.migrator.migrations.count, to: path)
            let queue = try DatabaseQueue(path: path)
            let (root, size) = try queue.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE")
                return (
                    try #require(
                        try Int.fetchOne(
                            database, sql: "SELECT rootpage FROM sqlite_schema WHERE name = ?", arguments: [table])),
                    try #require(try Int.fetchOne(database, sql: "PRAGMA page_size"))
                )
            }
            try queue.close()
            var file = try Data(contentsOf: URL(fileURLWithPath: path))
            let first = file.count / size + 1
            // The old root becomes the last of five new pages; each page before it has 400 references to the next.
            let leaf = file.subdata(in: (root - 1) * size..<root * size)
            for level in 0..<5 { file.append(level == 4 ? leaf : Self.interior(to: first + level + 1, size)) }
            file.replaceSubrange((root - 1) * size..<root * size, with: Self.interior(to: first, size))
            file.replaceSubrange(28..<32, with: Self.bytes(UInt32(file.count / size)))
            try file.write(to: URL(fileURLWithPath: path))
            #expect(throws: StorageError.self) {
                try UploadedDatabase.prepare(path, migrations: Platforms.simulated.migrations)
            }
        }
    }

    /// An interior page of a table whose 400 cells all refer to one page.
    private static func interior(to page: Int, _ size: Int) -> Data {
        let count = 400
        let start = size - count * 6
        var data = Data([5, 0, 0]) + Data([UInt8(count >> 8), UInt8(count & 0xff)])
        data += [UInt8(start >> 8), UInt8(start & 0xff), 0]
        data += bytes(UInt32(page))
        for cell in 0..<count {
            let place = start + cell * 6
            data += [UInt8(place >> 8), UInt8(place & 0xff)]
        }
        data += Data(count: start - data.count)
        // The key of a cell, a number of two bytes.
        for cell in 0..<count { data += bytes(UInt32(page)) + [UInt8(0x80 | cell >> 7), UInt8(cell & 0x7f)] }
        return data
    }

    private static func bytes(_ number: UInt32) -> Data {
        Data([24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) })
    }
}
