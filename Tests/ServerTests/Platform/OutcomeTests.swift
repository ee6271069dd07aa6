import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Outcome rules over HTTP. What they decide is in `OutcomeRuleTests`.
@Suite struct OutcomeTests {
    @discardableResult private func add(_ world: TestWorld, _ rule: JSONValue) async throws -> String {
        let answer = try await world.send("POST", "/_sim/outcomes", rule)
        try #require(answer.status == 201, "\(answer.json)")
        return try #require(answer["id"].text)
    }

    private func submit(
        _ world: TestWorld, _ token: String, _ more: JSONObject = [:]
    ) async throws -> JSONValue {
        let id = try await world.submit(token, item: TestWorld.nike.merging(.object(more)))
        return try await world.send("GET", "/_sim/authentications/\(id)").json
    }

    @Test func theFirstRuleThatMatchesDecides() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        let token = try await world.login()
        let late = try await add(world, ["match": ["customer_item_id": "late-*"], "result": "unknown", "after": "3h"])
        try await add(world, ["match": ["brand": "NIKE"], "result": "invalid", "reason": "blurry_images"])
        try await add(world, ["result": "not_supported"])

        let first = try await submit(world, token, ["customer_item_id": "late-1"])
        #expect(first["decided_by"] == "outcome_rule" && first["result.id"] == "needs_review")
        #expect(first["result_due_at"].double == TestWorld.epoch + 10_800)
        #expect(
            first["timeline"].items.contains { $0["event"] == "outcome.matched" && $0["data.outcome_id"].text == late })
        // Rules have priority over magic ids and unknown brands.
        let second = try await submit(world, token, ["customer_item_id": "sim-authentic-after-0s"])
        let third = try await submit(world, token, ["brand": "Nobody's", "customer_item_id": nil])
        try await world.advance("5s")
        for (item, result) in [(second, "invalid"), (third, "not_supported")] {
            let now = try await world.send("GET", "/_sim/authentications/\(item["id"].text ?? "")")
            #expect(now["result.id"].text == result && now["decided_by"] == "outcome_rule")
        }
        let shown = try await world.result(second["id"].text ?? "", token)
        #expect(shown["status.result.id"] == "invalid")
        try await world.advance("3h")
        #expect(try await world.result(first["id"].text ?? "", token)["status.result.id"] == "unknown")
        let rules = try await world.send("GET", "/_sim/outcomes")["outcomes"].items
        #expect(rules.map { $0["hits"] } == [1, 1, 1])
    }

    @Test func concurrentItemsDoNotExceedTheTimesOfARule() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        let token = try await world.login()
        try await add(world, ["match": ["username": "DemoOrg-example-user-id"], "result": "unknown", "times": 3])
        var ready: [String] = []
        for _ in 0..<8 { ready.append(try await world.readyCapture(token)) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for id in ready {
                group.addTask { _ = try await world.send("POST", "/sdk/captures/\(id)/submit", token: token) }
            }
            try await group.waitForAll()
        }
        let items = try await world.send("GET", "/_sim/authentications")["authentications"].items
        #expect(items.count == 8 && items.count { $0["decided_by"] == "outcome_rule" } == 3)
    }

    @Test func rulesAreDeletedOneByOneAllAtOnceOrByAReset() async throws {
        let world = try await TestWorld.make()
        let ids = [
            try await add(world, ["result": "unknown"]), try await add(world, ["result": "invalid"]),
            try await add(world, ["match": ["product_category": "sneakers"], "result": "authentic"]),
        ]
        #expect(try await world.send("DELETE", "/_sim/outcomes/\(ids[1])").status == 204)
        #expect(try await world.send("DELETE", "/_sim/outcomes/\(ids[1])").status == 404)
        let left = try await world.send("GET", "/_sim/outcomes")["outcomes"].items
        #expect(left.map { $0["id"].text } == [ids[0], ids[2]])
        #expect(try await world.send("DELETE", "/_sim/outcomes").status == 204)
        #expect(try await world.send("GET", "/_sim/outcomes")["outcomes"] == [])
        try await add(world, ["result": "unknown"])
        #expect(try await world.send("POST", "/_sim/reset").status == 200)
        #expect(try await world.send("GET", "/_sim/outcomes")["outcomes"] == [])
    }
}
