import DequeModule
import NIOConcurrencyHelpers
import NIOPosix
import Storage

/// A namespace's job queue, which runs one job at a time.
///
/// Jobs wait here in order. A drain takes a batch of them, opens one transaction, runs the jobs, commits, and only
/// then sends their answers. So every answer is durable, and the jobs share the cost of a transaction.
///
/// `@unchecked Sendable`: only the drain touches `state`. `isDraining` is guarded by the lock and allows only one
/// drain at a time.
package final class Mailbox: @unchecked Sendable {
    /// Sends a job's answer, once the job is durable.
    package typealias Reply = @Sendable () -> Void

    /// A unit of work on the namespace.
    package enum WorkItem: Sendable {
        /// Runs in a shared transaction. Throws only if the transaction cannot continue.
        case job(
            run: @Sendable (NamespaceState, Transaction) throws -> Reply,
            refuse: @Sendable (PlatformError) -> Void)
        /// Runs alone, outside any transaction. It may replace the state or remove it.
        case exclusive(
            run: @Sendable (inout NamespaceState?) -> Reply, refuse: @Sendable (PlatformError) -> Void)
        /// Runs like `exclusive`. A namespace that is closed, or cannot be opened, is not opened for it: it makes the state anew, or is the
        /// last item, which removes the state.
        case unopened(isLast: Bool, run: @Sendable (inout NamespaceState?) -> Reply)
    }

    /// The namespace's name, for errors.
    private let name: String
    private let threads: NIOThreadPool
    /// The threads for items that take long: other namespaces do not wait for them.
    private let longThreads: NIOThreadPool
    private let lock = NIOLock()
    private var waiting: Deque<(item: WorkItem, isLong: Bool)> = []
    /// The number of items that were ever posted.
    private var postedCount = 0
    private var isDraining = false
    private var state: NamespaceState?
    /// Opens a namespace that was idle when the server started; `nil` once it is open or deleted.
    private var opener: (@Sendable () throws -> NamespaceState)?
    private let observers: [any CommitObserver]

    /// The maximum number of jobs in one transaction, and the time after which it is committed.
    private static let batch = 64
    private static let batchTime = ContinuousClock.Duration.milliseconds(5)

    /// - Parameters:
    ///   - name: the namespace's name, for errors.
    ///   - opener: opens the namespace at its first use, if `state` is `nil`.
    ///   - longThreads: those for items that take long; `nil` for the same threads.
    ///   - observers: called after every batch, in this order.
    package init(
        name: String = "", state: NamespaceState?, opener: (@Sendable () throws -> NamespaceState)? = nil,
        threads: NIOThreadPool, longThreads: NIOThreadPool? = nil,
        observers: [any CommitObserver]
    ) {
        self.name = name
        self.state = state
        self.opener = opener
        self.threads = threads
        self.longThreads = longThreads ?? threads
        self.observers = observers
    }

    /// Adds an item to the end of the queue.
    ///
    /// - Parameter isLong: whether it may take seconds, so that it must not hold a thread for which other namespaces wait.
    /// - Returns: the item's place among all that were posted.
    @discardableResult package func post(_ item: WorkItem, isLong: Bool = false) -> Int {
        let (mustStart, place) = lock.withLock {
            append(item, isLong)
            defer { isDraining = true }
            return (!isDraining, postedCount)
        }
        if mustStart { startDrain(isLong) }
        return place
    }

    /// The place of the last item that was posted.
    package var lastPlace: Int { lock.withLock { postedCount } }

    /// Call it under the lock.
    private func append(_ item: WorkItem, _ isLong: Bool) {
        waiting.append((item, isLong))
        postedCount += 1
    }

    /// Runs an item on the calling thread if no other item waits or runs. Blocks.
    ///
    /// - Returns: `false` if it did not run.
    package func runIfIdle(_ item: WorkItem) -> Bool {
        let isFree = lock.withLock {
            guard !isDraining else { return false }
            append(item, false)
            isDraining = true
            return true
        }
        if isFree { drain() }
        return isFree
    }

    /// The number of waiting items; for tests.
    package var waitingCount: Int {
        lock.withLock { waiting.count }
    }

    /// - Parameter isLong: whether the first item takes long.
    private func startDrain(_ isLong: Bool) {
        (isLong ? longThreads : threads).submit { _ in self.drain(isLong) }
    }

    /// Runs items that take long, or those that do not, up to the first of the other kind.
    private func drain(_ isLong: Bool = false) {
        let items = lock.withLock {
            let taken = waiting.prefix(Self.batch).prefix { $0.isLong == isLong }.map(\.item)
            waiting.removeFirst(taken.count)
            return taken
        }
        var rest = items[...]
        while let item = rest.first {
            switch item {
            case .exclusive(let run, let refuse):
                rest.removeFirst()
                if let problem = openIfClosed() {
                    refuse(problem)
                    continue
                }
                let reply = run(&state)
                // A replacement that failed may have closed the database.
                _ = openIfClosed()
                committed(state)
                reply()
            case .unopened(let isLast, let run):
                rest.removeFirst()
                let reply = run(&state)
                if isLast || state != nil { opener = nil }
                committed(state)
                reply()
            case .job:
                let jobs = rest.prefix { if case .job = $0 { true } else { false } }
                rest = rest.dropFirst(perform(Array(jobs)))
            }
        }
        let next = lock.withLock {
            if waiting.isEmpty { isDraining = false }
            return waiting.first?.isLong
        }
        // A drain gives its thread back between batches, so that no namespace blocks the others.
        if let next { startDrain(next) }
    }

    /// Notifies the observers of a batch, and queues what the platforms want to store after it, such as fresh renderings. The
    /// current drain runs it.
    private func committed(_ state: NamespaceState?) {
        state?.markCommitted()
        for observer in observers { observer.committed(state) }
        guard let state else { return }
        for work in state.parts.compactMap({ $0.takeCommitWork() }) {
            post(
                .job(
                    run: { _, transaction in
                        do {
                            try transaction.savepoint { try work(transaction) }
                        } catch  where transaction.isOpen {
                        }
                        return {}
                    },
                    refuse: { _ in }))
        }
    }

    /// Opens a namespace that has been idle since the server's start, or whose storage failed. Blocks.
    ///
    /// - Returns: why it cannot be opened; `nil` if it is open or deleted.
    private func openIfClosed() -> PlatformError? {
        if let state {
            do {
                self.state = try state.usable()
                return nil
            } catch {
                return state.storageFailed(error)
            }
        }
        guard let opener else { return nil }
        do {
            state = try opener()
            self.opener = nil
            return nil
        } catch {
            return Environment.cannotBeOpened(name, error)
        }
    }

    /// Runs jobs in one transaction and answers them. Blocks.
    ///
    /// - Parameter isRetry: whether this is a job of a failed batch, which runs alone. It is refused if it fails again.
    /// - Returns: the number of jobs that were answered, at least one.
    @discardableResult private func perform(_ jobs: [WorkItem], isRetry: Bool = false) -> Int {
        let problem = openIfClosed()
        guard problem == nil, let state else {
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
            committed(state)
            for reply in replies { reply() }
            return replies.count
        } catch {
            // The whole batch is rolled back and its changes in memory are dropped. Then each job runs alone.
            state.dropChanges()
            if isRetry {
                for case .job(_, let refuse) in jobs { refuse(error as? PlatformError ?? state.storageFailed(error)) }
            } else {
                for job in jobs { perform([job], isRetry: true) }
            }
            return jobs.count
        }
    }
}
