import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Subscriptions that wait until their domain is verified, with a domain that answers. The rules are in `SubscriptionRuleTests`.
@Suite struct DomainVerificationTests {
    private static let settings: JSONValue = ["rate_limits": "off", "webhooks": ["domain_verification": true]]

    private func status(_ world: TestWorld, _ id: String) async throws -> String? {
        try await world.send("GET", "/v2/webhooks/\(id)", token: TestWorld.apiToken)["status"].text
    }

    @Test func aSubscriptionGetsDeliveriesOnceItsDomainAnswers() async throws {
        let world = try await TestWorld.make(settings: Self.settings)
        let receiver = try await WebhookReceiver.open()
        receiver.behave(.answer(404))
        let id = try await world.subscribe(receiver)
        let text = try await world.send("GET", "/v2/webhooks/\(id)", token: TestWorld.apiToken)["verification"].text
        let settled = try await world.send("POST", "/_sim/settle", ["within": "20s"])
        #expect(settled.status == 409 && settled["settled"] == false, "\(settled.json)")
        try #require(receiver.deliveries.map(\.path) == ["/.well-known/entrupy-domain-verification/\(id)"])
        #expect(receiver.deliveries[0].method == "GET" && receiver.deliveries[0].body.isEmpty)
        #expect(receiver.deliveries[0].headers["Entrupy-Signature"].isEmpty)
        let doctor = try await SimProcess.run(["doctor", "--url", world.base])
        #expect(doctor.status == 1 && doctor.output.contains(id) && doctor.output.contains("is pending"), "\(doctor)")
        // Another text is no agreement.
        receiver.behave(.text("something else"))
        try await world.advance("1s")
        #expect(try await status(world, id) == "pending")
        receiver.behave(.text("\(text ?? "")\n"))
        try await world.advance("10s")
        #expect(try await world.send("POST", "/_sim/settle", ["within": "20s"]).status == 200)
        #expect(try await status(world, id) == "active")
        let question = try #require(try await world.webhookDeliveries().first)
        #expect(question["attempts"].items.map { $0["status"] } == [404, 200, 200])
        receiver.behave(.answer(200))
        try await world.generatedItem()
        try await world.advance("0s")
        #expect(receiver.deliveries.suffix(2).map(\.event) == ["session.updated", "session.completed"])
    }

    @Test func aVerificationInProgressIsRepeatedAfterAKill() async throws {
        try await Process.withDirectory { directory in
            let receiver = try await WebhookReceiver.open()
            receiver.behave(.hang)
            let server = try await SimProcess(["--data-dir", directory])
            let root = TestWorld(base: server.baseURL)
            _ = try await root.send("PATCH", "/_sim/settings", Self.settings)
            let id = try await root.subscribe(receiver)
            let made = try await root.send("GET", "/v2/webhooks/\(id)", token: TestWorld.apiToken)
            while receiver.deliveries.isEmpty { await Task.yield() }
            server.kill()
            receiver.behave(.text(made["verification"].text ?? ""))
            let again = try await SimProcess(["--data-dir", directory])
            defer { again.stop() }
            let world = TestWorld(base: again.baseURL)
            try await world.advance("0s")
            #expect(try await status(world, id) == "active")
        }
    }
}
