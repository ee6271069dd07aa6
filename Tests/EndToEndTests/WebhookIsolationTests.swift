import SimulationAPI
import TestSupport
import Testing

/// A receiver that hangs delays nothing but what waits behind it.
@Suite(.timeLimit(.minutes(10))) struct WebhookIsolationTests {
    @Test func aHangingReceiverDelaysNoOtherSubscriptionOfItsNamespace() async throws {
        let world = try await TestWorld.withoutLimits()
        let (hanging, healthy) = (try await WebhookReceiver.open(), try await WebhookReceiver.open())
        hanging.behave(.hang)
        try await world.subscribe(hanging, ["events": ["session.completed"]])
        try await world.subscribe(healthy, ["events": ["session.completed"]])
        for _ in 0..<20 { _ = try await world.generatedItem() }
        while healthy.deliveries.count < 20 { await Task.yield() }
        let deliveries = try await world.webhookDeliveries()
        let held = deliveries.filter { $0["held_back"].text != nil }
        try #require(!held.isEmpty)
        #expect(held.someAndAll { $0["status"] == "sending" && $0["attempts"].items.isEmpty })
        #expect(held[0]["held_back"].text?.contains("attempts of this subscription are under way") == true)
        try await hanging.hangUp()
    }

    /// A namespace with so many subscriptions to a receiver that hangs, and the events of so many items for each.
    private func hangingWorld(
        in server: SimProcess, _ receiver: WebhookReceiver, subscriptions: Int, items: Int
    ) async throws -> TestWorld {
        let world = try await TestWorld.withoutLimits(in: server)
        // Longer than the test: no attempt ends by itself.
        _ = try await world.send("PATCH", "/_sim/settings", ["webhooks": ["timeout": "300s"]])
        for _ in 0..<subscriptions { try await world.subscribe(receiver, ["events": ["session.completed"]]) }
        for _ in 0..<items { _ = try await world.generatedItem() }
        return world
    }

    /// Waits until the deliveries of a new namespace have arrived.
    private func deliver(in server: SimProcess) async throws {
        let world = try await TestWorld.withoutLimits(in: server)
        let healthy = try await WebhookReceiver.open()
        try await world.subscribe(healthy, ["events": ["session.completed"]])
        for _ in 0..<10 { _ = try await world.generatedItem() }
        try await world.settleWebhooks()
        #expect(
            try await world.webhookDeliveries().map { $0["status"].text } == Array(repeating: "delivered", count: 10))
        try await healthy.close()
    }

    @Test func aHangingNamespaceDelaysNoOtherOneAndSaysWhyItWaits() async throws {
        let hanging = try await WebhookReceiver.open()
        hanging.behave(.hang)
        let world = try await hangingWorld(in: .shared, hanging, subscriptions: 20, items: 2)
        while hanging.deliveries.count < 16 { await Task.yield() }
        try await deliver(in: .shared)
        let deliveries = try await world.webhookDeliveries()
        #expect(deliveries.someAndAll { $0["attempts"].items.isEmpty }, "none of them has ended meanwhile")
        let held = deliveries.filter { $0["held_back"] != .null }
        try #require(deliveries.count == 40 && held.count == 24, "the namespace has sixteen connections")
        let reason =
            "16 attempts of this namespace are under way, the maximum; the next one starts when one of them ends"
        #expect(Set(held.map { $0["held_back"].text }) == [reason])
        let shown = try await world.send("GET", "/_sim/webhook-deliveries/\(held[0]["id"].text ?? "")")
        #expect(shown["held_back"].text == reason)

        hanging.behave(.answer(200))
        try await hanging.hangUp()
        try await world.settleWebhooks()
        let ended = try await world.webhookDeliveries()
        #expect(ended.someAndAll { $0["held_back"] == .null })
        #expect(
            ended.filter { $0["status"] == "delivered" }.count == 24, "what was held back was no attempt that failed")
        #expect(ended.someAndAll { $0["attempts"].items.count == 1 })
    }

    @Test func manyHangingNamespacesLeaveConnectionsToOthers() async throws {
        let server = try await SimProcess(["--in-memory"])
        let hanging = try await WebhookReceiver.open()
        hanging.behave(.hang)
        var last: TestWorld?
        for _ in 0..<32 { last = try await hangingWorld(in: server, hanging, subscriptions: 1, items: 10) }
        try await deliver(in: server)
        let deliveries = try await #require(last).webhookDeliveries()
        #expect(deliveries.someAndAll { $0["attempts"].items.isEmpty }, "none of them has ended meanwhile")
        let held = deliveries.compactMap { $0["held_back"].text }
        #expect(held.count > 2, "alone the namespace would have eight connections")
        for reason in held {
            #expect(
                reason.wholeMatch(
                    of:
                        /2[0-9]{2} of the server's 256 connections to receivers are in use; namespaces get the next free ones in turns/
                )
                    != nil, "\(reason)")
        }
        server.kill()
    }
}
