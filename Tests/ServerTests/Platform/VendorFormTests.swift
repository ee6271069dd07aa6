import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Forms of the vendor's platform: headers of limits, form factors, ranges, bodies of null, and what is said about requests that the
/// platform does not have.
@Suite struct VendorFormTests {
    private func limits(_ answer: TestWorld.Answer) -> [Int?] {
        ["Limit", "Remaining", "Reset"].map { answer.headers["X-RateLimit-\($0)"].first.flatMap { Int($0) } }
    }

    @Test func answersThatALimitCountedTellHowMuchIsLeft() async throws {
        let world = try await TestWorld.make()
        let quiet = try await world.send("POST", "/v2/search/authentications", [:], token: TestWorld.apiToken)
        #expect(limits(quiet) == [nil, nil, nil])
        _ = try await world.send("PATCH", "/_sim/settings", ["rate_limits": ["api_per_second": 2, "headers": true]])
        try await world.advance("1s")
        let morning = Int(TestWorld.epoch) + 1
        for left in [1, 0] {
            let answer = try await world.send("POST", "/v2/search/authentications", [:], token: TestWorld.apiToken)
            #expect(answer.status == 200 && limits(answer) == [2, left, morning + 1])
        }
        let refused = try await world.send("POST", "/v2/search/authentications", [:], token: TestWorld.apiToken)
        #expect(refused.status == 429 && limits(refused) == [2, 0, morning + 1])
        #expect(refused.headers["Retry-After"].first == "1")
        #expect(limits(try await world.send("GET", "/_sim/settings")) == [nil, nil, nil])
        #expect(limits(try await world.send("GET", "/sdk/nothing")) == [nil, nil, nil])
    }

