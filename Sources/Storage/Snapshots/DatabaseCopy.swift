import Foundation
import GRDB
import GRDBSQLite
import NIOConcurrencyHelpers

/// A copy of a world that is being made while the world goes on.
///
/// A world on disk is read on a second connection, which sees it as it was when the copy began. A world in memory has one connection
/// only: it is copied some pages at a time between its jobs, and what they write meanwhile is in the copy too, which is the world
/// as it is when the last page was copied.
package final class DatabaseCopy: Sendable {
    private enum Way: Sendable {
        case beside(DatabaseQueue)
        case inSteps(BackupSteps)
    }

    private let way: Way

    fileprivate init(beside source: DatabaseQueue) { way = .beside(source) }
    fileprivate init(steps: BackupSteps) { way = .inSteps(steps) }

    /// Whether ``finish(to:)`` copies without the world's line of work; where not, ``step()`` does, again and again, on that line.
    package var isBeside: Bool { if case .beside = way { true } else { false } }

    /// Copies some more pages of a world in memory; true once all are copied. Blocks for milliseconds.
    ///
    /// - Throws: ``StorageError`` where the world was closed meanwhile.
    package func step() throws -> Bool {
        switch way {
        case .beside: true
        case .inSteps(let steps): try steps.step()
        }
    }

    /// The copy in memory, once all steps are done.
    package func finished() throws -> NamespaceDatabase {
        guard case .inSteps(let steps) = way else {
            preconditionFailure("a copy beside the world is finished to a file")
        }
        return try steps.finished()
    }

    /// Writes the copy to a file that is not there yet: one file, without a write-ahead log. Blocks for as long as it takes.
    package func finish(to path: String) throws {
        guard case .beside(let source) = way else { preconditionFailure("a copy in steps is finished in memory") }
        defer { try? source.close() }
        do {
            try PrivateFile.create(at: path).close()
            let target = try DatabaseQueue(path: path, configuration: .plainFile)
            try source.unsafeRead { from in
                try target.writeWithoutTransaction { to in try from.backup(to: to) }
            }
            try target.close()
        } catch {
            throw StorageError.from(error, path)
        }
    }

    /// Gives a copy up.
    package func cancel() {
        switch way {
        case .beside(let source): try? source.close()
        case .inSteps(let steps): steps.cancel()
        }
    }
}

extension Configuration {
    /// For a file that is written once, by nobody else, and given its name when it is whole.
    static var plainFile: Configuration {
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = OFF") }
        return configuration
    }
}

/// A copy of a database in memory, some pages at a time. The library keeps it up with what is written by the same connection.
final class BackupSteps: Sendable {
    /// 40 MB: some milliseconds, and more than most worlds have.
    private static let pages: Int32 = 10_000

    private struct State: @unchecked Sendable {
        var handle: OpaquePointer?
        var isDone = false
        var whenOver: (@Sendable () -> Void)?
    }

    private let source: DatabaseQueue
    private let target: NamespaceDatabase
    /// Touched on the source's line of work alone; the lock tells the compiler so.
    private let state = NIOLockedValueBox(State())

    init(_ source: DatabaseQueue) throws {
        self.source = source
        target = try NamespaceDatabase(path: nil)
        let handle = try target.withConnection { to in
            source.unsafeReentrantWriteConnection { from in sqlite3_backup_init(to, "main", from, "main") }
        }
        guard let handle else { throw StorageError.unavailable("the world cannot be copied") }
        state.withLockedValue { $0.handle = handle }
    }

    func step() throws -> Bool {
        guard let handle = state.withLockedValue({ $0.handle }) else {
            throw StorageError.unavailable("the world was replaced while it was copied")
        }
        let code = try target.withConnection { _ in
            source.unsafeReentrantWriteConnection { _ in sqlite3_backup_step(handle, Self.pages) }
        }
        switch code {
        case SQLITE_OK: return false
        case SQLITE_DONE:
            state.withLockedValue { $0.isDone = true }
            cancel()
            return true
        default:
            cancel()
            throw StorageError.unavailable("the world cannot be copied: \(String(cString: sqlite3_errstr(code)))")
        }
    }

    /// Ends it; what is copied so far is of no use unless all was.
    func cancel() {
        let (handle, whenOver) = state.withLockedValue { state in
            defer { (state.handle, state.whenOver) = (nil, nil) }
            return (state.handle, state.whenOver)
        }
        if let handle { sqlite3_backup_finish(handle) }
        whenOver?()
    }

    /// - Parameter action: called once, when the copy is whole or given up.
    func whenOver(_ action: @escaping @Sendable () -> Void) {
        state.withLockedValue { $0.whenOver = action }
    }

    func finished() throws -> NamespaceDatabase {
        guard state.withLockedValue({ $0.isDone }) else {
            throw StorageError.unavailable("the world was replaced while it was copied")
        }
        return target
    }

    deinit { cancel() }
}

extension DatabaseQueue {
    fileprivate func unsafeReentrantWriteConnection<Value>(_ body: (OpaquePointer?) -> Value) -> Value {
        unsafeReentrantWrite { body($0.sqliteConnection) }
    }
}

extension NamespaceDatabase {
    /// Begins a copy. To be called on the world's line of work, outside a transaction.
    ///
    /// - Throws: ``StorageError``.
    package func beginCopy() throws -> DatabaseCopy {
        guard let path else {
            let steps = try BackupSteps(queue())
            remember(steps)
            return DatabaseCopy(steps: steps)
        }
        // A world that was set aside is opened again, so that its write-ahead log is there to be read.
        _ = try queue()
        do {
            var configuration = Configuration()
            configuration.label = "copy"
            configuration.readonly = true
            configuration.allowsUnsafeTransactions = true
            let source = try DatabaseQueue(path: path, configuration: configuration)
            try source.unsafeRead { database in
                // The read transaction stays open, and with it what it sees.
                try database.execute(sql: "BEGIN")
                _ = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM world")
            }
            return DatabaseCopy(beside: source)
        } catch {
            throw StorageError.from(error, path)
        }
    }
}
