import EntrupyAPI
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import SimulationAPI
import Testing

@testable import Entrupy
@testable import Simulation
@testable import Storage

/// Namespaces without a server. The test sets the real time.
@Suite struct NamespaceTests {
    /// Namespaces in memory or on disk, and their real time.
    final class Bench: Sendable {
        let namespaces: Namespaces
        let time = NIOLockedValueBox(Instant("2026-01-05T09:00:00Z")!)
        /// Each next due time that a namespace had when it changed.
        let dueChanges = NIOLockedValueBox<[Instant?]>([])
        private let threads = NIOThreadPool(numberOfThreads: 2)

        /// - Parameter directory: the data directory; `nil` for namespaces in memory.
        init(directory: String? = nil) throws {
            threads.start()
            let (time, changes) = (time, dueChanges)
            namespaces = try Namespaces(
                NamespacesConfiguration(
                    dataDirectory: directory, durability: .process, seed: .standard(), randomSeed: 1,
                    settings: .object(["rate_limits": .string("off")]), autoCreates: false),
                realTime: { time.withLockedValue { $0 } }, threads: threads,
                dueChanged: { time in changes.withLockedValue { $0.append(time) } })
        }

        deinit {
            threads.shutdownGracefully { _ in }
        }

        func open() async throws -> Namespace {
            try await namespaces.openAll()
            return try #require(namespaces.find("default"))
        }
    }

    /// Thousands of namespaces are made in one process by tests. Each has five threads.
    @Test func namespacesThatAreDroppedLeaveNothing() async throws {
        weak var environment: Simulation.Environment?
        do {
            let bench = try Bench()
            _ = try await bench.open()
            environment = bench.namespaces.environment
        }
        // The last job ends on a thread.
        for _ in 0..<100_000 where environment != nil { await Task.yield() }
        #expect(environment == nil)
    }

    private struct Nothing: JournalHeaders, JournalBody {
        let pairs: [(name: String, value: String)] = []
        let data = Data()
    }

    @Test func aRequestFromBeforeAResetIsNotJournaledAfterIt() async throws {
        let bench = try Bench()
        let namespace = try await bench.open()
        let journals = namespace.environment.journals
        let message = JournalEntry.Message(length: 0, kept: 0, headers: Nothing(), body: Nothing())
        let outcome = RequestOutcome(
            at: Instant(microseconds: 0), generation: namespace.outbox.generation,
            journal: .init(entries: 10, bytes: 100_000, bodyBytes: 10), secrets: [])
        let entry = JournalEntry(
            requestID: "r", method: "GET", path: "/", query: "", status: 200,
            milliseconds: 1, outcome: outcome, request: message, response: message)
        await namespace.append(entry)
        #expect(journals.entries(of: "default").count == 1)
        _ = await namespace.reset(RequestHead(isControl: true))
        await namespace.append(entry)
        #expect(journals.entries(of: "default").isEmpty)
    }

    @Test func anUnusedNamespaceIsDroppedAndABusyOneIsNot() async throws {
        let bench = try Bench()
        _ = try await bench.open()
        let second = Span("1s")!
        let brief = try await bench.namespaces.makeFresh("brief", NamespaceOptions(ttl: second))
        func isThere(after seconds: Int64) async -> Bool {
            bench.time.withLockedValue { $0 = Instant(microseconds: $0.microseconds + seconds * 1_000_000) }
            await bench.namespaces.deleteExpired()
            return bench.namespaces.find(brief.name) != nil
        }
        #expect(await isThere(after: 0))
        brief.beginUse()
        #expect(await isThere(after: 3600))
        brief.endUse()
        #expect(await isThere(after: 0))
        let (_, _, id) = brief.feed.listen(to: [], resume: nil) {}
        #expect(await isThere(after: 60))
        brief.feed.leave(id)
        #expect(await !isThere(after: 1))
        #expect(bench.namespaces.find("default") != nil)
    }

