import Foundation
import GRDB
import GRDBSQLite
import NIOConcurrencyHelpers

/// A copy of a namespace's database, made while the namespace continues to work.
///
/// A database on disk is read on a second connection, which sees its state when the copy began. A database in memory
/// has only one connection. It is copied in steps of some pages between the namespace's jobs. The copy includes what
/// those jobs write: it has the state at the last step.
package final class DatabaseCopy: Sendable {
    /// How much of a database is copied.
    package struct Progress: Sendable, Equatable {
        /// The bytes that are copied, and those of the whole database.
        package let done: Int
        package let total: Int
    }

    private enum Way: Sendable {
        case secondConnection(DatabaseQueue)
        case incrementalBackup(BackupSteps)
    }

    private let way: Way
    private let copied = NIOLockedValueBox<Progress?>(nil)
    /// The pages of one step of ``finish(to:)``: 10 MB, after each of which the progress is known.
    private static let pages: CInt = 2_500

    /// How much of a database on disk ``finish(to:)`` has copied; `nil` before its first step.
    package var progress: Progress? { copied.withLockedValue { $0 } }

    fileprivate init(beside source: DatabaseQueue) { way = .secondConnection(source) }
    fileprivate init(steps: BackupSteps) { way = .incrementalBackup(steps) }

    /// Whether ``finish(to:)`` makes the copy, independent of the namespace's job queue. Otherwise repeated calls of
    /// ``step()`` on the job queue make it.
    package var usesSecondConnection: Bool { if case .secondConnection = way { true } else { false } }

    /// Copies the next pages of a database in memory; `true` once all are copied. Blocks for milliseconds.
    ///
    /// - Throws: ``StorageError`` if the database was closed meanwhile.
    package func step() throws -> Bool {
        switch way {
        case .secondConnection: true
        case .incrementalBackup(let steps): try steps.step()
        }
    }

    /// The copy in memory, after the last step.
    package func finished() throws -> NamespaceDatabase {
        guard case .incrementalBackup(let steps) = way else {
            preconditionFailure("a copy of a database on disk is finished to a file")
        }
        return try steps.finished()
    }

    /// Writes the copy to a new file, without a write-ahead log. Blocks until the copy is complete.
    package func finish(to path: String) throws {
        guard case .secondConnection(let source) = way else {
            preconditionFailure("a copy in steps is finished in memory")
        }
        defer { try? source.close() }
        try StorageError.converting(path) {
            try PrivateFile.create(at: path).close()
            let target = try DatabaseQueue(privateFile: path, configuration: .plainFile)
            try source.unsafeRead { from in
                let size = try Int.fetchOne(from, sql: "PRAGMA page_size") ?? 4096
                try target.writeWithoutTransaction { to in
                    // The read transaction of `beginCopy()` is open: no step sees another state.
                    try from.backup(to: to, pagesPerStep: Self.pages) { [copied] step in
                        copied.withLockedValue {
                            $0 = Progress(done: step.completedPageCount * size, total: step.totalPageCount * size)
                        }
                    }
                }
            }
            try target.close()
        }
    }

    /// Reads the state that is copied, without writing a copy to a file. Every call sees the same state. Blocks.
    package func read<Value>(_ body: (Transaction) throws -> Value) throws -> Value {
        switch way {
        case .secondConnection(let source):
            try StorageError.converting(nil) { try source.unsafeRead { try body(Transaction(database: $0)) } }
        case .incrementalBackup(let steps): try steps.finished().transaction(body)
        }
    }

    /// Cancels the copy.
    package func cancel() {
        switch way {
        case .secondConnection(let source): try? source.close()
        case .incrementalBackup(let steps): steps.cancel()
        }
    }
}

extension Configuration {
    /// The configuration for reading alone.
    static var reading: Configuration {
        var configuration = Configuration()
        configuration.readonly = true
        return configuration
    }

