import EntrupyAPI
import Foundation
import Hashes
import SimulationAPI
import Storage
import TestSupport
import Testing

@testable import Entrupy
@testable import Simulation

/// Subscriptions [P]: the events that they get, their changes, and the domains that must agree [D webhook-verification].
@Suite struct SubscriptionRuleTests {
    private func subscribe(
        _ bench: RuleBench, _ more: JSONObject = [:], _ version: PartnerVersion = .v2,
        _ caller: Credential = RuleBench.partner
    ) async throws -> Subscription {
        let plain: JSONObject = ["url": "http://127.0.0.1:1/hook", "secret_key": "s3crét", "format": "event"]
        let request = try SubscriptionRequest(bench.sent(.object(plain.merging(more) { $1 })))
        return try await bench.partner(Subscribe(request, version), caller)
    }

    private func patch(_ bench: RuleBench, _ id: String, _ body: JSONValue) async throws -> Subscription {
        try await bench.partner(PatchSubscription(bench.sent(body, path: ["id": id])))
    }

    private func deliveries(_ bench: RuleBench) async throws -> [WebhookDelivery] {
        try await bench.control(ListDeliveries(status: nil, subject: nil, limit: 100, cursor: nil)).deliveries
            .reversed()
    }

    private func set(_ bench: RuleBench, _ id: String, _ result: ResultID) async throws {
        _ = try await bench.control(PatchAuthentication(entrupyID: id, result: result))
    }

    // MARK: Events

