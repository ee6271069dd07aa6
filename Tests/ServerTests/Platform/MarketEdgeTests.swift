import Foundation
import GRDB
import SimulationAPI
import TestSupport
import Testing

/// The market data of items over HTTP [D market-edge].
@Suite struct MarketEdgeTests {
    /// A namespace with an authentic item.
    private func world() async throws -> (world: TestWorld, id: String, session: String) {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        let session = try await world.login()
        let id = try await world.submit(session)
        return (world, id, session)
    }

    private func edge(_ world: TestWorld, _ id: String, _ session: String) async throws -> TestWorld.Answer {
        try await world.send("GET", "/sdk/results/\(id)/market-edge", token: session)
    }

    @Test func marketDataFollowsAFinalResult() async throws {
        let (world, id, session) = try await world()
        let early = try await edge(world, id, session)
        #expect(early.status == 409 && early["sdk_error"] == "ErrorCodeBadRequest" && early["code"] == "conflict")
        #expect(early["details.0.problem"].text?.contains("needs_review") == true)
        try await world.advance("5s")
        let made = try await edge(world, id, session)
        try #require(made.status == 200)
        let catalog = try await world.send(
            "GET", "/v2/authentications/\(id)?include_catalog=true", token: TestWorld.apiToken)["item.catalog"]
        #expect(made["marketplace_listings"] == catalog["marketplace_listings"])
        #expect(made["condition.score"] == catalog["condition_assessment.score"])
        for path in [
            "market_grade.id", "market_grade.display", "market_match.product", "market_match.confidence",
            "condition.rating", "client_polling_instruction.poll",
        ] {
            #expect(made[path] != .null, "\(path)")
        }
        #expect(try await edge(world, id, session).body == made.body)
        // An equal namespace with equal requests.
        let (twin, twinID, twinSession) = try await self.world()
        try await twin.advance("5s")
        #expect(try await edge(twin, twinID, twinSession).body == made.body)
        for (who, token) in [("user", "other-user-1"), ("organization", "other-org-user")] {
            let api = who == "user" ? TestWorld.apiToken : "other-api-token"
            let stranger = try await world.login(token, token: api)
            let refused = try await edge(world, id, stranger)
            let unknown = try await edge(world, "AAAAAAAA", stranger)
            #expect(refused.status == 404 && unknown.status == 404 && refused["error"] == unknown["error"], "\(who)")
        }
        #expect(try await world.send("GET", "/sdk/results/\(id)/market-edge").status == 401)
    }

    @Test func theControlAPIGivesAndRemovesMarketData() async throws {
        let (world, id, session) = try await world()
        let path = "/_sim/authentications/\(id)"
        let given: JSONValue = [
            "market_grade": ["id": "b_plus", "display": "B+"],
            "market_match": ["product": "Air Max 1", "confidence": 0.93],
            "condition": ["score": 8.5, "rating": "B+", "issues": ["creased toe box"]],
            "marketplace_listings": [
                [
                    "platform": "Shop", "title": "Air Max", "price": "199.00", "currency": "USD",
                    "link": "https://shop.example/1", "confidence": 0.9,
                ]
            ],
        ]
        // Data may be given before there is a result.
        let patched = try await world.send("PATCH", path, ["market_edge": given])
        #expect(patched.status == 200 && patched["market_edge"] == given)
        #expect(try await edge(world, id, session).status == 409)
        try await world.advance("5s")
        let edge = try await edge(world, id, session)
        for member in ["market_grade", "market_match", "condition"] {
            for (name, value) in given[member].members ?? [:] {
                #expect(edge[member][name] == value, "\(member).\(name)")
            }
        }
        #expect(edge["marketplace_listings"] == given["marketplace_listings"])
        #expect(edge["market_value.price"] == "199.00 USD")
        let wrong = try await world.send("PATCH", path, ["market_edge": ["market_grad": [:]]])
        #expect(wrong.status == 400 && wrong["details.0.field"] == "market_edge.market_grad")
        #expect(wrong["details.0.problem"].text?.contains("did you mean market_grade?") == true)
        #expect(try await world.send("PATCH", path, ["market_edge": 7]).status == 400)
        #expect(try await world.send("GET", path)["market_edge"] == given, "a refused patch changes nothing")
        let removed = try await world.send("PATCH", path, ["market_edge": .null])
        #expect(removed.status == 200 && removed["market_edge"] == .null)
        #expect(try await self.edge(world, id, session)["market_grade.id"] != "b_plus")
    }

