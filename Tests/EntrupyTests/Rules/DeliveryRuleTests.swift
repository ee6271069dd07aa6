import EntrupyAPI
import SimulationAPI
import Storage
import TestSupport
import Testing

@testable import Entrupy
@testable import Simulation

/// Deliveries [P]: their events, order, attempts and bodies.
@Suite struct DeliveryRuleTests {
    private func deliveries(_ bench: RuleBench) async throws -> [DeliveryRecord] {
        try await bench.job { job in
            try job.transaction.deliveries(before: .max, status: nil, subject: nil, limit: 100)
        }
    }

    @Test func anItemGetsOneCompletedEventForItsFirstFinalResult() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        _ = try await bench.subscribe()
        let id = try await bench.submit(user, "sim-authentic-after-0s")
        #expect(try await bench.deliverAll() == ["session.updated", "session.completed"])
        _ = try await bench.control(PatchAuthentication(entrupyID: id, result: .unknown))
        #expect(try await bench.deliverAll() == ["session.updated"])
    }

    @Test func anAttemptIsRetriedAfterEachGapAndThenFails() async throws {
        let bench = try await RuleBench(settings: ["webhooks": ["retries": ["10s", "1m"]]])
        let user = try await bench.login()
        _ = try await bench.subscribe(events: ["session.completed"])
        _ = try await bench.submit(user, "sim-authentic-after-0s")
        let first = try await bench.deliver(500)
        #expect(bench.attempts().isEmpty)
        await bench.wait("9s")
        #expect(bench.attempts().isEmpty)
        await bench.wait("1s")
        let second = try await bench.deliver(503)
        #expect(second.body == first.body && second.signature == first.signature && second.number == 2)
        await bench.wait("1m")
        try await bench.deliver(404)
        await bench.wait("1d")
        #expect(bench.attempts().isEmpty)
        #expect(try await deliveries(bench).map(\.status) == [.failed])
    }

    /// The receiver may take its time to fail.
    @Test func aGapIsCountedFromTheAttemptHoweverLateItsOutcome() async throws {
        let bench = try await RuleBench(settings: ["webhooks": ["retries": ["10s"]]])
        let user = try await bench.login()
        _ = try await bench.subscribe(events: ["session.completed"])
        _ = try await bench.submit(user, "sim-authentic-after-0s")
        await bench.wait("4s")
        try await bench.deliver(500)
        #expect(try await deliveries(bench).map(\.nextAttemptAt) == [RuleBench.morning + Span("10s")!])
        await bench.wait("5s")
        #expect(bench.attempts().isEmpty)
        await bench.wait("1s")
        #expect(bench.attempts().map(\.number) == [2])
    }

    @Test func theNextEventOfAnItemWaitsForTheOneBefore() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        _ = try await bench.subscribe()
        _ = try await bench.submit(user, "sim-authentic-after-0s-a")
        #expect(bench.attempts().count == 1, "completed waits for updated")
        try await bench.deliver(500)
        #expect(bench.attempts().isEmpty)
        _ = try await bench.submit(user, "b")
        #expect(bench.attempts().count == 1, "another item does not wait")
        try await bench.deliver(200)
        await bench.wait("1s")
        #expect(try await bench.deliverAll() == ["session.updated", "session.completed"])
    }

    @Test func anAttemptThatArrivesAfterTheCancellationIsRecordedAsDelivered() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let (first, second) = (try await bench.subscribe(), try await bench.subscribe())
        _ = try await bench.submit(user, "a")
        #expect(bench.attempts().count == 2)
        _ = try await bench.partner(ByID<Unsubscribe>(first.id))
        #expect(
            try await Set(deliveries(bench).map { "\($0.subscriptionID == first.id) \($0.status.rawValue)" })
                == ["true cancelled", "false sending"])
        try await bench.deliver(200)
        try await bench.deliver(200)
        let stored = try await deliveries(bench)
        #expect(stored.map(\.status) == [.delivered, .delivered] && stored.map(\.attempts) == [1, 1])
        #expect(stored.contains { $0.subscriptionID == second.id })
    }

    @Test func anAttemptThatFailsAfterTheCancellationIsNotMadeAgain() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let subscription = try await bench.subscribe()
        _ = try await bench.submit(user, "a")
        _ = try await bench.partner(ByID<Unsubscribe>(subscription.id))
        try await bench.deliver(500)
        await bench.wait("1d")
        #expect(bench.attempts().isEmpty)
        #expect(try await deliveries(bench).map(\.status) == [.cancelled])
    }

    @Test(arguments: [PartnerVersion.v1(minor: 3), .v2])
    func bodiesAreInEnglishWhateverLanguageTheCallerReads(version: PartnerVersion) async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let id = try await bench.submit(user, "sim-invalid-after-0s")
        _ = try await bench.subscribe(version, events: ["session.updated"])
        _ = try await bench.control(PatchAuthentication(entrupyID: id, result: .authentic))
        try await bench.deliver(200)
        // The flag is set by a user who reads Japanese.
        _ = try await bench.user(SetFlag(entrupyID: id, request: SetFlagRequest(flag: true)), user, .japanese)
        let body = try RuleBench.body(try await bench.deliver(200))
        let texts = String(decoding: try WireJSON.encode(JSONValue.object(body)), as: UTF8.self)
        let isASCII = texts.utf8.allSatisfy { $0 < 0x80 }
        #expect(isASCII, "\(texts)")
        #expect(
            JSONValue.object(body)["data.status.flag"] == "flagged")
    }

    @Test func aChangedFormAppliesToLaterAttemptsAndNotToStoredBodies() async throws {
        let bench = try await RuleBench()
        let made = try await bench.subscribe(events: ["session.completed"])
        try await bench.announce()
        let first = try await bench.deliver(500)
        let change: JSONValue = ["format": "items", "signature": "hex"]
        _ = try await bench.partner(PatchSubscription(bench.sent(change, path: ["id": made.id])))
        await bench.wait("1s")
        let second = try await bench.deliver(200)
        #expect(first.body == second.body)
        #expect([first, second].map { $0.headers.first { $0.name == "Entrupy-Signature" }?.value.count } == [51, 64])
        #expect([first.signature, second.signature] == ["sha256-base64", "hex"])
        #expect(try await deliveries(bench).map(\.format) == ["event"])
    }

    @Test(arguments: [WebhookFormat.items, .event])
    func aWebhooksBytesAreOnesThatNoCommonEncoderWrites(format: WebhookFormat) async throws {
        let bench = try await RuleBench()
        let request = SubscriptionRequest(
            url: "http://127.0.0.1:1/", secret_key: "s", events: ["session.completed"], format: format)
        _ = try await bench.partner(Subscribe(request, .v2))
        _ = try await bench.submit(bench.login(), "sim-authentic-after-0s")
        let webhook = try await bench.deliver(200)
        let text = String(decoding: try #require(webhook.body), as: UTF8.self)
        let json = JSONValue.object(try RuleBench.body(webhook))
        #expect(text != String(decoding: try WireJSON.encode(json), as: UTF8.self))
        // Outside of texts a space stands after each colon, and none after commas.
        let plain = text.replacing(#/"(\\.|[^"\\])*"/#, with: "\"\"")
        #expect(!plain.contains(#/:[^ ]/#) && !plain.contains(", ") && plain.contains(": "))
        // In the order of the description, which is not that of the names.
        let names = Self.described(format == .items ? "V1Item" : "V2Item")
        let item = json[format == .items ? "items.0" : "data"].members ?? [:]
        let places = names.filter { item[$0] != nil }.compactMap { text.range(of: "\"\($0)\": ")?.lowerBound }
        #expect(places.count > 4 && places == places.sorted(), "\(text)")
        #expect(names != names.sorted())
    }

    /// The names of a schema's members, in the order of the description.
    private static func described(_ schema: String) -> [String] {
        Contract.text.split(separator: "\n").drop { $0 != "    \(schema):" }.dropFirst()
            .prefix { $0.hasPrefix("      ") }
            .compactMap { $0.wholeMatch(of: #/ {8}([a-z_]+):.*/#).map { String($0.1) } }
    }

    @Test func theOutcomeOfAnAttemptFromBeforeAResetDoesNotCount() async throws {
        let bench = try await RuleBench()
        func submit() async throws {
            _ = try await bench.subscribe()
            _ = try await bench.submit(bench.login(), "a")
        }
        try await submit()
        _ = try await bench.namespace.reset(RequestHead(isControl: true)).result.get()
        try await submit()
        // The same steps get the same ids.
        let ids = bench.attempts().map(\.deliveryID)
        try #require(ids.count == 2 && Set(ids).count == 1)
        try await bench.deliver(200)
        #expect(try await deliveries(bench).map(\.attempts) == [0])
        try await bench.deliver(200)
        #expect(try await deliveries(bench).map(\.status) == [.delivered])
    }

    @Test func aDomainIsVerifiedByTheStatus200Alone() async throws {
        let bench = try await RuleBench(settings: ["webhooks": ["domain_verification": true]])
        let subscription = try await bench.subscribe()
        func status() async throws -> Subscription.Status {
            try await bench.partner(ByID<ShowSubscription>(subscription.id)).status
        }
        try await bench.deliver(201, answer: subscription.verification)
        #expect(try await status() == .pending)
        await bench.wait("1s")
        try await bench.deliver(200, answer: subscription.verification)
        #expect(try await status() == .active)
        let log = ListEvents(
            subject: subscription.id, kind: nil, sequences: (after: 0, before: .max), limit: 10, cursor: nil)
        #expect(
            try await bench.control(log).events.map(\.kind) == ["subscription.verified", "subscription.created"])
    }

    @Test func aSubscriptionOfOneUserGetsNoEventsOfOthers() async throws {
        let bench = try await RuleBench()
        let (one, other) = (try await bench.login(), try await bench.login("other-user"))
        let request = SubscriptionRequest(
            url: "http://127.0.0.1:1/", secret_key: "s", username: "DemoOrg-bench-user")
        _ = try await bench.partner(Subscribe(request, .v2))
        _ = try await bench.submit(other, "a")
        #expect(bench.attempts().isEmpty)
        _ = try await bench.submit(one, "b")
        #expect(bench.attempts().count == 1)
    }

    @Test func itemsOfAnotherOrganizationAreNotSent() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let request = SubscriptionRequest(url: "http://127.0.0.1:1/", secret_key: "s")
        _ = try await bench.partner(Subscribe(request, .v2), RuleBench.otherPartner)
        _ = try await bench.submit(user, "a")
        #expect(bench.attempts().isEmpty)
    }
}
