import Foundation
import GRDB
import GRDBSQLite
import NIOConcurrencyHelpers

/// The failures that an acknowledged write survives.
package enum Durability: String, Sendable, CaseIterable {
    /// Writes survive the end of the process for any reason. A power cut may lose the last moments of work; it does
    /// not damage the file.
    case process
    /// Writes survive a power cut too. Every commit waits for the disk.
    case powerLoss = "power-loss"
}

/// The database of one namespace: one connection, used for one call at a time.
///
/// Every call blocks the calling thread until SQLite is done, so call it from a thread that may block.
package final class NamespaceDatabase: Sendable {
    /// The connection; `nil` while it is closed because the namespace is idle.
    private let connection: NIOLockedValueBox<DatabaseQueue?>
    private let connect: @Sendable () throws -> DatabaseQueue
    /// Whether other connections can read the file beside this one: they share the index of the write-ahead log in memory that is mapped
    /// from a file, which some file systems do not have.
    let isShared: Bool
    private let closed = NIOLockedValueBox(false)
    /// Empties the write-ahead log on another thread; `nil` without a background thread, or in memory.
    private let checkpointer: Checkpointer?
    /// The path of the database file; `nil` in memory.
    package let path: String?
    /// The tables that refer to images, once they have been read. Only a copy that replaces the content changes the schema of an
    /// open database.
    private let imageTables = NIOLockedValueBox<[String]?>(nil)
    /// The texts of searches whose compiled statements are cached.
    private let searches = NIOLockedValueBox<Set<String>>([])
    /// Copies of this database in progress, if it is in memory.
    private let copies = NIOLockedValueBox<[BackupSteps]>([])

    /// Opens the database at `path`, or one in memory if it is `nil`, and migrates its schema to the current version.
    ///
    /// - Parameters:
    ///   - background: runs blocking work on another thread, so that commits need not wait for checkpoints.
    ///   - keepsOld: whether a copy of the file is kept beside it before a migration.
    ///   - migrator: the current schema.
    /// - Throws: ``StorageError``.
    package convenience init(
        path: String?, durability: Durability = .process, background: Background? = nil, keepsOld: Bool = true,
        migrator: DatabaseMigrator = Schema.migrator
    ) throws {
        try self.init(path, durability, background) { queue in
            let applied = try queue.read(migrator.appliedIdentifiers).count
            if try queue.read(migrator.hasBeenSuperseded) {
                throw StorageError.newerSchema(
                    path: path ?? "the database in memory", found: applied, known: migrator.migrations.count)
            }
            if let path, keepsOld, applied > 0, applied < migrator.migrations.count {
                try Self.copy(queue, to: "\(path).schema-\(applied)")
            }
            try migrator.migrate(queue)
        }
    }

    /// Opens an empty database whose content, schema included, a copy will replace. It costs no migration.
    package convenience init(forCopyAt path: String? = nil, durability: Durability = .process) throws {
        try self.init(path, durability, nil) { _ in }
    }

    private init(
        _ path: String?, _ durability: Durability, _ background: Background?, prepare: (DatabaseQueue) throws -> Void
    ) throws {
        self.path = path
        let hasBackground = background != nil
        do {
            var queue: DatabaseQueue
            do {
                queue = try Self.connect(path, durability, isShared: true, hasCheckpointer: hasBackground)
                isShared = true
            } catch let error as DatabaseError where Self.lacksSharedMemory.contains(error.extendedResultCode) {
                queue = try Self.connect(path, durability, isShared: false, hasCheckpointer: false)
                isShared = false
            }
            let isShared = isShared
            connect = {
                try Self.connect(path, durability, isShared: isShared, hasCheckpointer: hasBackground && isShared)
            }
            checkpointer =
                isShared ? path.flatMap { path in background.map { Checkpointer(path: path, background: $0) } } : nil
            connection = NIOLockedValueBox(queue)
            try prepare(queue)
        } catch let error as StorageError {
            throw error
        } catch {
            throw StorageError.unavailable(
                "the database \(path ?? "in memory") cannot be opened: \(StorageError.from(error))")
        }
    }

    /// The errors of a file system on which no memory can be shared: bind mounts of Docker Desktop, 9p, NFS, FUSE.
    private static let lacksSharedMemory: [ResultCode] = [
        .SQLITE_IOERR_SHMMAP, .SQLITE_IOERR_SHMOPEN, .SQLITE_IOERR_SHMSIZE, .SQLITE_IOERR_SHMLOCK,
    ]

    /// - Parameter isShared: whether other connections may read the file. A connection that has it alone keeps the index of the log in
    ///   its own memory; the lock of the directory has made sure that no other process wants it.
    private static func connect(
        _ path: String?, _ durability: Durability, isShared: Bool, hasCheckpointer: Bool
    ) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = "world"
        configuration.prepareDatabase { database in
            if !isShared { try database.execute(sql: "PRAGMA locking_mode = EXCLUSIVE") }
            // GRDB's own WAL setting creates and drops a table at every opening, so that read-only readers find
            // the log. That costs two transactions that wait for the disk.
            if let path, try String.fetchOne(database, sql: "PRAGMA journal_mode = WAL") != "wal" {
                throw StorageError.unavailable(
                    "\(path) cannot have a write-ahead log where it is; name a folder of a local disk with --data-dir, or a named volume, or "
                        + "start with --in-memory")
            }
            // Finds out whether the index of the log can be had.
            if path != nil { try database.execute(sql: "SELECT 1 FROM sqlite_master LIMIT 1") }
            // Temporary tables and statement journals are small. In files, they would need a folder beside the data's to write to.
            try database.execute(
                sql: """
                    PRAGMA temp_store = MEMORY;
                    PRAGMA synchronous = \(durability == .powerLoss ? "FULL" : "NORMAL");
                    PRAGMA wal_autocheckpoint = \(hasCheckpointer ? 40_000 : 10_000);
                    PRAGMA journal_size_limit = 50000000;
                    """)
        }
        guard let path else { return try DatabaseQueue(configuration: configuration) }
        try PrivateFile.checkFolder(at: URL(fileURLWithPath: path).deletingLastPathComponent().path)
        try PrivateFile.prepareDatabase(at: path)
        // A note describes a closed database, so it is no longer valid.
        unlink(path + NamespaceStore.noteSuffix)
        return try DatabaseQueue(privateFile: path, configuration: configuration)
    }

    /// The connection; opened again if it was closed while idle.
    func queue() throws -> DatabaseQueue {
        try connection.withLockedValue { connection in
            if let connection { return connection }
            let queue = try StorageError.converting(path, connect)
            connection = queue
            return queue
        }
    }

    /// Passes SQLite's connection to `body`, for calls that GRDB does not offer.
    func withConnection<Value>(_ body: (OpaquePointer?) throws -> Value) throws -> Value {
        try queue().writeWithoutTransaction { try body($0.sqliteConnection) }
    }

    /// Registers a copy, so that ``close()`` cancels it first.
    func remember(_ copy: BackupSteps) {
        copies.withLockedValue { $0.append(copy) }
        let id = ObjectIdentifier(copy)
        copy.whenOver { [copies] in copies.withLockedValue { $0.removeAll { ObjectIdentifier($0) == id } } }
    }

    /// Whether ``close()`` was called.
    package var isClosed: Bool { closed.withLockedValue { $0 } }

    /// Whether the connection is open.
    package var isOpen: Bool { connection.withLockedValue { $0 != nil } }

    /// Closes the connection of a database on disk; the next use opens it again. Must not run while the database is
    /// in use.
    package func closeIdleConnection() throws {
        guard path != nil else { return }
        checkpointer?.closeIdleConnection()
        try connection.withLockedValue { connection in
            try StorageError.converting(path) { try connection?.close() }
            connection = nil
            searches.withLockedValue { $0 = [] }
        }
    }

    /// The number of compiled statements of the connection; for tests.
    package func statementCount() throws -> Int {
        try withConnection { connection in
            var (count, statement) = (0, sqlite3_next_stmt(connection, nil))
            while statement != nil {
                count += 1
                statement = sqlite3_next_stmt(connection, statement)
            }
            return count
        }
    }

    /// Ends a transaction that could not be rolled back. A database on disk is closed for it; the next use opens it again.
    package func reconnect() throws {
        guard path == nil else { return try closeIdleConnection() }
        try StorageError.converting(nil) {
            try queue().writeWithoutTransaction { if $0.isInsideTransaction { try $0.execute(sql: "ROLLBACK") } }
        }
    }

    /// Copies the database before a migration. An existing copy, from a migration that was interrupted, is left as it
    /// is.
    private static func copy(_ queue: DatabaseQueue, to path: String) throws {
        guard try !PrivateFile.exists(at: path) else { return }
        let fresh = path + ".new"
        // A file that stays fails the creation below, which says why.
        try? FileManager.default.removeItem(atPath: fresh)
        try PrivateFile.create(at: fresh).close()
        let target = try DatabaseQueue(privateFile: fresh)
        try queue.backup(to: target)
        try target.close()
        try FileManager.default.moveItem(atPath: fresh, toPath: path)
    }

    /// Runs `body` in one transaction and commits it. Rolls back if `body` throws or the commit fails.
    ///
    /// - Throws: ``StorageError`` if storage failed; any error that `body` throws.
    package func transaction<Value>(_ body: (Transaction) throws -> Value) throws -> Value {
        try queue().writeWithoutTransaction { database in
            do {
                try database.cachedStatement(sql: "BEGIN").execute()
                let value = try body(Transaction(database: database, knownImageTables: imageTables, searches: searches))
                try database.cachedStatement(sql: "COMMIT").execute()
                checkpointer?.committed(pages: Self.writtenPages(database))
                return value
            } catch {
                if database.isInsideTransaction {
                    // The error that is thrown tells what failed. SQLite ends the transaction with the connection.
                    try? database.execute(sql: "ROLLBACK")
                }
                throw error is DatabaseError ? StorageError.from(error, path) : error
            }
        }
    }

    /// The text of an error of this database, with the database's path in front if it is on disk.
    package func text(of error: any Error) -> String {
        let text = "\(error)"
        guard let path, !text.utf8.starts(with: path.utf8) else { return text }
        return "\(path): \(text)"
    }

    /// The number of pages written since the last call.
    private static func writtenPages(_ database: Database) -> Int {
        var pages: Int32 = 0
        var highest: Int32 = 0
        sqlite3_db_status(database.sqliteConnection, SQLITE_DBSTATUS_CACHE_WRITE, &pages, &highest, 1)
        return Int(pages)
    }

    /// SQLite's page cache in kilobytes: its default, and the size for bulk writes.
    private static let defaultCache = 2_000
    private static let bulkCache = 64_000

    /// Prepares for a bulk write, or ends one. A bulk write empties the log less often, because it writes the same
    /// pages again and again. It keeps more pages in memory, because indexes over random ids change everywhere.
    package func setBulk(_ isBulk: Bool, _ transaction: Transaction) throws {
        checkpointer?.setBulk(isBulk)
        try StorageError.converting(path) {
            try transaction.database.execute(
                sql: "PRAGMA cache_size = -\(isBulk ? Self.bulkCache : Self.defaultCache); PRAGMA shrink_memory")
        }
    }

    /// Starts a checkpoint if nothing was written since the last call. Does not wait for it. Call it regularly.
    package func checkpointIfIdle() {
        checkpointer?.checkpointIfIdle()
    }

    /// Copies the whole database into `other`, and overwrites it.
    package func copy(to other: NamespaceDatabase) throws {
        try StorageError.converting(path) { try queue().backup(to: other.queue()) }
        other.contentReplaced()
    }

    /// Drops what is known of the schema, after a copy has replaced the content.
    func contentReplaced() {
        imageTables.withLockedValue { $0 = nil }
    }

    /// Moves the write-ahead log into the database file, so that the file alone is complete.
    package func checkpoint() throws {
        let queue = try queue()
        let run = { try queue.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) } }
        // SQLite allows one checkpoint at a time; a second one finds the database locked.
        try StorageError.converting(path) {
            if let checkpointer { try checkpointer.whileNoneRuns(run) } else { try run() }
        }
    }

    /// Closes the connection of a database that will be removed, without waiting for the disk.
    package func abandon() {
        guard isOpen else { return }
        // The files are removed next, whatever is in them.
        try? withConnection { _ = sqlite3_exec($0, "PRAGMA synchronous = OFF", nil, nil, nil) }
        try? close()
    }

    /// Closes the connection permanently and cancels copies in progress. The database cannot be used afterwards.
    package func close() throws {
        closed.withLockedValue { $0 = true }
        checkpointer?.close()
        for copy in copies.withLockedValue({ $0 }) { copy.cancel() }
        try StorageError.converting(path) { try connection.withLockedValue { try $0?.close() } }
    }
}

