import EntrupyAPI
import Foundation
import SimulationAPI
import TestSupport
import Testing

@testable import Entrupy
@testable import Simulation

/// A user's search of the submissions: filters, dates, pages and cursors [S] [D search-limits] [D search-cursor].
@Suite struct SearchRuleTests {
    private func search(
        _ bench: RuleBench, _ user: Credential, _ body: JSONValue = [:], _ language: Language = .english
    ) async throws -> JSONValue {
        let answer = try await bench.user(SearchSubmissions(SearchRequest(bench.sent(body))), user, language)
        return try WireJSON.decode(JSONValue.self, from: Data(buffer: answer.bytes))
    }

    private func ids(_ page: JSONValue) -> [String] {
        page["items"].items.compactMap { $0["entrupy_id"].text }
    }

    private func count(_ bench: RuleBench, _ user: Credential, _ body: JSONValue) async throws -> Int {
        ids(try await search(bench, user, body)).count
    }

    /// A namespace whose user has items of several brands, results and flags, one minute apart.
    private func prepared() async throws -> (RuleBench, Credential) {
        let bench = try await RuleBench()
        let user = try await bench.login()
        for (brand, result, flag, count) in [
            ("Nike", "authentic", "none", 12), ("Adidas", "unknown", "flagged", 7), ("Gucci", "invalid", "none", 5),
            ("Nike", "unknown", "resolved", 3),
        ] {
            try await bench.generate(
                [
                    "brand": .string(brand), "result": .string(result), "flag": .string(flag),
                    "username": "DemoOrg-bench-user", "customer_item_id": .string("\(brand)-{n}"),
                ], count: count)
            await bench.wait("2h")
        }
        return (bench, user)
    }

