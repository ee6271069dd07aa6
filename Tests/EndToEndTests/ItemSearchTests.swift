import EntrupyAPI
import Foundation
import SimulationAPI
import TestSupport
import Testing

/// `POST /sdk/items/search`.
@Suite struct ItemSearchTests {
    private func search(_ world: TestWorld, _ token: String, _ body: JSONValue? = nil) async throws -> Answer {
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

    @Test(
        arguments: [
            (["brand": ["nike"]], 40), (["brand": ["Nike", "GUCCI"]], 60), (["brand": ["nobody"]], 0),
            (["status": ["under_review"]], 10), (["status": ["needs_review", "unknown"]], 30),
            (["status": ["new_one"]], 0),
            (["category": ["luxury"]], 20), (["category": ["Luxury"]], 20), (["category": ["cars"]], 0),
            (["flag": ["flagged"]], 20), (["flag": ["none"], "brand": ["gucci"]], 0),
            (["flag": ["none"], "status": ["authentic"], "category": ["sneakers"], "brand": ["Nike"]], 30), ([:], 60),
            (["brand": [], "status": nil], 60),
        ] as [(JSONValue, Double)])
    func filtersNarrowTheSearch(filters: JSONValue, count: Double) async throws {
        let (world, token) = try await world()
        let counted = try await search(world, token, ["filters": filters, "result_mode": "count_only"])
        #expect(counted.status == 200 && counted["total_count"].double == count, "\(counted.json)")
        #expect(
            counted["items"] == [] && counted["next_cursor"] == .null && counted["metadata.result_mode"] == "count_only"
        )
        let full = try await search(world, token, ["filters": filters, "limit": 25])
        #expect(Double(full["items"].items.count) == min(25, count) && full["total_count"].double == count)
    }

    @Test func datesAreInclusiveAndThirtyDaysTheDefault() async throws {
        var (world, token) = try await world()
        func count(_ range: JSONValue) async throws -> Double? {
            try await search(world, token, ["date_range": range, "result_mode": "count_only"])["total_count"].double
        }
        let now = Int(TestWorld.epoch)
        #expect(try await count(["start": .number(JSONNumber(now - 60)), "end": .number(JSONNumber(now))]) == 6)
        #expect(try await count(["start": .number(JSONNumber(now)), "end": .number(JSONNumber(now))]) == 3)
        #expect(try await count(["start": 0, "end": 1]) == 0)
        try await world.advance("30d")
        token = try await world.login("sim-test-user")
        #expect(try await count(.null) == 3, "those of exactly 30 days ago")
        try await world.advance("1s")
        #expect(try await count(.null) == 0)
        #expect(try await count(["last_days": 31]) == 60)
    }

    @Test(
        arguments: [
            (["colour": 1], "colour"), (["filters": ["colour": ["red"]]], "filters.colour"), (["limit": 0], "limit"),
            (["limit": 26], "limit"), (["result_mode": "all"], "result_mode"), (["cursor": "x"], "cursor"),
            (["filters": ["brand": "nike"]], "filters.brand"),
            (["date_range": ["last_days": 0]], "date_range.last_days"),
            (["date_range": ["last_days": 3651]], "date_range.last_days"),
            (["date_range": ["start": 5]], "date_range.end"),
            (["date_range": ["start": 5, "end": 4]], "date_range.start"), (["date_range": [:]], "date_range"),
            (["date_range": ["last_days": nil]], "date_range"), (["limit": 2.5], "limit"),
            (["date_range": ["start": -1, "end": 4]], "date_range.start"),
            (["date_range": ["start": 1, "end": 4, "last_days": 3]], "date_range.last_days"),
            (["filters": ["flag": .array(Array(repeating: "x", count: 101))]], "filters.flag"),
        ] as [(JSONValue, String)])
    func aWrongParameterIsNamed(body: JSONValue, field: String) async throws {
        let world = try await TestWorld.make()
        let answer = try await search(world, try await world.login(), body)
        #expect(answer.status == 400 && answer["details.0.field"].text == field, "\(answer.json)")
    }

    @Test func theDocumentedSearchIsAnswered() async throws {
        let text = try String(contentsOf: TestWorld.root.appendingPathComponent("docs/app.md"), encoding: .utf8)
        let block = try #require(text.components(separatedBy: "```json\n").dropFirst().first)
        let body = try #require(block.components(separatedBy: "```").first)
        let (world, token) = try await world()
        let found = try await search(world, token, try WireJSON.decode(JSONValue.self, from: Data(body.utf8)))
        #expect(found.status == 200 && found["total_count"] == 10, "\(found.json)")
    }

    @Test func aCursorIsValidOnlyForItsSearch() async throws {
        let (world, token) = try await world()
        let cursor = try await search(world, token, ["limit": 5])["next_cursor"]
        #expect(try await search(world, token, ["limit": 7, "cursor": cursor]).status == 200)
        for other: JSONValue in [["filters": ["brand": ["nike"]]], ["date_range": ["last_days": 31]]] {
            #expect(try await search(world, token, other.merging(["cursor": cursor])).status == 400)
        }
        let stranger = try await world.login()
        #expect(try await search(world, stranger, ["cursor": cursor]).status == 400)
        #expect(try await search(world, stranger)["total_count"] == 0, "only the user's own")
    }
}
