import Foundation
import GRDB
import NIOConcurrencyHelpers
import NIOPosix
import Testing

@testable import Entrupy
@testable import Simulation
@testable import Storage

/// Arithmetic on stored values. No number in a file may crash the process.
@Suite struct StoredValueTests {
    private static let migrator = Schema.migrator(appending: Platforms.simulated.migrations)
    static let extremes: [Int64] = [.min, -1, 0, 1, 1 << 53, .max - 1, .max]

    @Test(arguments: extremes, extremes) func momentsAndSpansNeverOverflow(left: Int64, right: Int64) {
        let (moment, other) = (Instant(microseconds: left), Instant(microseconds: right))
        let span = Span(microseconds: right)
        #expect(moment + span <= .end)
        #expect((moment - span).microseconds <= Instant.bound)
        #expect(other + (moment - other) == min(moment, .end))
        #expect(!moment.display.isEmpty && span.roundedUpSeconds >= 1)
        var window = SlidingWindow(length: span, times: [moment])
        _ = window.wait(at: other, limit: 1)
    }

    private static let real = Instant("2026-01-05T09:00:00Z")!

    @Test(arguments: extremes) func aClockShowsAValidTimeForEveryStoredValue(value: Int64) throws {
        let world = try NamespaceDatabase(path: nil, migrator: Self.migrator)
        for mode in ["running", "frozen", "broken"] {
            var clock = try world.transaction { transaction in
                try transaction.setNamespaceValue(.clockMode, mode)
                try transaction.setNamespaceValue(.clockValue, String(value))
                try transaction.insertEvent(
                    at: Instant(microseconds: value), kind: "clock.frozen", subject: "clock", data: "{}")
                return try Clock(stored: transaction, real: Self.real)
            }
            let now = clock.now(real: Self.real)
            #expect(now <= .end)
            // A running clock goes on, wherever it has been.
            let later = clock.now(real: Self.real + Span(microseconds: 1))
            #expect(clock.isFrozen || later > now || now == .end, "\(mode) \(value)")
            _ = clock.realTime(of: .end)
            clock.move(to: Instant(microseconds: value), real: now)
            #expect(clock.now(real: now) <= .end)
        }
    }

    /// The machine's clock was ahead by thirty years, and was set back while the server was stopped [D clock].
    @Test func aRunningClockGoesOnFromALaterTime() throws {
        let world = try NamespaceDatabase(path: nil, migrator: Self.migrator)
        let last = Self.real + Span(microseconds: 30 * 365 * Span.day.microseconds)
        var clock = try world.transaction { transaction in
            try transaction.setNamespaceValue(.clockMode, "running")
            try transaction.setNamespaceValue(.clockValue, "0")
            try transaction.insertEvent(at: last, kind: "clock.frozen", subject: "clock", data: "{}")
            return try Clock(stored: transaction, real: Self.real)
        }
        #expect(clock.now(real: Self.real) == last)
        #expect(clock.now(real: Self.real + .minute) == last + .minute)
        #expect(clock.realTime(of: last + .hour) == Self.real + .hour)
    }