    @Test func anItemWithoutAnIDPassesAnExcludingFilter() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        for id: JSONValue in [nil, "x"] {
            try await bench.generate(["username": "DemoOrg-bench-user", "customer_item_id": id])
        }
        for (values, expected) in [(["x"], 1), ([""], 2), (["", "x"], 1), (["y"], 2)] as [(JSONValue, Int)] {
            let filter: JSONValue = ["key": "customer_item_id", "values": values, "exclude": true]
            #expect(try await count(bench, user, ["filters": [filter]]) == expected, "\(values)")
        }
    }

    @Test func pagesFollowEachOtherNewestFirst() async throws {
        let (bench, user) = try await prepared()
        let first = try await search(bench, user)
        #expect(ids(first).count == 20)
        let times = first["items"].items.compactMap { $0["timestamp.epoch"].double }
        #expect(times == times.sorted(by: >))
        let second = try await search(bench, user, ["cursor": first["next_cursor"]])
        #expect(ids(second).count == 7)
        #expect(second["next_cursor"] == [])
        #expect(Set(ids(first) + ids(second)).count == 27)
        #expect(try await search(bench, user, ["cursor": nil, "filters": nil, "limit": nil]) == first)
        #expect(try await search(bench, user, ["cursor": []]) == first)
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
        let (bench, user) = try await prepared()
        var found: [String] = []
        var cursor: JSONValue = []
        repeat {
            let page = try await search(bench, user, ["filters": [filter], "limit": 4, "cursor": cursor])
            found += ids(page)
            cursor = page["next_cursor"]
        } while cursor != []
        #expect(found.count == count)
        #expect(Set(found).count == count)
    }

    @Test func filtersAreAndedValuesOred() async throws {
        let (bench, user) = try await prepared()
        let filters: JSONValue = [
            ["key": "properties.brand.id", "values": ["nike", "adidas"]],
            ["key": "status.result.id", "values": ["unknown", "authentic"]],
            ["key": "status.flag", "value": "none", "exclude": true],
        ]
        #expect(try await count(bench, user, ["filters": filters, "limit": 25]) == 10)
    }

    @Test func datesAreInclusiveAndZeroMeansUnbounded() async throws {
        let (bench, user) = try await prepared()
        let oldest = RuleBench.morning.epoch
        let newest = oldest + 3 * 7200
        func found(_ start: Double, _ end: Double) async throws -> Int {
            try await count(
                bench, user,
                [
                    "start_date": .number(JSONNumber(text: "\(start)")),
                    "end_date": .number(JSONNumber(text: "\(end)")), "limit": 25,
                ])
        }
        #expect(try await found(newest, newest) == 1)
        #expect(try await found(newest - 60, newest) == 2)
        #expect(try await found(newest - 59.999999, newest) == 1)
        #expect(try await found(newest - 120, 0) == 3)
        #expect(try await found(0, oldest) == 12)
        #expect(try await found(newest + 1, 0) == 0)
    }

    @Test func onlyTheUsersOwnSubmissionsAreFound() async throws {
        let (bench, _) = try await prepared()
        #expect(try await count(bench, try await bench.login("another-user"), [:]) == 0)
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
        let bench = try await RuleBench()
        let user = try await bench.login()
        let refused = await refusalError { try await search(bench, user, body) }
        #expect(refused?.kind == .invalid)
        #expect(refused?.details.first?.field == field)
    }

    @Test func atMostTwentyFiltersOfAHundredValuesAreAllowed() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        func kind(_ count: Int, _ values: Int) async -> PlatformError.Kind? {
            let value = JSONValue.array((0..<values).map { .string("sku-\($0)") })
            let filters = Array(repeating: ["key": "customer_item_id", "values": value] as JSONValue, count: count)
            return await refusal { try await search(bench, user, ["filters": .array(filters)]) }
        }
        #expect(await kind(20, 100) == nil)
        #expect(await kind(21, 1) == .invalid)
        #expect(await kind(1, 101) == .invalid)
    }

    @Test func aCursorIsValidOnlyForItsQuery() async throws {
        let (bench, user) = try await prepared()
        let nike: JSONValue = [
            ["key": "properties.brand.id", "values": ["nike", "adidas"]], ["key": "status.flag", "value": "none"],
        ]
        let cursor = try await search(bench, user, ["filters": nike, "limit": 3])["next_cursor"]
        // Page size, language and the order of filters and values may change.
        let same: JSONValue = [
            ["key": "status.flag", "value": "none"], ["key": "properties.brand.id", "values": ["adidas", "nike"]],
        ]
        let next = try await search(bench, user, ["filters": same, "limit": 9, "cursor": cursor], .japanese)
        #expect(ids(next).count == 9)
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
            #expect(await refusal { try await search(bench, user, other) } == .invalid, "\(other)")
        }
        let again: JSONValue = ["cursor": cursor, "filters": nike]
        let stranger = try await bench.login("another-user")
        #expect(await refusal { try await search(bench, stranger, again) } == .invalid)
        await bench.wait("10h")
        #expect(await refusal { try await search(bench, user, again) } == nil, "a cursor does not age")
    }

    @Test func aCursorWithOneBitChangedIsRefused() async throws {
        let (bench, user) = try await prepared()
        let cursor = try await search(bench, user, ["limit": 3])["next_cursor"].items.compactMap(\.text)
        try #require(cursor.count == 2)
        func kind(_ cursor: [String]) async -> PlatformError.Kind? {
            await refusal { try await search(bench, user, ["cursor": .array(cursor.map { .string($0) })]) }
        }
        #expect(await kind(cursor) == nil)
        for part in cursor.indices {
            let bytes = Array(cursor[part].utf8)
            for index in bytes.indices {
                var damaged = bytes
                damaged[index] ^= 1
                var whole = cursor
                whole[part] = String(decoding: damaged, as: UTF8.self)
                #expect(await kind(whole) == .invalid, "byte \(index) of part \(part)")
            }
            var short = cursor
            short[part].removeLast()
            #expect(await kind(short) == .invalid)
        }
    }

    /// While a client reads pages, items arrive, are flagged and change their results. An item that matches from the first page to
    /// the last must be seen exactly once.
    @Test(arguments: 0..<6) func steadyMatchesAreNeitherSkippedNorRepeated(seed: Int) async throws {
        var random = SeededRandom(state: UInt64(seed) + 1)
        let bench = try await RuleBench()
        let user = try await bench.login()
        func insert(_ count: Int, _ brand: JSONValue) async throws -> [String] {
            try await bench.generate(["brand": brand, "username": "DemoOrg-bench-user"], count: count)
        }
        // Some items have the same time.
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
                bench, user, ["filters": filters, "cursor": cursor, "limit": .number(JSONNumber(limit))])
            seen += ids(page)
            cursor = page["next_cursor"]
            switch Int.random(in: 0..<4, using: &random) {
            case 0: _ = try await insert(3, "Nike")
            case 1: await bench.wait("1m")
            case 2:
                if let victim = victims.popLast() {
                    _ = try await bench.control(PatchAuthentication(entrupyID: victim, result: .unknown))
                }
            default:
                let id = steady.randomElement(using: &random)!
                let flag = bench.sent(["flag": true], path: ["entrupy_id": id])
                // One that is flagged already stays so.
                _ = await refusal { try await bench.user(SetFlag(flag), user) }
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