/// An open transaction on a namespace's database. Each feature adds its named statements as methods.
@usableFromInline
package struct Transaction {
    /// The connection, for statements that the methods below do not offer.
    @usableFromInline
    package let database: Database
    /// The tables that refer to images, once they have been read. The transactions of a ``NamespaceDatabase`` share them; a
    /// transaction on a file has its own.
    var knownImageTables = NIOLockedValueBox<[String]?>(nil)

    /// The texts of searches whose compiled statements are cached. The transactions of a ``NamespaceDatabase`` share them.
    var searches = NIOLockedValueBox<Set<String>>([])
    /// The maximum number of those texts.
    private static let maxSearches = 100

    /// Whether the statement of a search is cached, or may be from now on. The cache never drops one, and clients choose what they
    /// search for: the first texts are cached, later ones are compiled for each search, which takes a fraction of a millisecond.
    package func mayCache(_ sql: String) -> Bool {
        searches.withLockedValue { searches in
            if searches.contains(sql) { return true }
            guard searches.count < Self.maxSearches else { return false }
            searches.insert(sql)
            return true
        }
    }

    /// Whether SQLite still has the transaction open. A full disk or an I/O error ends it.
    package var isOpen: Bool { database.isInsideTransaction }

    /// Runs `body` inside a savepoint. If it throws, its writes are undone and the error is rethrown.
    ///
    /// GRDB has its own savepoints, and does not know of these.
    ///
    /// - Throws: ``StorageError`` if the savepoint itself failed; any error that `body` throws.
    @inlinable
    package func savepoint<Value>(_ body: () throws -> Value) throws -> Value {
        try execute("SAVEPOINT job")
        do {
            let value = try body()
            try execute("RELEASE job")
            return value
        } catch {
            throw try undoSavepoint(after: error)
        }
    }

    /// Undoes the writes since the savepoint.
    ///
    /// - Returns: the error to throw.
    @usableFromInline
    func undoSavepoint(after error: any Error) throws -> any Error {
        if isOpen {
            try run("ROLLBACK TO job")
            try run("RELEASE job")
        }
        return error is DatabaseError ? StorageError.from(error) : error
    }

    /// Executes a cached statement without arguments.
    @usableFromInline
    func execute(_ sql: String) throws { try run(sql) }

    /// Executes a cached statement.
    package func run(_ sql: String, _ arguments: [any ColumnValue] = []) throws {
        try read(sql, arguments) { try $0.run() }
    }

    /// The first row of a cached statement, read by `decode`; `nil` if there is none.
    package func first<Value>(
        _ sql: String, _ arguments: [any ColumnValue] = [], _ decode: (borrowing DirectStatement) throws -> Value
    ) throws -> Value? {
        try read(sql, arguments) { row in try row.next() ? try decode(row) : nil }
    }

    /// Every row of a cached statement, read by `decode`.
    package func all<Value>(
        _ sql: String, _ arguments: [any ColumnValue] = [], _ decode: (borrowing DirectStatement) throws -> Value
    ) throws -> [Value] {
        try read(sql, arguments) { row in
            var values: [Value] = []
            while try row.next() { values.append(try decode(row)) }
            return values
        }
    }

    /// Binds the arguments of a statement, and steps through its rows with `body`.
    ///
    /// - Parameter isCommon: whether the statement is cached. A statement whose text is rarely repeated is not.
    package func read<Value>(
        _ sql: String, _ arguments: [any ColumnValue] = [], isCommon: Bool = true,
        _ body: (borrowing DirectStatement) throws -> Value
    ) throws -> Value {
        try statement(sql, isCommon: isCommon) { row in
            guard arguments.count == row.argumentCount else {
                // A missing argument would have the value of the statement's last use.
                throw StorageError.damaged("\(sql) takes \(row.argumentCount) arguments, got \(arguments.count)")
            }
            for (index, argument) in arguments.enumerated() { try argument.bind(to: row, at: CInt(index + 1)) }
            return try body(row)
        }
    }

    /// Passes a statement to `body`, which binds its arguments.
    func statement<Value>(
        _ sql: String, isCommon: Bool = true, _ body: (borrowing DirectStatement) throws -> Value
    ) throws -> Value {
        do {
            let statement = try isCommon ? database.cachedStatement(sql: sql) : database.makeStatement(sql: sql)
            return try body(DirectStatement(database, statement))
        } catch {
            throw StorageError.from(error)
        }
    }
}
