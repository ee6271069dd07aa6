import SimulationAPI
import TestSupport
import Testing

/// Items as current SDKs send them: with brand and item type, without a category.
@Suite struct ItemTypeTests {
    private func category(_ world: TestWorld, _ id: String) async throws -> String? {
        try await world.send(
            "GET", "/v1/authentications/\(id)", token: TestWorld.apiToken, headers: ["Api-Version": "1.4"])[
                "item.activity.product_category"
            ].text
    }

    @Test(
        arguments: [
            (["brand": "Nike", "item_type": "Sneakers"], "sneakers", "authentic"),
            (["brand": "BAPE", "item_type": "Outerwear"], "apparel", "authentic"),
            (["brand": "Louis Vuitton", "item_type": "Bags"], "luxury", "authentic"),
            (["brand": "louis_vuitton", "item_type": "HANDBAG"], "luxury", "authentic"),
            (["brand": "adidas", "item_type": "T-Shirt"], "apparel", "authentic"),
            (["brand": "adidas", "item_type": "tシャツ"], "apparel", "authentic"),
            (["brand": "Off-White", "item_type": "shoes"], "sneakers", "authentic"),
            // A brand may come first with another category, and an item type decides between them.
            (["brand": "Gucci", "item_type": "jacket"], "apparel", "authentic"),
            (["brand": "Nike", "item_type": "Handbag"], "luxury", "not_supported"),
            (["brand": "Chanel", "item_type": "umbrella"], "luxury", "not_supported"),
            (["brand": "Nobody's", "item_type": "umbrella"], "sneakers", "not_supported"),
            (["brand": "Nobody's", "item_type": "Handbag"], "luxury", "not_supported"),
            // With a category, the item type is free text.
            (["brand": "Nike", "product_category": "apparel", "item_type": "umbrella"], "apparel", "authentic"),
            (["brand": "Nike", "product_category": "sneakers"], "sneakers", "authentic"),
            (["brand": "Nike", "style_name": "Air"], "sneakers", "authentic"),
        ] as [(JSONValue, String, String)])
    func theItemTypeChoosesTheCategory(item: JSONValue, category: String, result: String) async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        let id = try await world.submit(token, item: item)
        try await world.advance("1h")
        #expect(try await self.category(world, id) == category)
        #expect(try await world.result(id, token)["status.result.id"].text == result)
    }

    @Test(
        arguments: [
            (["brand": "Nike"], "item.style_name", "without product_category and item_type"),
            (["brand": "Nike", "item_type": ""], "item.style_name", "without product_category and item_type"),
            (["brand": "Nike", "product_category": "apparel"], "item.item_type", "for apparel"),
            (["item_type": "Sneakers"], "item.brand", "for sneakers"),
            (["brand": "Nike", "product_category": "hats"], "item.product_category", "must be one of"),
            (["brand": "Nike", "item_type": 7], "item.item_type", "must be a string"),
        ] as [(JSONValue, String, String)])
    func aMissingOrWrongFieldIsNamed(item: JSONValue, field: String, problem: String) async throws {
        let world = try await TestWorld.make()
        let answer = try await world.send("POST", "/sdk/captures", ["item": item], token: try await world.login())
        #expect(answer.status == 400 && answer["details.0.field"].text == field, "\(answer.json)")
        #expect(answer["details.0.problem"].text?.contains(problem) == true, "\(answer.json)")
        #expect(try await world.send("GET", "/_sim/captures")["captures"] == [])
    }

    @Test func anUnknownItemTypeDecidesTheResult() async throws {
        let world = try await TestWorld.make()
        let id = try await world.submit(world.login(), item: ["brand": "Nike", "item_type": "Handbag"])
        #expect(try await world.send("GET", "/_sim/authentications/\(id)")["decided_by"] == "unknown_item_type")
        let made = try await world.send("POST", "/_sim/authentications", ["brand": "BAPE", "item_type": "Outerwear"])
        #expect(try await category(world, made["entrupy_ids.0"].text ?? "") == "apparel")
    }

    @Test func seedDataNamesItsOwnItemTypes() async throws {
        let world = try await TestWorld.make()
        let seed: JSONValue = [
            "item_types": [
                [
                    "id": "umbrella", "display_name": ["en": "Umbrella", "ja": "傘"], "aliases": ["brolly"],
                    "categories": ["luxury"],
                ]
            ],
            "brands": [["id": "fulton", "name": "Fulton", "categories": ["luxury": ["item_types": ["umbrella"]]]]],
        ]
        try #require(try await world.send("POST", "/_sim/seed", seed).status == 200)
        let token = try await world.login()
        for type in ["Brolly", "傘", "umbrella"] {
            let id = try await world.submit(token, item: ["brand": "Fulton", "item_type": .string(type)])
            try await world.advance("1h")
            #expect(try await world.result(id, token)["status.result.id"] == "authentic")
            let item = try await world.send("GET", "/v2/authentications/\(id)", token: TestWorld.apiToken)["item"]
            #expect(item["properties.category"] == "Umbrella" && item["properties.brand"] == "Fulton")
        }
        // The built-in ones are there still.
        let nike = try await world.submit(token, item: ["brand": "Nike", "item_type": "Sneakers"])
        #expect(try await category(world, nike) == "sneakers")
    }

    @Test(
        arguments: [
            ([["id": "umbrella", "categories": ["hats"]]], "must be one of sneakers, luxury, apparel"),
            ([["id": "umbrella", "categories": []]], "at least one category"),
            ([["id": "umbrella"]], "categories"),
            ([["id": "umbrella", "aliases": ["Bag"], "categories": ["luxury"]]], "appears twice"),
            ([["id": "umbrella", "colour": "red", "categories": ["luxury"]]], "is not known here"),
        ] as [(JSONValue, String)])
    func aWrongItemTypeIsRefused(types: JSONValue, problem: String) async throws {
        let world = try await TestWorld.make()
        let answer = try await world.send("POST", "/_sim/seed", ["item_types": types])
        #expect([400, 409].contains(answer.status), "\(answer.json)")
        #expect(answer["error"].text?.contains(problem) == true, "\(answer.json)")
        #expect(try await world.send("GET", "/_sim/export").body.count > 1000)
    }

    // MARK: What partners see

    private func v1(_ world: TestWorld, _ id: String, _ version: String) async throws -> JSONValue {
        try await world.send(
            "GET", "/v1/authentications/\(id)", token: TestWorld.apiToken, headers: ["Api-Version": version])["item"]
    }

    @Test func propertiesDependOnTheVersion() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        let token = try await world.login()
        let bag = try await world.submit(
            token, item: ["brand": "Gucci", "item_type": "bag", "material": "GG Canvas", "style_name": "Marmont"])
        let coat = try await world.submit(token, item: ["brand": "BAPE", "item_type": "coats"])
        let (new, old) = (try await v1(world, bag, "1.4")["properties"], try await v1(world, bag, "1.3")["properties"])
        #expect(new["material"] == ["id": "gg_canvas", "display": ["name": "GG Canvas"]])
        #expect(new["model.id"] == "marmont" && new["item_type"] == .null)
        #expect(old["model.id"] == "gg_canvas" && old["material"] == .null)
        let apparel = try await v1(world, coat, "1.4")["properties"]
        #expect(apparel["item_type"] == ["id": "outerwear", "display": ["name": "Outerwear"]])
        #expect(try await v1(world, coat, "1.3")["properties.item_type"] == .null)
        #expect(try await world.result(coat, token)["properties.function.id"] == "outerwear")
        #expect(try await world.result(bag, token)["properties.function"] == .null)
        let second = try await world.send("GET", "/v2/authentications/\(bag)", token: TestWorld.apiToken)[
            "item.properties"]
        #expect(second["brand"] == "Gucci" && second["category"] == "Handbag" && second["category_name"] == "Luxury")
    }

    @Test func membersAndKeysDependOnTheVersion() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        let made = try await world.send(
            "POST", "/_sim/authentications", ["customer_item_id": "sku-1", "form_factor": "microscopic"])
        let id = try #require(made["entrupy_ids.0"].text)
        for minor in 0...4 {
            let item = try await v1(world, id, "1.\(minor)")
            #expect((item["activity.form_factor"] == "microscopic") == (minor >= 2), "1.\(minor)")
            let preview = item["certificate.preview"].text ?? ""
            #expect(preview.hasSuffix("?format=\(minor >= 3 ? "sharable" : "legacy")"), "1.\(minor)")
            #expect(try await world.send("GET", String(preview.dropFirst(world.base.count))).status == 200)
            for key in ["order_id", "text_fields.order_id"] {
                let found = try await world.send(
                    "POST", "/v1/search/authentications", ["filters": [["key": .string(key), "value": "sku-1"]]],
                    token: TestWorld.apiToken, headers: ["Api-Version": "1.\(minor)"])
                #expect(found.status == (minor <= 2 ? 200 : 400), "1.\(minor)")
                #expect(minor > 2 || found["item_count"] == 1)
            }
        }
    }

    @Test func idsHaveEightCharactersAndCertificatesShareThem() async throws {
        let world = try await TestWorld.make()
        let made = try await world.send("POST", "/_sim/authentications", ["count": 50])
        let ids = made["entrupy_ids"].items.compactMap(\.text)
        try #require(Set(ids).count == 50)
        #expect(ids.someAndAll { $0.wholeMatch(of: /[A-Z0-9]{8}/) != nil }, "\(ids)")
        let item = try await world.send("GET", "/v2/authentications/\(ids[0])", token: TestWorld.apiToken)["item"]
        #expect(item["certificate.certificate_id"].text == ids[0])
        #expect(try await world.send("GET", "/certificates/\(ids[0])").status == 200)
    }

    // MARK: Results

    @Test func everyWayToDecideAResultCanSetAnalyzed() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        _ = try await world.send(
            "POST", "/_sim/outcomes", ["match": ["customer_item_id": "rule"], "result": "analyzed"])
        _ = try await world.send("PATCH", "/_sim/settings", ["result": ["default": "analyzed"]])
        for customerItemID in ["rule", "sim-analyzed-after-0s", "default"] {
            let id = try await world.submit(
                token, item: ["brand": "Nike", "item_type": "Sneakers", "customer_item_id": .string(customerItemID)])
            try await world.advance("1h")
            let result = try await world.result(id, token)
            #expect(result["status.result.id"] == "analyzed" && result["status.result.final"] == true)
            #expect(result["status.result.display.header"] == "Analyzed")
            #expect(result["status.flag.is_flaggable"] == false && result["more_details"] == .null)
        }
        let made = try await world.send("POST", "/_sim/authentications")
        let patched = try await world.send(
            "PATCH", "/_sim/authentications/\(made["entrupy_ids.0"].text ?? "")", ["result": "analyzed"])
        #expect(patched["result.id"] == "analyzed")
    }

    @Test func theExpectedTimeFollowsThePlan() async throws {
        let world = try await TestWorld.make(settings: ["result": ["delay": "3h"], "rate_limits": "off"])
        let token = try await world.login()
        _ = try await world.send(
            "POST", "/v2/webhooks", ["url": "http://127.0.0.1:9/hooks", "secret_key": "s"], token: TestWorld.apiToken)
        let id = try await world.submit(token, item: ["brand": "Nike", "item_type": "Sneakers"])
        func etas() async throws -> [Double?] {
            let second = try await world.send("GET", "/v2/authentications/\(id)", token: TestWorld.apiToken)["item"]
            return [
                try await world.result(id, token)["status.eta.epoch"].double, second["status.eta.epoch"].double,
                try await v1(world, id, "1.4")["status.eta.epoch"].double,
            ]
        }
        let due = TestWorld.epoch + 3 * 3600
        #expect(try await etas() == [due, due, due])
        let told = try await world.send("GET", "/_sim/webhook-deliveries")["deliveries.0.body.items.0.status.eta.epoch"]
        #expect(told.double == due, "in the webhook of the submission too")
        #expect(try await v1(world, id, "1.3")["status.eta"] == .null)
        _ = try await world.send(
            "POST", "/_sim/authentications/\(id)/retake", ["regions": ["heel"]])
        #expect(try await etas() == [nil, nil, nil], "it waits for the user")
        let capture = try await world.send("POST", "/sdk/results/\(id)/retake", token: token)["capture_id"].text ?? ""
        _ = try await world.upload(capture, "heel", token)
        try await world.advance("1h")
        _ = try await world.send("POST", "/sdk/captures/\(capture)/submit", token: token)
        #expect(try await etas() == [due + 3600, due + 3600, due + 3600])
        try await world.advance("3h")
        #expect(try await etas() == [nil, nil, nil], "it is final")
    }

    @Test(
        arguments: [
            ["flag_reason_id": "", "message": nil], ["flag_reason_id": 7, "message": ["a": 1]],
            ["flag_reason_id": "nonsense", "message": .string(String(repeating: "x", count: 3000))],
        ] as [JSONValue])
    func otherMembersOfAClearedFlagAreIgnored(more: JSONValue) async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        let id = try await world.submit(
            token, item: ["brand": "Nike", "style_name": "x", "customer_item_id": "sim-unknown-after-0s"])
        let path = "/sdk/results/\(id)/flag"
        #expect(try await world.send("PUT", path, ["flag": true], token: token).status == 200)
        let cleared = try await world.send("PUT", path, more.merging(["flag": false]), token: token)
        #expect(cleared.status == 200 && cleared["id"] == "none", "\(cleared.json)")
        #expect(try await world.send("PUT", path, more.merging(["flag": true]), token: token).status == 400)
    }
}
