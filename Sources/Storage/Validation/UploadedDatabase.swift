import Foundation
import GRDB
import GRDBSQLite
import NIOConcurrencyHelpers

/// Checks an uploaded database file before its content is trusted.
package enum UploadedDatabase {
    /// Checks that a file is an undamaged database of this program or an older version of it, and migrates it to the
    /// current schema.
    ///
    /// The schema is compared before anything else. So no foreign trigger, view, index or constraint can run later,
    /// for instance in a migration. The rows are only known to be readable afterwards.
    ///
    /// - Parameter migrations: those that the store has.
    /// - Throws: ``StorageError/foreign(_:)`` with the problem, ``StorageError/newerSchema(path:found:known:)``.
    package static func prepare(_ path: String, migrations: [Migration] = []) throws {
        let migrator = Schema.migrator(appending: migrations)
        let handle = try PrivateFile.open(at: path)
        defer { try? handle?.close() }
        try check(beginning: try handle?.read(upToCount: 16) ?? Data())
        let budget = StepBudget(fileSize: Int(clamping: try handle?.seekToEnd() ?? 0))
        defer { withExtendedLifetime(budget) {} }
        do {
            var configuration = Configuration.plainFile
            configuration.prepareDatabase {
                budget.limit($0)
                try $0.execute(
                    sql: "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA journal_mode = DELETE")
            }
            let queue = try DatabaseQueue(privateFile: path, configuration: configuration)
            defer { try? queue.close() }
            let applied = try queue.writeWithoutTransaction { try checkSchema($0, migrator) }
            let verdict = try queue.writeWithoutTransaction { database in
                // The check reads indexes too. With more pages in memory, it does not read the disk for each entry.
                try database.execute(sql: "PRAGMA cache_size = -64000")
                return try String.fetchOne(database, sql: "PRAGMA integrity_check(1)")
            }
            guard verdict == "ok" else {
                throw StorageError.foreign("world.sqlite is damaged: \(verdict ?? "it cannot be checked")")
            }
            if applied < migrator.migrations.count { try migrator.migrate(queue) }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_INTERRUPT {
            throw StorageError.foreign("world.sqlite is damaged: reading it takes more steps than its size explains")
        } catch let error as DatabaseError {
            throw StorageError.foreign("world.sqlite is broken: \(error.message ?? "\(error.resultCode)")")
        }
    }

    /// Checks the first bytes of a file, of which there are at least 16 unless the file is shorter.
    ///
    /// - Throws: ``StorageError/foreign(_:)`` if no database begins so.
    package static func check(beginning bytes: Data) throws {
        guard bytes.starts(with: Data("SQLite format 3\0".utf8)) else {
            throw StorageError.foreign("world.sqlite is not an SQLite database")
        }
    }

    /// Compares a file's schema with the version it claims to have. Returns the number of applied migrations.
    private static func checkSchema(_ database: Database, _ migrator: DatabaseMigrator) throws -> Int {
        for (pragma, wanted) in [("encoding", "UTF-8"), ("application_id", "0"), ("user_version", "0")] {
            let found = try String.fetchOne(database, sql: "SELECT CAST(\(pragma) AS TEXT) FROM pragma_\(pragma)") ?? ""
            guard found == wanted else {
                throw StorageError.foreign("world.sqlite has the \(pragma) \(found); it must be \(wanted)")
            }
        }
        let alien = try String.fetchOne(
            database,
            sql: """
                SELECT type || ' ' || name FROM sqlite_schema
                WHERE type NOT IN ('table', 'index') OR sql LIKE 'CREATE VIRTUAL%' LIMIT 1
                """)
        if let alien { throw StorageError.foreign("world.sqlite holds the \(alien), which no namespace has") }
        guard try database.tableExists("world"), try database.tableExists("grdb_migrations") else {
            throw StorageError.foreign("world.sqlite is an SQLite database, but not of a namespace")
        }
        let known = migrator.migrations
        // Compared as bytes: the file may have any texts.
        let knownBytes = known.map { Array($0.utf8) }
        let applied = try String.fetchAll(
            database,
            sql: """
                SELECT substr(CAST(identifier AS TEXT), 1, 1000) FROM grdb_migrations ORDER BY rowid
                LIMIT \(known.count + 100)
                """
        ).map { Array($0.utf8) }
        guard applied.allSatisfy(Set(knownBytes).contains) else {
            throw StorageError.newerSchema(path: "world.sqlite", found: applied.count, known: known.count)
        }
        guard !applied.isEmpty, applied.count <= known.count, Set(applied) == Set(knownBytes.prefix(applied.count))
        else {
            throw StorageError.foreign("world.sqlite has a schema that entrupy-sim did not write")
        }
        let reference = try DatabaseQueue()
        try migrator.migrate(reference, upTo: known[applied.count - 1])
        let difference = Set(try schema(database)).symmetricDifference(try reference.read(schema))
            .min { $0.lexicographicallyPrecedes($1) }
        if let difference {
            let name = String(decoding: difference.prefix { $0 != UInt8(ascii: "\n") }.prefix(200), as: UTF8.self)
            throw StorageError.foreign("world.sqlite has a schema that entrupy-sim did not write: \(name)")
        }
        return applied.count
    }

    /// All objects of a schema as text. Includes SQLite's own tables, because they can change how queries are
    /// planned.
    private static func schema(_ database: Database) throws -> [[UInt8]] {
        try String.fetchAll(
            database,
            sql: """
                SELECT CAST(type AS TEXT) || ' ' || CAST(name AS TEXT) || char(10) || CAST(tbl_name AS TEXT) || char(10)
                    || COALESCE(CAST(sql AS TEXT), '') FROM sqlite_schema LIMIT 10000
                """
        ).map { Array($0.utf8) }
    }
}

/// A limit on the steps that SQLite may take on an uploaded file. In a damaged file, pages can refer to the same pages
/// many times over, so that a scan of a few pages has more rows than it could ever read.
private final class StepBudget: Sendable {
    /// The steps between two looks at the budget.
    private static let stride = 100_000
    /// The steps for a file of any size, and those for each page. A check of all rows and indexes takes a few thousand for
    /// a page of 4 kB.
    private static let base = 200_000_000
    private static let stepsPerPage = 100_000
    private static let pageBytes = 4096

    /// The strides that are left.
    private let left: NIOLockedValueBox<Int>

    init(fileSize: Int) {
        left = NIOLockedValueBox((Self.base + fileSize / Self.pageBytes * Self.stepsPerPage) / Self.stride)
    }

    /// Interrupts statements of a connection once the budget is used up. The budget must live as long as the connection.
    func limit(_ database: Database) {
        sqlite3_progress_handler(
            database.sqliteConnection, Int32(Self.stride),
            { budget in
                guard let budget else { return 0 }
                return Unmanaged<StepBudget>.fromOpaque(budget).takeUnretainedValue().isUsedUp() ? 1 : 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    private func isUsedUp() -> Bool {
        left.withLockedValue { left in
            left -= 1
            return left < 0
        }
    }
}
