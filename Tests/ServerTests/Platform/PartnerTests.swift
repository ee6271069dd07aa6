import Foundation
import SimulationAPI
import TestSupport
import Testing

@Suite struct PartnerTests {
    /// A namespace with one item of the user, and the item's id.
    private func world(_ template: JSONObject = [:], settings: JSONValue? = nil) async throws -> (
        TestWorld, String
    ) {
        let world = try await TestWorld.make(settings: settings ?? ["rate_limits": "off"])
        return (world, try await item(world, template))
    }

    private func item(_ world: TestWorld, _ template: JSONObject = [:]) async throws -> String {
        let plain: JSONObject = [
            "brand": "Nike", "style_name": "Air Jordan 1", "customer_item_id": "sku-1", "us_size": 9.5,
        ]
        let body = JSONValue.object(plain.merging(template) { $1 })
        let answer = try await world.send("POST", "/_sim/authentications", body)
        try #require(answer.status == 201)
        return try #require(answer["entrupy_ids.0"].text)
    }

    private func v1(_ world: TestWorld, _ path: String, _ version: String = "1.4") async throws -> TestWorld.Answer {
        try await world.send("GET", "/v1" + path, token: TestWorld.apiToken, headers: ["Api-Version": version])
    }

    private func v2(
        _ world: TestWorld, _ method: String, _ path: String, _ body: JSONValue? = nil,
        token: String = TestWorld.apiToken
    ) async throws -> TestWorld.Answer {
        try await world.send(method, "/v2" + path, body, token: token)
    }

