import Foundation
import SimulationAPI
import TestSupport
import Testing

@Suite struct GenerationTests {
    /// `results` for `result` would read like a success.
    @Test(
        arguments: [
            (["results": "unknown"], "results", "did you mean result?"),
            (["brandd": "Nike"], "brandd", "did you mean brand?"),
            (["count": 2, "template": ["results": "unknown"]], "results", "did you mean result?"),
            (["store_code": "n"], "store_code", "expected product_category, brand"),
            (["metadata": ["brand": "Nike"]], "metadata.brand", "belongs beside metadata"),
            (["metadata": ["capture_workflow": "x"]], "metadata.capture_workflow", "belongs beside metadata"),
            (["serial_number": 5], "serial_number", "must be a string"),
            (["serial_number": .string(String(repeating: "é", count: 1001))], "serial_number", "1000"),
            (["metadata": "n"], "metadata", "must be an object"), (["delay": "1h"], "delay", "a scenario's timeline"),
        ] as [(JSONValue, String, String)])
    func aMemberThatNoDocumentNamesIsRefused(body: JSONValue, field: String, part: String) async throws {
        let world = try await TestWorld.make()
        let refused = try await world.send("POST", "/_sim/authentications", body)
        #expect(refused.status == 400 && refused["details.0.field"].text == field, "\(refused.json)")
        #expect(refused["details.0.problem"].text?.contains(part) == true, "\(refused.json)")
        #expect(try await world.send("GET", "/_sim/authentications")["authentications"] == [])
    }

    @Test func metadataHoldsWhatNoDocumentNames() async throws {
        let world = try await TestWorld.make()
        let made = try await world.send(
            "POST", "/_sim/authentications",
            ["metadata": ["store_code": "n-{n}", "tags": ["a"]], "serial_number": "S1"])
        let id = try #require(made["entrupy_ids.0"].text)
        let item = try await world.send("GET", "/_sim/authentications/\(id)")
        #expect(item["item"].members?["store_code"] == "n-1" && item["item.tags"] == ["a"], "\(item.json)")
        #expect(item["item"].members?["metadata"] == nil && item["item.serial_number"] == "S1")
    }

    @Test func oneItemIsGeneratedWithDefaults() async throws {
        let world = try await TestWorld.make()
        let answer = try await world.send(
            "POST", "/_sim/authentications", ["brand": "Gucci", "customer_item_id": "x", "metadata": ["mine": 1]])
        #expect(answer.status == 201)
        #expect(answer["count"].double == 1)
        let id = try #require(answer["entrupy_ids.0"].text)
        let info = try await world.send("GET", "/_sim/authentications/\(id)")
        #expect(info["username"] == "DemoOrg-sim-test-user")
        #expect(info["result"] == ["id": "authentic", "final": true, "reason": nil])
        #expect(info["sdk.more_details.certificate.site"] != .null)
        #expect(info["customer_item_id"] == "x")
        #expect(info["item.mine"].double == 1, "what the platform does not know is kept and shown")
        #expect(info["decided_by"] == "control")
    }

