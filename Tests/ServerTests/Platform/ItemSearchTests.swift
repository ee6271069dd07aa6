import EntrupyAPI
import Foundation
import SimulationAPI
import TestSupport
import Testing

/// `POST /sdk/items/search` over HTTP. Its rules are `ItemSearchRuleTests`.
@Suite struct ItemSearchTests {
    private func search(_ world: TestWorld, _ token: String, _ body: JSONValue? = nil) async throws -> TestWorld.Answer
    {
        try await world.send("POST", "/sdk/items/search", body, token: token)
    }

    /// A namespace with 60 items one minute apart, and the token of their user.
    private func world() async throws -> (TestWorld, String) {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        let token = try await world.login("sim-test-user")
        for (count, brand, result, flag) in [
            (30, "Nike", "authentic", "none"), (20, "Gucci", "unknown", "flagged"),
            (10, "Nike", "needs_review", "none"),
        ] {
            let template: JSONValue = [
                "brand": .string(brand), "result": .string(result), "flag": .string(flag),
                "product_category": .string(brand == "Gucci" ? "luxury" : "sneakers"),
            ]
            _ = try await world.send(
                "POST", "/_sim/authentications", ["count": .number(JSONNumber(count)), "template": template])
        }
        return (world, token)
    }

    @Test func everyItemIsFoundOnceAndDecodedByTheSDK() async throws {
        let (world, token) = try await world()
        var (seen, cursor): ([String], JSONValue) = ([], .null)
        repeat {
            let page = try await search(world, token, ["limit": 25, "cursor": cursor])
            let decoded = try JSONDecoder().decode(EntrupySearchItemsResult.self, from: page.body)
            #expect(decoded.total_count == 60 && decoded.metadata.result_mode == .full)
            seen += decoded.items.map(\.entrupy_id)
            cursor = page["next_cursor"]
            // Later items are outside the window of the first page.
            try await world.advance("1s")
            _ = try await world.send("POST", "/_sim/authentications")
        } while cursor != .null
        #expect(seen.count == 60 && Set(seen).count == 60)
        #expect(try await search(world, token)["items"].items.count == 20, "the default limit")
        _ = try await world.submit(
            try await world.login("sim-test-user"), item: ["brand": "Foo Bar", "style_name": "x"])
        for name in ["Foo Bar", "foo_bar"] {
            #expect(try await search(world, token, ["filters": ["brand": [.string(name)]]])["total_count"] == 1)
        }
    }

    @Test func theDocumentedSearchIsAnswered() async throws {
        let text = try String(contentsOf: TestWorld.root.appendingPathComponent("docs/app.md"), encoding: .utf8)
        let block = try #require(text.components(separatedBy: "```json\n").dropFirst().first)
        let body = try #require(block.components(separatedBy: "```").first)
        let (world, token) = try await world()
        let found = try await search(world, token, try WireJSON.decode(JSONValue.self, from: Data(body.utf8)))
        #expect(found.status == 200 && found["total_count"] == 10, "\(found.json)")
    }
}
