import SimulationAPI
import TestSupport
import Testing

/// `POST /_sim/settle` with receivers that answer. What it does not wait for is in `WatchTests`.
@Suite struct SettleTests {
    @Test func settleWaitsForWebhooksAndReportsWorkHeldByAFrozenClock() async throws {
        let world = try await TestWorld.make()
        let receiver = try await WebhookReceiver.open()
        try await world.subscribe(receiver)
        try await world.generatedItem()
        let settled = try await world.send("POST", "/_sim/settle")
        #expect(settled["settled"] == true && settled["pending"] == 0 && receiver.deliveries.count == 2)
        _ = try await world.submit(world.login())
        // Only an advance brings the result, so settling does not wait.
        let held = try await world.send("POST", "/_sim/settle", ["within": "10m"])
        #expect(held.status == 409 && held["code"] == "conflict" && held["settled"] == false && held["pending"] == 1)
        #expect(held["next_due_at"].double == TestWorld.epoch + 5 && held["clock.mode"] == "frozen")
        #expect(held["details.0.problem"].text?.contains("/_sim/clock/advance") == true)
        try await world.advance("5s")
        #expect(try await world.send("POST", "/_sim/settle", [:])["settled"] == true)
        #expect(receiver.deliveries.count == 4)
    }

    @Test func settleWaitsForAnAttemptThatReleasesAHeldDelivery() async throws {
        let world = try await TestWorld.make()
        let receiver = try await WebhookReceiver.open()
        try await world.subscribe(receiver)
        // The delivery is held back for an hour, or until the item's next one is over.
        _ = try await world.send(
            "POST", "/_sim/faults", ["match": ["webhook": "session.updated"], "effect": ["reorder": true], "times": 1])
        try await world.generatedItem()
        #expect(try await world.send("POST", "/_sim/settle", ["within": "10m"]).status == 200)
        #expect(receiver.deliveries.count == 2)
    }

    @Test func settleWaitsForResultsOnARunningClock() async throws {
        let world = try await TestWorld.make(settings: ["result": ["delay": "0.2s"]])
        _ = try await world.send("POST", "/_sim/clock/resume")
        let token = try await world.login()
        let id = try await world.submit(token)
        #expect(try await world.send("POST", "/_sim/settle", ["within": "10m"])["settled"] == true)
        #expect(try await world.result(id, token)["status.result.final"] == true)
        _ = try await world.send("PATCH", "/_sim/settings", ["result": ["delay": "3h"]])
        _ = try await world.submit(token)
        let late = try await world.send("POST", "/_sim/settle", ["within": "0.01s"])
        #expect(late.status == 409 && late["settled"] == false && late["pending"] == 1)
        #expect(late["details.0.field"] == "within" && late["clock.mode"] == "running")
    }
}
