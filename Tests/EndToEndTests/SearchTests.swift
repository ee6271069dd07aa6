import Foundation
import SimulationAPI
import TestSupport
import Testing

@Suite struct SearchTests {
    private func search(_ world: TestWorld, _ token: String, _ body: JSONValue = [:]) async throws -> Answer {
        try await world.send("POST", "/sdk/search", body, token: token)
    }

    private func ids(_ answer: Answer) -> [String] {
        answer["items"].items.compactMap { $0["entrupy_id"].text }
    }

    /// A namespace whose user has items of several brands, results and flags, one minute apart.
    private func prepared() async throws -> (TestWorld, String) {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        let token = try await world.login()
        for (brand, result, flag, count) in [
            ("Nike", "authentic", "none", 12), ("Adidas", "unknown", "flagged", 7), ("Gucci", "invalid", "none", 5),
            ("Nike", "unknown", "resolved", 3),
        ] {
            let answer = try await world.send(
                "POST", "/_sim/authentications",
                [
                    "count": .number(JSONNumber(count)),
                    "template": [
                        "brand": .string(brand), "result": .string(result), "flag": .string(flag),
                        "username": "DemoOrg-example-user-id", "customer_item_id": .string("\(brand)-{n}"),
                    ],
                ])
            try #require(answer.status == 201, "\(answer.json)")
            try await world.advance("2h")
        }
        return (world, token)
    }

    @Test func anItemWithoutAnIDPassesAnExcludingFilter() async throws {
        let world = try await TestWorld.make()
        for id: JSONValue in [nil, "x"] {
            _ = try await world.send(
                "POST", "/_sim/authentications", ["username": "DemoOrg-example-user-id", "customer_item_id": id])
        }
        let token = try await world.login()
        for (values, count) in [(["x"], 1), ([""], 2), (["", "x"], 1), (["y"], 2)] as [(JSONValue, Double)] {
            let answer = try await search(
                world, token, ["filters": [["key": "customer_item_id", "values": values, "exclude": true]]])
            #expect(answer["item_count"].double == count, "\(values)")
        }
    }

    @Test func theFirstPageIsTheNewestTwenty() async throws {
        let (world, token) = try await prepared()
        let first = try await search(world, token)
        #expect(first.status == 200)
        #expect(first["item_count"].double == 20)
        #expect(first["items.0.properties.brand.id"] == "nike")
        #expect(first["items.0.status.result.id"] == "unknown")
        let times = first["items"].items.compactMap { $0["timestamp.epoch"].double }
        #expect(times == times.sorted(by: >))
        let second = try await search(world, token, ["cursor": first["next_cursor"]])
        #expect(second["item_count"].double == 7)
        #expect(second["next_cursor"] == [])
        #expect(Set(ids(first) + ids(second)).count == 27)
        #expect(try await search(world, token, ["cursor": nil, "filters": nil, "limit": nil]).body == first.body)
        #expect(try await search(world, token, ["cursor": []]).body == first.body)
    }

    @Test(
        arguments: [
            (["key": "properties.brand.id", "value": "nike"], 15),
            (["key": "properties.brand.id", "values": ["nike", "adidas"]], 22),
            (["key": "properties.brand.id", "value": "nike", "exclude": true], 12),
            (["key": "status.result.id", "value": "unknown"], 10),
            (["key": "status.flag", "value": "flagged"], 7),
            (["key": "status.flag", "values": ["none", "resolved"]], 20),
            (["key": "text_fields.sku", "value": "Nike-1"], 2),
            (["key": "text_fields.customer_item_id", "value": "Nike-1"], 2),
            (["key": "customer_item_id", "value": "Nike-1"], 2),
            (["key": "activity.product_category", "value": "sneakers"], 27),
            (["key": "activity.form_factor", "value": "free_camera"], 27),
            (["key": "activity.form_factor", "value": "free_camera", "exclude": true], 0),
            (["key": "properties.brand.id", "value": "dior", "values": nil], 0),
            (["key": "customer_item_id", "values": ["Nike-1", "Gucci-2"], "exclude": true], 24),
            (["key": "customer_item_id", "value": ""], 0),
            (["key": "customer_item_id", "value": "", "exclude": true], 27),
        ] as [(JSONValue, Int)])
    func aFilterFindsItsMatches(filter: JSONValue, count: Int) async throws {
        let (world, token) = try await prepared()
        var found: [String] = []
        var cursor: JSONValue = []
        repeat {
            let page = try await search(world, token, ["filters": [filter], "limit": 4, "cursor": cursor])
            #expect(page.status == 200, "\(page.json)")
            found += ids(page)
            cursor = page["next_cursor"]
        } while cursor != []
        #expect(found.count == count)
        #expect(Set(found).count == count)
    }

