import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Tests of `/_sim/seed` and `/_sim/export`.
@Suite struct SeedDataTests {
    private func load(_ world: TestWorld, _ yaml: String, type: String = "application/yaml") async throws
        -> TestWorld.Answer
    {
        try await world.send("POST", "/_sim/seed", bytes: Data(yaml.utf8), headers: ["Content-Type": type])
    }

    private func health(_ world: TestWorld, _ token: String) async throws -> Int {
        try await world.send("GET", "/v1/health", token: token, headers: ["Api-Version": "1.3"]).status
    }

    private static let newcomers = """
        organizations:
          - name: NewOrg
            api_tokens: [new-api-token]
            bundles: [com.example.new]
            users: [{unique_user_id: ann-of-neworg, email: ann@example.com}]
          - name: DemoOrg
            api_tokens: [second-demo-token]
            users: [{unique_user_id: sim-test-user, first_name: Sim}]
        brands:
          - {id: zara, name: "Zara", categories: {apparel: {item_types: [shirt]}}}
        """

    @Test func loadedSeedDataAppliesAtOnceAndAfterAReset() async throws {
        let world = try await TestWorld.make()
        #expect(try await health(world, "new-api-token") == 401)
        let loaded = try await load(world, Self.newcomers)
        #expect(
            loaded.json == [
                "organizations": 1, "users_created": 1, "users_updated": 1, "api_tokens": 2, "brands": 38,
            ])
        for _ in 0..<2 {
            #expect(try await health(world, "new-api-token") == 200)
            #expect(try await health(world, "second-demo-token") == 200)
            #expect(try await health(world, "demo-api-token") == 200)
            let ann = try await world.send("GET", "/_sim/users/NewOrg-ann-of-neworg")
            #expect(ann["email"] == "ann@example.com" && ann["organization"] == "NewOrg")
            #expect(try await world.send("GET", "/_sim/users/DemoOrg-sim-test-user")["first_name"] == "Sim")
            let item: JSONValue = ["brand": "Zara", "product_category": "apparel", "item_type": "shirt"]
            let token = try await world.login()
            let started = try await world.send("POST", "/sdk/captures", ["item": item], token: token)
            #expect(started.status == 201)
            #expect(try await world.send("POST", "/_sim/reset").status == 200)
        }
    }

    @Test func anExportLoadsAgainAndChangesNothing() async throws {
        let world = try await TestWorld.make()
        _ = try await load(world, Self.newcomers)
        _ = try await world.login("another-user")
        let yaml = try await world.send("GET", "/_sim/export")
        #expect(yaml.headers["Content-Type"] == ["application/yaml"])
        let text = String(decoding: yaml.body, as: UTF8.self)
        #expect(text.contains("unique_user_id: another-user") && text.contains("本物"))
        let other = try await TestWorld.make(seed: "empty")
        #expect(try await load(other, text)["users_created"] == 3)
        #expect(try await other.send("GET", "/_sim/export").body == yaml.body)
        let json = try await other.send("GET", "/_sim/export?format=json")
        #expect(try await world.send("GET", "/_sim/export?format=json").json == json.json)
        #expect(
            try await load(other, String(decoding: json.body, as: UTF8.self), type: "application/json")["users_created"]
                == 0)
        #expect(try await other.send("GET", "/_sim/export").body == yaml.body)
    }

    @Test func anItemWithoutACategoryIsRefusedIfTheSeedHasNoSneakers() async throws {
        let standard = try await TestWorld.make()
        var seed = try #require(try await standard.send("GET", "/_sim/export?format=json").json.members)
        let isSneakers = { (value: JSONValue) in value["id"] == "sneakers" }
        seed["categories"] = .array((seed["categories"]?.items ?? []).filter { !isSneakers($0) })
        seed["item_types"] = .array(
            (seed["item_types"]?.items ?? []).filter { !$0["categories"].items.contains("sneakers") })
        seed["brands"] = .array(
            try (seed["brands"]?.items ?? []).compactMap { brand in
                var brand = try #require(brand.members)
                var categories = try #require(brand["categories"]?.members)
                categories["sneakers"] = nil
                brand["categories"] = .object(categories)
                return categories.isEmpty ? nil : .object(brand)
            })
        let world = try await TestWorld.make(seed: .object(seed))
        let token = try await world.login()
        let refused = try await world.send(
            "POST", "/sdk/captures", ["item": ["brand": "Gucci", "style_name": "Ace"]], token: token)
        #expect(refused.status == 400)
        #expect(refused["details.0.field"] == "item.product_category")
        #expect(
            refused["details.0.problem"].text?.contains("must be one of luxury, apparel") == true, "\(refused.json)")
    }

    /// Seed data of an earlier release lacks the texts of later additions.
    @Test func missingTextsFallBackToBuiltInOnesOrIDs() async throws {
        let world = try await TestWorld.make()
        let export = try await world.send("GET", "/_sim/export?format=json").json
        var texts = try #require(export["texts"].members)
        for (section, name) in [("results", "authentic"), ("text_fields", "style_name"), ("events", "item.submitted")] {
            var members = try #require(texts[section]?.members)
            try #require(members[name] != nil)
            members[name] = nil
            texts[section] = .object(members)
        }
        try #require(try await world.send("POST", "/_sim/seed", ["texts": .object(texts)]).status == 200)
        let session = try await world.login()
        let item = try await world.submit(
            session, item: ["brand": "Nike", "style_name": "Air", "customer_item_id": "sim-authentic-after-0s"])
        let shown = try await world.result(item, session)
        #expect(shown["status.result.display.header"] == "Authentic")
        #expect(shown["text_fields"].items.contains { $0["display_name"] == "style_name" && $0["content"] == "Air" })
        #expect(shown["events"].items.map { $0["type"] } == ["result.set"])
    }

    @Test func textsThatLookLikeOtherTypesStayTexts() async throws {
        let world = try await TestWorld.make()
        let yaml = """
            organizations:
              - name: "true"
                api_tokens: ["0123456789", "null"]
                users: [{unique_user_id: "1234567890", first_name: "~", last_name: "1e5"}]
            """
        #expect(try await load(world, yaml).status == 200)
        let exported = try await world.send("GET", "/_sim/export").body
        let other = try await TestWorld.make()
        #expect(try await load(other, String(decoding: exported, as: UTF8.self)).status == 200)
        let user = try await other.send("GET", "/_sim/users/true-1234567890")
        #expect(user["first_name"] == "~" && user["last_name"] == "1e5")
        #expect(try await health(other, "null") == 200)
    }

    @Test func aMistakeIsReportedWithItsLineAndNothingIsLoaded() async throws {
        let world = try await TestWorld.make()
        let before = try await world.send("GET", "/_sim/export").body
        let wrong: [(String, Int, String)] = [
            (
                "organizations:\n  - name: A\n    api_tokens: [ok-token]\n    users: [{unique_user_id: ann}]", 400,
                "line 4"
            ),
            ("organizations:\n  - nam: A", 400, "line 2"),
            ("brands:\n  - {id: z, name: Z, categories: {hats: {}}}", 400, "hats"),
            ("colour: red", 400, "is not known here"), ("{}", 400, "expected organizations"), ("", 400, "empty"),
            ("a: [", 400, "not YAML"), ("- 1", 400, "expected a mapping"),
            ("organizations:\n  - {name: A, api_tokens: [demo-api-token]}", 409, "appears twice"),
            (
                "organizations:\n  - {name: A, api_tokens: [fresh-token]}\n  - {name: B, api_tokens: [fresh-token]}",
                409,
                "appears twice"
            ),
        ]
        for (yaml, status, problem) in wrong {
            let answer = try await load(world, yaml)
            #expect(answer.status == status, "\(yaml): \(answer.json)")
            #expect(String(decoding: answer.body, as: UTF8.self).contains(problem), "\(answer.json)")
        }
        #expect(try await load(world, "a: 1", type: "image/png").status == 415)
        #expect(
            try await world.send(
                "POST", "/_sim/seed", bytes: Data([0xff, 0xfe]), headers: ["Content-Type": "text/yaml"]
            ).status == 400)
        #expect(try await world.send("GET", "/_sim/export?format=xml").status == 400)
        #expect(try await world.send("GET", "/_sim/export").body == before)
    }
}
