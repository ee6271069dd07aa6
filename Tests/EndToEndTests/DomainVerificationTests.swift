import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Subscriptions that wait until their domain is verified.
@Suite struct DomainVerificationTests {
    private func world() async throws -> TestWorld {
        try await TestWorld.make(settings: ["rate_limits": "off", "webhooks": ["domain_verification": true]])
    }

    private func subscribe(_ world: TestWorld, _ receiver: WebhookReceiver) async throws -> Answer {
        let made = try await world.send(
            "POST", "/v2/webhooks", ["url": .string(receiver.url), "secret_key": "s"], token: TestWorld.apiToken)
        try #require(made.status == 201, "\(made.json)")
        return made
    }

    private func status(_ world: TestWorld, _ id: String) async throws -> String? {
        try await world.send("GET", "/v2/webhooks/\(id)", token: TestWorld.apiToken)["status"].text
    }

    @Test func aSubscriptionGetsDeliveriesOnceItsDomainAnswers() async throws {
        let world = try await world()
        let receiver = try await WebhookReceiver.open()
        receiver.behave(.answer(404))
        let made = try await subscribe(world, receiver)
        let (id, text) = (try #require(made["id"].text), try #require(made["verification"].text))
        #expect(made["status"] == "pending")
        try await world.advance("0s")
        try #require(receiver.deliveries.map(\.path) == ["/.well-known/entrupy-domain-verification/\(id)"])
        #expect(receiver.deliveries[0].method == "GET" && receiver.deliveries[0].body.isEmpty)
        #expect(receiver.deliveries[0].headers["Entrupy-Signature"].isEmpty)

        let item = try await world.send("POST", "/_sim/authentications")
        #expect(item.status == 201)
        #expect(try await world.webhookDeliveries().count == 1, "events are not queued for it")

        // Another text is no agreement.
        receiver.behave(.text("something else"))
        try await world.advance("1s")
        #expect(try await status(world, id) == "pending")
        receiver.behave(.text("\(text)\n"))
        try await world.advance("10s")
        #expect(try await status(world, id) == "active")
        let question = try #require(try await world.webhookDeliveries().first)
        #expect(question["event"] == "verification" && question["status"] == "delivered")
        #expect(question["entrupy_id"] == .null && question["body"] == .null && question["format"] == .null)
        #expect(question["attempts"].items.map { $0["status"] } == [404, 200, 200])
        #expect(question["attempts.1.error"].text?.contains("verification") == true)
        let asked = try await world.send(
            "POST", "/_sim/webhook-deliveries/\(question["id"].text ?? "")/redeliver")
        #expect(asked.status == 409 && asked["error"].text?.contains("verify asks again") == true, "\(asked.json)")

        receiver.behave(.answer(200))
        _ = try await world.send("POST", "/_sim/authentications")
        try await world.advance("0s")
        #expect(receiver.deliveries.suffix(2).map(\.event) == ["session.updated", "session.completed"])
    }

    @Test func theVerifyRouteAsksTheDomainAtOnce() async throws {
        let world = try await world()
        let receiver = try await WebhookReceiver.open()
        receiver.behave(.answer(500))
        let made = try await subscribe(world, receiver)
        let id = try #require(made["id"].text)
        try await world.advance("30d")
        #expect(try await world.webhookDeliveries().first?["status"] == "failed")
        #expect(receiver.deliveries.count == 9, "at the gaps of retries")
        receiver.behave(.text(made["verification"].text ?? ""))
        let verify = "/v2/webhooks/\(id)/verify"
        #expect(try await world.send("POST", verify, token: TestWorld.apiToken)["status"] == "pending")
        try await world.advance("0s")
        #expect(try await status(world, id) == "active")
        let again = try await world.send("POST", verify, token: TestWorld.apiToken)
        #expect(again.status == 200 && again["status"] == "active")
        try await world.advance("0s")
        #expect(receiver.deliveries.count == 10, "an active one is not asked")
        #expect(try await world.send("POST", verify, token: "other-api-token").status == 404)
    }

    @Test func anotherOriginMustBeVerifiedToo() async throws {
        let world = try await world()
        let (first, second) = (try await WebhookReceiver.open(), try await WebhookReceiver.open())
        first.behave(.answer(404))
        let made = try await subscribe(world, first)
        let (id, text) = (try #require(made["id"].text), try #require(made["verification"].text))
        first.behave(.text(text))
        try await world.advance("1s")
        let path = "/v2/webhooks/\(id)"
        let moved = try await world.send(
            "PATCH", path, ["url": .string(first.url + "/elsewhere")], token: TestWorld.apiToken)
        #expect(moved["status"] == "active", "the same origin")
        // An event under way does not go to a domain that has not agreed.
        first.behave(.answer(500))
        _ = try await world.send("POST", "/_sim/authentications")
        try await world.advance("0s")
        second.behave(.answer(404))
        let other = try await world.send("PATCH", path, ["url": .string(second.url)], token: TestWorld.apiToken)
        #expect(other["status"] == "pending" && other["verification"].text == text)
        try await world.advance("1h")
        #expect(Set(second.deliveries.map(\.method)) == ["GET"])
        let asked = try await world.webhookDeliveries().filter { $0["format"] == .null }.map { $0["url"].text ?? "" }
        try #require(asked.count == 2)
        #expect(first.url.hasPrefix(String(asked[0].prefix(22))), "\(asked)")
        #expect(asked[0].prefix(22) != asked[1].prefix(22), "each says where it was asked")
        let open = try await world.webhookDeliveries().filter { $0["format"] != .null }
        try #require(!open.isEmpty)
        #expect(open.someAndAll { $0["status"] == "cancelled" })
        let redelivered = try await world.send(
            "POST", "/_sim/webhook-deliveries/\(open[0]["id"].text ?? "")/redeliver")
        #expect(redelivered.status == 409 && redelivered["error"].text?.contains("pending") == true)
    }

    @Test func aVerificationInProgressIsRepeatedAfterAKill() async throws {
        try await Process.withDirectory { directory in
            let receiver = try await WebhookReceiver.open()
            receiver.behave(.hang)
            let server = try SimProcess(["--data-dir", directory])
            let root = TestWorld(base: server.baseURL)
            let patch: JSONValue = ["webhooks": ["domain_verification": true]]
            _ = try await root.send("PATCH", "/_sim/settings", patch)
            let made = try await subscribe(root, receiver)
            while receiver.deliveries.isEmpty { await Task.yield() }
            server.kill()
            receiver.behave(.text(made["verification"].text ?? ""))
            let again = try SimProcess(["--data-dir", directory])
            defer { again.stop() }
            let world = TestWorld(base: again.baseURL)
            try await world.advance("0s")
            #expect(try await status(world, made["id"].text ?? "") == "active")
        }
    }

    @Test func theDoctorNamesAPendingSubscription() async throws {
        let server = try SimProcess(["--in-memory"])
        defer { server.stop() }
        let root = TestWorld(base: server.baseURL)
        _ = try await root.send("PATCH", "/_sim/settings", ["webhooks": ["domain_verification": true]])
        let receiver = try await WebhookReceiver.open()
        receiver.behave(.answer(404))
        let made = try await subscribe(root, receiver)
        try await root.advance("0s")
        let run = try await SimProcess.run(["doctor", "--url", server.baseURL])
        #expect(run.status == 1 && run.output.contains("\(made["id"].text ?? "?")"), "\(run.output)")
        #expect(run.output.contains("is pending"), "\(run.output)")
    }

    @Test func settlingWaitsForTheDomain() async throws {
        let world = try await world()
        let receiver = try await WebhookReceiver.open()
        receiver.behave(.answer(404))
        let made = try await subscribe(world, receiver)
        let settled = try await world.send("POST", "/_sim/settle", ["within": "20s"])
        #expect(settled.status == 409 && settled["settled"] == false, "\(settled.json)")
        receiver.behave(.text(made["verification"].text ?? ""))
        try await world.advance("1s")
        #expect(try await world.send("POST", "/_sim/settle", ["within": "20s"]).status == 200)
        #expect(try await status(world, made["id"].text ?? "") == "active")
    }
}
