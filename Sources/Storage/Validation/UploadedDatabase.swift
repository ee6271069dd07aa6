import Foundation
import GRDB

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
        let handle = FileHandle(forReadingAtPath: path)
        defer { try? handle?.close() }
        guard try handle?.read(upToCount: 16) == Data("SQLite format 3\0".utf8) else {
            throw StorageError.foreign("world.sqlite is not an SQLite database")
        }
        do {
            var configuration = Configuration.plainFile
            configuration.prepareDatabase {
                try $0.execute(
                    sql: "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA journal_mode = DELETE")
            }
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            defer { try? queue.close() }
            let applied = try queue.writeWithoutTransaction { try checkSchema($0, migrator) }
            if applied < migrator.migrations.count { try migrator.migrate(queue) }
            let verdict = try queue.writeWithoutTransaction { database in
                // The check reads indexes too. With more pages in memory, it does not read the disk for each entry.
                try database.execute(sql: "PRAGMA cache_size = -64000")
                return try String.fetchOne(database, sql: "PRAGMA integrity_check(1)")
            }
            guard verdict == "ok" else {
                throw StorageError.foreign("world.sqlite is damaged: \(verdict ?? "it cannot be checked")")
            }
        } catch let error as DatabaseError {
            throw StorageError.foreign("world.sqlite is broken: \(error.message ?? "\(error.resultCode)")")
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
        let applied = try String.fetchAll(
            database, sql: "SELECT CAST(identifier AS TEXT) FROM grdb_migrations ORDER BY rowid")
        guard applied.allSatisfy(known.contains) else {
            throw StorageError.newerSchema(path: "world.sqlite", found: applied.count, known: known.count)
        }
        guard !applied.isEmpty, Set(applied) == Set(known.prefix(applied.count)) else {
            throw StorageError.foreign("world.sqlite has a schema that entrupy-sim did not write")
        }
        let reference = try DatabaseQueue()
        try migrator.migrate(reference, upTo: known[applied.count - 1])
        let difference = Set(try schema(database)).symmetricDifference(try reference.read(schema)).min()
        if let difference {
            throw StorageError.foreign(
                "world.sqlite has a schema that entrupy-sim did not write: \(difference.prefix { $0 != "\n" })")
        }
        return applied.count
    }

    /// All objects of a schema as text. Includes SQLite's own tables, because they can change how queries are
    /// planned.
    private static func schema(_ database: Database) throws -> [String] {
        try String.fetchAll(
            database,
            sql: """
                SELECT CAST(type AS TEXT) || ' ' || CAST(name AS TEXT) || char(10) || CAST(tbl_name AS TEXT) || char(10)
                    || COALESCE(CAST(sql AS TEXT), '') FROM sqlite_schema
                """)
    }

    /// The columns of every table of a namespace's database, in order.
    package static func columns(migrations: [Migration] = []) throws -> [String: [String]] {
        let reference = try DatabaseQueue()
        try Schema.migrator(appending: migrations).migrate(reference)
        return try reference.read { database in
            let tables = try String.fetchAll(
                database, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'grdb_migrations'")
            return try Dictionary(
                uniqueKeysWithValues: tables.map { ($0, try database.columns(in: $0).map(\.name)) })
        }
    }
}
