import NIOConcurrencyHelpers
import NIOPosix
import Storage

/// A namespace's one line of work.
///
/// Jobs wait here in order. A drain takes what is waiting, opens one transaction, runs the jobs, commits, and only
/// then answers them, so that every answer is durable and the cost of a transaction is shared.
///
/// `@unchecked Sendable`: `state` is touched only by the drain, and `isDraining`, guarded by the lock, lets one drain
/// run at a time.
final class Mailbox: @unchecked Sendable {
    /// Sends a job's answer, once it is durable.
    typealias Reply = @Sendable () -> Void

    /// Something to be done with the world.
    enum WorkItem: Sendable {
        /// Runs in a shared transaction; throws only where the transaction cannot go on.
        case job(
            run: @Sendable (NamespaceState, Transaction) throws -> Reply,
            refuse: @Sendable (PlatformError) -> Void)
        /// Runs alone, outside any transaction, and may replace the world or take it away.
        case exclusive(@Sendable (inout NamespaceState?) -> Reply)
        /// The same, and the last: takes the world away without opening one that is at rest.
        case ending(@Sendable (inout NamespaceState?) -> Reply)
    }

    private let threads: NIOThreadPool
    private let lock = NIOLock()
    private var waiting: [WorkItem] = []
    private var isDraining = false
    private var state: NamespaceState?
    /// Opens a world that was at rest when the server started; nil once it is open, or gone.
    private var opener: (@Sendable () throws -> NamespaceState)?
    private let onCommit: @Sendable (NamespaceState?) -> WorkItem?

    /// The most jobs that share a transaction, and how long it may take before it is committed.
    private static let batch = 64
    private static let batchTime = ContinuousClock.Duration.milliseconds(5)

    /// - Parameters:
    ///   - opener: opens the world when somebody needs it first, if it is nil.
    ///   - afterwards: is told about the world after every batch, before its jobs are answered; what it returns takes its place
    ///     behind those that wait.
    init(
        state: NamespaceState?, opener: (@Sendable () throws -> NamespaceState)? = nil, threads: NIOThreadPool,
        onCommit: @escaping @Sendable (NamespaceState?) -> WorkItem?
    ) {
        self.state = state
        self.opener = opener
        self.threads = threads
        self.onCommit = onCommit
    }

    /// Puts a letter behind those that wait.
    func post(_ item: WorkItem) {
        let mustStart = lock.withLock {
            waiting.append(item)
            defer { isDraining = true }
            return !isDraining
        }
        if mustStart { startDrain() }
    }

    /// How many letters wait; for tests.
    var waitingCount: Int {
        lock.withLock { waiting.count }
    }

    private func startDrain() {
        threads.submit { _ in self.drain() }
    }

    private func drain() {
        let items = lock.withLock {
            let taken = Array(waiting.prefix(Self.batch))
            waiting.removeFirst(taken.count)
            return taken
        }
        var rest = items[...]
        while let item = rest.first {
            switch item {
            case .exclusive(let run):
                rest.removeFirst()
                let problem = openIfAtRest()
                let reply = run(&state)
                if problem == nil { onCommit(state) }
                reply()
            case .ending(let run):
                rest.removeFirst()
                opener = nil
                let reply = run(&state)
                onCommit(state)
                reply()
            case .job:
                let jobs = rest.prefix { if case .job = $0 { true } else { false } }
                rest = rest.dropFirst(perform(Array(jobs)))
            }
        }
        let isDone = lock.withLock {
            if waiting.isEmpty { isDraining = false }
            return waiting.isEmpty
        }
        // A drain hands its thread back between batches, so that no namespace keeps the others waiting.
        if !isDone { startDrain() }
    }

    /// Called by the drain, which looks at what waits before it ends.
    private func onCommit(_ state: NamespaceState?) {
        guard let item = onCommit(state) else { return }
        lock.withLock { waiting.append(item) }
    }

    /// Opens a world that is at rest since the start of the server; answers why it cannot be opened.
    private func openIfAtRest() -> PlatformError? {
        guard state == nil, let opener else { return nil }
        do {
            state = try opener()
            self.opener = nil
            return nil
        } catch {
            return .unavailable("the namespace cannot be opened: \(error)")
        }
    }

    /// Runs jobs in one transaction and answers them; says how many, at least one.
    private func perform(_ jobs: [WorkItem]) -> Int {
        let problem = openIfAtRest()
        guard let state else {
            for case .job(_, let refuse) in jobs {
                refuse(problem ?? .unknownNamespace("the namespace was deleted"))
            }
            return jobs.count
        }
        let start = ContinuousClock.now
        var replies: [Reply] = []
        do {
            try state.database.transaction { transaction in
                for case .job(let run, _) in jobs {
                    replies.append(try run(state, transaction))
                    if ContinuousClock.now - start > Self.batchTime { break }
                }
                try state.counters.store(transaction)
            }
            onCommit(state)
            for reply in replies { reply() }
            return replies.count
        } catch {
            // Nothing of the batch counts; what it changed in memory is dropped, and each is answered for itself.
            try? state.reload()
            for job in jobs { performAlone(job, in: state) }
            return jobs.count
        }
    }

    /// Runs a job whose batch failed in a transaction of its own.
    private func performAlone(_ item: WorkItem, in state: NamespaceState) {
        guard case .job(let run, let refuse) = item else { return }
        do {
            let reply = try state.database.transaction { transaction in
                let reply = try run(state, transaction)
                try state.counters.store(transaction)
                return reply
            }
            onCommit(state)
            reply()
        } catch {
            try? state.reload()
            refuse(error as? PlatformError ?? state.storageFailed(error))
        }
    }
}
