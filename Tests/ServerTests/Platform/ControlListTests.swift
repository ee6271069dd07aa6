import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Lists of the control API for people who look for something [D authentication-filters] [D choices].
@Suite struct ControlListTests {
    private func world() async throws -> TestWorld {
        let world = try await TestWorld.make()
        for (brand, result, flag, name) in [
            ("Nike", "authentic", "none", "a-1"), ("Gucci", "unknown", "flagged", "a-2"),
            ("Gucci", "invalid", "none", "b_3"),
        ] {
            let made = try await world.send(
                "POST", "/_sim/authentications",
                [
                    "brand": .string(brand), "result": .string(result), "flag": .string(flag),
                    "customer_item_id": .string(name),
                ])
            try #require(made.status == 201, "\(made.json)")
            try await world.advance("1m")
        }
        return world
    }

    @Test(arguments: [
        ("result=unknown", ["a-2"]), ("brand=gucci", ["b_3", "a-2"]), ("flag=flagged", ["a-2"]),
        ("text=a-", ["a-2", "a-1"]),
        ("text=a-&brand=gucci", ["a-2"]), ("text=%25", []), ("text=b_3", ["b_3"]), ("text=c", []),
        ("username=DemoOrg-sim-test-user", ["b_3", "a-2", "a-1"]), ("category=luxury", []),
        // Names, and any letter case.
        ("username=demoorg-SIM-test-user", ["b_3", "a-2", "a-1"]), ("username=sim-test-user", ["b_3", "a-2", "a-1"]),
        ("brand=Gucci", ["b_3", "a-2"]), ("brand=GUCCI", ["b_3", "a-2"]), ("result=Unknown", ["a-2"]),
        ("result=Unidentified", ["a-2"]), ("flag=Flagged", ["a-2"]), ("category=SNEAKERS&result=INVALID", ["b_3"]),
        ("category=sneakers&result=invalid", ["b_3"]),
    ])
    func itemsAreFiltered(query: String, names: [String]) async throws {
        let list = try await world().send("GET", "/_sim/authentications?\(query)")
        let found = list["authentications"].items.compactMap { $0["customer_item_id"].text }
        #expect(list.status == 200 && found == names, "\(found)")
    }

    @Test func filteredPagesFollowOneAnother() async throws {
        let world = try await TestWorld.make()
        _ = try await world.send(
            "POST", "/_sim/authentications",
            ["count": 30, "template": ["brand": "Gucci", "result": "unknown", "customer_item_id": "n-{n}"]])
        var ids: [String] = []
        var cursor = ""
        repeat {
            let page = try await world.send("GET", "/_sim/authentications?result=unknown&limit=7\(cursor)")
            ids += page["authentications"].items.compactMap { $0["entrupy_id"].text }
            cursor = page["next_cursor"].text.map { "&cursor=\($0)" } ?? ""
        } while !cursor.isEmpty
        try #require(ids.count == 30 && Set(ids).count == 30)
        let all = try await world.send("GET", "/_sim/authentications?sort=submitted")["authentications"].items
        #expect(ids == all.compactMap { $0["entrupy_id"].text }, "newest first, as without a filter")
        let byID = try await world.send("GET", "/_sim/authentications?text=\(ids[3].prefix(6).lowercased())")
        #expect(byID["authentications"].items.contains { $0["entrupy_id"].text == ids[3] }, "ids in any case")
        let wrong = try await world.send("GET", "/_sim/authentications?text=n&cursor=abc")
        #expect(wrong.status == 400 && wrong["details.0.field"] == "cursor")
        #expect(try await world.send("GET", "/_sim/authentications?result=unknown&cursor=abc").status == 400)
    }

