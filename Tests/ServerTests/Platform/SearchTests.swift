import Foundation
import SimulationAPI
import TestSupport
import Testing

/// The search of the SDK over HTTP. Its rules are `SearchRuleTests`.
@Suite struct SearchTests {
    @Test func pagesFollowEachOtherByTheirCursors() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        let token = try await world.login()
        func search(_ world: TestWorld, _ token: String, _ body: JSONValue) async throws -> TestWorld.Answer {
            try await world.send("POST", "/sdk/search", body, token: token)
        }
        func fill(_ world: TestWorld) async throws {
            let template: JSONValue = ["brand": "Nike", "username": "DemoOrg-example-user-id"]
            _ = try await world.send("POST", "/_sim/authentications", ["count": 27, "template": template])
        }
        try await fill(world)
        let first = try await search(world, token, [:])
        #expect(first.status == 200)
        #expect(first["item_count"].double == 20)
        #expect(first["items.0.properties.brand.id"] == "nike")
        let second = try await search(world, token, ["cursor": first["next_cursor"]])
        #expect(second["item_count"].double == 7)
        #expect(second["next_cursor"] == [])
        let wrong = try await search(world, token, ["filters": [["key": "brand", "value": "nike"]], "limit": 26])
        #expect(wrong.status == 400)
        #expect(wrong["details"].items.map { $0["field"] } == ["filters[0].key", "limit"], "all problems at once")

        // The same search in another namespace, whose items are the same.
        let elsewhere = try await TestWorld.make(settings: ["rate_limits": "off"])
        let other = try await elsewhere.login()
        try await fill(elsewhere)
        #expect(try await search(elsewhere, other, ["cursor": first["next_cursor"]]).status == 400)
    }
}
