import NIOConcurrencyHelpers
import NIOPosix
import Storage

/// Decides when each job of the server runs and which real time it reads: at once (live), at once, and recorded
/// (recording), or as a recording says (replaying) [D recording].
///
/// Everything that depends on the order of jobs enters through one of these:
/// - ``turn()``: a job of a namespace. `Namespace.runJob` shares a transaction with other jobs; `runExclusively` has the
///   namespace for itself.
/// - ``inOrder(_:)``: reads or changes the list of namespaces.
/// - ``task(_:)``: a job on which later jobs depend, such as the creation of a namespace.
/// - ``copying(on:_:)``: copies or reads files.
/// - ``observe(_:)-(Int)``: reads something that no job decides, such as webhooks in flight.
///
/// Advances of one clock wait for each other in an ``AdvanceLine`` before they come here. `Namespace.runLongOperation`
/// runs a job for its request, then work whose jobs and copies take turns of their own.
package final class JobSequencer: Sendable {
    private let order: JobOrder
    private let clock: @Sendable () -> Instant
    /// Held while the list of namespaces is read or changed.
    private let listLock = NIOLock()
    /// Held while files beside the namespaces' databases are copied, read or removed. Taken after ``listLock``.
    private let copyLock = NIOLock()
    /// Whether the replay is over and its server goes on. Only read if this is a replay.
    private let isPastReplay = NIOLockedValueBox(false)

    /// - Parameter clock: the real time; in a replay, the time that the replay has reached.
    package init(_ order: JobOrder, clock: @escaping @Sendable () -> Instant) {
        self.order = order
        self.clock = clock
    }

    /// The real time. All readings within a job that is recorded or replayed return the same time.
    package func realTime() -> Instant {
        isLive ? clock() : JobTime.current ?? clock()
    }

    /// Whether all jobs of the server have one order, which a recording holds or a replay follows. Nothing may then
    /// happen outside a job.
    package var ordersAllJobs: Bool { !isLive }

    /// Whether jobs are neither recorded nor replayed.
    var isLive: Bool {
        switch order {
        case .live: true
        case .recording: false
        case .replaying: isPastReplay.withLockedValue { $0 }
        }
    }

    /// The token of the current task; `nil` if it is neither recorded nor replayed.
    private var token: JobToken? { isLive ? nil : JobToken.current }

    /// Whether a recording decides the order of jobs. They then must not wait for each other in another order.
    package var isReplaying: Bool { if case .replaying = order { !isLive } else { false } }

    /// Ends a replay: jobs run when they come from now on.
    func endReplay() { isPastReplay.withLockedValue { $0 = true } }

    /// Throws if the server must begin without stored namespaces, but `names` has some.
    package func checkBeginning(_ names: () throws -> [String]) throws {
        guard case .recording = order, try !names().isEmpty else { return }
        throw PlatformError.wrongState(
            "a recording begins with a fresh namespace, but the data directory already holds some; record with --in-memory, or another --data-dir"
        )
    }

    // MARK: Jobs

    /// Waits until the next job of the current task may be posted.
    ///
    /// - Returns: the job's turn, under which it must run.
    /// - Throws: ``PlatformError`` if a replay ends before this job.
    package func turn() async throws(PlatformError) -> JobTurn {
        guard let token else { return JobTurn(token: nil) }
        try await token.turn()
        return JobTurn(token: token)
    }

    /// Reads or changes the list of namespaces.
    package func inOrder<Value>(_ body: @Sendable () throws -> Value) async throws -> Value {
        try await inList { try $0.run(body) }
    }

    /// Reads or changes the list of namespaces with `body`, which may run a part of it as a job. Only that part takes a place.
    package func inList<Value>(_ body: (JobTurn) throws -> Value) async throws -> Value {
        guard token != nil else { return try body(JobTurn(token: nil)) }
        let turn = try await turn()
        return try listLock.withLock { try body(turn) }
    }

    /// Runs the last job of a namespace, which also removes its name from the list and its files. Between the job's place and the
    /// end of the change nothing else may read them: a replay would let it see them after the change.
    package func changingList<Value>(_ turn: JobTurn, _ body: () throws -> Value) rethrows -> Value {
        guard turn.token != nil else { return try body() }
        return try listLock.withLock { try copyLock.withLock { try turn.run(body) } }
    }

    /// Runs a job that reads or writes files beside the namespaces' databases, such as a snapshot, on the current thread.
    package func readingFiles<Value>(_ turn: JobTurn, _ body: () throws -> Value) rethrows -> Value {
        guard turn.token != nil else { return try body() }
        return try copyLock.withLock { try turn.run(body) }
    }

    /// Copies or reads files on `threads`, so that the jobs of all namespaces go on. This is done one at a time if the
    /// order matters: what a request reads depends on it.
    package func copying<Value: Sendable>(
        on threads: NIOThreadPool, _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        guard token != nil else { return try await threads.runIfActive(body) }
        let turn = try await turn()
        return try await threads.runIfActive { [copyLock] in try copyLock.withLock { try turn.run(body) } }
    }

    /// Starts a task whose first job other jobs can wait for with ``SequencedTask/valueForLaterJobs()``.
    package func task<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) -> SequencedTask<Value> {
        SequencedTask(task: Task(operation: body), place: token?.nextPlace)
    }

    // MARK: Observations

    /// A number that no job decides. A replay returns the recorded one.
    package func observe(_ count: Int) -> Int {
        token?.observe(count) ?? count
    }

    /// The real times of a request. A replay returns the recorded ones; `nil` if it has none.
    package func observe(_ times: RequestTimes) -> RequestTimes? {
        guard let token else { return times }
        return token.observe(times)
    }

    /// Waits for something that no job decides, and returns the result. A replay does not wait and returns the
    /// recorded result.
    package func observe(_ wait: () async -> Bool) async -> Bool {
        guard let token else { return await wait() }
        return await token.observe(wait)
    }

    /// Waits for something that no job decides, and returns what ended the wait, as a number. A replay does not wait and returns
    /// the recorded number.
    func observe(_ wait: () async -> Int) async -> Int {
        guard let token else { return await wait() }
        return await token.observe(wait)
    }

    // MARK: Entries

    /// Runs what happens when the server starts. It reads the time at which the recording begins and takes no place.
    package func atStart<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        let startedAt: Instant
        switch order {
        case .live: return try await body()
        case .recording(let recorder): startedAt = recorder.startedAt
        case .replaying(let start): startedAt = start
        }
        return try await JobToken.$current.withValue(.fixedTime(startedAt), operation: body)
    }

    /// Runs a namespace's due work, which no request asked for.
    package func runDueWork(of namespace: String, _ body: () async -> Void) async {
        await unrequested(body) { entry, _ in entry.ticked = namespace }
    }

    /// Runs the deletion of a namespace whose time to live has expired.
    package func runExpiry(of namespace: String, _ body: () async -> Void) async {
        await unrequested(body) { entry, _ in entry.dropped = namespace }
    }

    /// Runs the job that takes the outcome of a webhook attempt.
    ///
    /// - Parameter body: returns whether the attempt belonged to the namespace's current state, so that its outcome counted.
    package func runOutcome(
        _ outcome: WebhookOutcome, of webhook: OutgoingWebhook, in namespace: String, _ body: () async -> Bool
    ) async {
        await unrequested(body) { $0.outcome = RecordedOutcome(namespace, webhook, outcome, counted: $1) }
    }

    /// Runs the job that notes that an answer did not reach its client.
    ///
    /// - Parameters:
    ///   - sequence: the number of the request in the journal.
    ///   - body: returns whether the journal still had the request.
    package func runLoss(of sequence: Int64, in namespace: String, _ body: () async -> Bool) async {
        await unrequested(body) { $0.undelivered = RecordedLoss(namespace: namespace, sequence: $1 ? sequence : nil) }
    }

    /// Runs jobs that no request asked for. A recording has an entry for them if any ran.
    ///
    /// - Parameter note: notes in the entry why they ran.
    private func unrequested<Value: Sendable>(
        _ body: () async -> Value, note: (inout RecordedEntry, Value) -> Void
    ) async {
        guard case .recording(let recorder) = order, JobToken.current == nil else {
            _ = await body()
            return
        }
        let token = recorder.makeToken(clock)
        let value = await JobToken.$current.withValue(token, operation: body)
        guard token.hasTurns else { return }
        var entry = RecordedEntry(jobs: Array(token.taken().turns))
        note(&entry, value)
        await recorder.record(entry)
    }

    /// Runs a request. A recording has an entry for it; the entry is written when the answer is known. One that is held has another
    /// entry from the moment on at which the hold begins, so that the recording of a killed server does not end there.
    ///
    /// - Parameters:
    ///   - unanswered: makes the request's entry without an answer; `nil` if it cannot be held. Called in a job of the request.
    ///   - entry: returns what makes the request's entry, without the facts about its jobs. That runs on a thread that may block.
    package func request<Value>(
        _ body: () async throws -> Value, unanswered: (@Sendable () -> RecordedRequest)? = nil,
        entry: (Result<Value, any Error>) async -> @Sendable () -> RecordedRequest
    ) async throws -> Value {
        guard case .recording(let recorder) = order else { return try await body() }
        var held: (@Sendable (JobToken) -> Void)?
        if let unanswered { held = { recorder.recordHold($0, unanswered()) } }
        let token = recorder.makeToken(clock, held: held)
        return try await JobToken.$current.withValue(token) {
            let result: Result<Value, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            await recorder.record(token, await entry(result))
            return try result.get()
        }
    }
}