    @Test func fieldsOfV1AppearAndAreRenamedByVersion() async throws {
        let (world, id) = try await world(["result": "invalid", "form_factor": "microscopic"])
        let versions = ["1.0", "1.1", "1.2", "1.3", "1.4"]
        var seen: [[Bool]] = []
        for version in versions {
            let item = try await v1(world, "/authentications/\(id)", version).json["item"]
            #expect(item["text_fields.customer_item_id"] == "sku-1")
            seen.append(
                ["text_fields.order_id", "status.result.reason", "activity.product_category"].map { item[$0] != .null })
        }
        #expect(
            seen == [
                [true, false, false], [true, false, false], [true, true, false], [false, true, true],
                [false, true, true],
            ])
    }

    @Test(arguments: ["2.0", "1.5", "1", "1.3 ", ">=1.3", "2026-01-05", ""])
    func anotherVersionIsRefused(version: String) async throws {
        let (world, id) = try await world()
        let answer = try await v1(world, "/authentications/\(id)", version)
        // The client's HTTP library trims whitespace around the value, as HTTP requires.
        #expect(answer.status == (version == "1.3 " ? 200 : 400))
    }

    @Test func imagesAndCatalogueAreNullUnlessAskedFor() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        let token = try await world.login()
        let id = try await world.submit(token)
        let plain = try await v2(world, "GET", "/authentications/\(id)")
        #expect(plain["item.images"] == .null && plain["item.catalog"] == .null)
        let whole = try await v2(world, "GET", "/authentications/\(id)?include_images=true&include_catalog=true")
        #expect(whole["item.images.uploaded_images.0.type"] == "outer_side")
        #expect(whole["item.images.item_photo"] == whole["item.images.uploaded_images.0.url"])
        #expect(whole["item.catalog.product_information.brand"] == "Nike")
        #expect(whole["item.catalog.marketplace_listings.0.price"].text?.hasSuffix(".00") == true, "a string")
        #expect(try await v2(world, "GET", "/authentications/\(id)?include_images=yes").status == 400)
    }

    @Test func bothVersionsShowTheOneRecord() async throws {
        let (world, id) = try await world(["result": "needs_review"])
        let before = try await v2(world, "GET", "/authentications/\(id)")
        #expect(before["item.status.initial_result"] == .null && before["item.status.result.final"] == false)
        #expect(before["item.certificate"] == .null)
        for result in ["authentic", "unknown"] {
            _ = try await world.send("PATCH", "/_sim/authentications/\(id)", ["result": .string(result)])
        }
        let second = try await v2(world, "GET", "/authentications/\(id)")["item"]
        let first = try await v1(world, "/authentications/\(id)")["item"]
        #expect(first["status.result.id"] == "unknown" && second["status.result.id"] == "unknown")
        #expect(second["status.initial_result"] == ["id": "authentic", "final": false], "another followed")
        #expect(first["certificate"] == .null && second["certificate"] == .null, "only while it is authentic")
        let info = try await world.send("GET", "/_sim/authentications/\(id)")
        #expect(info["v1"] == first)
    }

    @Test func anotherOrganizationsItemLooksLikeAMissingOne() async throws {
        let (world, id) = try await world()
        func refusal(_ path: String) async throws -> JSONValue {
            let answer = try await v2(world, "GET", path, token: "other-api-token")
            #expect(answer.status == 404)
            return answer.json.merging(["request_id": nil])
        }
        let foreign = try await refusal("/authentications/\(id)")
        let missing = try await refusal("/authentications/AAAAAAAAAAAAAAAA")
        let looked = try await refusal("/lookup/authentications/sku-1")
        #expect(foreign == missing && looked == missing)
        #expect(try await v2(world, "POST", "/search/authentications", token: "other-api-token")["item_count"] == 0)
        #expect(
            try await v2(world, "POST", "/authentications/\(id)/flag", ["reason": "r"], token: "other-api-token").status
                == 404)
    }

    @Test func lookupFindsTheLatestWithThatID() async throws {
        let (world, first) = try await world(["customer_item_id": "a/b %C3 👟"])
        let path = "/lookup/authentications/a%2Fb%20%25C3%20%F0%9F%91%9F"
        #expect(try await v2(world, "GET", path)["item.entrupy_id"].text == first)
        // Of two items submitted at the same moment, the latest is the one that was stored last.
        let second = try await item(world, ["customer_item_id": "a/b %C3 👟"])
        #expect(try await v2(world, "GET", path)["item.entrupy_id"].text == second)
        #expect(try await v1(world, path)["item.entrupy_id"].text == second)
        let long = String(repeating: "x", count: 300)
        for nothing in ["A%2Fb%20%25C3%20%F0%9F%91%9F", long, "%00", "%zz"] {
            #expect(try await v2(world, "GET", "/lookup/authentications/\(nothing)").status == 404, "\(nothing)")
        }
    }

    @Test(arguments: ["v1", "v2"]) func aSearchFindsEveryUsersItemsPageByPage(version: String) async throws {
        let (world, _) = try await world()
        _ = try await world.send(
            "POST", "/_sim/authentications",
            ["count": 30, "template": ["username": "DemoOrg-another-user", "brand": "Gucci"]])
        _ = try await world.send(
            "POST", "/_sim/authentications", ["count": 5, "template": ["username": "OtherOrg-example-user"]])
        func search(_ body: JSONObject) async throws -> TestWorld.Answer {
            try await world.send(
                "POST", "/\(version)/search/authentications", .object(body), token: TestWorld.apiToken,
                headers: ["Api-Version": "1.3"])
        }
        var ids: [JSONValue] = []
        var cursor = JSONValue.null
        var pages = 0
        repeat {
            let page = try await search(["cursor": cursor, "format_options": ["anything": 1]])
            ids += page["items"].items.map { $0["entrupy_id"] }
            #expect(page["item_count"].double == Double(page["items"].items.count))
            cursor = page["next_cursor"]
            pages += 1
            if pages == 1 {
                let foreign = try await search([
                    "cursor": cursor, "filters": [["key": "status.flag", "value": "none"]],
                ])
                #expect(foreign.status == 400, "it belongs to another query")
                let theirs = try await world.send(
                    "POST", "/\(version)/search/authentications", ["cursor": cursor], token: "other-api-token",
                    headers: ["Api-Version": "1.3"])
                #expect(theirs.status == 400, "it belongs to another organization")
                // A new item between two pages must not cause skipped or repeated items.
                _ = try await item(world)
            }
        } while cursor != .null && cursor != []
        #expect(cursor == (version == "v1" ? [] : nil))
        #expect(ids.count == 31 && Set(ids).count == 31 && pages == 4)
    }

    @Test func usersCanBeFilteredByName() async throws {
        let (world, mine) = try await world()
        let other = try await item(world, ["username": "DemoOrg-another-user"])
        let foreign = "OtherOrg-example-user"
        _ = try await item(world, ["username": .string(foreign)])
        func found(_ filters: [JSONValue]) async throws -> [JSONValue] {
            let answer = try await v2(world, "POST", "/search/authentications", ["filters": .array(filters)])
            return answer["items"].items.map { $0["entrupy_id"] }
        }
        let key = "owner.user.username"
        let me: JSONValue = "DemoOrg-sim-test-user"
        #expect(try await found([["key": .string(key), "value": me]]) == [.string(mine)])
        #expect(try await found([["key": .string(key), "value": me, "exclude": true]]) == [.string(other)])
        #expect(try await found([["key": .string(key), "values": [me, "DemoOrg-another-user"]]]).count == 2)
        #expect(try await found([["key": .string(key), "value": .string(foreign)]]) == [])
        #expect(
            try await found([
                ["key": .string(key), "value": me], ["key": .string(key), "value": "DemoOrg-another-user"],
            ]) == [])
        #expect(try await found([["key": .string(key), "value": me, "values": nil, "text_fields": []]]).count == 1)
        let token = try await world.login()
        let user = try await world.send(
            "POST", "/sdk/search", ["filters": [["key": .string(key), "value": me]]], token: token)
        #expect(user.status == 400, "a user searches for its own alone")
    }

    @Test func flagsOfEitherSideAreOneState() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        let token = try await world.login()
        let id = try await world.submit(token)
        let path = "/authentications/\(id)/flag"
        #expect(try await v2(world, "POST", path, ["reason": "Odd"]).status == 400, "not final yet")
        #expect(try await v2(world, "DELETE", path).status == 400)
        _ = try await world.send("POST", "/_sim/clock/advance", ["to": "next"])
        #expect(try await v2(world, "DELETE", path).status == 409)
        for wrong: JSONValue in [[:], ["reason": ""], ["reason": 1], ["reason": nil]] {
            #expect(try await v2(world, "POST", path, wrong).status == 400)
        }
        let flagged = try await v2(world, "POST", path, ["reason": "Looks odd", "comments": "See the heel"])
        #expect(flagged.status == 200 && flagged["item.status.flag"] == "flagged")
        let seen = try await world.send("GET", "/sdk/results/\(id)/flag", token: token)
        #expect(seen["flag_status.flag_info.id"] == "other")
        #expect(seen["flag_status.flag_info.message"] == "Looks odd\n\nSee the heel")
        #expect(try await v2(world, "POST", path, ["reason": "Again"]).status == 409)
        let cleared = try await world.send("PUT", "/sdk/results/\(id)/flag", ["flag": false], token: token)
        #expect(cleared["id"] == "none")
        #expect(try await v1(world, "/authentications/\(id)")["item.status.flag"] == .null)
        #expect(try await v2(world, "POST", path, ["reason": "wrong_photos"]).status == 200)
        let known = try await world.send("GET", "/sdk/results/\(id)/flag", token: token)
        #expect(known["flag_status.flag_info.id"] == "wrong_photos")
        _ = try await world.send("PATCH", "/_sim/settings", ["flagging": ["sdk": false]])
        #expect(try await v2(world, "DELETE", path).status == 200, "the SDK's switch is the SDK's")
    }

    @Test func theConfigurationAndTheCatalogueListTheBrands() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        let config = try await v2(world, "POST", "/config/authentications")
        let nike = try #require(config["config.brands"].items.first { $0["brand_id"] == "nike" })
        #expect(
            nike["materials"].items.map { $0["material_id"] } == [
                "canvas", "cotton", "flyknit", "leather", "polyester", "suede",
            ])
        #expect(nike["materials.0.details.0.field_alias"] == "style_name")
        #expect(config["exp"].double == TestWorld.epoch + 86_400)
        let brands = try await v2(world, "POST", "/catalog/brands", [:])
        let gucci = try #require(brands["brands"].items.first { $0["id"] == "gucci" })
        #expect(gucci["product_categories"] == ["apparel", "luxury", "sneakers"])
        #expect(gucci["item_types"].items.contains("belt"))
    }

    @Test func theControlAPIChangesCatalogueData() async throws {
        let (world, id) = try await world()
        let path = "/_sim/authentications/\(id)"
        let changed = try await world.send(
            "PATCH", path,
            ["catalog": ["condition_assessment": ["score": 3, "issues": ["scuffs"]], "marketplace_listings": []]])
        #expect(changed["v2.catalog.condition_assessment.score"] == 3)
        #expect(changed["v2.catalog.condition_assessment.rating"].text != nil, "what the patch does not name stays")
        #expect(changed["v2.catalog.marketplace_listings"] == [])
        for wrong: JSONValue in [["colour": 1], ["marketplace_listings": [1]], ["product_information": "x"]] {
            #expect(try await world.send("PATCH", path, ["catalog": wrong]).status == 400)
        }
    }
}