    @Test func manyItemsAreOneMinuteApartAndTheNewestIsNow() async throws {
        let world = try await TestWorld.make()
        let body: JSONValue = [
            "count": 2500,
            "template": ["username": "OtherOrg-fresh-user", "brand": "Nike", "customer_item_id": "sku-{n}"],
        ]
        let answer = try await world.send("POST", "/_sim/authentications", body)
        #expect(answer["count"].double == 2500)
        let ids = answer["entrupy_ids"].items.compactMap(\.text)
        try #require(ids.count == 1000)
        let first = try await world.send("GET", "/_sim/authentications/\(ids[0])")
        #expect(first["sdk.timestamp.epoch"].double == TestWorld.epoch)
        #expect(first["customer_item_id"] == "sku-1")
        let last = try await world.send("GET", "/_sim/authentications/\(ids[999])")
        #expect(last["sdk.timestamp.epoch"].double == TestWorld.epoch - 999 * 60)
        let user = try await world.send("GET", "/_sim/users/OtherOrg-fresh-user")
        #expect(user["submissions"].double == 2500)
        #expect(user["email"] == .null)
        let again = try await TestWorld.make()
        #expect(
            try await again.send("POST", "/_sim/authentications", body).body == answer.body,
            "the same seed, the same ids")
    }

    /// The effects depend on whether `count` is there, and not on its value.
    @Test func countedItemsSendNoWebhooksAndShareOneEvent() async throws {
        for (body, isAlone) in [
            ([:], true), (["brand": "Gucci"], true), (["template": [:]], true),
            (["count": nil, "template": [:]], true),
            (["count": 1], false), (["count": 1, "template": ["result": "unknown"]], false), (["count": 2], false),
        ] as [(JSONValue, Bool)] {
            let world = try await TestWorld.make()
            _ = try await world.send(
                "POST", "/v2/webhooks", ["url": "http://127.0.0.1:9/", "secret_key": "s"], token: TestWorld.apiToken)
            let made = try await world.send("POST", "/_sim/authentications", body)
            #expect(made.status == 201 && made["webhooks"] == .bool(isAlone), "\(body): \(made.json)")
            let sent = try await world.send("GET", "/_sim/webhook-deliveries")["deliveries"].items.count
            #expect(sent == (isAlone ? 2 : 0), "\(body)")
            let kinds = try await world.send("GET", "/_sim/event-log")["events"].items.map { $0["kind"].text ?? "" }
            #expect(kinds.contains("items.generated") == !isAlone, "\(body): \(kinds)")
            #expect(kinds.contains("item.submitted") == isAlone && kinds.contains("result.set") == isAlone, "\(body)")
        }
    }

    @Test(arguments: [1, 3]) func everyGeneratedTimelineBeginsWithTheSubmission(count: Int) async throws {
        let world = try await TestWorld.make()
        let made = try await world.send(
            "POST", "/_sim/authentications",
            ["count": .number(JSONNumber(count)), "template": ["username": "DemoOrg-example-user-id"]])
        let index = count - 1
        let id = try #require(made["entrupy_ids.\(index)"].text)
        let token = try await world.login()
        _ = try await world.send("PUT", "/sdk/results/\(id)/flag", ["flag": true], token: token)
        let info = try await world.send("GET", "/_sim/authentications/\(id)")
        #expect(info["timeline"].items.map { $0["event"] } == ["item.submitted", "result.set", "flag.set"])
        #expect(info["timeline.0.at"].double == TestWorld.epoch - Double(index * 60))
        #expect(info["timeline.0.data"] == ["by": "control"])
        let events = try await world.result(id, token)["events"].items
        #expect(events.map { $0["type"] } == ["item.submitted", "result.set", "flag.set"])
        #expect(events.first?["timestamp.epoch"].double == TestWorld.epoch - Double(index * 60))
    }

    @Test(arguments: [1, 3]) func aGeneratedTimelineHasTheEventsOfARealItem(count: Int) async throws {
        let world = try await TestWorld.make()
        for (template, expected) in [
            (["result": "needs_review"], ["item.submitted"]),
            (["flag": "resolved"], ["item.submitted", "result.set", "flag.set", "flag.resolved"]),
            (["result": "invalid"], ["item.submitted", "result.set"]),
        ] as [(JSONValue, [JSONValue])] {
            let made = try await world.send(
                "POST", "/_sim/authentications", ["count": .number(JSONNumber(count)), "template": template])
            let path = "/_sim/authentications/\(made["entrupy_ids.0"].text ?? "")"
            let info = try await world.send("GET", path)
            #expect(info["timeline"].items.map { $0["event"] } == expected)
            // Later events come after these and do not change them.
            for (result, kind) in [
                ("unknown", expected.contains("result.set") ? "result.changed" : "result.set"),
                ("needs_review", "result.changed"), ("authentic", "result.set"),
            ] as [(JSONValue, JSONValue)] {
                let before = try await world.send("GET", path)["timeline"].items
                let after = try await world.send("PATCH", path, ["result": result])
                #expect(after["timeline"].items.dropLast() == before[...])
                #expect(after["timeline"].items.last?["event"] == kind)
                #expect(after["sdk.event_times.result_returned_at"] != .null)
            }
        }
    }

    @Test func unchangedValuesCauseNoChange() async throws {
        let world = try await TestWorld.make()
        let made = try await world.send("POST", "/_sim/authentications", ["result": "invalid", "flag": "flagged"])
        let path = "/_sim/authentications/\(made["entrupy_ids.0"].text ?? "")"
        let before = try await world.send("GET", path)
        for patch: JSONValue in [["result": "invalid"], ["flag": "flagged"], ["reason": before["result.reason"]]] {
            #expect(try await world.send("PATCH", path, patch).json == before.json)
        }
    }

    @Test func anItemSetToStayUnderReviewLosesItsPlannedResult() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        let id = try await world.submit(token)
        let path = "/_sim/authentications/\(id)"
        let info = try await world.send("PATCH", path, ["result": "needs_review"])
        #expect(info["result_due_at"] == .null)
        #expect(info["timeline"].items.last?["event"] == "result.unplanned")
        #expect(info["sdk.events"].items.map { $0["type"] } == ["item.submitted"], "the user sees nothing of it")
        try await world.advance("1h")
        #expect(try await world.result(id, token)["status.result.id"] == "needs_review")
    }

    @Test func theNumberIsInsertedIntoEveryText() async throws {
        let world = try await TestWorld.make()
        let made = try await world.send(
            "POST", "/_sim/authentications",
            ["count": 2, "template": ["brand": "Brand {n}", "style_name": "{n}-{n}", "metadata": ["deep": "{n}"]]])
        let info = try await world.send("GET", "/_sim/authentications/\(made["entrupy_ids.1"].text ?? "")")
        #expect(info["sdk.properties.brand"] == ["id": "brand_2", "display": ["name": "Brand 2"]])
        #expect(info["sdk.properties.model.display.name"] == "2-2")
    }

    @Test(
        arguments: [
            (["count": 2, "template": ["a{n}": "x"]], "a{n}"),
            (["count": 2, "template": ["metadata": ["b{n}": "x"]]], "b{n}"), (["count": 0, "template": [:]], "count"),
            (["count": 1.5, "template": [:]], "count"),
            (["count": 99_999_999, "template": [:]], "count"),
            (["result": "real"], "result"), (["flag": "open"], "flag"), (["username": "nobody"], "username"),
            (["username": "DemoOrg-x"], "username"),
            (["brand": 1], "brand"), (["product_category": "cars"], "product_category"),
            (["reason": "blurry_images"], "reason"), (["template": ["count": 3]], "count"),
            (["template": ["template": [:]]], "template"),
            (["result": "invalid", "reason": "x"], "reason"), (["count": 1, "templat": [:]], "templat"),
            (["count": 1, "template": 1], "template"),
        ] as [(JSONValue, String)])
    func aWrongTemplateIsReportedAndGeneratesNothing(body: JSONValue, field: String) async throws {
        let world = try await TestWorld.make()
        let before = try await world.counts()
        let answer = try await world.send("POST", "/_sim/authentications", body)
        #expect(answer.status == 400)
        #expect(answer["details.0.field"] == .string(field), "\(answer.json)")
        #expect(try await world.counts() == before)
    }

    @Test func itemsAreListedPageByPage() async throws {
        let world = try await TestWorld.make()
        _ = try await world.send("POST", "/_sim/authentications", ["count": 5, "template": [:]])
        let first = try await world.send("GET", "/_sim/authentications?limit=3")
        #expect(first["authentications"].items.count == 3)
        let cursor = try #require(first["next_cursor"].text)
        let second = try await world.send("GET", "/_sim/authentications?limit=3&cursor=\(cursor)")
        #expect(second["authentications"].items.count == 2)
        #expect(second["next_cursor"] == .null)
        #expect(try await world.send("GET", "/_sim/authentications?cursor=x").status == 400)
    }
}
