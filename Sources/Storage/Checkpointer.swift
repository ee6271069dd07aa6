import GRDB
import NIOConcurrencyHelpers

/// Runs blocking work on another thread.
package typealias Background = @Sendable (@escaping @Sendable () -> Void) -> Void

/// Moves the write-ahead log into the database file, on its own connection and thread.
///
/// A checkpoint waits for the disk. On the connection that writes, it would delay every later commit. SQLite's own
/// checkpoint, at a larger size of the log, remains as the last resort if this one is too slow.
final class Checkpointer: Sendable {
    private struct State {
        var pages = 0
        /// The value of `pages` at the last call of ``checkpointIfIdle()``.
        var pagesBefore = 0
        var isBulk = false
        /// Whether a checkpoint runs or waits for its thread.
        var isRunning = false
        /// Whether the namespace has closed its database since its last commit. SQLite then did the work of a checkpoint that
        /// still waits. The file may be gone by the time it runs, and it must not create an empty one.
        var isIdle = false
        var isClosed = false
    }

    /// The pages after which the log is emptied: normally, and during a bulk write.
    private static let defaultInterval = 8_000
    private static let bulkInterval = 32_000

    private let path: String
    private let background: Background
    private let state = NIOLockedValueBox(State())
    /// Locked while a checkpoint runs.
    private let connection = NIOLockedValueBox<DatabaseQueue?>(nil)

    init(path: String, background: @escaping Background) {
        self.path = path
        self.background = background
    }

    func setBulk(_ isBulk: Bool) {
        state.withLockedValue { $0.isBulk = isBulk }
    }

    /// Counts the pages of a commit, and starts a checkpoint if there are enough.
    func committed(pages: Int) {
        start(thenClose: false) { state in
            state.pages += pages
            state.isIdle = false
            return state.pages >= (state.isBulk ? Self.bulkInterval : Self.defaultInterval)
        }
    }

    /// Starts a checkpoint if there are pages to move and none was written since the last call. Call it regularly.
    func checkpointIfIdle() {
        start(thenClose: true) { state in
            defer { state.pagesBefore = state.pages }
            return state.pages > 0 && state.pages == state.pagesBefore
        }
    }

    /// Starts a checkpoint if `isNeeded`, and none runs.
    ///
    /// - Parameter thenClose: whether the connection is closed afterwards, because it will not be needed soon. There
    ///   can be a thousand idle namespaces.
    private func start(thenClose: Bool, if isNeeded: (inout State) -> Bool) {
        let mustRun = state.withLockedValue { state in
            guard isNeeded(&state), !state.isRunning, !state.isClosed else { return false }
            (state.pages, state.pagesBefore) = (0, 0)
            state.isRunning = true
            return true
        }
        guard mustRun else { return }
        background {
            self.run()
            if thenClose { self.closeConnection() }
            self.state.withLockedValue { $0.isRunning = false }
        }
    }

    /// Runs a checkpoint. Failure is ignored: the log grows until SQLite's own checkpoint, and that commit reports
    /// the error.
    private func run() {
        connection.withLockedValue { connection in
            guard !state.withLockedValue({ $0.isClosed || $0.isIdle }) else { return }
            if connection == nil {
                var configuration = Configuration()
                configuration.label = "checkpointer"
                // Without a connection the log grows, as the method says.
                connection = try? DatabaseQueue(privateFile: path, configuration: configuration)
            }
            // A passive checkpoint that fails changes nothing.
            try? connection?.writeWithoutTransaction { _ = try $0.checkpoint(.passive) }
        }
    }

    /// Runs `body` without a checkpoint at the same time: waits for one that is running, and blocks later ones.
    func whileNoneRuns(_ body: () throws -> Void) rethrows {
        try connection.withLockedValue { _ in try body() }
    }

    /// Closes the checkpointer permanently. Waits for a checkpoint that is running.
    func close() {
        state.withLockedValue { $0.isClosed = true }
        closeConnection()
    }

    /// Closes the connection, and drops a checkpoint that waits, until the next commit. Waits for one that is running.
    func closeIdleConnection() {
        state.withLockedValue { $0.isIdle = true }
        closeConnection()
    }

    private func closeConnection() {
        connection.withLockedValue { connection in
            try? connection?.close()
            connection = nil
        }
    }
}