    @Test func aReplacedNamespaceHasTheTimeToLiveOfTheStart() async throws {
        let bench = try Bench()
        let namespace = try await bench.open()
        func start(ttl: Span?) async throws {
            let wanted = ScenarioStart(namespace: "child", replaces: true, ttl: ttl, runs: false, isStrict: false)
            _ = try await bench.namespaces.startScenario(
                "late-result", .success(wanted), namespace, RequestHead(isControl: true),
                until: SettleDeadline { _ in true }
            ).result.get()
        }
        func isThere(after seconds: Int64) async -> Bool {
            bench.time.withLockedValue { $0 = Instant(microseconds: $0.microseconds + seconds * 1_000_000) }
            await bench.namespaces.deleteExpired()
            return bench.namespaces.find("child") != nil
        }
        try await start(ttl: nil)
        #expect(await isThere(after: 3600))
        // The hour without a time to live does not count.
        try await start(ttl: Span("10s"))
        #expect(await isThere(after: 9))
        try await start(ttl: nil)
        #expect(await isThere(after: 3600))
        try await start(ttl: Span("10s"))
        #expect(await !isThere(after: 10))
    }

    func login(_ namespace: Namespace) async throws -> Credential {
        let request = AuthorizeUserRequest(
            sdk_authorization_request: "r", unique_user_id: "example-user", email: "a@b")
        let signed = try await namespace.answer(
            .success(AuthorizeUser(request)), .token("demo-api-token"), RequestHead()
        ).result.get().signed
        let login = try Login(LoginRequest(signed_authorization_request: signed.signed_authorization_request))
        return .token(try await namespace.answer(.success(login), .missing, RequestHead()).result.get().token)
    }

    /// Starts a capture and returns its id.
    func startCapture(_ namespace: Namespace, _ user: Credential) async throws -> String {
        let item: JSONObject = ["brand": .string("Nike"), "style_name": .string("Air Max")]
        return try await namespace.answer(
            .success(StartCapture(StartCaptureRequest(item: item))), user, RequestHead()
        ).result.get().captureID
    }

    private func events(_ namespace: Namespace, of subject: String) async throws -> [EventRecord] {
        try await namespace.run(RequestHead(isControl: true), .reads) {
            try $0.transaction.events(after: 0, limit: 1000).filter { $0.subject == subject }
        }.result.get()
    }

    @Test func captureNotSubmittedWithinTwoHoursTimesOutAtExactlyThatTime() async throws {
        let bench = try Bench()
        let namespace = try await bench.open()
        let capture = try await startCapture(namespace, login(namespace))
        bench.time.withLockedValue { $0 = Instant("2026-01-05T23:30:00Z")! }
        let events = try await events(namespace, of: capture)
        #expect(events.map(\.kind) == ["capture.started", "capture.timed_out"])
        #expect(events.last?.at.display == "2026-01-05T11:00:00.000000Z")
    }

    @Test func aRunningNamespaceReportsItsWakeTime() async throws {
        let bench = try Bench()
        let namespace = try await bench.open()
        #expect(namespace.wakeTime == nil)
        let user = try await login(namespace)
        _ = try await startCapture(namespace, user)
        #expect(namespace.wakeTime == Instant("2026-01-05T11:00:00Z"))
        bench.time.withLockedValue { $0 = Instant("2026-01-05T11:00:00Z")! }
        await namespace.tick()
        #expect(namespace.wakeTime == Instant("2026-01-06T09:00:00Z"), "the end of the session")
        #expect(bench.dueChanges.withLockedValue { $0.last } == Instant("2026-01-06T09:00:00Z"))
        _ = await namespace.answer(.success(FreezeClock(at: nil)), RequestHead(isControl: true))
        #expect(namespace.wakeTime == nil)
    }

    @Test func sessionsExpireByThemselvesAndAreRecorded() async throws {
        let bench = try Bench()
        let namespace = try await bench.open()
        _ = try await login(namespace)
        bench.time.withLockedValue { $0 = Instant("2026-01-09T09:00:00Z")! }
        let events = try await events(namespace, of: "DemoOrg-example-user")
        #expect(events.map(\.kind) == ["user.created", "session.started", "session.expired"])
        #expect(events.last?.at.display == "2026-01-06T09:00:00.000000Z")
    }

