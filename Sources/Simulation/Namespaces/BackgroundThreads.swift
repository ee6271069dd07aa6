import NIOPosix

/// The threads for work that is not a job. Kinds of work that must not wait for each other have threads of their own.
struct BackgroundThreads: Sendable {
    /// Copy files, remove them, and fill templates.
    let copies = NIOThreadPool(numberOfThreads: 2)
    /// Moves write-ahead logs into their database files. One checkpoint waits for the disk, and hundreds of namespaces may fall
    /// idle at once; at most one checkpoint of each waits here.
    let checkpoints = NIOThreadPool(numberOfThreads: 1)
    /// Parse YAML, decode gzip and read small files.
    let work = NIOThreadPool(numberOfThreads: 2)

    private var all: [NIOThreadPool] { [copies, checkpoints, work] }

    func start() {
        for pool in all { pool.start() }
    }

    func stop() async throws {
        for pool in all { try await pool.shutdownGracefully() }
    }

    /// Stops without waiting.
    func abandon() {
        for pool in all { pool.shutdownGracefully { _ in } }
    }
}
