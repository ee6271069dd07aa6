import Foundation
import Hashes
import SimulationAPI
import TestSupport
import Testing

/// Faults on webhooks, against a real receiver.
@Suite struct WebhookFaultTests {
    private static let secret = "s3cret"

    /// A namespace with a frozen clock, a subscribed receiver and a fault.
    private func world(_ fault: JSONValue) async throws -> (TestWorld, WebhookReceiver, String) {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        let receiver = try await WebhookReceiver.open()
        let subscription: JSONValue = ["url": .string(receiver.url), "secret_key": .string(Self.secret)]
        _ = try await world.send("POST", "/v2/webhooks", subscription, token: TestWorld.apiToken)
        let rule = try await world.send("POST", "/_sim/faults", fault)
        try #require(rule.status == 201, "\(rule.json)")
        return (world, receiver, try #require(rule["id"].text))
    }

    /// Makes an item that causes `session.updated` and `session.completed`.
    @discardableResult private func item(_ world: TestWorld) async throws -> String {
        let made = try await world.send("POST", "/_sim/authentications", [:])
        try await world.advance("0s")
        return try #require(made["entrupy_ids.0"].text)
    }

    private func events(_ receiver: WebhookReceiver) -> [String] {
        receiver.deliveries.compactMap { $0.event }
    }

    @Test func aDroppedAttemptIsNotSentAndTheNextOneIs() async throws {
        let (world, receiver, rule) = try await world([
            "match": ["webhook": "session.completed"], "effect": ["drop": true], "times": 1,
        ])
        try await item(world)
        #expect(events(receiver) == ["session.updated"])
        try await world.advance("0.9s")
        #expect(receiver.deliveries.count == 1)
        try await world.advance("0.1s")
        #expect(events(receiver) == ["session.updated", "session.completed"])
        let delivery = try #require(try await world.webhookDeliveries().last)
        let attempts = delivery["attempts"].items
        #expect(attempts.map { $0["fault"] } == [.string(rule), nil])
        #expect(attempts.map { $0["status"] } == [nil, 200])
        #expect(attempts.first?["error"].text?.contains("dropped") == true)
    }

    @Test func aFaultOfAnotherUsersWebhooksDoesNotApply() async throws {
        let (world, receiver, _) = try await world([
            "match": ["webhook": "*", "username": "DemoOrg-other-user"], "effect": ["drop": true],
        ])
        try await item(world)
        #expect(events(receiver) == ["session.updated", "session.completed"])
        #expect(try await world.send("GET", "/_sim/faults")["faults.0.seen"] == 0)
    }

    @Test func aDeliveryThatIsAlwaysDroppedFails() async throws {
        let (world, receiver, _) = try await world(["match": ["webhook": "*"], "effect": ["drop": true]])
        try await item(world)
        try await world.advance("3d")
        #expect(receiver.deliveries.isEmpty)
        #expect(try await world.webhookDeliveries().map { $0["status"] } == ["failed", "failed"])
    }

    @Test func aDelayIsByTheNamespacesClockAndKeepsTheOrderOfTheItem() async throws {
        let (world, receiver, rule) = try await world([
            "match": ["webhook": "session.updated"], "effect": ["delay": "3h"],
        ])
        try await item(world)
        #expect(receiver.deliveries.isEmpty)
        let waiting = try await world.webhookDeliveries()
        #expect(waiting.map { $0["status"] } == ["retrying", "waiting"])
        #expect(waiting.first?["attempts"].items.isEmpty == true)
        try await world.advance("10799s")
        #expect(receiver.deliveries.isEmpty)
        try await world.advance("1s")
        #expect(events(receiver) == ["session.updated", "session.completed"])
        #expect(try await world.webhookDeliveries().first?["attempts.0.fault"].text == rule)
    }

    @Test func aDuplicateHasTheSameEventIDAndTheSameBytes() async throws {
        let (world, receiver, _) = try await world([
            "match": ["webhook": "session.completed"], "effect": ["duplicate": true],
        ])
        try await item(world)
        try #require(events(receiver) == ["session.updated", "session.completed", "session.completed"])
        #expect(receiver.deliveries[1].body == receiver.deliveries[2].body)
        let told = try await world.webhookDeliveries()
        #expect(told.count == 3 && told[1]["event_id"] == told[2]["event_id"] && told[1]["id"] != told[2]["id"])
    }

    @Test func aFailedAttemptIsNotDuplicatedAgain() async throws {
        let (world, receiver, _) = try await world([
            "match": ["webhook": "session.completed"], "effect": ["duplicate": true],
        ])
        receiver.behave(.answer(500))
        try await item(world)
        try await world.advance("3d")
        #expect(try await world.webhookDeliveries().count == 3)
    }

    @Test func aReorderedWebhookComesAfterTheNextOfItsItem() async throws {
        let (world, receiver, _) = try await world([
            "match": ["webhook": "session.updated"], "effect": ["reorder": true], "times": 1,
        ])
        let first = try await item(world)
        #expect(events(receiver) == ["session.completed", "session.updated"])
        #expect(Set(receiver.deliveries.map { $0.item["entrupy_id"].text }) == [first])
        #expect(try await world.webhookDeliveries().map { $0["status"] } == ["delivered", "delivered"])
        try await item(world)
        #expect(events(receiver).suffix(2) == ["session.updated", "session.completed"])
    }

    @Test func withoutANextOneAReorderedWebhookIsSentAfterAnHour() async throws {
        let (world, receiver, _) = try await world([
            "match": ["webhook": "session.completed"], "effect": ["reorder": true],
        ])
        try await item(world)
        #expect(events(receiver) == ["session.updated"])
        try await world.advance("3599s")
        #expect(receiver.deliveries.count == 1)
        try await world.advance("1s")
        #expect(events(receiver) == ["session.updated", "session.completed"])
    }

    @Test func aFaultySignatureDoesNotVerify() async throws {
        let (world, receiver, _) = try await world([
            "match": ["webhook": "session.*", "username": "DemoOrg-sim-test-user"],
            "effect": ["wrong_signature": true], "after_requests": 1, "times": 1,
        ])
        try await item(world)
        let isRight = receiver.deliveries.map { delivery in
            let key = HMACSHA256(key: Data(Self.secret.utf8))
            let code = key.code(for: delivery.body)
            return delivery.headers["Entrupy-Signature"] == ["SHA256:" + Data(code).base64EncodedString()]
        }
        try #require(isRight == [true, false])
        #expect(receiver.deliveries[1].headers["Entrupy-Signature"].first?.count == 51)
    }

    @Test func requestAndWebhookFaultsAcceptOnlyTheirOwnEffects() async throws {
        let world = try await TestWorld.make()
        let wrong: [(JSONValue, String, String)] = [
            (["effect": ["drop": true]], "effect.drop", "match.webhook"),
            (["match": ["webhook": "*"], "effect": ["status": 500]], "effect.status", "is for requests"),
            (["match": ["webhook": "*", "route": "/v1/*"], "effect": ["drop": true]], "match.route", "known here"),
            (["match": ["webhook": "*"], "effect": ["drop": true, "reorder": true]], "effect", "got 2 of them"),
            (["match": ["webhook": "*"], "effect": ["delay": "31d"]], "effect.delay", "from 0s to 30d"),
            (["match": ["webhook": 3], "effect": ["drop": true]], "match.webhook", "string"),
        ]
        for (rule, field, problem) in wrong {
            let answer = try await world.send("POST", "/_sim/faults", rule)
            #expect(answer.status == 400, "\(rule)")
            let details = answer["details"].items
            #expect(
                details.contains { $0["field"].text == field && $0["problem"].text?.contains(problem) == true },
                "\(answer.json)")
        }
        let idle = try await world.send(
            "POST", "/_sim/faults", ["match": ["webhook": "session.finished"], "effect": ["drop": true]])
        #expect(idle["notes.0"].text?.contains("session.completed") == true)
    }
}