    /// Gives an item a result and renders it. The first run then loses its transaction. The second run, alone, gives
    /// another result, which has the same revision.
    struct ChangeTwice: Simulation.Operation {
        static let access = Access.writes
        let entrupyID: String
        let runs = NIOLockedValueBox(0)

        func perform(_ job: JobContext, as caller: Control) throws {
            let run = runs.withLockedValue { count in
                count += 1
                return count
            }
            var item = try Results.find(entrupyID, job)
            try Results.set(
                &item, run == 1 ? .unknown : .notSupported, reason: nil, rule: .control, job)
            guard run == 1 else { return }
            let found = try job.transaction.foundItem(entrupyID: entrupyID, key: job.renderingKey)
            _ = try Renderings(job).sdk(found!)
            try job.transaction.run("ROLLBACK")
            throw StorageError.unavailable("disk full")
        }
    }

    @Test(arguments: [Language.english, .japanese])
    func aRenderingFromALostTransactionIsNotUsed(language: Language) async throws {
        let bench = try Bench()
        let namespace = try await bench.open()
        let user = try await login(namespace)
        let template = try ItemTemplate(
            count: nil, username: "DemoOrg-example-user", result: nil, reason: nil, flag: nil,
            item: ["brand": .string("Nike")])
        let made = try await namespace.generateItems(.success(template), RequestHead()).result.get()
        let id = try #require(made.entrupy_ids.first)
        let change = ChangeTwice(entrupyID: id)
        try await namespace.answer(.success(change), RequestHead(language: language)).result.get()
        #expect(change.runs.withLockedValue { $0 } == 2)
        let shown = await namespace.answer(.success(ShowResult(id)), user, RequestHead(language: language))
        let seen = try WireJSON.decode(
            EntrupyCaptureResult.self, from: Data(shown.result.get().bytes.readableBytesView))
        #expect(seen.status.result.id == ResultID.notSupported, "the second change is the one that was committed")
    }

    /// Ends the transaction during a job, as a full disk does.
    struct LoseTransaction: Simulation.Operation {
        static let access = Access.writes

        func perform(_ job: JobContext, as caller: Control) throws {
            try job.transaction.run("ROLLBACK")
            throw StorageError.unavailable("disk full")
        }
    }

    @Test func whenATransactionIsLostEachOfItsJobsIsAnsweredForItself() async throws {
        let bench = try Bench()
        let namespace = try await bench.open()
        let user = try await login(namespace)
        // Block the job queue, so that all jobs wait and share a transaction.
        let gate = DispatchSemaphore(value: 0)
        let isHeld = NIOLockedValueBox(false)
        namespace.mailbox.post(
            .exclusive(
                run: { _ in
                    isHeld.withLockedValue { $0 = true }
                    gate.wait()
                    return {}
                }, refuse: { _ in }))
        try await waitUntil { isHeld.withLockedValue { $0 } }
        async let first = startCapture(namespace, user)
        async let lost = namespace.answer(.success(LoseTransaction()), RequestHead())
        async let second = startCapture(namespace, user)
        try await waitUntil { namespace.mailbox.waitingCount == 3 }
        gate.signal()
        let captures = try await [first, second]
        guard case .failure(let refused) = await lost.result, refused.kind == .unavailable else {
            Issue.record("the job that lost the transaction had another answer")
            return
        }
        #expect(refused.message.contains("disk full"))
        let page = try await namespace.answer(
            .success(ListCaptures(status: nil, limit: 25, cursor: nil)), user, RequestHead()
        ).result.get()
        #expect(Set(page.items.map(\.capture_id)) == Set(captures))
        #expect(Set(captures).count == 2)
    }

    @Test func aJobThatFailsLeavesNothingOfItsOwnAndDisturbsNoOther() async throws {
        struct WriteThenFail: Simulation.Operation {
            static let access = Access.writes
            func perform(_ job: JobContext, as caller: Control) throws {
                try job.transaction.setNamespaceValue(.seedName, "lost")
                throw PlatformError.bug("on purpose")
            }
        }
        let bench = try Bench()
        let namespace = try await bench.open()
        _ = await namespace.answer(.success(WriteThenFail()), RequestHead())
        let name = try await namespace.run(RequestHead(), .reads) { try $0.transaction.namespaceValue(.seedName) }
            .result
            .get()
        #expect(name == "standard")
    }