    @Test func filtersAreAndedValuesOred() async throws {
        let (world, token) = try await prepared()
        let filters: JSONValue = [
            ["key": "properties.brand.id", "values": ["nike", "adidas"]],
            ["key": "status.result.id", "values": ["unknown", "authentic"]],
            ["key": "status.flag", "value": "none", "exclude": true],
        ]
        #expect(try await search(world, token, ["filters": filters, "limit": 25])["item_count"].double == 10)
    }

    @Test func datesAreInclusiveAndZeroMeansUnbounded() async throws {
        let (world, token) = try await prepared()
        let newest = TestWorld.epoch + 3 * 7200
        func count(_ start: Double, _ end: Double) async throws -> Double? {
            try await search(
                world, token,
                [
                    "start_date": .number(JSONNumber(text: String(start))),
                    "end_date": .number(JSONNumber(text: String(end))), "limit": 25,
                ])["item_count"].double
        }
        #expect(try await count(newest, newest) == 1)
        #expect(try await count(newest - 60, newest) == 2)
        #expect(try await count(newest - 59.999999, newest) == 1)
        #expect(try await count(newest - 120, 0) == 3)
        #expect(try await count(0, TestWorld.epoch) == 12)
        #expect(try await count(newest + 1, 0) == 0)
    }

    @Test func onlyTheUsersOwnSubmissionsAreFound() async throws {
        let (world, _) = try await prepared()
        let stranger = try await world.login("another-user")
        #expect(try await search(world, stranger)["items"] == [])
    }

    @Test(
        arguments: [
            (["limit": 0], "limit"), (["limit": 26], "limit"), (["limit": "5"], "limit"), (["limit": 2.5], "limit"),
            (["limit": -1], "limit"),
            (["start_date": "yesterday"], "start_date"), (["start_date": -1], "start_date"),
            (["end_date": -0.5], "end_date"),
            (["start_date": 2, "end_date": 1], "start_date"), (["end_date": 1e300], "end_date"),
            (["start_date": true], "start_date"),
            (["filters": [:]], "filters"), (["filters": ["x"]], "filters[0]"), (["filters": [[:]]], "filters[0].key"),
            (["filters": [["key": "brand", "value": "nike"]]], "filters[0].key"),
            (["filters": [["key": 1, "value": "nike"]]], "filters[0].key"),
            // Keys of partners' searches.
            (["filters": [["key": "activity.name", "value": "authentication"]]], "filters[0].key"),
            (["filters": [["key": "order_id", "value": "x"]]], "filters[0].key"),
            (["filters": [["key": "text_fields.order_id", "value": "x"]]], "filters[0].key"),
            (["filters": [["key": "properties.brand.id", "value": "nikee"]]], "filters[0].value"),
            (["filters": [["key": "properties.brand.id", "values": ["nike", "Nike"]]]], "filters[0].values[1]"),
            (["filters": [["key": "properties.brand.id"]]], "filters[0]"),
            (["filters": [["key": "properties.brand.id", "values": []]]], "filters[0].values"),
            (["filters": [["key": "properties.brand.id", "value": "nike", "values": ["nike"]]]], "filters[0]"),
            (["filters": [["key": "properties.brand.id", "value": 1]]], "filters[0].value"),
            (["filters": [["key": "properties.brand.id", "values": "nike"]]], "filters[0].values"),
            (["filters": [["key": "properties.brand.id", "values": [1]]]], "filters[0].values"),
            (["filters": [["key": "properties.brand.id", "value": "nike", "exclude": "yes"]]], "filters[0].exclude"),
            (["filters": [["key": "status.result.id", "value": "real"]]], "filters[0].value"),
            (["filters": [["key": "status.flag", "value": "open"]]], "filters[0].value"),
            (["cursor": "x"], "cursor"), (["cursor": [1]], "cursor"), (["cursor": ["x"]], "cursor"),
            (["cursor": ["a", "b", "c"]], "cursor"),
            (["cursor": [.string(String(repeating: "a", count: 10_000)), "b"]], "cursor"),
        ] as [(JSONValue, String)])
    func aWrongSearchIsNamed(body: JSONValue, field: String) async throws {
        let world = try await TestWorld.make()
        let answer = try await search(world, world.login(), body)
        #expect(answer.status == 400, "\(body)")
        #expect(answer["details.0.field"] == .string(field), "\(answer.json)")
    }

