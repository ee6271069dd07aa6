import SimulationAPI
import TestSupport
import Testing

/// A receiver that hangs delays nothing but what waits behind it.
@Suite struct WebhookIsolationTests {
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
        #expect(!held.isEmpty)
        #expect(held.allSatisfy { $0["status"] == "sending" && $0["attempts"].items.isEmpty })
        #expect(held[0]["held_back"].text?.contains("attempts of this subscription are under way") == true)
        try await hanging.hangUp()
    }
}
