import GRDB
import NIOConcurrencyHelpers

/// Runs something that may block, on another thread.
package typealias Background = @Sendable (@escaping @Sendable () -> Void) -> Void

/// Moves what the write-ahead log holds into the database file, on a connection and a thread of its own.
///
/// A checkpoint waits for the disk; on the connection that writes, every commit behind it would wait too. SQLite's own, at a
/// larger size of the log, stays as the last resort where this one cannot keep up.
final class Checkpointer: Sendable {
    private struct State {
        var pages = 0
        /// What `pages` was when last asked whether there is rest.
        var pagesBefore = 0
        var isBulk = false
        var isRunning = false
        var isClosed = false
    }

    /// After how many pages the log is emptied: usually, and while very many rows are written.
    private static let defaultInterval = 8_000
    private static let bulkInterval = 32_000

    private let path: String
    private let background: Background
    private let state = NIOLockedValueBox(State())
    /// Held while a checkpoint runs.
    private let connection = NIOLockedValueBox<DatabaseQueue?>(nil)

    init(path: String, background: @escaping Background) {
        self.path = path
        self.background = background
    }

    func setBulk(_ isBulk: Bool) {
        state.withLockedValue { $0.isBulk = isBulk }
    }

    /// Counts what a commit has written, and starts a checkpoint where that is enough.
    func committed(pages: Int) {
        let mustRun = state.withLockedValue { state in
            state.pages += pages
            guard !state.isRunning, !state.isClosed,
                state.pages >= (state.isBulk ? Self.bulkInterval : Self.defaultInterval)
            else { return false }
            state.pages = 0
            state.isRunning = true
            return true
        }
        if mustRun { start(thenClose: false) }
    }

    /// Asked now and then: starts a checkpoint where something was written, and nothing since this was last asked.
    func checkpointIfIdle() {
        let mustRun = state.withLockedValue { state in
            defer { state.pagesBefore = state.pages }
            guard !state.isRunning, !state.isClosed, state.pages > 0, state.pages == state.pagesBefore else {
                return false
            }
            state.pages = 0
            state.isRunning = true
            return true
        }
        if mustRun { start(thenClose: true) }
    }

    /// - Parameter thenClose: whether the connection is not needed again soon; there can be a thousand worlds at rest.
    private func start(thenClose: Bool) {
        background {
            self.run()
            if thenClose { self.closeIdleConnection() }
            self.state.withLockedValue { $0.isRunning = false }
        }
    }

    /// Where it fails, the log only grows until SQLite's own checkpoint, whose commit then says what is wrong.
    private func run() {
        connection.withLockedValue { connection in
            guard !state.withLockedValue({ $0.isClosed }) else { return }
            if connection == nil {
                var configuration = Configuration()
                configuration.label = "checkpointer"
                connection = try? DatabaseQueue(path: path, configuration: configuration)
            }
            try? connection?.writeWithoutTransaction { _ = try $0.checkpoint(.passive) }
        }
    }

    /// Waits for a checkpoint that is running, and lets none begin before `body` is done.
    func whileNoneRuns(_ body: () throws -> Void) rethrows {
        try connection.withLockedValue { _ in try body() }
    }

    /// Waits for a checkpoint that is running; there are no more after it.
    func close() {
        state.withLockedValue { $0.isClosed = true }
        closeIdleConnection()
    }

    /// Waits for a checkpoint that is running, and closes the connection until the next one.
    func closeIdleConnection() {
        connection.withLockedValue { connection in
            try? connection?.close()
            connection = nil
        }
    }
}
