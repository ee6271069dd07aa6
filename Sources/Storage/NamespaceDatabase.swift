import Foundation
import GRDB
import GRDBSQLite
import NIOConcurrencyHelpers

/// How much of what was acknowledged a power cut may take.
package enum Durability: String, Sendable, CaseIterable {
    /// Survives the death of the process, whatever kills it; a power cut may take the last moments, never the file.
    case process
    /// Survives a power cut too; every commit waits for the disk.
    case powerLoss = "power-loss"
}

/// One namespace's database: one connection, one line of work.
///
/// Every call blocks the calling thread until SQLite is done, so call it from a thread that may block.
package final class NamespaceDatabase: Sendable {
    /// The connection; nil while the world is set aside.
    private let connection: NIOLockedValueBox<DatabaseQueue?>
    private let connect: @Sendable () throws -> DatabaseQueue
    private let closed = NIOLockedValueBox(false)
    /// Empties the write-ahead log beside the line of work; nil where nobody lends it a thread, or in memory.
    private let checkpointer: Checkpointer?
    /// The database file, or nil in memory.
    package let path: String?
    /// Copies of a world in memory that are being made.
    private let copies = NIOLockedValueBox<[BackupSteps]>([])

    /// Opens the database at `path`, or one in memory where it is nil, and brings its schema up to date.
    ///
    /// - Parameters:
    ///   - background: runs what blocks on another thread, so that commits need not wait for checkpoints.
    ///   - keepsOld: whether a copy from before a migration is kept beside it.
    /// - Throws: ``StorageError``.
    package init(
        path: String?, durability: Durability = .process, background: Background? = nil, keepsOld: Bool = true
    ) throws {
        self.path = path
        checkpointer = path.flatMap { path in background.map { Checkpointer(path: path, background: $0) } }
        let hasCheckpointer = background != nil
        connect = {
            if let path { try PrivateFile.prepareDatabase(at: path) }
            // What a note says of the world is no longer true once it is open.
            if let path { unlink(path + NamespaceStore.noteSuffix) }
            var configuration = Configuration()
            configuration.label = "world"
            configuration.prepareDatabase { database in
                // The library's own setting makes a table and drops it at every opening, so that the log is there for readers that
                // may not write: two transactions' worth of waiting for the disk.
                if let path, try String.fetchOne(database, sql: "PRAGMA journal_mode = WAL") != "wal" {
                    throw StorageError.unavailable("\(path) cannot have a write-ahead log where it is")
                }
                try database.execute(
                    sql: """
                        PRAGMA synchronous = \(durability == .powerLoss ? "FULL" : "NORMAL");
                        PRAGMA wal_autocheckpoint = \(hasCheckpointer ? 40_000 : 10_000);
                        PRAGMA journal_size_limit = 50000000;
                        """)
            }
            return if let path {
                try DatabaseQueue(path: path, configuration: configuration)
            } else {
                try DatabaseQueue(configuration: configuration)
            }
        }
        do {
            let queue = try connect()
            connection = NIOLockedValueBox(queue)
            let migrator = Schema.migrator
            let applied = try queue.read(migrator.appliedIdentifiers).count
            if try queue.read(migrator.hasBeenSuperseded) {
                throw StorageError.newerSchema(
                    path: path ?? "the database in memory", found: applied, known: migrator.migrations.count)
            }
            if let path, keepsOld, applied > 0, applied < migrator.migrations.count {
                try Self.copy(queue, to: "\(path).schema-\(applied)")
            }
            try migrator.migrate(queue)
        } catch let error as StorageError {
            throw error
        } catch {
            throw StorageError.unavailable(
                "the database \(path ?? "in memory") cannot be opened: \(StorageError.from(error))")
        }
    }

    /// The connection, made anew where the world was set aside.
    func queue() throws -> DatabaseQueue {
        try connection.withLockedValue { connection in
            if let connection { return connection }
            do {
                let queue = try connect()
                connection = queue
                return queue
            } catch {
                throw StorageError.from(error, path)
            }
        }
    }

    /// The connection itself, for what the wrapper around the library lacks.
    func withConnection<Value>(_ body: (OpaquePointer?) throws -> Value) throws -> Value {
        try queue().writeWithoutTransaction { try body($0.sqliteConnection) }
    }

    /// Ends a copy before the connection is closed.
    func remember(_ copy: BackupSteps) {
        copies.withLockedValue { $0.append(copy) }
        let id = ObjectIdentifier(copy)
        copy.whenOver { [copies] in copies.withLockedValue { $0.removeAll { ObjectIdentifier($0) == id } } }
    }

    /// Whether it was closed for good.
    package var isClosed: Bool { closed.withLockedValue { $0 } }

    /// Whether there is a connection.
    package var isOpen: Bool { connection.withLockedValue { $0 != nil } }

    /// Closes the connection of a world that is on disk, until it is used again. Not while something uses it.
    package func closeIdleConnection() throws {
        guard path != nil else { return }
        checkpointer?.closeIdleConnection()
        try connection.withLockedValue { connection in
            do {
                try connection?.close()
            } catch {
                throw StorageError.from(error, path)
            }
            connection = nil
        }
    }

    /// Keeps a database as it is before a migration, unless a copy is there from an attempt that was cut off.
    private static func copy(_ queue: DatabaseQueue, to path: String) throws {
        guard !FileManager.default.fileExists(atPath: path) else { return }
        let fresh = path + ".new"
        try? FileManager.default.removeItem(atPath: fresh)
        try PrivateFile.create(at: fresh).close()
        let target = try DatabaseQueue(path: fresh)
        try queue.backup(to: target)
        try target.close()
        try FileManager.default.moveItem(atPath: fresh, toPath: path)
    }

    /// Runs `body` in one transaction and commits it; rolls back where it throws or the commit fails.
    ///
    /// - Throws: ``StorageError`` where storage failed, and whatever `body` throws.
    package func transaction<Value>(_ body: (Transaction) throws -> Value) throws -> Value {
        try queue().writeWithoutTransaction { database in
            do {
                try database.cachedStatement(sql: "BEGIN").execute()
                let value = try body(Transaction(database: database))
                try database.cachedStatement(sql: "COMMIT").execute()
                checkpointer?.committed(pages: Self.writtenPages(database))
                return value
            } catch {
                if database.isInsideTransaction {
                    try? database.execute(sql: "ROLLBACK")
                }
                throw error is DatabaseError ? StorageError.from(error, path) : error
            }
        }
    }

    /// An error of this database, with the file it is about.
    package func text(of error: any Error) -> String {
        let text = "\(error)"
        guard let path, !text.utf8.starts(with: path.utf8) else { return text }
        return "\(path): \(text)"
    }

    /// How many pages were written since this was last asked.
    private static func writtenPages(_ database: Database) -> Int {
        var pages: Int32 = 0
        var highest: Int32 = 0
        sqlite3_db_status(database.sqliteConnection, SQLITE_DBSTATUS_CACHE_WRITE, &pages, &highest, 1)
        return Int(pages)
    }

    /// How many kilobytes of pages SQLite keeps in memory: its own choice, and while very many rows are written.
    private static let defaultCache = 2_000
    private static let bulkCache = 64_000

    /// Whether very many rows are being written. Then the log is emptied less often, since the same pages are written at
    /// every turn, and more pages are kept in memory, since the indexes over random ids are written all over.
    package func setBulk(_ isBulk: Bool, _ transaction: Transaction) throws {
        checkpointer?.setBulk(isBulk)
        do {
            try transaction.database.execute(
                sql: "PRAGMA cache_size = -\(isBulk ? Self.bulkCache : Self.defaultCache); PRAGMA shrink_memory")
        } catch {
            throw StorageError.from(error, path)
        }
    }

    /// To be called now and then: has what the write-ahead log holds moved into the database file where nothing was written
    /// since the last call. Does not wait for it.
    package func checkpointIfIdle() {
        checkpointer?.checkpointIfIdle()
    }

    /// Copies the whole database into `other`, which is overwritten.
    package func copy(to other: NamespaceDatabase) throws {
        do {
            try queue().backup(to: other.queue())
        } catch {
            throw StorageError.from(error, path)
        }
    }

    /// Moves what the write-ahead log holds into the database file, so that the file alone is whole.
    package func checkpoint() throws {
        do {
            let queue = try queue()
            // Two at a time are one too many for SQLite: the second finds the database locked.
            try withoutCheckpointer { try queue.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) } }
        } catch {
            throw StorageError.from(error, path)
        }
    }

    private func withoutCheckpointer(_ body: () throws -> Void) throws {
        if let checkpointer { try checkpointer.whileNoneRuns(body) } else { try body() }
    }

    /// Closes the connection of a world that will be removed, without waiting for the disk.
    package func abandon() {
        guard isOpen else { return }
        try? withConnection { _ = sqlite3_exec($0, "PRAGMA synchronous = OFF", nil, nil, nil) }
        try? close()
    }

    /// Closes the connection; the database cannot be used afterwards.
    package func close() throws {
        closed.withLockedValue { $0 = true }
        checkpointer?.close()
        for copy in copies.withLockedValue({ $0 }) { copy.cancel() }
        do {
            try connection.withLockedValue { try $0?.close() }
        } catch {
            throw StorageError.from(error, path)
        }
    }
}

