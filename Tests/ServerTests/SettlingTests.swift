import EntrupyAPI
import NIOConcurrencyHelpers
import NIOPosix
import Storage
import Testing

@testable import Entrupy
@testable import Server
@testable import Simulation

/// Tests namespaces without HTTP. The test sets the real time, and it makes the delivery attempts itself.
@Suite struct SettlingTests {
    /// The first job of a settle runs what is due. An attempt that begins in it is no longer due and is not counted
    /// yet.
    @Test func settleWaitsForAnAttemptThatBeginsDuringItsCheck() async throws {
        let threads = NIOThreadPool(numberOfThreads: 2)
        threads.start()
        let time = NIOLockedValueBox(Instant("2026-01-05T09:00:00Z")!)
        let namespaces = try Namespaces(
            NamespacesConfiguration(
                dataDirectory: nil, durability: .process, seed: .standard(), randomSeed: 1,
                settings: .object(["webhooks": .object(["retries": .array([.string("1s")])])]), autoCreates: false),
            realTime: { time.withLockedValue { $0 } }, threads: threads, dueChanged: { _ in })
        try await namespaces.openAll()
        let namespace = try #require(namespaces.find("default"))
        namespaces.environment.webhooks.setSender { attempts in
            for attempt in attempts {
                Task {
                    // Takes longer than the job that looks for pending work.
                    for _ in 0..<20 { await namespace.tick() }
                    let status = attempt.webhook.number == 1 ? 500 : 200
                    await attempt.end(WebhookOutcome(status: status, error: nil, milliseconds: 1, answer: nil))
                }
            }
        }
        let head = RequestHead(isControl: true)
        let made = await namespace.run(head, .writes) { job in
            let organization = try #require(try job.transaction.organizations().first)
            let request = SubscriptionRequest(
                url: "http://127.0.0.1:9/", secret_key: "s", events: ["session.completed"])
            _ = try Subscribe(request, .v2).perform(job, as: Partner(organization: organization))
        }
        try made.result.get()
        let template = try ItemTemplate(
            count: nil, username: nil, result: nil, reason: nil, flag: nil, item: ["brand": .string("Nike")])
        _ = try await namespace.generateItems(.success(template), head).result.get()
        while namespace.outbox.count > 0 { await namespace.tick() }

        time.withLockedValue { $0 = Instant(microseconds: $0.microseconds + 1_000_000) }
        let settlement = try await Settling(namespace: namespace, head: head).settle(within: Span("1h")!).result.get()
        #expect(settlement.settled)
        #expect(namespace.outbox.count == 0, "an attempt is still in progress")
        let open = await namespace.run(head, .reads) { try $0.transaction.interruptedDeliveries().count }
        #expect(try open.result.get() == 0)
        try await namespaces.closeAll()
        try await threads.shutdownGracefully()
    }
}
