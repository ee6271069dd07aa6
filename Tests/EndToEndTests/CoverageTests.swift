import Foundation
import SimulationAPI
import TestSupport
import Testing

/// `GET /_sim/coverage`, with answers that are lost and receivers of webhooks [D coverage]. `CoverageRuleTests` has its rules.
@Suite struct CoverageTests {
    private static let named = ["X-Sim-Test": "CoverageTests/one"]

    @Test func anAnswerWhoseClientHasGoneIsTakenBack() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login()
        _ = try await world.send(
            "POST", "/_sim/faults", ["match": ["route": "/sdk/session"], "effect": ["slow_body": 20]])
        let path = String(world.base.dropFirst(SimProcess.shared.baseURL.count))
        let begun = try await RawConnection.open(.shared).exchange(
            "GET \(path)/sdk/session HTTP/1.1\r\nHost: localhost\r\nAuthorization: Token \(session)\r\n\r\n"
        ) { $0.contains("\r\n\r\n") }
        #expect(begun.contains("200 OK"))
        var lost = 0
        for _ in 0..<5_000 where lost == 0 {
            lost = try await world.send("GET", "/_sim/requests?delivered=false")["requests"].items.count
        }
        #expect(lost == 1)
        let edge = try await world.edge("answers", "GET /sdk/session 200")
        #expect(edge.reached == 0 && edge.first == nil)
    }

    @Test func webhooksCountByHowTheirDeliveryEnded() async throws {
        let world = try await TestWorld.withoutLimits()
        let receiver = try await WebhookReceiver.open()
        var named = world
        named.headers = Self.named
        let session = try await named.login()
        try await world.subscribe(receiver, ["events": ["session.completed"]])
        _ = try await named.submit(session, item: TestWorld.nike.merging(["customer_item_id": "sim-unknown-after-0s"]))
        try await world.settleWebhooks()
        let delivered = try await world.edge("webhooks", "session.completed delivered")
        #expect(delivered.reached == 1 && delivered.tests == ["CoverageTests/one"])
        _ = try await world.send(
            "POST", "/_sim/faults", ["match": ["webhook": "session.completed"], "effect": ["drop": true]])
        _ = try await named.submit(
            session, item: TestWorld.nike.merging(["customer_item_id": "sim-unknown-after-0s-b"]))
        try await world.advance("30d")
        let failed = try await world.edge("webhooks", "session.completed failed")
        #expect(failed.reached == 0 && failed.injected == 1)
    }

    @Test func anErrorOfAppComponentsAndAShippedScenarioCount() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.workflowSession(client: ["document_number": "sim-PersonNotAdult"])
        #expect(try await world.runDocument(session).status == 422)
        #expect(try await world.edge("components", "PersonNotAdult").reached == 1)
        let player = try await Player.started("late-result")
        let script = try #require(Player.all["late-result"])
        #expect(try await player.world.send("POST", "/_sim/scenarios/late-result/verify").status == 409)
        #expect(try await player.world.edge("scenarios", "late-result").reached == 0)
        try await script(player, false)
        let answer = try await player.world.send("POST", "/_sim/scenarios/late-result/verify", headers: Self.named)
        #expect(answer.status == 200)
        let edge = try await player.world.edge("scenarios", "late-result")
        #expect(edge.reached == 1 && edge.tests == ["CoverageTests/one"])
    }
}