    @Test func aLoginTellsTheTightestOfItsLimits() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": ["headers": true]])
        for left in [4, 3] {
            let signed = try await world.signedRequest("limited-user")
            let answer = try await world.send("POST", "/sdk/login", ["signed_authorization_request": signed])
            #expect(limits(answer) == [5, left, Int(TestWorld.epoch) + 60])
        }
    }

    @Test func olderVersionsSeeMicroscopicItemsAlone() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        for (factor, sku) in [("microscopic", "sku-m"), ("lightbox", "sku-l"), (nil, "sku-f")] {
            var item: JSONObject = ["customer_item_id": .string(sku), "us_size": "9", "style_code": "a-1"]
            item["form_factor"] = factor.map { .string($0) }
            try #require(try await world.send("POST", "/_sim/authentications", .object(item)).status == 201)
        }
        func found(_ version: String, _ filters: JSONValue = []) async throws -> [String] {
            let page = try await world.send(
                "POST", "/v1/search/authentications", ["filters": filters], token: TestWorld.apiToken,
                headers: ["Api-Version": version])
            return page["items"].items.compactMap { $0["text_fields.customer_item_id"].text }.sorted()
        }
        #expect(try await found("1.0") == ["sku-m"])
        #expect(try await found("1.1") == ["sku-m"])
        #expect(try await found("1.2") == ["sku-f", "sku-l", "sku-m"])
        #expect(try await found("1.4", [["key": "activity.form_factor", "value": "lightbox"]]) == ["sku-l"])
        #expect(
            try await found("1.4", [["key": "activity.form_factor", "value": "free_camera", "exclude": true]]) == [
                "sku-l", "sku-m",
            ])
        #expect(try await found("1.1", [["key": "activity.form_factor", "value": "lightbox"]]) == [])
        for (sku, version, status) in [("sku-f", "1.1", 404), ("sku-m", "1.1", 200), ("sku-f", "1.2", 200)] {
            let answer = try await world.send(
                "GET", "/v1/lookup/authentications/\(sku)", token: TestWorld.apiToken, headers: ["Api-Version": version]
            )
            #expect(answer.status == status, "\(sku) \(version)")
            guard status == 200 else { continue }
            #expect((answer["item.text_fields.us_size"] != .null) == (version == "1.2"))
            #expect((answer["item.activity.form_factor"] != .null) == (version == "1.2"))
        }
        let because = try await world.send("GET", "/_sim/requests?limit=10")["requests"].items.compactMap {
            $0["because"].text
        }
        #expect(because.contains { $0.contains("free_camera") && $0.contains("1.1") }, "\(because)")
        let unknown = try await world.send("POST", "/_sim/authentications", ["form_factor": "phone"])
        #expect(unknown.status == 400 && unknown["details.0.problem"].text?.contains("lightbox") == true)
    }

    @Test func aLookUpOfAnOlderVersionFindsTheLatestMicroscopicItem() async throws {
        let world = try await TestWorld.make()
        for factor in ["microscopic", "free_camera"] {
            _ = try await world.send(
                "POST", "/_sim/authentications", ["customer_item_id": "one", "form_factor": .string(factor)])
            try await world.advance("1m")
        }
        let old = try await world.send(
            "GET", "/v1/lookup/authentications/one", token: TestWorld.apiToken, headers: ["Api-Version": "1.0"])
        let new = try await world.send("GET", "/v2/lookup/authentications/one", token: TestWorld.apiToken)
        #expect(old.status == 200 && new["item.activity.form_factor"] == "free_camera")
        #expect(old["item.entrupy_id"] != new["item.entrupy_id"])
    }

    @Test func aPictureAnswersRanges() async throws {
        let world = try await TestWorld.make()
        let session = try await world.login()
        let capture = try await world.startCapture(session)
        let sha256 = try #require(try await world.upload(capture.id, capture.regions[0], session)["sha256"].text)
        let picture = TestWorld.picture
        let size = picture.count
        func get(_ range: String, _ more: [String: String] = [:]) async throws -> TestWorld.Answer {
            try await world.send(
                "GET", "/images/\(sha256)/original", headers: ["Range": range].merging(more) { $1 })
        }
        for (range, wanted) in [
            ("bytes=0-9", 0..<10), ("bytes=5-", 5..<size), ("bytes=-7", size - 7..<size),
            ("bytes=0-", 0..<size), ("bytes=0-\(size - 1)", 0..<size), ("bytes=-\(size)", 0..<size),
            ("BYTES=0-99999999999999999999", 0..<size), ("bytes=-99999999999999999999", 0..<size),
        ] {
            let answer = try await get(range)
            #expect(answer.body == picture[wanted], "\(range)")
            #expect(answer.status == 206, "\(range): \(answer.status)")
            let part = "bytes \(wanted.lowerBound)-\(wanted.upperBound - 1)/\(size)"
            #expect(answer.headers["Content-Range"].first == part)
        }
        for range in [
            "bytes=\(size)-", "bytes=9-5", "bytes=-0", "bytes=a-b", "bytes=-", "bytes", "bytes=1-2-3",
            "bytes=99999999999999999999-",
        ] {
            let answer = try await get(range)
            #expect(answer.status == 416 && answer.headers["Content-Range"].first == "bytes */\(size)", "\(range)")
        }
        let twenty = "bytes=" + (0..<20).map { "\($0)-\($0)" }.joined(separator: ",")
        for (range, more) in [(twenty, [:]), ("items=0-1", [:]), ("bytes=0-1", ["If-Range": "\"x\""])] {
            let answer = try await get(range, more)
            #expect(answer.status == 200 && answer.body == picture, "\(range)")
        }
        let head = try await world.send("HEAD", "/images/\(sha256)/original", headers: ["Range": "bytes=0-9"])
        #expect(head.status == 200 && head.headers["Accept-Ranges"].first == "bytes")
    }

    @Test func aBodyOfNullIsNoneWhereNoneIsNeeded() async throws {
        let world = try await TestWorld.make()
        let session = try await world.login()
        for body in ["null", " null\n"] {
            for (path, token) in [
                ("/sdk/search", session), ("/v2/search/authentications", TestWorld.apiToken),
                ("/v2/catalog/brands", TestWorld.apiToken),
            ] {
                let answer = try await world.send(
                    "POST", path, bytes: Data(body.utf8), token: token, headers: ["Content-Type": "application/json"])
                #expect(answer.status == 200, "\(path) \(answer.json)")
            }
        }
        let needed = try await world.send(
            "POST", "/sdk/login", bytes: Data("null".utf8), headers: ["Content-Type": "application/json"])
        #expect(needed.status == 400 && needed["details.0.problem"].text?.contains("null") == true)
        let nulls = try await world.send(
            "POST", "/sdk/search", bytes: Data("nullnull".utf8), token: session,
            headers: ["Content-Type": "application/json"])
        #expect(nulls.status == 400)
    }

    @Test(arguments: [
        ("POST", "/v1/authentications", "items come from the SDK alone"),
        ("POST", "/v2/authentications", "GET /v2/authentications/{entrupy_id}"),
        ("POST", "/authenticate", "items come from the SDK alone"),
        ("POST", "/v2/items", "items come from the SDK alone"),
        ("GET", "/v2/config", "POST /v2/config/authentications"),
        ("GET", "/v2/items", "POST /v2/search/authentications"),
        ("POST", "/v2/brands/catalog", "POST /v2/catalog/brands"),
        ("GET", "/v2/items/ABCD2345", "GET /v2/authentications/{entrupy_id}"),
        ("POST", "/authorize-user", "POST /v2/integrations/authorize-user"),
        ("GET", "/v2/users", "POST /v2/integrations/authorize-user"),
        ("GET", "/v2/captures", "POST /sdk/captures begins one"),
        ("POST", "/v2/subscriptions", "POST /v2/webhooks subscribes"),
    ])
    func whatIsMeantByAPathThatNobodyHasIsSaid(method: String, path: String, wanted: String) async throws {
        let world = try await TestWorld.make()
        let answer = try await world.send(
            method, path, bytes: TestWorld.picture, headers: ["Content-Type": "image/jpeg"])
        #expect(answer.status == 404 && answer["code"] == "unknown_route")
        #expect(answer["details.0.problem"].text?.contains(wanted) == true, "\(answer.json)")
    }

    @Test func aLoginWithAPasswordNamesThePartnersLogin() async throws {
        let world = try await TestWorld.make()
        let answer = try await world.send("POST", "/login", ["username": "me", "password": "secret"])
        #expect(answer.status == 400 && answer["details"].allProblems.contains("/partner/login"), "\(answer.json)")
        #expect(!answer.text.contains("secret"))
    }

    @Test func mistakesInBodiesAndHeadersAreNamed() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        func problem(_ body: JSONValue, _ path: String = "/v2/search/authentications") async throws -> String {
            let answer = try await world.send("POST", path, body, token: TestWorld.apiToken)
            #expect(answer.status == 400, "\(answer.json)")
            return answer["details"].allProblems
        }
        #expect(try await problem(["start_date": 1_767_603_600_000]).contains("in milliseconds"))
        #expect(
            try await problem(["url": "http://127.0.0.1:9/x", "secretKey": "s"], "/v2/webhooks").contains(
                "is missing: the body has secretKey, which is another name"))
        let session = try await world.login()
        let range: JSONValue = ["date_range": ["start": 1_767_603_600_000, "end": 1_767_603_700_000]]
        let dates = try await world.send("POST", "/sdk/items/search", range, token: session)
        #expect(dates["details.0.problem"].text?.contains("got what would be 2026-01-05") == true, "\(dates.json)")
        let capture = try await world.send(
            "POST", "/sdk/captures", ["item": ["brand": "Nike", "styleName": "Air"]], token: session)
        #expect(
            capture.status == 400 && capture["details"].allProblems.contains("the item has styleName"),
            "\(capture.json)")
        #expect(
            try await problem(["filters": [["key": "status.result.id", "values": "authentic"]]]).contains(
                "belongs in value"))
        #expect(try await problem(["filters": [["value": "authentic"]]]).contains("is missing or empty; keys are"))
        #expect(
            try await problem(["uniqueUserId": "example-user-id", "email": "a@b.c"], "/v2/integrations/authorize-user")
                .contains("uniqueUserId"))
        for token in ["\"demo-api-token\"", "<demo-api-token>", "'demo-api-token'"] {
            let answer = try await world.send("POST", "/v2/search/authentications", [:], token: token)
            #expect(answer.status == 401 && answer["error"].text?.contains("quotation marks") == true, "\(answer.json)")
        }
        let empty = try await world.send(
            "POST", "/v2/search/authentications", bytes: Data("{}".utf8), token: TestWorld.apiToken,
            headers: ["Content-Type": ""])
        #expect(empty.status == 415 && empty.text.contains("Content-Type is empty"), "\(empty.json)")
    }

    @Test func anIDInLowerCaseIsNotFoundAndTheJournalSaysWhy() async throws {
        let world = try await TestWorld.make()
        let made = try await world.send("POST", "/_sim/authentications", ["brand": "Nkie"])
        let id = try #require(made["entrupy_ids.0"].text)
        #expect(
            made["notes.0.field"] == "brand" && made["notes.0.problem"].text?.contains("Nike") == true, "\(made.json)")
        let answer = try await world.send("GET", "/v2/authentications/\(id.lowercased())", token: TestWorld.apiToken)
        #expect(answer.status == 404 && !answer.text.contains(id))
        let because = try await world.send("GET", "/_sim/requests?limit=1")["requests.0.because"].text
        #expect(because?.contains(id) == true && because?.contains("upper case") == true)
    }

    @Test(
        arguments: [
            (["brand": "Nkie"], "the catalogue lacks the brand \"Nkie\"; is Nike meant?"),
            (
                ["brand": "Nike", "item_type": "snekers"],
                "the catalogue lacks the item type \"snekers\"; is sneakers meant?"
            ),
            (
                ["brand": "Nike", "item_type": "belt"],
                "the brand Nike has no items of the type belt in the catalogue"
            ),
        ] as [(JSONObject, String)])
    func theJournalNamesWhatTheCatalogueLacks(item: JSONObject, wanted: String) async throws {
        let world = try await TestWorld.make()
        let session = try await world.login()
        let more: JSONObject = ["customer_item_id": "b-1", "style_name": "Air"]
        let id = try await world.submit(session, item: .object(item.merging(more) { $1 }))
        try await world.advance("1m")
        #expect(try await world.result(id, session)["status.result.id"] == "not_supported")
        let because = try await world.send("GET", "/_sim/requests?limit=1")["requests.0.because"].text
        #expect(because?.contains(wanted) == true, "\(because ?? "")")
        guard item["item_type"] != nil else { return }
        let made = try await world.send("POST", "/_sim/authentications", .object(item))
        #expect(made.status == 201 && made["notes.0.field"] == "item_type")
        #expect(made["notes.0.problem"].text?.contains(wanted) == true, "\(made.json)")
    }

    @Test func theAnswerToAFlagIsAsSparseAsOtherItems() async throws {
        let world = try await TestWorld.make(settings: ["partner": ["sparse_items": true]])
        let id = try #require(try await world.send("POST", "/_sim/authentications", [:])["entrupy_ids.0"].text)
        for (method, body) in [("POST", ["reason": "other"] as JSONValue?), ("DELETE", nil)] {
            let answer = try await world.send(
                method, "/v2/authentications/\(id)/flag", body, token: TestWorld.apiToken)
            #expect(answer.status == 200 && answer["item.entrupy_id"].text == id, "\(answer.json)")
            let item = answer["item"].members
            #expect(item?["catalog"] == nil && item?["properties"]?.members?["brand"] == nil)
        }
    }

    @Test func aCertificateShowsASerialNumber() async throws {
        let world = try await TestWorld.make()
        let made = try await world.send("POST", "/_sim/authentications", ["serial_number": "SN <1>"])
        let page = try await world.send("GET", "/certificates/\(made["entrupy_ids.0"].text ?? "")")
        #expect(page.text.contains("Serial number") && page.text.contains("SN &lt;1&gt;"))
        let other = try await world.send("POST", "/_sim/authentications", [:])
        let plain = try await world.send("GET", "/certificates/\(other["entrupy_ids.0"].text ?? "")")
        #expect(!plain.text.contains("Serial number"))
    }

    @Test func aClockFarBehindRealTimeIsNamedAtCreation() async throws {
        let (name, root) = ("behind-\(UUID().uuidString.lowercased())", try await TestWorld.server)
        func made(_ name: String, _ freeze: String) async throws -> TestWorld.Answer {
            try await root.send("PUT", "/_sim/namespaces/\(name)", ["clock": ["freeze": .string(freeze)]])
        }
        let behind = try await made(name, TestWorld.morning)
        #expect(behind["notes.0.field"] == "clock.freeze")
        #expect(behind["notes.0.problem"].text?.contains("expiration_time") == true)
        let now = try await made("\(name)-now", "now")
        #expect(now.status == 201 && now["notes"] == .null && now["clock.mode"] == "frozen")
        #expect(abs((now["clock.epoch"].double ?? 0) - Date().timeIntervalSince1970) < 3600)
        let wrong = try await made("\(name)-wrong", "soon")
        #expect(wrong.status == 400 && wrong["details.0.problem"].text?.contains("\"now\"") == true)
    }
}

extension JSONValue {
    /// The details of an error as one text.
    fileprivate var allProblems: String {
        items.map { "\($0["field"].text ?? ""): \($0["problem"].text ?? "")" }.joined(separator: "\n")
    }
}