/// The source of the order of a server's jobs.
package enum JobOrder: Sendable {
    /// Each job runs when it comes.
    case live
    /// Each job runs when it comes, and the order is recorded.
    case recording(Recorder)
    /// Jobs run in the order of a recording, which begins at this real time.
    case replaying(from: Instant)
}

/// The turn of one job: how it runs when its namespace gets to it.
package struct JobTurn: Sendable {
    /// `nil` if the job is neither recorded nor replayed.
    fileprivate let token: JobToken?

    /// Whether the job of a read is not begun because its caller has gone. A recording notes it, and a replay repeats it.
    ///
    /// - Parameter isGone: whether the caller has gone by now.
    func isAbandoned(_ isGone: () -> Bool) -> Bool {
        token.map { $0.isAbandoned(isGone) } ?? isGone()
    }

    /// A number that the job cannot decide. A replay returns the recorded one.
    func observe(_ count: Int) -> Int { token?.observe(count) ?? count }

    /// Writes the request of the job to the recording, if there is one: it is held, and may never be answered.
    func recordHold() { token?.recordHold() }

    /// Takes the place of a job that its namespace refuses, because it has ended. The refusal comes after the end in a replay, too.
    func pass() { token?.run {} }

    /// Runs the job on the current thread.
    package func run<Value>(_ body: () throws -> Value) rethrows -> Value {
        guard let token else { return try body() }
        return try token.run(body)
    }
}

/// A task that begins with a job on which later jobs depend.
package struct SequencedTask<Value: Sendable>: Sendable {
    fileprivate let task: Task<Value, any Error>
    /// In a replay, the place of its first job.
    fileprivate let place: Int?

    /// The task's value, for the code that started it.
    package var value: Value { get async throws { try await task.value } }

    /// The task's value, for jobs that come after it.
    package func valueForLaterJobs() async throws -> Value {
        try await JobToken.current?.follow(place)
        return try await task.value
    }
}
