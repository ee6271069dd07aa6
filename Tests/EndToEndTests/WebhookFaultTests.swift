import Foundation
import Hashes
import SimulationAPI
import TestSupport
import Testing

/// Faults on webhooks, at a real receiver. Their rules are in `WebhookFaultRuleTests`.
@Suite struct WebhookFaultTests {
    @Test func aDroppedAttemptIsNotSentAndASignatureMayBeWrong() async throws {
        let world = try await TestWorld.withoutLimits()
        let receiver = try await WebhookReceiver.open()
        try await world.subscribe(receiver)
        var rules: [JSONValue] = []
        for (event, effect) in [("session.updated", "wrong_signature"), ("session.completed", "drop")] {
            let rule = try await world.send(
                "POST", "/_sim/faults",
                ["match": ["webhook": .string(event)], "effect": .object([effect: true]), "times": 1])
            rules.append(rule["id"])
        }
        try await world.generatedItem()
        try await world.settleWebhooks()
        #expect(receiver.deliveries.map(\.event) == ["session.updated"], "the other was not sent")
        try await world.advance("1s")
        try #require(receiver.deliveries.map(\.event) == ["session.updated", "session.completed"])
        let isRight = receiver.deliveries.map { delivery in
            let code = HMACSHA256(key: Data("s3crét".utf8)).code(for: delivery.body)
            return delivery.headers["Entrupy-Signature"] == ["SHA256:" + Data(code).base64EncodedString()]
        }
        #expect(isRight == [false, true])
        let attempts = try #require(try await world.webhookDeliveries().last)["attempts"].items
        #expect(attempts.map { $0["fault"] } == [rules[1], nil] && attempts.map { $0["status"] } == [nil, 200])
        #expect(attempts.first?["error"].text?.contains("dropped") == true)
    }
}