    @Test func readingGeneratesNoIDs() async throws {
        let bench = try Bench()
        let namespace = try await bench.open()
        let user = try await login(namespace)
        let before = try await startCapture(namespace, user)
        let other = try Bench()
        let twin = try await other.open()
        let twinUser = try await login(twin)
        for _ in 0..<5 { _ = await twin.answer(.success(ShowSession()), twinUser, RequestHead()) }
        #expect(try await startCapture(twin, twinUser) == before)
    }

    /// Waits until another thread makes `condition` true.
    private func waitUntil(_ condition: @Sendable () -> Bool) async throws {
        while !condition() { await Task.yield() }
    }

    @Test func noWaitForWebhooksBeginsWhileTheServerIsStopping() async throws {
        let bench = try Bench()
        let outbox = try await bench.open().outbox
        outbox.begin(1)
        async let before = outbox.waitUntilIdle()
        bench.namespaces.stopWaiting()
        #expect(await !before)
        #expect(await !outbox.waitUntilIdle())
        outbox.end()
        #expect(await outbox.waitUntilIdle())
    }

    /// A timer cancels a wait. It may fire before the wait begins, and after it has ended.
    @Test func aWaitForWebhooksThatIsCancelledAtAnyTimeLeavesNothing() async throws {
        let bench = try Bench()
        let outbox = try await bench.open().outbox
        let cancel = NIOLockedValueBox<[@Sendable () -> Void]>([])
        for _ in 0..<100 { #expect(await outbox.waitUntilIdle { one in cancel.withLockedValue { $0.append(one) } }) }
        for one in cancel.withLockedValue({ $0 }) { one() }
        #expect(outbox.waitCount == 0)
        outbox.begin(1)
        #expect(await !outbox.waitUntilIdle { $0() }, "cancelled before it waits")
        async let waiting = outbox.waitUntilIdle { one in cancel.withLockedValue { $0 = [one] } }
        try await waitUntil { cancel.withLockedValue { $0.count } == 1 }
        for one in cancel.withLockedValue({ $0 }) { one() }
        #expect(await !waiting)
        #expect(outbox.waitCount == 0)
        outbox.end()
    }

    /// No request may ever reach the fork, so it must report its wake time by itself.
    @Test func aForkWithDueWorkReportsItsWakeTime() async throws {
        let bench = try Bench()
        let namespace = try await bench.open()
        _ = try await startCapture(namespace, login(namespace))
        _ = try await namespace.saveSnapshot("s", RequestHead(isControl: true)).result.get()
        bench.dueChanges.withLockedValue { $0 = [] }
        let child = try await bench.namespaces.fork(namespace, snapshot: "s", as: "child", ttl: nil)
        #expect(child.wakeTime == Instant("2026-01-05T11:00:00Z"))
        #expect(bench.dueChanges.withLockedValue { $0 } == [child.wakeTime])
    }

    @Test func aRunningClockContinuesFromTheTimeOfTheSnapshot() async throws {
        let bench = try Bench()
        let namespace = try await bench.open()
        let head = RequestHead(isControl: true)
        let saved = try await namespace.saveSnapshot("s", head).result.get().info.clock
        #expect(saved.mode == "running")
        // An hour without requests does not change the clock of the saved namespace.
        bench.time.withLockedValue { $0 = $0 + .hour }
        let child = try await bench.namespaces.fork(namespace, snapshot: "s", as: "child", ttl: nil)
        #expect(try await child.answer(.success(ShowNamespace()), head).result.get().clock.now == saved.now)
        #expect(try await namespace.answer(.success(ShowNamespace()), head).result.get().clock.now > saved.now)
        #expect(try await namespace.restoreSnapshot("s", head).result.get().clock.now == saved.now)
        bench.time.withLockedValue { $0 = $0 + .hour }
        #expect(try await namespace.answer(.success(ShowNamespace()), head).result.get().clock.now > saved.now)
    }
}