    /// The configuration for a file that is written once, by one connection, and renamed when it is complete.
    static var plainFile: Configuration {
        var configuration = Configuration()
        // A copy of a database with a write-ahead log has one too, until it is changed. Alone, it needs no shared memory for it.
        configuration.prepareDatabase {
            try $0.execute(sql: "PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = OFF")
        }
        return configuration
    }
}

/// A copy of a database in memory, made in steps. SQLite adds writes on the same connection to the copy.
final class BackupSteps: Sendable {
    /// The pages of one step: 40 MB, more than most databases have, copied in some milliseconds.
    private static let pages: Int32 = 10_000

    private struct State: @unchecked Sendable {
        var handle: OpaquePointer?
        var isDone = false
        var whenOver: (@Sendable () -> Void)?
    }

    private let source: DatabaseQueue
    private let target: NamespaceDatabase
    /// Used only on the source's job queue; the lock proves this to the compiler.
    private let state = NIOLockedValueBox(State())

    init(_ source: DatabaseQueue) throws {
        self.source = source
        target = try NamespaceDatabase(forCopyAt: nil)
        let handle = try target.withConnection { to in
            source.unsafeReentrantWrite { sqlite3_backup_init(to, "main", $0.sqliteConnection, "main") }
        }
        guard let handle else { throw StorageError.unavailable("the namespace cannot be copied") }
        state.withLockedValue { $0.handle = handle }
    }

    func step() throws -> Bool {
        guard let handle = state.withLockedValue({ $0.handle }) else {
            throw StorageError.unavailable("the namespace was replaced while it was being copied")
        }
        let code = try target.withConnection { _ in
            source.unsafeReentrantWrite { _ in sqlite3_backup_step(handle, Self.pages) }
        }
        switch code {
        case SQLITE_OK: return false
        case SQLITE_DONE:
            state.withLockedValue { $0.isDone = true }
            cancel()
            return true
        default:
            cancel()
            throw StorageError.unavailable("the namespace cannot be copied: \(String(cString: sqlite3_errstr(code)))")
        }
    }

    /// Ends the copy. Unless it is complete, what was copied is useless.
    func cancel() {
        let (handle, whenOver) = state.withLockedValue { state in
            defer { (state.handle, state.whenOver) = (nil, nil) }
            return (state.handle, state.whenOver)
        }
        if let handle { sqlite3_backup_finish(handle) }
        whenOver?()
    }

    /// - Parameter action: called once, when the copy is complete or cancelled.
    func whenOver(_ action: @escaping @Sendable () -> Void) {
        state.withLockedValue { $0.whenOver = action }
    }

    func finished() throws -> NamespaceDatabase {
        guard state.withLockedValue({ $0.isDone }) else {
            throw StorageError.unavailable("the namespace was replaced while it was being copied")
        }
        target.contentReplaced()
        return target
    }

    deinit { cancel() }
}

extension NamespaceDatabase {
    /// Begins a copy. Call it on the namespace's job queue, outside a transaction.
    ///
    /// - Throws: ``StorageError``.
    package func beginCopy() throws -> DatabaseCopy {
        guard let path else {
            let steps = try BackupSteps(queue())
            remember(steps)
            return DatabaseCopy(steps: steps)
        }
        // Opens an idle database again, so that its write-ahead log exists and can be read.
        _ = try queue()
        return try StorageError.converting(path) {
            var configuration = Configuration.reading
            configuration.label = "copy"
            configuration.allowsUnsafeTransactions = true
            guard isShared else {
                // No second connection can read the file: the copy is made at once, in memory.
                configuration.readonly = false
                let source = try DatabaseQueue(configuration: configuration)
                try queue().backup(to: source)
                return DatabaseCopy(beside: source)
            }
            let source = try DatabaseQueue(privateFile: path, configuration: configuration)
            try source.unsafeRead { database in
                // The read transaction stays open, and keeps its view of the database.
                try database.execute(sql: "BEGIN")
                _ = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM world")
            }
            return DatabaseCopy(beside: source)
        }
    }
}
