import NIOConcurrencyHelpers
import NIOPosix
import Storage

/// A namespace's one line of work.
///
/// Jobs wait here in order. A drain takes what is waiting, opens one transaction, runs the jobs, commits, and only
/// then answers them, so that every answer is durable and the cost of a transaction is shared.
///
/// `@unchecked Sendable`: `world` is touched only by the drain, and `isDraining`, guarded by the lock, lets one drain
/// run at a time.
final class Mailbox: @unchecked Sendable {
    /// Sends a job's answer, once it is durable.
    typealias Reply = @Sendable () -> Void

    /// Something to be done with the world.
    enum Letter: Sendable {
        /// Runs in a shared transaction; throws only where the transaction cannot go on.
        case job(
            run: @Sendable (World, Transaction) throws -> Reply,
            refuse: @Sendable (PlatformError) -> Void)
        /// Runs alone, outside any transaction, and may replace the world or take it away.
        case exclusive(@Sendable (inout World?) -> Reply)
        /// The same, and the last: takes the world away without opening one that is at rest.
        case ending(@Sendable (inout World?) -> Reply)
    }

    private let threads: NIOThreadPool
    private let lock = NIOLock()
    private var waiting: [Letter] = []
    private var isDraining = false
    private var world: World?
    /// Opens a world that was at rest when the server started; nil once it is open, or gone.
    private var opener: (@Sendable () throws -> World)?
    private let afterwards: @Sendable (World?) -> Letter?

    /// The most jobs that share a transaction, and how long it may take before it is committed.
    private static let batch = 64
    private static let batchTime = ContinuousClock.Duration.milliseconds(5)

    /// - Parameters:
    ///   - opener: opens the world when somebody needs it first, if it is nil.
    ///   - afterwards: is told about the world after every batch, before its jobs are answered; what it returns takes its place
    ///     behind those that wait.
    init(
        world: World?, opener: (@Sendable () throws -> World)? = nil, threads: NIOThreadPool,
        afterwards: @escaping @Sendable (World?) -> Letter?
    ) {
        self.world = world
        self.opener = opener
        self.threads = threads
        self.afterwards = afterwards
    }

    /// Puts a letter behind those that wait.
    func post(_ letter: Letter) {
        let mustStart = lock.withLock {
            waiting.append(letter)
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
        let letters = lock.withLock {
            let taken = Array(waiting.prefix(Self.batch))
            waiting.removeFirst(taken.count)
            return taken
        }
        var rest = letters[...]
        while let letter = rest.first {
            switch letter {
            case .exclusive(let run):
                rest.removeFirst()
                let problem = openIfAtRest()
                let reply = run(&world)
                if problem == nil { followUp(world) }
                reply()
            case .ending(let run):
                rest.removeFirst()
                opener = nil
                let reply = run(&world)
                followUp(world)
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
    private func followUp(_ world: World?) {
        guard let letter = afterwards(world) else { return }
        lock.withLock { waiting.append(letter) }
    }

    /// Opens a world that is at rest since the start of the server; answers why it cannot be opened.
    private func openIfAtRest() -> PlatformError? {
        guard world == nil, let opener else { return nil }
        do {
            world = try opener()
            self.opener = nil
            return nil
        } catch {
            return .unavailable("the namespace cannot be opened: \(error)")
        }
    }

    /// Runs jobs in one transaction and answers them; says how many, at least one.
    private func perform(_ jobs: [Letter]) -> Int {
        let problem = openIfAtRest()
        guard let world else {
            for case .job(_, let refuse) in jobs {
                refuse(problem ?? .unknownNamespace("the namespace was deleted"))
            }
            return jobs.count
        }
        let start = ContinuousClock.now
        var replies: [Reply] = []
        do {
            try world.database.transaction { transaction in
                for case .job(let run, _) in jobs {
                    replies.append(try run(world, transaction))
                    if ContinuousClock.now - start > Self.batchTime { break }
                }
                try world.counters.store(transaction)
            }
            followUp(world)
            for reply in replies { reply() }
            return replies.count
        } catch {
            // Nothing of the batch counts; what it changed in memory is dropped, and each is answered for itself.
            try? world.reload()
            for job in jobs { performAlone(job, in: world) }
            return jobs.count
        }
    }

    /// Runs a job whose batch failed in a transaction of its own.
    private func performAlone(_ letter: Letter, in world: World) {
        guard case .job(let run, let refuse) = letter else { return }
        do {
            let reply = try world.database.transaction { transaction in
                let reply = try run(world, transaction)
                try world.counters.store(transaction)
                return reply
            }
            followUp(world)
            reply()
        } catch {
            try? world.reload()
            refuse(error as? PlatformError ?? world.storageFailed(error))
        }
    }
}