    /// A list of nothing would look like one that was asked rightly.
    @Test(arguments: [
        ("authentications?result=authentick", "result", "did you mean authentic?"),
        ("authentications?brand=Nkie", "brand", #"got "Nkie"; did you mean Nike?"#),
        ("authentications?category=sneaker", "category", "did you mean sneakers?"),
        ("authentications?result=real", "result", "got \"real\"; expected one of authentic, unknown"),
        ("requests?route=/sdk/*/submit", "route", "and /sdk/**/submit for any number of them"),
        ("authentications?flag=flaged", "flag", "did you mean flagged?"),
        ("authentications?text=a&brand=Nkie", "brand", "did you mean Nike?"),
        ("authentications?username=DemoOrg-sim-test-usr", "username", "did you mean DemoOrg-sim-test-user?"),
        ("authentications?username=xyz", "username", #"is no user of this namespace, got "xyz""#),
        ("requests?username=DemoOrg-sim-test-usr", "username", "did you mean DemoOrg-sim-test-user?"),
        ("requests?format=har&username=xyz", "username", "is no user of this namespace"),
        (
            "requests?route=/sdk/lgoin", "route",
            "is wrong: no route of the server matches /sdk/lgoin; the nearest is POST /sdk/login. Send any_route=true if it is meant"
        ),
        ("requests?route=/sdk/captures/*/submitt", "route", "; the nearest is POST /sdk/captures/{id}/submit"),
        ("requests?route=/sdk/captures/*/images/hel", "route", "names no region of any workflow"),
        ("requests?route=/sdk/results/NOSUCHID", "route", "names no item of the namespace"),
        ("event-log?kind=result.st", "kind", "did you mean result.set?"),
        ("webhook-deliveries?entrupy_id=NOSUCHID", "entrupy_id", "names no item of the namespace"),
        ("sessions?username=xyz", "username", "is no user of this namespace"),
        ("captures?status=strted", "status", "must be one of"),
    ])
    func aFilterThatNothingCanMeetIsRefused(path: String, field: String, part: String) async throws {
        let world = try await TestWorld.make()
        let wrong = try await world.send("GET", "/_sim/\(path)")
        #expect(wrong.status == 400 && wrong["details.0.field"].text == field, "\(wrong.json)")
        let problem = wrong["details.0.problem"].text ?? ""
        #expect(problem.contains(part) && !problem.contains("\"any_"), "\(problem)")
    }

    @Test func aFilterFindsWhatIsThereAlone() async throws {
        let world = try await TestWorld.make()
        let session = try await world.login()
        // A path that no route has, and a brand that the catalogue lacks.
        _ = try await world.send("POST", "/sdk/lgoin", [:], token: session)
        _ = try await world.send("POST", "/_sim/authentications", ["brand": "Nkie Kids", "customer_item_id": "own"])
        for (path, member, count) in [
            ("requests?route=/sdk/lgoin", "requests", 1), ("requests?route=/old&any_route=true", "requests", 0),
            ("requests?username=nobody&any_user=true", "requests", 0),
            ("requests?route=/sdk/search", "requests", 0),
            ("requests?username=example-user-id&route=/sdk/lgoin", "requests", 0),
            ("authentications?brand=nkie_kids", "authentications", 1),
            ("authentications?brand=Nkie%20Kids", "authentications", 1),
            ("authentications?brand=Nkie%20Kids&result=invalid", "authentications", 0),
            ("sessions?username=DEMOORG-sim-test-user", "sessions", 0), ("captures?status=STARTED", "captures", 0),
            ("event-log?kind=result.*&limit=1", "events", 1), ("event-log?kind=capture.timed_out", "events", 0),
        ] {
            let list = try await world.send("GET", "/_sim/\(path)")
            #expect(list.status == 200 && list[member].items.count == count, "\(path): \(list.json)")
        }
        let item = try #require(
            try await world.send("GET", "/_sim/authentications?text=own")["authentications.0.entrupy_id"].text)
        let deliveries = try await world.send("GET", "/_sim/webhook-deliveries?entrupy_id=\(item.lowercased())")
        #expect(deliveries.status == 200)
        #expect(try await world.send("DELETE", "/_sim/sessions?username=xyz").status == 400)
    }

    /// All parts of a filter apply before the page is cut, so a small page hides no match.
    @Test func textIsCombinedWithTheOtherFilters() async throws {
        let world = try await TestWorld.make()
        for (result, count, name) in [("authentic", 30, "n-a{n}"), ("unknown", 2, "n-b{n}")] {
            let template: JSONValue = [
                "brand": "Gucci", "result": .string(result), "customer_item_id": .string(name),
            ]
            _ = try await world.send(
                "POST", "/_sim/authentications", ["count": .number(JSONNumber(count)), "template": template])
        }
        let path = "/_sim/authentications?text=n-&limit=2"
        let found = try await world.send("GET", path + "&result=unknown")
        #expect(found["authentications"].items.compactMap { $0["result.id"].text } == ["unknown", "unknown"])
        let username = try #require(found["authentications.0.username"].text)
        let encoded = try #require(username.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        let ofUser = try await world.send("GET", path + "&result=unknown&username=\(encoded)")
        #expect(ofUser["authentications"].items.count == 2)
        #expect(try await world.send("GET", path + "&username=nobody").status == 400)
        #expect(try await world.send("GET", path + "&flag=flagged")["authentications"].items.isEmpty)
    }

    @Test func thumbnailsAreIncludedOnRequest() async throws {
        let world = try await TestWorld.make()
        let session = try await world.login()
        let item = try await world.submit(session)
        let plain = try await world.send("GET", "/_sim/authentications")
        #expect(plain["authentications.0"].members?["thumbnail"] == nil)
        let list = try await world.send("GET", "/_sim/authentications?thumbnails=true")
        #expect(list["authentications.0.thumbnail.bytes"].integer == TestWorld.picture.count)
        let one = try await world.send("GET", "/_sim/authentications/\(item)")
        #expect(one["pictures"].items.count > 3 && one["pictures.0.url"].text?.hasSuffix("/original") == true)
        #expect(one["pictures.0.bytes"].integer == TestWorld.picture.count)
    }

    @Test func choicesAreAccepted() async throws {
        let world = try await TestWorld.make()
        let choices = try await world.send("GET", "/_sim/choices")
        func ids(_ list: String) -> [String] {
            choices["lists"].members?[list]?.items.compactMap { $0["id"].text } ?? []
        }
        #expect(choices["routes"].items.contains(["method": "POST", "path": "/sdk/captures/*/submit"]))
        #expect(ids("results").contains("needs_review") && ids("brands").contains("gucci"))
        #expect(ids("workflows").contains("onboarding") && !ids("component_results.document").isEmpty)
        #expect(ids("effect.component_error").contains("Canceled"))
        for effect in ids("webhook_effects") where effect != "delay" {
            let made = try await world.send(
                "POST", "/_sim/faults", ["match": ["webhook": "*"], "effect": .object([effect: .bool(true)])])
            #expect(made.status == 201, "\(effect): \(made.json)")
        }
        for reason in ids("invalid_reasons") {
            let made = try await world.send(
                "POST", "/_sim/outcomes", ["match": [:], "result": "invalid", "reason": .string(reason)])
            #expect(made.status == 201, "\(reason): \(made.json)")
        }
        for route in choices["routes"].items {
            let made = try await world.send(
                "POST", "/_sim/faults",
                ["match": ["route": route["path"], "method": route["method"]], "effect": ["status": 503]])
            #expect(made.status == 201 && made["notes"].items.isEmpty, "\(route): \(made.json)")
        }
    }

    @Test func dueWorkShowsSinceWhenItIsPending() async throws {
        let world = try await TestWorld.make()
        let started = try await world.send("GET", "/_sim/clock")["epoch"]
        let session = try await world.login()
        _ = try await world.startCapture(session)
        try await world.advance("10m")
        let due = try await world.send("GET", "/_sim/due")["due"].items
        #expect(due.map { $0["kind"].text } == ["capture.timeout", "session.expiry"])
        #expect(due.someAndAll { $0["since"] == started })
    }

    @Test func statsCountTheLastSeconds() async throws {
        let world = try await TestWorld.make()
        _ = try await world.authorize()
        try await world.advance("10s")
        _ = try await world.authorize("sim-test-user")
        let seconds = try await world.send("GET", "/_sim/stats")["requests.per_second"].items.compactMap { $0.integer }
        #expect(seconds.count == 60 && seconds[59] == 1 && seconds[49] == 1 && seconds.reduce(0, +) == 2)
    }

    @Test func oneDeliveryIsShown() async throws {
        let world = try await TestWorld.make()
        let receiver = try await WebhookReceiver.open()
        _ = try await world.send(
            "POST", "/v2/webhooks",
            ["url": .string(receiver.url), "secret_key": "secret", "events": ["session.updated"]],
            token: TestWorld.apiToken)
        _ = try await world.submit(try await world.login())
        let list = try await world.send("GET", "/_sim/webhook-deliveries")
        let id = try #require(list["deliveries.0.id"].text)
        let one = try await world.send("GET", "/_sim/webhook-deliveries/\(id)")
        #expect(one.status == 200 && one["id"].text == id && one["event"] == "session.updated")
        #expect(try await world.send("GET", "/_sim/webhook-deliveries/dlv_none").status == 404)
    }

    @Test func aSignatureIsChecked() async throws {
        let world = try await TestWorld.make()
        let wrong = try await world.send(
            "POST", "/_sim/webhooks/check-signature", ["secret": "s", "signature": "x", "body": "{}"])
        let right = try #require(wrong["expected"].members?["sha256-base64"]?.text)
        #expect(wrong["valid"] == false && wrong["form"] == .null)
        let checked = try await world.send(
            "POST", "/_sim/webhooks/check-signature", ["secret": "s", "signature": .string(right), "body": "{}"])
        #expect(checked["valid"] == true && checked["form"] == "sha256-base64")
        let other = try await world.send(
            "POST", "/_sim/webhooks/check-signature",
            ["secret": "s", "signature": .string(right), "body": "{}", "form": "hex"])
        #expect(other["valid"] == false && other["hint"].text?.contains("sha256-base64") == true)
        // The body arrived as {"a": [1,"b: c"]} and was decoded and encoded again before it was checked, or before it was signed.
        let sent = #"{"a": [1,"b: c"]}"#
        func check(_ body: String, _ signature: JSONValue) async throws -> TestWorld.Answer {
            try await world.send(
                "POST", "/_sim/webhooks/check-signature",
                ["secret": "s", "signature": signature, "body": .string(body)])
        }
        for encoded in [#"{"a":[1,"b: c"]}"#, #"{"a": [1, "b: c"]}"#] {
            let signature = try await check(sent, "x")["expected.sha256-base64"]
            let checked = try await check(encoded, signature)
            #expect(checked["valid"] == false && checked["hint"].text?.contains("as it was sent") == true)
            let signed = try await check(sent, check(encoded, "x")["expected.sha256-base64"])
            #expect(signed["hint"].text?.contains("decoded and encoded again") == true, "\(signed.json)")
        }
        let empty = try await world.send("POST", "/_sim/webhooks/check-signature", ["secret": "s"])
        #expect(empty.status == 400 && empty["details"].items.count == 2)
    }

    /// Who lists captures without a filter sees that there is one.
    @Test func aListOfCapturesNamesItsFilter() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        let token = try await world.login()
        _ = try await world.submit(token)
        let open = try await world.send("GET", "/_sim/captures")
        #expect(open["captures"].items.isEmpty && open["status"] == "started")
        #expect(open["hint"].text?.contains("?status=all lists all") == true, "\(open.json)")
        let submitted = try await world.send("GET", "/_sim/captures?status=submitted")
        #expect(submitted["captures"].items.count == 1 && submitted["status"] == "submitted")
        #expect(submitted["hint"].text?.contains("submitted") == true)
        let all = try await world.send("GET", "/_sim/captures?status=all")
        #expect(all["captures"].items.count == 1 && all["status"] == "all" && all["hint"] == .null)
    }
}