    @Test func itemsAndScenariosMayHaveMarketData() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        let item: JSONValue = [
            "brand": "Nike", "customer_item_id": "edge", "username": "DemoOrg-example-user-id",
            "market_edge": ["market_value": ["price": "7.00 USD"]],
        ]
        let one = try await world.send("POST", "/_sim/authentications", item)
        let id = try #require(one["entrupy_ids.0"].text)
        #expect(try await edge(world, id, world.login())["market_value.price"] == "7.00 USD")
        let wrong = try await world.send(
            "POST", "/_sim/authentications", ["template": ["market_edge": ["market_valu": [:]]]])
        #expect(wrong.status == 400 && wrong["details.0.field"].text?.hasSuffix("market_edge.market_valu") == true)
        let document: JSONValue = [
            "name": "edges", "description": "d", "clock": ["freeze": .string(TestWorld.morning)], "items": [item],
        ]
        let put = try await world.send("PUT", "/_sim/scenarios/edges", document)
        #expect(put.status == 201)
        #expect(try await world.send("POST", "/_sim/scenarios/edges/start", [:]).status == 200)
        let made = try await world.send("GET", "/_sim/authentications?text=edge")["authentications.0.id"]
        let startedID = try #require(made.text)
        #expect(try await edge(world, startedID, world.login())["market_value.price"] == "7.00 USD")
        let bad = try await world.send(
            "PUT", "/_sim/scenarios/bad",
            [
                "name": "bad", "description": "d", "clock": ["freeze": .string(TestWorld.morning)],
                "items": [["market_edge": ["condition": ["ratin": "x"]]]],
            ])
        #expect(bad.status == 400 && bad.text.contains("market_edge.condition.ratin"), "\(bad.text)")
    }

    @Test func givenDataIsInSnapshotsAndBadDataIsRefusedAtTheUpload() async throws {
        let (world, id, session) = try await world()
        try await world.advance("5s")
        let path = "/_sim/authentications/\(id)"
        _ = try await world.send("PATCH", path, ["market_edge": ["market_value": ["price": "1 USD"]]])
        #expect(try await world.send("PUT", "/_sim/snapshots/edge").status == 201)
        _ = try await world.send("PATCH", path, ["market_edge": .null])
        #expect(try await world.send("POST", "/_sim/snapshots/edge/restore").status == 200)
        #expect(try await edge(world, id, session)["market_value.price"] == "1 USD")
        let archive = try TarFile(try await world.send("GET", "/_sim/snapshots/edge").body).withItsChecksum
        func upload(_ stored: String) async throws -> TestWorld.Answer {
            try await world.send(
                "PUT", "/_sim/snapshots/changed", bytes: Self.changed(archive, stored),
                headers: ["Content-Type": "application/octet-stream"])
        }
        #expect(try await upload(#"{"market_value":{"price":"2 USD"}}"#).status == 201)
        let long = String(repeating: "x", count: 2001)
        for stored in [
            "{", "[]", #"{"market_valu":{}}"#, #"{"market_value":{"price":1}}"#, #"{"disclaimer":["\#(long)"]}"#,
        ] {
            let refused = try await upload(stored)
            #expect(
                refused.status == 400 && refused.text.contains("market_edge"), "\(stored.prefix(40)): \(refused.text)")
        }
    }

    /// The snapshot with other market data in every item.
    private static func changed(_ archive: TarFile, _ stored: String) throws -> Data {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("edge-\(UUID()).sqlite").path
        defer { for suffix in ["", "-wal", "-shm", "-journal"] { unlink(file + suffix) } }
        try archive.entries[1].bytes.write(to: URL(fileURLWithPath: file))
        let queue = try DatabaseQueue(path: file)
        try queue.write { try $0.execute(sql: "UPDATE items SET market_edge = ?", arguments: [stored]) }
        try queue.close()
        var changed = archive
        changed.entries[1].bytes = try Data(contentsOf: URL(fileURLWithPath: file))
        return changed.bytes
    }

    @Test func faultsAreAnsweredAsTheRuleSays() async throws {
        let (world, id, session) = try await world()
        try await world.advance("5s")
        let body: JSONValue = ["error": "no data", "code": "unavailable", "sdk_error": "ErrorCodeServerTimeoutError"]
        let rule = try await world.send(
            "POST", "/_sim/faults",
            [
                "match": ["route": "/sdk/results/*/market-edge", "method": "GET"],
                "effect": ["status": 504, "body": body], "times": 1,
            ])
        #expect(rule.status == 201 && rule["notes"] == [])
        let faulted = try await edge(world, id, session)
        #expect(faulted.status == 504 && faulted.json == body)
        #expect(try await edge(world, id, session).status == 200)
    }
}
