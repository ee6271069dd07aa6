import EntrupyAPI
import NIOConcurrencyHelpers
import Storage

/// A namespace: a world of its own, with its own database, clock, random seed and limits.
package final class Namespace: Sendable {
    package let name: String
    package let environment: Environment
    let mailbox: Mailbox
    /// The next wake time, as of the last batch.
    private let wake: NIOLockedValueBox<Instant?>
    /// Committed values for readers outside the mailbox: the database, `nil` once the namespace is deleted, and the
    /// secrets to mask.
    private let committed: NIOLockedValueBox<(database: NamespaceDatabase?, secrets: [String])>
    /// The webhook attempts in flight.
    package let outbox: Outbox
    /// The feed of `GET /_sim/events`.
    package let feed = EventFeed()
    /// The time to live (`nil` if it has none), the real time of the last request, and the number of requests in
    /// progress.
    private let usage: NIOLockedValueBox<(ttl: Span?, last: Instant, inFlight: Int)>
    /// The images that the namespace refers to.
    let images: ImageReferences
    /// Runs one advance at a time, so that two advances of one hour make two hours.
    let advances = AdvanceLine()

    /// A summary while the database is closed; `nil` while it is open.
    private let idle: NIOLockedValueBox<IdleNamespace?>
    private let deleted = NIOLockedValueBox(false)

    convenience init(state: NamespaceState, environment: Environment) {
        self.init(state.name, environment, state: state, idle: nil, opener: nil)
        if state.database.path != nil { environment.connections.used(name) }
    }

    /// A namespace whose database is opened at its first use.
    convenience init(_ name: String, atRest idle: IdleNamespace, environment: Environment) {
        self.init(name, environment, state: nil, idle: idle) {
            try NamespaceState(name: name, database: environment.store.open(name), environment: environment)
        }
    }

    private init(
        _ name: String, _ environment: Environment, state: NamespaceState?, idle: IdleNamespace?,
        opener: (@Sendable () throws -> NamespaceState)?
    ) {
        self.name = name
        self.environment = environment
        let usage = NIOLockedValueBox(
            (ttl: state?.ttl ?? idle?.timeToLive, last: environment.realTime(), inFlight: 0))
        self.usage = usage
        let wake = NIOLockedValueBox(state.map(Self.wakeTime) ?? idle?.wakeTime)
        self.wake = wake
        let committed = NIOLockedValueBox<(database: NamespaceDatabase?, secrets: [String])>(
            (state?.database, state?.secrets ?? environment.seed.apiTokens.values.flatMap(\.self) + environment.secrets)
        )
        self.committed = committed
        let idle = NIOLockedValueBox(idle)
        self.idle = idle
        let outbox = Outbox { environment.isStopping }
        self.outbox = outbox
        let feed = feed
        let images = ImageReferences(idle.withLockedValue { $0?.imageHashes } ?? [], in: environment.images)
        if let state { images.follow(state) }
        self.images = images
        outbox.adopt(generation: state?.generation ?? 0)
        mailbox = Mailbox(state: state, opener: opener, threads: environment.threads) { state in
            outbox.adopt(generation: state?.generation ?? 0)
            if let state { images.follow(state) }
            // A reset or a restored snapshot may change the time to live.
            usage.withLockedValue { if let state { $0.ttl = state.ttl } }
            if let state { Self.publish(feed, state) } else { feed.close() }
            if let outgoing = state?.takeOutgoing(), !outgoing.isEmpty {
                outbox.begin(outgoing.count)
                environment.send(outgoing, name, outbox)
            }
            let next = state.flatMap(Self.wakeTime)
            let changed = wake.withLockedValue { old in
                defer { old = next }
                return old != next
            }
            if changed { environment.dueChanged() }
            committed.withLockedValue {
                if $0.database !== state?.database { $0.database = state?.database }
                if let state, $0.secrets != state.secrets { $0.secrets = state.secrets }
            }
            if state?.database.isOpen == true { idle.withLockedValue { $0 = nil } }
            if let state, state.database.path != nil, state.database.isOpen {
                environment.connections.used(state.name)
            }
            guard let state, !state.freshRenderings.isEmpty else { return nil }
            return Self.store(state.takeFreshRenderings())
        }
    }

    /// Publishes committed events to the feed. If the event log cannot be read now, the next call publishes them.
    private static func publish(_ feed: EventFeed, _ state: NamespaceState) {
        guard feed.isOn, state.database.isOpen else { return }
        try? state.database.transaction { transaction in
            let secrets = Secrets(known: try state.readSecrets(transaction))
            try feed.follow(generation: state.generation) {
                try transaction.events(after: $0, limit: .max).map { secrets.masked($0) }
            }
        }
    }

    /// Marks the beginning of a request. The namespace does not expire while one is in progress.
    package func beginUse() { use(1) }

    /// Marks the end of a request.
    package func endUse() { use(-1) }

    private func use(_ change: Int) {
        let now = environment.realTime()
        usage.withLockedValue { usage in
            usage.last = now
            usage.inFlight += change
        }
    }

    /// Whether the time to live has expired [D namespace-choice].
    var isUnused: Bool {
        let (ttl, last, inFlight) = usage.withLockedValue { $0 }
        guard let ttl, inFlight == 0, feed.listeners == 0 else { return false }
        return last + ttl <= environment.realTime()
    }

    /// The time to live, in real time since the last request; `nil` if it has none.
    var timeToLive: Span? { usage.withLockedValue { $0.ttl } }

    /// Stores renderings. Failure is ignored: renderings are a cache.
    private static func store(_ renderings: [FreshRendering]) -> Mailbox.WorkItem {
        .job(
            run: { state, transaction in
                do {
                    try transaction.savepoint { for rendering in renderings { try transaction.store(rendering) } }
                } catch  where transaction.isOpen {
                }
                return {}
            },
            refuse: { _ in })
    }

    /// The API tokens, the subscriptions' secrets and the server's own secrets, as of the last batch. Log lines mask
    /// them.
    package var secrets: [String] { committed.withLockedValue { $0.secrets } }

    /// Moves written data into the database file if nothing was written since the last call, and closes an idle feed.
    /// Call it periodically.
    package func checkpointIfIdle() {
        committed.withLockedValue { $0.database }?.checkpointIfIdle()
        feed.closeIfIdle(at: environment.realTime())
    }

    /// Closes the database connection until the next use. Does not block.
    func closeIdleConnection() {
        let idle = idle
        mailbox.post(
            .exclusive { state in
                // A connection that cannot be closed stays open. The next request then reports the problem.
                if let known = try? state?.closeIdleConnection() { idle.withLockedValue { $0 = known } }
                return {}
            })
    }

    /// Whether the namespace is idle: its database is closed, and a summary exists.
    var isIdle: Bool { idle.withLockedValue { $0 != nil } }

    /// Whether scheduled work is due now.
    var isDue: Bool { wakeTime.map { $0 <= environment.realTime() } ?? false }

    /// Whether the namespace is idle and has webhook attempts that were in flight when the server stopped.
    var hasInterruptedDeliveries: Bool { idle.withLockedValue { $0?.hasInterruptedDeliveries } == true }

    /// The namespace's entry in the control API's list, without opening its database. `nil` if the database is open
    /// or something is due. Also `nil` if requests are recorded or replayed: listing is then a job in the recorded
    /// order.
    package var idleInfo: NamespaceInfo? {
        guard environment.recorder == nil, JobTicket.current == nil, let idle = idle.withLockedValue({ $0 })
        else { return nil }
        let real = environment.realTime()
        guard !isDue else { return nil }
        return idle.info(name: name, url: environment.publicURL(ofNamespace: name), real: real)
    }

    /// The real time at which scheduled work falls due; `nil` if there is none, or if the clock is frozen.
    package var wakeTime: Instant? {
        wake.withLockedValue { $0 }
    }

    private static func wakeTime(_ state: NamespaceState) -> Instant? {
        state.nextDue.flatMap { state.clock.realTime(of: $0) }
    }

    /// Performs an operation, at its place in the order of all jobs.
    ///
    /// Controllers are in another module, for which the compiler does not specialize this function. So frequent
    /// operations are named here, and avoid the cost of generic code.
    ///
    /// - Parameter input: the operation, or the error in the request that asked for it.
    @specialized(where Wanted == Login)
    @specialized(where Wanted == ShowClock)
    package func answer<Wanted: OpenOperation>(
        _ input: Result<Wanted, PlatformError>, _ head: RequestHead
    ) async -> Completed<Wanted.Answer> {
        await run(head, Wanted.access, username: { try Wanted.username(of: input, $0, $1) }) { job in
            try input.get().perform(job)
        }
    }

    /// Performs an operation for an organization. Checks its token first, then its limit, then the request.
    @specialized(where Wanted == ShowPartnerItem)
    @specialized(where Wanted == LookUpItem)
    @specialized(where Wanted == SearchPartnerItems)
    package func answer<Wanted: PartnerOperation>(
        _ input: Result<Wanted, PlatformError>, _ credential: Credential, _ head: RequestHead
    ) async -> Completed<Wanted.Answer> {
        await run(head, Wanted.access) { job in
            let organization = try Callers.organization(credential, job)
            return try input.get().perform(job, for: organization)
        }
    }

    /// Performs an operation for a user. Checks the session token first, then the request.
    @specialized(where Wanted == ShowResult)
    @specialized(where Wanted == SearchItems)
    @specialized(where Wanted == StartCapture)
    @specialized(where Wanted == UploadImage)
    @specialized(where Wanted == SubmitCapture)
    @specialized(where Wanted == ShowSession)
    package func answer<Wanted: UserOperation>(
        _ input: Result<Wanted, PlatformError>, _ credential: Credential, _ head: RequestHead
    ) async -> Completed<Wanted.Answer> {
        await run(head, Wanted.access) { job in
            let user = try Callers.user(credential, job)
            return try input.get().perform(job, for: user)
        }
    }

    /// Refuses a request that matches no operation, at its place in the order of all jobs.
    package func refuse(_ error: PlatformError, _ head: RequestHead) async -> Completed<Never> {
        await run(head, .reads) { _ in throw error }
    }

    /// Adds a request to the journal and to the feed.
    package func append(_ entry: JournalEntry) {
        // A request that was in flight during a reset does not belong to the new state.
        guard let settings = entry.known.journal,
            environment.journals.append(
                entry, to: name, settings, if: { [outbox] in entry.known.generation == outbox.generation })
        else { return }
        feed.publish(JournaledRequest(entry, withMessages: false, Secrets(entry, secrets)))
    }

    /// Runs only what is due now. Writes.
    package func tick() async {
        guard JobTicket.current == nil, let recorder = environment.recorder else {
            _ = await run(RequestHead(isControl: true), .reads) { _ in }
            return
        }
        let ticket = recorder.ticket()
        await JobTicket.$current.withValue(ticket) { await tick() }
        recorder.record(ticked: name, ticket, environment)
    }

    /// Posts a job and waits until its answer is durable.
    ///
    /// - Parameter username: finds the user of the request, for fault rules.
    func run<Answer: Sendable>(
        _ head: RequestHead, _ access: Access, catchingUp: Bool = true,
        username: @escaping @Sendable (Credential, JobContext) throws -> String? = Callers.username,
        _ body: @escaping @Sendable (JobContext) throws -> Answer
    ) async -> Completed<Answer> {
        let environment = environment
        let ticket = JobTicket.current
        do {
            try await ticket?.turn()
        } catch {
            return Completed(
                requestID: head.requestID ?? environment.nextServerRequestID(), result: .failure(error))
        }
        return await withCheckedContinuation { continuation in
            mailbox.post(
                .job(
                    run: { state, transaction in
                        try JobTicket.run(ticket, environment) {
                            let now = state.clock.now(real: environment.realTime())
                            if catchingUp { try state.runDue(upTo: now, transaction) }
                            let id =
                                if let id = head.requestID {
                                    id
                                } else if head.isControl {
                                    state.nextControlRequestID()
                                } else {
                                    try state.nextRequestID(transaction)
                                }
                            let job = JobContext(
                                state: state, transaction: transaction, now: now, language: head.language,
                                trace: head.metadata?.trace)
                            try job.trace?.begin(job)
                            let refusal = try head.metadata.flatMap {
                                try Faults.trigger($0, job, username: username)
                            }
                            let result = try refusal.map { .failure($0) } ?? Self.attempt(access, job, body)
                            return { continuation.resume(returning: Completed(requestID: id, result: result)) }
                        }
                    },
                    refuse: { error in
                        continuation.resume(
                            returning: Completed(
                                requestID: head.requestID ?? environment.nextServerRequestID(),
                                result: .failure(error)))
                    }))
        }
    }

    /// Runs a job's body. Throws only if the whole transaction is lost.
    private static func attempt<Answer>(
        _ access: Access, _ job: JobContext, _ body: (JobContext) throws -> Answer
    ) throws -> Result<Answer, PlatformError> {
        let outgoing = job.state.outgoing.count
        let imageChanges = job.state.imageChanges.count
        do {
            return switch access {
            case .reads: .success(try body(job))
            case .writes: .success(try job.transaction.savepoint { try body(job) })
            }
        } catch let error as PlatformError {
            job.state.outgoing.removeLast(job.state.outgoing.count - outgoing)
            job.state.forgetImageChanges(after: imageChanges)
            if access == .writes { job.state.invalidateRules() }
            return .failure(error)
        } catch {
            guard job.transaction.isOpen else { throw error }
            job.state.outgoing.removeLast(job.state.outgoing.count - outgoing)
            job.state.forgetImageChanges(after: imageChanges)
            job.state.invalidateRules()
            job.state.nextDue = try job.transaction.nextDue()?.dueAt
            if error is StorageError { return .failure(job.state.storageFailed(error)) }
            return .failure(.bug("\(error)"))
        }
    }

    /// Drops the state of a namespace that is being deleted. Its files are removed next, so the database need not
    /// close cleanly.
    func abandon(_ state: inout NamespaceState?) {
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
    func checkExists(_ undo: () throws -> Void) throws {
        guard deleted.withLockedValue({ $0 }) else { return }
        try undo()
        throw PlatformError.unknownNamespace("the namespace was deleted")
    }

    /// Runs `body` alone, after all earlier jobs are answered.
    ///
    /// - Parameter isLast: whether this ends the namespace. An idle namespace is not opened for it.
    func runExclusively<Value: Sendable>(
        isLast: Bool = false, _ body: @escaping @Sendable (inout NamespaceState?) throws -> Value
    ) async throws -> Value {
        let environment = environment
        let ticket = JobTicket.current
        try await ticket?.turn()
        return try await withCheckedThrowingContinuation { continuation in
            let run: @Sendable (inout NamespaceState?) -> Mailbox.Reply = { state in
                let result = JobTicket.run(ticket, environment) { Result { try body(&state) } }
                if case .failure = result { state = state?.reopenedIfClosed() }
                return { continuation.resume(with: result) }
            }
            mailbox.post(isLast ? .ending(run) : .exclusive(run))
        }
    }
}
