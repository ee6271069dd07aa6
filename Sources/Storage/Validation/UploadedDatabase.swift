import Foundation
import GRDB

/// A database file that was carried here, before anything in it is believed.
package enum UploadedDatabase {
    /// Finds out whether a file is a database of ours, whole, and no newer than this program; brings its schema up to date.
    ///
    /// The schema is compared before anything else is done with the file: what runs afterwards, our migrations included, meets no
    /// trigger, view, index or constraint of somebody else's. Of the rows nothing is known yet but that they can be read.
    ///
    /// - Throws: ``StorageError/foreign(_:)`` with what is wrong with it, ``StorageError/newerSchema(path:found:known:)``.
    package static func prepare(_ path: String) throws {
        let handle = FileHandle(forReadingAtPath: path)
        defer { try? handle?.close() }
        guard try handle?.read(upToCount: 16) == Data("SQLite format 3\0".utf8) else {
            throw StorageError.foreign("world.sqlite is no SQLite database")
        }
        do {
            var configuration = Configuration.plainFile
            configuration.prepareDatabase {
                try $0.execute(
                    sql: "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA journal_mode = DELETE")
            }
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            defer { try? queue.close() }
            let applied = try queue.writeWithoutTransaction(checkSchema)
            if applied < Schema.migrator.migrations.count { try Schema.migrator.migrate(queue) }
            let verdict = try queue.writeWithoutTransaction { database in
                // Indexes are looked through too; with more pages in memory that is not a read of the disk for each entry.
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

    /// Compares a file's schema with that of the version it says it has; answers how many migrations it went through.
    private static func checkSchema(_ database: Database) throws -> Int {
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
        if let alien { throw StorageError.foreign("world.sqlite holds the \(alien), which no world has") }
        guard try database.tableExists("world"), try database.tableExists("grdb_migrations") else {
            throw StorageError.foreign("world.sqlite is a database, but no world")
        }
        let known = Schema.migrator.migrations
        let applied = try String.fetchAll(
            database, sql: "SELECT CAST(identifier AS TEXT) FROM grdb_migrations ORDER BY rowid")
        guard applied.allSatisfy(known.contains) else {
            throw StorageError.newerSchema(path: "world.sqlite", found: applied.count, known: known.count)
        }
        guard !applied.isEmpty, Set(applied) == Set(known.prefix(applied.count)) else {
            throw StorageError.foreign("world.sqlite has a schema that is not ours")
        }
        let reference = try DatabaseQueue()
        try Schema.migrator.migrate(reference, upTo: known[applied.count - 1])
        let difference = Set(try schema(database)).symmetricDifference(try reference.read(schema)).min()
        if let difference {
            throw StorageError.foreign(
                "world.sqlite has a schema that is not ours: \(difference.prefix { $0 != "\n" })")
        }
        return applied.count
    }

    /// Every object of a schema as text: SQLite's own tables too, which can change how queries are planned.
    private static func schema(_ database: Database) throws -> [String] {
        try String.fetchAll(
            database,
            sql: """
                SELECT CAST(type AS TEXT) || ' ' || CAST(name AS TEXT) || char(10) || CAST(tbl_name AS TEXT) || char(10)
                    || COALESCE(CAST(sql AS TEXT), '') FROM sqlite_schema
                """)
    }

    /// The columns of every table of a world, in order.
    package static func columns() throws -> [String: [String]] {
        let reference = try DatabaseQueue()
        try Schema.migrator.migrate(reference)
        return try reference.read { database in
            let tables = try String.fetchAll(
                database, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'grdb_migrations'")
            return try Dictionary(
                uniqueKeysWithValues: tables.map { ($0, try database.columns(in: $0).map(\.name)) })
        }
    }
}