/// One open transaction on a world. The named statements of each capability are its methods.
package struct Transaction {
    let database: Database

    /// Whether SQLite still holds the transaction open; a full disk or an I/O error ends it.
    package var isOpen: Bool { database.isInsideTransaction }

    /// Runs `body` inside a savepoint: where it throws, what it wrote is undone and the error goes on.
    ///
    /// The library has savepoints of its own, and never hears of these.
    ///
    /// - Throws: ``StorageError`` where the savepoint itself failed, and whatever `body` throws.
    package func savepoint<Value>(_ body: () throws -> Value) throws -> Value {
        try runDirectly("SAVEPOINT job")
        do {
            let value = try body()
            try runDirectly("RELEASE job")
            return value
        } catch {
            if isOpen {
                try runDirectly("ROLLBACK TO job")
                try runDirectly("RELEASE job")
            }
            throw error is DatabaseError ? StorageError.from(error) : error
        }
    }

    /// Executes a cached statement.
    func run(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws {
        do {
            try database.cachedStatement(sql: sql).execute(arguments: arguments)
        } catch {
            throw StorageError.from(error)
        }
    }

    /// Executes a cached statement without the library's part in it.
    ///
    /// - Parameter bind: gives the arguments.
    func runDirectly(_ sql: String, _ bind: (borrowing DirectStatement) throws -> Void = { _ in }) throws {
        do {
            let statement = try DirectStatement(database, sql: sql)
            try bind(statement)
            try statement.run()
        } catch {
            throw StorageError.from(error)
        }
    }

    /// The first row of a cached statement, read by `decode`.
    func first<Value>(
        _ sql: String, _ arguments: StatementArguments = StatementArguments(), _ decode: (Row) -> Value
    ) throws -> Value? {
        do {
            let rows = try Row.fetchCursor(database.cachedStatement(sql: sql), arguments: arguments)
            let value = try rows.next().map(decode)
            // Step to the end, so that the cached statement is free for its next user.
            while try rows.next() != nil {}
            return value
        } catch {
            throw StorageError.from(error)
        }
    }

    /// Every row of a statement, read by `decode`.
    ///
    /// - Parameter isCommon: whether the statement is kept for the next time; one whose text hardly comes again is not.
    func all<Value>(
        _ sql: String, _ arguments: StatementArguments = StatementArguments(), isCommon: Bool = true,
        _ decode: (Row) -> Value
    ) throws -> [Value] {
        do {
            let statement = try isCommon ? database.cachedStatement(sql: sql) : database.makeStatement(sql: sql)
            let rows = try Row.fetchCursor(statement, arguments: arguments)
            var values: [Value] = []
            while let row = try rows.next() {
                values.append(decode(row))
            }
            return values
        } catch {
            throw StorageError.from(error)
        }
    }
}