    @Test func atMostTwentyFiltersOfAHundredValuesAreAllowed() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        func filters(_ count: Int, _ values: Int) -> JSONValue {
            let value = JSONValue.array((0..<values).map { .string("sku-\($0)") })
            return ["filters": .array(Array(repeating: ["key": "customer_item_id", "values": value], count: count))]
        }
        #expect(try await search(world, token, filters(20, 100)).status == 200)
        #expect(try await search(world, token, filters(21, 1)).status == 400)
        #expect(try await search(world, token, filters(1, 101)).status == 400)
    }

    @Test func aCursorIsValidOnlyForItsQuery() async throws {
        let (world, token) = try await prepared()
        let nike: JSONValue = [
            ["key": "properties.brand.id", "values": ["nike", "adidas"]], ["key": "status.flag", "value": "none"],
        ]
        let first = try await search(world, token, ["filters": nike, "limit": 3])
        let cursor = first["next_cursor"]
        // Page size, language and the order of filters and values may change.
        let same: JSONValue = [
            ["key": "status.flag", "value": "none"], ["key": "properties.brand.id", "values": ["adidas", "nike"]],
        ]
        let next = try await world.send(
            "POST", "/sdk/search", ["filters": same, "limit": 9, "cursor": cursor], token: token,
            headers: ["Accept-Language": "ja"])
        #expect(next.status == 200)
        #expect(next["item_count"].double == 9)
        for other: JSONValue in [
            ["cursor": cursor], ["cursor": cursor, "filters": nike, "start_date": 1],
            ["cursor": cursor, "filters": nike, "end_date": 2_000_000_000],
            [
                "cursor": cursor,
                "filters": [
                    ["key": "properties.brand.id", "values": ["nike", "adidas"]],
                    ["key": "status.flag", "value": "none", "exclude": true],
                ],
            ],
            [
                "cursor": cursor,
                "filters": [
                    ["key": "properties.brand.id", "value": "nike"], ["key": "status.flag", "value": "none"],
                ],
            ],
        ] {
            #expect(try await search(world, token, other).status == 400)
        }
        let stranger = try await world.login("another-user")
        #expect(try await search(world, stranger, ["cursor": cursor, "filters": nike]).status == 400)
        let (elsewhere, token2) = try await prepared()
        #expect(try await search(elsewhere, token2, ["cursor": cursor, "filters": nike]).status == 400)
        try await world.advance("10h")
        #expect(
            try await search(world, token, ["cursor": cursor, "filters": nike]).status == 200, "a cursor does not age")
    }

    @Test func aCursorWithOneBitChangedIsRefused() async throws {
        let (world, token) = try await prepared()
        let cursor = try await search(world, token, ["limit": 3])["next_cursor"].items.compactMap(\.text)
        for part in cursor.indices {
            let bytes = Array(cursor[part].utf8)
            for index in bytes.indices {
                var damaged = bytes
                damaged[index] ^= 1
                var whole = cursor
                whole[part] = String(decoding: damaged, as: UTF8.self)
                let answer = try await search(world, token, ["cursor": .array(whole.map { .string($0) })])
                #expect(answer.status == 400, "byte \(index) of part \(part)")
            }
            var short = cursor
            short[part].removeLast()
            #expect(try await search(world, token, ["cursor": .array(short.map { .string($0) })]).status == 400)
        }
    }

    /// While a client reads pages, items arrive, are flagged and change their results. An item that matches from the first page to
    /// the last must be seen exactly once.
    @Test(arguments: 0..<6) func steadyMatchesAreNeitherSkippedNorRepeated(seed: Int) async throws {
        var random = SeededRandom(state: UInt64(seed) + 1)
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        let token = try await world.login()
        let user: JSONValue = "DemoOrg-example-user-id"
        func insert(_ count: Int, _ brand: JSONValue) async throws -> [String] {
            let answer = try await world.send(
                "POST", "/_sim/authentications",
                ["count": .number(JSONNumber(count)), "template": ["brand": brand, "username": user]])
            return answer["entrupy_ids"].items.compactMap(\.text)
        }
        // Some items have the same time, because the clock is frozen.
        var steady: [String] = []
        for _ in 0..<4 { steady += try await insert(1, "Nike") }
        steady += try await insert(30, "Nike")
        _ = try await insert(20, "Adidas")
        var victims = Array(steady.shuffled(using: &random).prefix(8))
        let changing = Set(victims)

        var seen: [String] = []
        var cursor: JSONValue = []
        let filters: JSONValue = [
            ["key": "properties.brand.id", "value": "nike"], ["key": "status.result.id", "value": "authentic"],
        ]
        repeat {
            let limit = Int.random(in: 1...6, using: &random)
            let page = try await search(
                world, token, ["filters": filters, "cursor": cursor, "limit": .number(JSONNumber(limit))])
            #expect(page.status == 200)
            seen += ids(page)
            cursor = page["next_cursor"]
            switch Int.random(in: 0..<4, using: &random) {
            case 0: _ = try await insert(3, "Nike")
            case 1: try await world.advance("1m")
            case 2:
                if let victim = victims.popLast() {
                    _ = try await world.send("PATCH", "/_sim/authentications/\(victim)", ["result": "unknown"])
                }
            default:
                let id = steady.randomElement(using: &random)!
                _ = try await world.send("PUT", "/sdk/results/\(id)/flag", ["flag": true], token: token)
            }
        } while cursor != []
        #expect(Set(seen).count == seen.count, "something was repeated")
        for id in steady where !changing.contains(id) { #expect(seen.contains(id), "\(id) was skipped") }
    }
}

/// A repeatable random generator for tests.
struct SeededRandom: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var value = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
        return value ^ (value >> 31)
    }
}