    /// Runs `body` with the default namespace, reopened after `change` changed its database while it was closed.
    private func reopened(
        changing change: @escaping @Sendable (Transaction) throws -> Void,
        _ body: (Namespace) async throws -> Void
    ) async throws {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("stored-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: root) }
        let threads = NIOThreadPool(numberOfThreads: 2)
        threads.start()
        func open(_ directory: String) async throws -> Namespaces {
            let namespaces = try Namespaces(
                NamespacesConfiguration(
                    dataDirectory: directory, durability: .process, seed: .standard(), randomSeed: 1,
                    settings: .object([:]), autoCreates: false),
                realTime: { Instant("2026-01-05T09:00:00Z")! }, threads: threads, dueChanged: { _ in })
            try await namespaces.openAll()
            return namespaces
        }
        try await open(root + "/made").closeAll()
        // In another directory, because this process still has the first one locked.
        try FileManager.default.createDirectory(atPath: root + "/changed/namespaces", withIntermediateDirectories: true)
        let path = root + "/changed/namespaces/default.sqlite"
        try FileManager.default.copyItem(atPath: root + "/made/namespaces/default.sqlite", toPath: path)
        let world = try NamespaceDatabase(path: path, migrator: Self.migrator)
        try world.transaction(change)
        try world.checkpoint()
        try world.close()
        let namespaces = try await open(root + "/changed")
        try await body(#require(namespaces.find("default")))
        try await namespaces.closeAll()
        try await threads.shutdownGracefully()
    }

    private func refusal<Wanted: Simulation.Operation>(
        _ namespace: Namespace, _ operation: Wanted, isControl: Bool = true
    ) async -> PlatformError? {
        let result = await namespace.answer(.success(operation), .missing, RequestHead(isControl: isControl)).result
        if case .failure(let error) = result { return error }
        return nil
    }

    @Test(arguments: [Int64.min, -1, (1 << 53) + 1, .max]) func anExhaustedCounterIsReportedAndAResetRepairsIt(
        value: Int64
    ) async throws {
        try await reopened {
            try $0.setCounter("item", value)
        } _: { namespace in
            let template = try ItemTemplate(
                count: nil, username: nil, result: nil, reason: nil, flag: nil, item: ["brand": .string("Nike")])
            let answer = await namespace.generateItems(.success(template), RequestHead(isControl: true))
            guard case .failure(let refused) = answer.result, refused.kind == .unavailable else {
                Issue.record("\(answer.result)")
                return
            }
            #expect(refused.message.contains("no more ids of the kind item") && refused.message.contains("reset"))
            _ = try await namespace.reset(RequestHead(isControl: true)).result.get()
            let again = await namespace.generateItems(.success(template), RequestHead(isControl: true))
            #expect(try again.result.get().count == 1)
        }
    }

    @Test(arguments: [Int64.min, -1, (1 << 53) + 1, .max]) func anExhaustedRequestCounterIsReportedAndAResetRepairsIt(
        value: Int64
    ) async throws {
        try await reopened {
            try $0.setNamespaceValue(.requestCounter, String(value))
        } _: { namespace in
            // Control requests have their own counter.
            let control = await refusal(namespace, ShowClock())
            #expect(control == nil)
            let refused = await refusal(namespace, ShowClock(), isControl: false)
            guard let refused, refused.kind == .unavailable else {
                Issue.record("\(String(describing: refused))")
                return
            }
            #expect(refused.message.contains("no more request ids") && refused.message.contains("reset"))
            _ = try await namespace.reset(RequestHead(isControl: true)).result.get()
            let again = await refusal(namespace, ShowClock(), isControl: false)
            #expect(again == nil)
        }
    }

    @Test(arguments: extremes) func aDeliveryContinuesForEveryStoredNumberOfAttempts(value: Int64) async throws {
        try await reopened { transaction in
            let moment = Instant(microseconds: 0)
            try transaction.insert(
                SubscriptionRecord(
                    id: "wh_1", organizationID: 1, username: nil, version: "2", url: "http://127.0.0.1:9/", secret: "s",
                    events: "session.updated", format: "event", signature: "hex", createdAt: moment))
            var delivery = DeliveryRecord(
                id: "dlv_1", subscriptionID: "wh_1", subject: "X", event: "session.updated", eventID: "evt_1",
                format: "event", body: Data("{}".utf8), createdAt: moment, status: .sending)
            delivery.attempts = Int(value)
            delivery.fault = .init(ruleID: "flt_1", effect: "drop", attempt: Int(value))
            try transaction.insert(delivery)
            try transaction.insert(
                RuleRecord(
                    id: "flt_1", kind: .fault,
                    document: #"{"match": {"webhook": "*"}, "effect": {"drop": true}}"#, createdAt: moment,
                    seen: Int(value), hits: Int(value)))
        } _: { namespace in
            let attempts = NIOLockedValueBox(0)
            let list = ListDeliveries(status: nil, subject: nil, limit: 1, cursor: nil)
            namespace.environment.webhooks.setSender { begun in
                attempts.withLockedValue { $0 += begun.count }
                Task {
                    for attempt in begun {
                        await attempt.end(
                            WebhookOutcome(status: nil, error: "refused", milliseconds: 1, answer: nil))
                    }
                }
            }
            await namespace.resumeDeliveries()
            let advanced = await namespace.advanceClock(
                .by(Span("5d")!), RequestHead(isControl: true), until: SettleDeadline(SettleDeadline.max))
            let reached = try advanced.result.get().reached
            #expect(reached == true)
            #expect(attempts.withLockedValue { $0 } >= 1)
            let listed = await refusal(namespace, list)
            #expect(listed == nil)
        }
    }
}

/// A row with a value that this program never writes there, as another program may leave one.
@Suite struct DamagedRowTests {
    @Test func theRequestThatReadsItIsAnErrorOfTheServerAndNothingElse() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let (id, other) = (try await bench.submit(user, "a"), try await bench.submit(user, "b"))
        try await bench.job { try $0.transaction.run("UPDATE items SET decided_by = 'x' WHERE entrupy_id = '\(id)'") }
        let refused = await refusalError { try await bench.control(ByID<ShowAuthentication>(id)) }
        #expect(refused?.kind == .internalError, "no failure of the disk, after which a client would try again")
        #expect(refused?.message.contains("decided_by") == true)
        // Its result is due, and cannot be set. That of the other item is not held up.
        await bench.wait("5s")
        #expect(try await bench.item(other).resultFinal)
        #expect(await refusal { try await bench.control(ByID<ShowAuthentication>(id)) } == .internalError)
    }
}