    @Test func subscriptionsGetTheirChosenEventsOfTheirOwnOrganization() async throws {
        let bench = try await RuleBench()
        let ids = [
            try await subscribe(bench), try await subscribe(bench, ["channel": "authentications"], .v1(minor: 3)),
            try await subscribe(bench, ["events": ["session.completed"]]),
            try await subscribe(bench, ["username": "DemoOrg-another-user"]),
            try await subscribe(bench, [:], .v2, RuleBench.otherPartner),
        ].map(\.id)
        try await bench.announce()
        let another = try await bench.announce(["username": "DemoOrg-another-user"])
        try await bench.generate([:], count: 3)
        let sent = try await deliveries(bench)
        #expect(
            ids.map { id in sent.count { $0.subscription_id == id } } == [4, 4, 2, 2, 0], "more than one send none")
        #expect(Set(sent.filter { $0.subscription_id == ids[2] }.map(\.event)) == ["session.completed"])
        #expect(Set(sent.filter { $0.subscription_id == ids[3] }.map(\.entrupy_id)) == [another])
    }

    @Test func theFirstFinalResultSendsCompletedEvenFromAFlag() async throws {
        let bench = try await RuleBench()
        _ = try await subscribe(bench)
        let id = try await bench.announce(["result": "needs_review", "flag": "flagged"])
        _ = try await bench.control(ResolveFlag(id, note: "Looked at", result: .authentic))
        // The item is under review again and then final again, but this is not its first final result.
        for result in [ResultID.needsReview, .needsReview, .authentic] { try await set(bench, id, result) }
        #expect(
            try await bench.deliverAll() == [
                "session.updated", "session.completed", "session.updated", "session.updated",
            ])
    }

    @Test func aChangeThePartnerCannotSeeSendsNoWebhook() async throws {
        let bench = try await RuleBench()
        _ = try await subscribe(bench)
        let id = try await bench.submit(bench.login())
        // This removes the planned result, and does not change what the partner sees.
        try await set(bench, id, .needsReview)
        await bench.wait("1h")
        #expect(try await bench.deliverAll() == ["session.updated"], "it was created")
    }

    @Test func aDebugSubmissionIsCompletedAtOnce() async throws {
        let bench = try await RuleBench()
        _ = try await subscribe(bench)
        _ = try await bench.submit(bench.login(), type: .debug)
        #expect(try await bench.deliverAll() == ["session.updated", "session.completed"])
    }

    @Test(arguments: [nil, "sha256-base64", "sha256-hex", "hex"] as [String?])
    func theSignatureIsOverExactlyTheBytesThatAreSent(form: String?) async throws {
        let bench = try await RuleBench()
        _ = try await subscribe(bench, form.map { ["signature": .string($0)] } ?? [:])
        try await bench.announce(["customer_item_id": "Größe 42 / 👟"])
        let sent = try await bench.deliver(200)
        let code = HMACSHA256(key: Data("s3crét".utf8)).code(for: try #require(sent.body))
        let hex = code.map { String(format: "%02x", $0) }.joined()
        let expected = [nil: "SHA256:\(Data(code).base64EncodedString())", "sha256-hex": "SHA256:\(hex)", "hex": hex]
        #expect(
            sent.headers.first { $0.name == "Entrupy-Signature" }?.value
                == (form == "sha256-base64" ? expected[nil] : expected[form]))
    }

    // MARK: Changes

    @Test func aRetryGoesWhereTheSubscriptionPointsNow() async throws {
        let bench = try await RuleBench()
        let made = try await subscribe(bench, ["username": "DemoOrg-sim-test-user"])
        try await bench.announce()
        let old = try await bench.deliver(500)
        let change: JSONValue = ["url": "http://127.0.0.1:2/new", "secret_key": "new", "username": nil]
        let patched = try await patch(bench, made.id, change)
        #expect(patched.username == nil && patched.url == "http://127.0.0.1:2/new" && patched.events == made.events)
        await bench.wait("1s")
        let new = try await bench.deliver(200)
        #expect(new.url == patched.url && new.body == old.body)
        let signatures = [old, new].compactMap { sent in sent.headers.first { $0.name == "Entrupy-Signature" }?.value }
        #expect(Set(signatures).count == 2)
        try await bench.deliver(500)
        _ = try await bench.partner(ByID<Unsubscribe>(made.id))
        await bench.wait("1h")
        #expect(bench.attempts().isEmpty, "what it has not been told is not told")
        #expect(await refusal { try await bench.partner(ByID<ShowSubscription>(made.id)) } == .notFound)
        #expect(try await bench.partner(ListSubscriptions()).webhooks.isEmpty)
        let cancelled = try #require(try await deliveries(bench).last)
        #expect(cancelled.status == "cancelled")
        let again = await refusalError { try await bench.control(ByID<Redeliver>(cancelled.id)) }
        #expect(again?.kind == .wrongState && again?.message.contains("was deleted") == true)
    }

    @Test func aChangeOfEventsAppliesToLaterEventsAndKeepsTheUser() async throws {
        let bench = try await RuleBench()
        let user = "DemoOrg-sim-test-user"
        let made = try await subscribe(bench, ["events": ["session.updated"], "username": .string(user)])
        func delivered() async throws -> [String] {
            try await bench.announce()
            try await bench.announce(["username": "DemoOrg-another-user"])
            return try await bench.deliverAll()
        }
        let one = try await patch(bench, made.id, ["events": ["session.completed"]])
        #expect(one.events == ["session.completed"] && one.username == user)
        #expect(try await delivered() == ["session.completed"])
        let all = try await patch(bench, made.id, ["channel": "authentications"])
        #expect(all.events.count == 4 && all.username == user)
        #expect(try await delivered() == ["session.updated", "session.completed"])
    }

    @Test func aSubscriptionOfAnotherOrganizationIsMissing() async throws {
        let bench = try await RuleBench()
        let made = try await subscribe(bench)
        let patch = try PatchSubscription(bench.sent(["events": ["session.completed"]], path: ["id": made.id]))
        let (other, id) = (RuleBench.otherPartner, made.id)
        #expect(await refusal { try await bench.partner(ByID<ShowSubscription>(id), other) } == .notFound)
        #expect(await refusal { try await bench.partner(patch, other) } == .notFound)
        #expect(await refusal { try await bench.partner(ByID<Unsubscribe>(id), other) } == .notFound)
        #expect(await refusal { try await bench.partner(ByID<VerifySubscription>(id), other) } == .notFound)
        // The body is checked before the organization.
        let wrong = try PatchSubscription(bench.sent(["url": "x"], path: ["id": id]))
        #expect(await refusal { try await bench.partner(wrong, other) } == .invalid)
        #expect(try await bench.partner(ByID<ShowSubscription>(id)).events == made.events)
    }

    @Test(
        arguments: [
            ["url": "ftp://127.0.0.1/"], ["url": "http://user:password@127.0.0.1/"], ["url": "http://127.0.0.1:99999/"],
            ["url": "http://127.0.0.1:0/"], ["url": "http://8.8.8.8/"], ["url": "http://169.254.169.254/latest"],
            ["url": "http://2852039166/"], ["url": "http://0xa9fea9fe/"], ["url": "http://169.254.43518/"],
            ["url": "http://0251.0376.0251.0376/"], ["url": "http://8.8.8.8./"], ["url": "http://[fe80::1%25eth0]/"],
            ["url": "http://[2001:4860:4860::8888]/"], ["url": ""], ["url": "http://"], ["url": 7], ["url": nil],
            ["secret_key": ""], ["secret_key": 5], ["secret_key": nil],
            ["secret_key": .string(String(repeating: "é", count: 129))], ["events": ["session.started"]],
            ["events": []], ["events": "session.completed"], ["channel": "items"], ["username": ""],
            ["channel": "authentications", "events": ["session.completed"]], ["format": "xml"], ["format": 1],
            ["signature": "sha1"], ["signature": ""],
        ] as [JSONObject])
    func anInvalidSubscriptionIsRefused(wrong: JSONObject) async throws {
        let bench = try await RuleBench()
        let error = await refusalError { try await subscribe(bench, wrong) }
        #expect(error?.kind == .invalid && error?.details.isEmpty == false, "\(wrong)")
        #expect(try await bench.control(ListAllSubscriptions()).webhooks.isEmpty)
    }

    // MARK: Failures

    @Test func failedAttemptsAreRetriedAtThePlatformsGaps() async throws {
        let bench = try await RuleBench()
        _ = try await subscribe(bench, ["events": ["session.completed"]])
        try await bench.announce()
        for gap in [1, 10, 60, 600, 3600, 21_600, 21_600, 21_600] {
            try await bench.deliver(503, answer: "seen")
            await bench.wait("\(gap - 1)s")
            #expect(bench.attempts().isEmpty)
            await bench.wait("1s")
        }
        try await bench.deliver(503)
        await bench.wait("30d")
        let delivery = try #require(try await deliveries(bench).first)
        #expect(delivery.status == "failed" && delivery.next_attempt_at == nil)
        #expect(delivery.attempts.count == 9)
        #expect(delivery.attempts[0].status == 503 && delivery.attempts[0].answer == "seen")
    }

    @Test func aSubscriptionSaysWhyItsDeliveriesFail() async throws {
        let bench = try await RuleBench()
        let (id, healthy) = (
            try await subscribe(bench).id, try await subscribe(bench, ["url": "http://127.0.0.1:2/"]).id
        )
        func failing(_ id: String) async throws -> SubscriptionInfo.Failing? {
            try await bench.control(ListAllSubscriptions()).webhooks.first { $0.id == id }?.failing
        }
        #expect(try await failing(id) == nil, "there was no attempt")
        let item = try await bench.announce(["result": "needs_review"])
        try await set(bench, item, .authentic)
        func answer(_ status: Int) async throws {
            while let next = bench.attempts().first {
                try await bench.deliver(next.subscriptionID == id ? status : 200)
            }
        }
        try await answer(503)
        let waiting = try await deliveries(bench).filter { $0.subscription_id == id }
        try #require(waiting.count == 2)
        #expect(waiting[1].waits_for == waiting[0].id && waiting[0].waits_for == nil)
        let first = try #require(try await failing(id))
        #expect(first.status == 503 && first.error == nil && first.attempt == 1)
        #expect(first.delivery == waiting[0].id && first.at == RuleBench.morning.epoch)
        #expect(try await failing(healthy) == nil)
        await bench.wait("1s")
        try await answer(500)
        #expect(try await failing(id)?.attempt == 2)
        await bench.wait("1h")
        try await answer(200)
        #expect(try await failing(id) == nil)
        #expect(try await deliveries(bench).someAndAll { $0.status == "delivered" && $0.waits_for == nil })
    }

    // MARK: Domains

    @Test func aDomainIsAskedAgainAtTheGapsAndAtOnceByTheVerifyRoute() async throws {
        let bench = try await RuleBench(settings: ["webhooks": ["domain_verification": true]])
        let made = try await subscribe(bench)
        let question = try #require(bench.attempts().first)
        #expect(question.url == "http://127.0.0.1:1/.well-known/entrupy-domain-verification/\(made.id)")
        #expect(question.body == nil && question.signature == nil && made.status == .pending)
        try await bench.announce()
        #expect(try await deliveries(bench).count == 1, "events are not queued for it")
        for _ in 0..<9 {
            try await bench.deliver(200, answer: "something else")
            await bench.wait("1d")
        }
        let asked = try #require(try await deliveries(bench).first)
        #expect(asked.status == "failed" && asked.event == "verification" && asked.entrupy_id == nil)
        #expect(asked.format == nil && asked.body == .null && asked.attempts.count == 9)
        #expect(asked.attempts[0].error?.contains("verification") == true)
        let again = await refusalError { try await bench.control(ByID<Redeliver>(asked.id)) }
        #expect(again?.kind == .wrongState && again?.message.contains("verify asks again") == true)
        func verify() async throws -> Subscription.Status {
            try await bench.partner(ByID<VerifySubscription>(made.id)).status
        }
        #expect(try await verify() == .pending)
        try await bench.deliver(200, answer: made.verification.map { "\($0)\n" })
        #expect(try await verify() == .active)
        #expect(bench.attempts().isEmpty, "an active one is not asked")
        try await bench.announce()
        #expect(try await bench.deliverAll() == ["session.updated", "session.completed"])
    }

    @Test func anotherOriginMustBeVerifiedToo() async throws {
        let bench = try await RuleBench(settings: ["webhooks": ["domain_verification": true]])
        let made = try await subscribe(bench)
        try await bench.deliver(200, answer: made.verification)
        let moved = try await patch(bench, made.id, ["url": "http://127.0.0.1:1/elsewhere"])
        #expect(moved.status == .active, "the same origin")
        // An event under way does not go to a domain that has not agreed.
        try await bench.announce()
        try await bench.deliver(500)
        let other = try await patch(bench, made.id, ["url": "http://127.0.0.1:2/hook"])
        #expect(other.status == .pending && other.verification == made.verification)
        await bench.wait("1h")
        #expect(bench.attempts().map { $0.body == nil && $0.url.hasPrefix("http://127.0.0.1:2/") } == [true])
        let sent = try await deliveries(bench)
        let asked = sent.filter { $0.format == nil }.map(\.url)
        #expect(asked.count == 2 && Set(asked).count == 2, "each says where it was asked")
        let open = sent.filter { $0.format != nil }
        #expect(open.someAndAll { $0.status == "cancelled" })
        let again = await refusalError { try await bench.control(ByID<Redeliver>(open[0].id)) }
        #expect(again?.kind == .wrongState && again?.message.contains("pending") == true)
    }
}
