import EntrupyAPI
import Foundation
import SimulationAPI
import TestSupport
import Testing

@testable import Entrupy
@testable import Simulation

/// The search of the newest SDK: filters, the range of dates, and cursors [P] [D item-search].
@Suite struct ItemSearchRuleTests {
    private func search(_ bench: RuleBench, _ user: Credential, _ body: JSONValue = [:]) async throws -> JSONValue {
        let answer = try await bench.user(SearchUserItems(ItemSearchRequest(bench.sent(body))), user)
        return try WireJSON.decode(JSONValue.self, from: Data(buffer: answer.bytes))
    }

    /// A namespace with 60 items one minute apart, and their user.
    private func prepared() async throws -> (RuleBench, Credential) {
        let bench = try await RuleBench()
        let user = try await bench.login("sim-test-user")
        for (count, brand, result, flag) in [
            (30, "Nike", "authentic", "none"), (20, "Gucci", "unknown", "flagged"),
            (10, "Nike", "needs_review", "none"),
        ] {
            try await bench.generate(
                [
                    "brand": .string(brand), "result": .string(result), "flag": .string(flag),
                    "product_category": .string(brand == "Gucci" ? "luxury" : "sneakers"),
                ], count: count)
        }
        return (bench, user)
    }

    /// All items of more than 100 organizations cannot be searched. Those of a user can, also for what the catalogue lacks.
    @Test func aUsersItemsAreFilteredAmongManyOrganizations() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let id = try await bench.submit(user, brand: "Nkie")
        let more = (0..<101).map { "{name: Org\($0), api_tokens: [t\($0)]}" }.joined(separator: ", ")
        _ = try await bench.namespace.loadSeed(
            .success("organizations: [\(more)]"), RequestHead(isControl: true)
        ).result.get()
        func list(_ query: String) throws -> ListAuthentications {
            try ListAuthentications(bench.sent([:], query: Substring(query)))
        }
        let found = try await bench.control(list("brand=Nkie&username=DemoOrg-bench-user"))
        #expect(found.authentications.map(\.entrupy_id) == [id])
        for query in ["brand=Nkie", "brand=Nike", "text=A"] {
            let refused = await refusalError { try await bench.control(list(query)) }
            #expect(refused?.details.first?.field == "username", "\(query)")
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
        ] as [(JSONValue, Int)])
    func filtersNarrowTheSearch(filters: JSONValue, count: Int) async throws {
        let (bench, user) = try await prepared()
        let counted = try await search(bench, user, ["filters": filters, "result_mode": "count_only"])
        #expect(counted["total_count"].double == Double(count))
        #expect(counted["items"] == [])
        #expect(counted["next_cursor"] == .null)
        #expect(counted["metadata.result_mode"] == "count_only")
        let full = try await search(bench, user, ["filters": filters, "limit": 25])
        #expect(full["items"].items.count == min(25, count))
        #expect(full["total_count"].double == Double(count))
    }

    /// An item begins with either.
    @Test func receivedItemsAreUnderReviewToo() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        for sku in ["sim-received", "sim-needs_review", "sim-authentic-after-0s"] {
            _ = try await bench.submit(user, sku)
        }
        for (status, count) in [("under_review", 2), ("received", 1), ("needs_review", 1)] as [(String, Double)] {
            let found = try await search(
                bench, user, ["filters": ["status": [.string(status)]], "result_mode": "count_only"])
            #expect(found["total_count"].double == count, "\(status)")
        }
    }

    @Test func datesAreInclusiveAndThirtyDaysTheDefault() async throws {
        let (bench, user) = try await prepared()
        func count(_ range: JSONValue, _ user: Credential) async throws -> Double? {
            try await search(bench, user, ["date_range": range, "result_mode": "count_only"])["total_count"].double
        }
        let now = Int(RuleBench.morning.epoch)
        #expect(try await count(["start": .number(JSONNumber(now - 60)), "end": .number(JSONNumber(now))], user) == 6)
        #expect(try await count(["start": .number(JSONNumber(now)), "end": .number(JSONNumber(now))], user) == 3)
        #expect(try await count(["start": 0, "end": 1], user) == 0)
        await bench.wait("30d")
        let later = try await bench.login("sim-test-user")
        #expect(try await count(.null, later) == 3, "those of exactly 30 days ago")
        await bench.wait("1s")
        #expect(try await count(.null, later) == 0)
        #expect(try await count(["last_days": 31], later) == 60)
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
        let bench = try await RuleBench()
        let user = try await bench.login()
        let refused = await refusalError { try await search(bench, user, body) }
        #expect(refused?.kind == .invalid)
        #expect(refused?.details.first?.field == field)
    }

    @Test func aCursorIsValidOnlyForItsSearch() async throws {
        let (bench, user) = try await prepared()
        let cursor = try await search(bench, user, ["limit": 5])["next_cursor"]
        #expect(try await search(bench, user, ["limit": 7, "cursor": cursor])["items"].items.count == 7)
        for other: JSONValue in [["filters": ["brand": ["nike"]]], ["date_range": ["last_days": 31]]] {
            let mixed = other.merging(["cursor": cursor])
            #expect(await refusal { try await search(bench, user, mixed) } == .invalid)
        }
        let stranger = try await bench.login()
        #expect(await refusal { try await search(bench, stranger, ["cursor": cursor]) } == .invalid)
        #expect(try await search(bench, stranger)["total_count"] == 0, "only the user's own")
    }
}
