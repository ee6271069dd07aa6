import NIOConcurrencyHelpers
import SimulationAPI
import Storage

/// A namespace: a world of its own, with its own database, clock, random seed and limits.
package final class Namespace: Sendable {
    package let name: String
    package let environment: Environment
    package let mailbox: Mailbox
    private let committed: CommittedValues
    /// The real time of the last request, and the number of requests in progress.
    private let usage: NIOLockedValueBox<(last: Instant, inFlight: Int)>
    /// The webhook attempts in flight.
    package let outbox: Outbox
    /// The feed of `GET /_sim/events`.
    package let feed = EventFeed()
    /// The images that the namespace refers to.
    package let images: ImageReferences
    /// The memory of the bodies of requests in progress.
    package let bodies = BodyMemory()
    /// Runs one advance at a time, so that two advances of one hour make two hours.
    package let advances: AdvanceLine
    private let deleted = NIOLockedValueBox(false)

    /// - Parameters:
    ///   - state: `nil` if the database is opened at its first use.
    ///   - idle: the summary that stands for the state until then.
    package init(
        _ name: String, _ environment: Environment, state: NamespaceState? = nil, idle: IdleNamespace? = nil
    ) {
        self.name = name
        self.environment = environment
        usage = NIOLockedValueBox((last: environment.realTime(), inFlight: 0))
        committed = CommittedValues(state, idle: idle, environment)
        advances = AdvanceLine(environment.sequencer)
        outbox = Outbox(environment.sequencer) { environment.isStopping }
        outbox.adopt(generation: state?.generation ?? 0)
        images = ImageReferences(idle?.imageHashes ?? [], in: environment.images)
        images.committed(state)
        let open = { @Sendable in try environment.open(name) }
        let evidence = environment.evidence.map { EvidencePublisher(namespace: name, reader: $0) }
        mailbox = Mailbox(
            name: name, state: state, opener: state == nil ? open : nil, threads: environment.threads,
            longThreads: environment.longThreads,
            observers: [
                images, EventPublisher(feed: feed), outbox, HoldEnder(name, environment.held), committed,
            ] + [evidence].compactMap(\.self))
        outbox.attach(to: self)
        if state?.database.path != nil { environment.connections.used(name) }
    }

    /// Marks the beginning of a request. The namespace does not expire while one is in progress. ``Namespaces/use(_:)`` finds a
    /// namespace and begins a use in one step.
    package func beginUse() { use(1) }

    /// Marks the end of a request.
    package func endUse() { use(-1) }

    private func use(_ change: Int) {
        let now = environment.realTime()
        usage.withLockedValue { $0 = (last: now, inFlight: $0.inFlight + change) }
    }

    /// Whether the time to live has expired, with no request in progress and no listener [D namespace-choice].
    package var hasExpired: Bool {
        let (last, inFlight) = usage.withLockedValue { $0 }
        guard feed.listeners == 0, inFlight == 0, let timeToLive else { return false }
        return last + timeToLive <= environment.realTime()
    }

    /// The time to live, in real time since the last request; `nil` if it has none.
    package var timeToLive: Span? { committed.timeToLive }

    /// The API tokens, the subscriptions' secrets and the server's own secrets, as of the last batch. Log lines mask
    /// them.
    package var secrets: KnownSecrets { committed.secrets }

    /// Moves written data into the database file if nothing was written since the last call, and closes an idle feed.
    /// Call it periodically.
    package func checkpointIfIdle() {
        committed.database?.checkpointIfIdle()
        feed.closeIfIdle(at: environment.realTime())
    }

    /// Closes the database connection until the next use. Does not block.
    package func closeIdleConnection() {
        let committed = committed
        mailbox.post(
            .exclusive(
                run: { state in
                    // A connection that cannot be closed stays open. The next request then reports the problem.
                    if let idle = try? state?.closeIdleConnection() { committed.idle = idle }
                    return {}
                }, refuse: { _ in }))
    }

    /// Whether the namespace is idle: its database is closed, and a summary exists.
    package var isIdle: Bool { committed.idle != nil }

    /// Whether scheduled work is due now.
    package var isDue: Bool { wakeTime.map { $0 <= environment.realTime() } ?? false }

    /// Whether the namespace is idle and has webhook attempts that were in flight when the server stopped.
    package var hasInterruptedDeliveries: Bool { committed.idle?.hasInterruptedDeliveries == true }

    /// The namespace's entry in the control API's list, without opening its database. `nil` if the database is open
    /// or something is due. Also `nil` if all jobs have an order: listing is then one of them.
    ///
    /// - Parameter address: the address that the list's request asked.
    package func idleInfo(askedAt address: AskedAddress?) -> NamespaceInfo? {
        guard !environment.sequencer.ordersAllJobs, let idle = committed.idle else { return nil }
        let real = environment.realTime()
        guard !isDue else { return nil }
        return idle.info(name: name, url: environment.address.url(ofNamespace: name, askedAt: address), real: real)
    }

    /// The real time at which scheduled work falls due; `nil` if there is none, or if the clock is frozen.
    package var wakeTime: Instant? { committed.wakeTime }

    /// Adds a request to the journal and to the feed. If all jobs have one order, this is one of them: what later requests
    /// read of the journal depends on it.
    ///
    /// - Returns: the entry, for ``markUndelivered(_:)``; `nil` if the journal did not take it.
    @discardableResult
    package func append(_ entry: JournalEntry) async -> JournaledEntry? {
        guard environment.sequencer.ordersAllJobs else { return add(entry) }
        // Fails only where a replay ends, and nothing reads the journal then.
        return try? await runExclusively { [self] _ in add(entry) }
    }

    private func add(_ entry: JournalEntry) -> JournaledEntry? {
        // A request that was in flight during a reset does not belong to the new state.
        let answer = environment.journals.append(
            entry, to: name, entry.outcome.journal,
            if: { [outbox] in entry.outcome.generation == outbox.generation })
        guard let answer else { return nil }
        feed.publish(.request(JournaledRequest(entry, withMessages: false, Secrets(entry, secrets))))
        return answer
    }

    /// The number of the current state, as of the last batch; 0 once the namespace is deleted.
    package var generation: Int { outbox.generation }

    /// Whether an outcome is of the current state, and not of one that a reset replaced or of a namespace that was deleted.
    package func isCurrent(_ outcome: RequestOutcome) -> Bool { outcome.generation == generation }

    /// Notes in the journal that an answer did not reach its client, and publishes it. Nothing happens if the journal has dropped
    /// the entry.
    ///
    /// At once, unless all jobs have one order: then this is one of them, since what later requests read depends on it.
    package func markUndelivered(_ answer: JournaledEntry) {
        let sequence = answer.entry.sequence
        // The recording says which answers were lost.
        guard !environment.sequencer.isReplaying else { return }
        guard environment.sequencer.ordersAllJobs else {
            return publishLoss(environment.journals.markUndelivered(sequence: sequence, in: name, if: answer))
        }
        Task { [self] in
            await environment.sequencer.runLoss(of: sequence, in: name) {
                await markUndelivered(sequence: sequence, if: answer)
            }
        }
    }

    /// Does in a job what ``markUndelivered(_:)`` does, or what a recording says that it did.
    ///
    /// - Parameter expected: the entry that is meant; `nil` for any.
    /// - Returns: whether the journal still had the entry.
    @discardableResult
    package func markUndelivered(sequence: Int64, if expected: JournaledEntry? = nil) async -> Bool {
        // Fails only where a replay ends, or the namespace was deleted, and its journal with it.
        let marked = try? await runExclusively { [self] _ in
            environment.journals.markUndelivered(sequence: sequence, in: name, if: expected)
        }
        publishLoss(marked)
        return marked != nil
    }

    private func publishLoss(_ entry: JournalEntry?) {
        guard let entry else { return }
        feed.publish(.undelivered(JournaledRequest(entry, withMessages: false, Secrets(entry, secrets))))
    }

    /// Runs only what is due now. Writes.
    package func tick() async {
        await environment.sequencer.runDueWork(of: name) {
            _ = await run(.background, .reads) { _ in }
        }
    }

    /// Posts a job, and waits until its answer is durable.
    ///
    /// - Parameters:
    ///   - catchingUp: whether due work runs before the job; `false` only for storage checks and interrupted
    ///     deliveries.
    ///   - body: returns the job's output.
    package func run<Output: Sendable>(
        _ head: RequestHead, _ access: Access, catchingUp: Bool = true,
        _ body: @escaping @Sendable (JobContext) throws -> Output
    ) async -> Completed<Output> {
        let output = NIOLockedValueBox<Output?>(nil)
        let job = await runJob(head, access, catchingUp: catchingUp) { job in
            let value = try body(job)
            output.withLockedValue { $0 = value }
        }
        return Completed(job, output.withLockedValue { $0 })
    }

    /// Posts a job, and waits until it is durable. A request that a fault holds takes two.
    ///
    /// Not generic, because generic code is not specialized for the platforms' modules. The body has no result. A caller that
    /// needs one keeps it outside, as ``run(_:_:catchingUp:_:)`` does, and uses it only if the job has no error.
    ///
    /// - Parameters:
    ///   - catchingUp: whether due work runs before the job.
    ///   - isRead: whether the job is a whole request that only reads. It is then not begun if its caller has gone.
    ///   - username: finds the user of the request, for fault rules.
    package func runJob(
        _ head: RequestHead, _ access: Access, catchingUp: Bool = true, isRead: Bool = false,
        username: (@Sendable (JobContext) throws -> String?)? = nil,
        _ body: @escaping @Sendable (JobContext) throws -> Void
    ) async -> Completed<Void> {
        let first = await runFirstJob(head, access, catchingUp: catchingUp, isRead: isRead, username: username, body)
        guard let held = first.heldBefore else { return first }
        return await handle(held, after: first, head, access, body)
    }

    private func runFirstJob(
        _ head: RequestHead, _ access: Access, catchingUp: Bool, isRead: Bool,
        username: (@Sendable (JobContext) throws -> String?)?,
        _ body: @escaping @Sendable (JobContext) throws -> Void
    ) async -> Completed<Void> {
        let turn: JobTurn
        do {
            turn = try await environment.sequencer.turn()
        } catch {
            return refused(head, error)
        }
        let maySkip = access == .reads && (isRead || head.isSafe)
        return await withCheckedContinuation { continuation in
            let position = mailbox.post(
                .job(
                    run: { [self] state, transaction in
                        try turn.run {
                            if maySkip, turn.isAbandoned({ head.isAbandoned }) {
                                return { continuation.resume(returning: self.refused(head, .abandoned)) }
                            }
                            let (job, id) = try begin(head, catchingUp: catchingUp, state, transaction)
                            let error = try perform(head, id, job, turn, access, username, body)
                            let ended = Completed<Void>(
                                requestID: id, result: error.map { .failure($0) } ?? .success(()),
                                outcome: try state.takeOutcome(transaction))
                            return { continuation.resume(returning: ended) }
                        }
                    },
                    refuse: { [self] error in
                        turn.pass()
                        continuation.resume(returning: refused(head, error))
                    }),
                isLong: head.isLong)
            head.group?.posted(at: position)
        }
    }

    /// Triggers the fault of a request, and handles the request unless the fault answers or holds it.
    ///
    /// - Returns: the error of the job; `nil` if it succeeded, or if the request is held before it is handled.
    /// - Throws: an error if the whole transaction is lost.
    private func perform(
        _ head: RequestHead, _ id: String, _ job: JobContext, _ turn: JobTurn, _ access: Access,
        _ username: (@Sendable (JobContext) throws -> String?)?, _ body: (JobContext) throws -> Void
    ) throws -> PlatformError? {
        if let metadata = head.metadata {
            if let refusal = try Faults.trigger(metadata, job, username: username) { return refusal }
            switch try beginHold(head, id, job, turn) {
            case .failure(let refusal): return refusal
            case .success(let held) where held.hold.moment == .before: return nil
            case .success, nil: break
            }
        }
        return try Self.attempt(access, job, body)
    }

    /// Handles a request whose hold has ended, in a job of its own. It keeps its place in the journal, and its time.
    ///
    /// - Parameters:
    ///   - first: the result of the job that held it.
    ///   - timedOut: the request if the time of its hold was over; `nil` if it was released.
    func handle(
        _ first: Completed<Void>, _ timedOut: HeldRequest?, _ head: RequestHead, _ access: Access,
        _ state: NamespaceState,
        _ transaction: Transaction, _ body: (JobContext) throws -> Void
    ) throws -> Completed<Void> {
        let now = state.clock.now(real: environment.realTime())
        state.outcome = nil
        try state.runDue(upTo: now, transaction)
        if let timedOut {
            state.cause = .unknown
            try timedOut.recordRelease(
                JobContext(state: state, transaction: transaction, now: now, language: head.language))
        }
        if var outcome = first.outcome {
            // Others have changed something in between.
            let last = try state.lastEventSequence(transaction)
            outcome.change { $0.changes = (last, last) }
            state.outcome = outcome
            state.cause = .request(outcome.sequence, head)
        }
        let job = JobContext(
            state: state, transaction: transaction, now: now, language: head.language, address: head.address)
        let error = try Self.attempt(access, job, body)
        return Completed(
            requestID: first.requestID, result: error.map { .failure($0) } ?? .success(()),
            outcome: try state.takeOutcome(transaction))
    }

    private func refused(_ head: RequestHead, _ error: PlatformError) -> Completed<Void> {
        Completed(requestID: head.requestID ?? environment.nextServerRequestID(), result: .failure(error))
    }

    /// Begins a job: runs due work, and takes the request's id. May write.
    private func begin(
        _ head: RequestHead, catchingUp: Bool, _ state: NamespaceState, _ transaction: Transaction
    ) throws -> (job: JobContext, id: String) {
        let now = state.clock.now(real: environment.realTime())
        state.outcome = nil
        if catchingUp { try state.runDue(upTo: now, transaction) }
        let id =
            if let id = head.requestID {
                id
            } else if head.isControl {
                state.nextControlRequestID()
            } else {
                try state.nextRequestID(transaction)
            }
        if head.metadata != nil {
            let sequence = try state.nextSequence(transaction)
            state.outcome = try RequestOutcome(state, sequence, at: now, transaction)
            state.outcome?.change { $0.trace = head.trace }
            state.cause = .request(sequence, head)
        } else {
            state.cause = JobCause(ofCall: head)
        }
        let job = JobContext(
            state: state, transaction: transaction, now: now, language: head.language, address: head.address)
        return (job, id)
    }

    /// Runs a job's body.
    ///
    /// - Returns: the error of the job; `nil` if it succeeded.
    /// - Throws: an error if the whole transaction is lost.
    private static func attempt(
        _ access: Access, _ job: JobContext, _ body: (JobContext) throws -> Void
    ) throws -> PlatformError? {
        let mark = job.state.mark
        do {
            switch access {
            case .reads: try body(job)
            case .writes: try job.transaction.savepoint { try body(job) }
            }
            return nil
        } catch {
            return try job.undo(access, to: mark, after: error)
        }
    }

    /// Drops the state of a namespace that is being deleted. Its files are removed next, so the database need not
    /// close cleanly.
    package func abandon(_ state: inout NamespaceState?) {
        deleted.withLockedValue { $0 = true }
        // Requests in progress are no longer added to the journal.
        outbox.adopt(generation: 0)
        state?.database.abandon()
        state = nil
        images.replace(with: [])
    }

    /// Checks that the namespace still exists after a long operation has saved something beside its database.
    ///
    /// - Parameter undo: removes what was saved.
    package func checkExists(_ undo: () throws -> Void) throws {
        guard deleted.withLockedValue({ $0 }) else { return }
        try undo()
        throw PlatformError.unknownNamespace("the namespace was deleted")
    }

    /// Runs `body` alone, after all earlier jobs are answered.
    ///
    /// - Parameters:
    ///   - isLast: whether this ends the namespace. An idle namespace is not opened for it.
    ///   - opensFirst: whether a closed namespace is opened before; `false` if `body` makes its state anew.
    ///   - usesFiles: whether `body` reads or writes files beside the database.
    package func runExclusively<Value: Sendable>(
        isLast: Bool = false, opensFirst: Bool = true, usesFiles: Bool = false,
        _ body: @escaping @Sendable (inout NamespaceState?) throws -> Value
    ) async throws -> Value {
        let sequencer = environment.sequencer
        let turn = try await sequencer.turn()
        return try await withCheckedThrowingContinuation { continuation in
            let run: @Sendable (inout NamespaceState?) -> Mailbox.Reply = { state in
                let job = { Result { try body(&state) } }
                let result =
                    isLast
                    ? sequencer.changingList(turn, job)
                    : usesFiles ? sequencer.readingFiles(turn, job) : turn.run(job)
                return { continuation.resume(with: result) }
            }
            mailbox.post(
                opensFirst && !isLast
                    ? .exclusive(run: run, refuse: { continuation.resume(throwing: $0) })
                    : .unopened(isLast: isLast, run: run))
        }
    }
}
