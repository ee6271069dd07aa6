import Foundation
import SimulationAPI
import TestSupport
import Testing

/// `/_sim/requests`: what is recorded, found and bounded.
@Suite struct RequestJournalRuleTests {
    private func requests(_ world: TestWorld, _ query: String = "") async throws -> [JSONValue] {
        try await world.send("GET", "/_sim/requests\(query)")["requests"].items
    }

    // MARK: Records

    @Test func everyRequestAndAnswerIsRecordedWithMaskedSecrets() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        _ = try await world.send("GET", "/sdk/captures?limit=2", token: token, headers: ["X-Sim-Test": "login-test"])
        _ = try await world.send("GET", "/nowhere")
        let list = try await requests(world)
        try #require(
            list.map { $0["path"] } == ["/nowhere", "/sdk/captures", "/sdk/login", "/v2/integrations/authorize-user"])
        #expect(list.map { $0["status"] } == [404, 200, 200, 200])
        #expect(list[1]["query"] == "limit=2" && list[1]["username"] == "DemoOrg-example-user-id")
        #expect(list[1]["test"] == "login-test" && list[1]["at"].double == TestWorld.epoch)
        #expect(list[0]["username"] == .null && list[0]["request"] == .null)

        let login = try await world.send("GET", "/_sim/requests/\(list[2]["id"].text ?? "")")
        #expect(login["request.body"] == #"{"signed_authorization_request":"***"}"#)
        #expect(login["response.body"].text?.contains(#""token":"***""#) == true)
        #expect(!login.text.contains(token) && login["response.truncated"] == false)
        let shown = try await world.send("GET", "/_sim/requests/\(list[1]["id"].text ?? "")")
        let headers = shown["request.headers"].items.map(\.items)
        #expect(headers.contains { $0[0].text?.lowercased() == "authorization" && $0[1] == "Token ***" })
        #expect(try await world.send("GET", "/_sim/requests/nope").status == 404)

        let archive = try await world.send("GET", "/_sim/requests?format=har")
        let entries = archive["log.entries"].items
        try #require(entries.count == 4 && archive["log.version"] == "1.2")
        #expect(entries[2]["request.url"].text?.hasSuffix("\(world.path)/sdk/captures?limit=2") == true)
        #expect(entries[2]["request.queryString"] == [["name": "limit", "value": "2"]])
        #expect(entries[1]["request.postData.text"] == #"{"signed_authorization_request":"***"}"#)
        #expect(!archive.text.contains(token))
    }

    @Test func theJournalNamesWhatDecidedAnAnswer() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": ["sdk_per_second": 50]])
        let token = try await world.login()
        let fault = try await world.fault("/sdk/config", ["status": 503])
        let outcome = try await world.send("POST", "/_sim/outcomes", ["result": "unknown"])
        _ = try await world.send("GET", "/sdk/config", token: token)
        _ = try await world.submit(token)
        _ = try await world.send("PATCH", "/_sim/settings", ["rate_limits": ["sdk_per_second": 1]])
        _ = try await world.send("GET", "/sdk/session", token: token)
        func decided(_ route: String) async throws -> JSONValue? {
            try await requests(world, "?route=\(route)&limit=1").first?["decided_by"]
        }
        #expect(try await decided("/sdk/config")?["fault"].text == fault)
        #expect(try await decided("/sdk/captures/*/submit")?["outcome"] == outcome["id"])
        let session = try await decided("/sdk/session")
        #expect(session?["limits"] == ["sdk_per_second"] && session?["fault"] == .null)
    }

    @Test func picturesAreCountedButNotRecorded() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        let capture = try await world.startCapture(token)
        _ = try await world.upload(capture.id, capture.regions[0], token)
        let upload = try #require(try await requests(world, "?method=PUT").first)
        let shown = try await world.send("GET", "/_sim/requests/\(upload["id"].text ?? "")")
        #expect(shown["request.bytes"].double == Double(TestWorld.picture.count))
        #expect(shown["request.truncated"] == true && shown["request.body"] == "")
    }

    // MARK: Bounds

    @Test func settingsBoundTheJournalAndResetEmptiesIt() async throws {
        let world = try await TestWorld.make(settings: [
            "rate_limits": "off", "journal": ["entries": 2, "body_bytes": "10"],
        ])
        let token = try await world.login()
        _ = try await world.send("GET", "/sdk/session", token: token)
        let kept = try await requests(world)
        #expect(kept.map { $0["path"] } == ["/sdk/session", "/sdk/login"])
        let login = try await world.send("GET", "/_sim/requests/\(kept[1]["id"].text ?? "")")
        for side in ["request", "response"] {
            #expect(login["\(side).body"].text?.utf8.count == 10 && login["\(side).truncated"] == true)
        }
        _ = try await world.send("PATCH", "/_sim/settings", ["journal": ["entries": 0]])
        _ = try await world.send("GET", "/sdk/session", token: token)
        #expect(try await world.send("GET", "/_sim/requests/verify").headers["Allow"] == ["POST"])
        #expect(try await requests(world).count == 2, "nothing more is kept")
        _ = try await world.send("POST", "/_sim/reset")
        #expect(try await requests(world).isEmpty)
        // What is not kept is not denied.
        let unkept = try await TestWorld.make(settings: ["journal": ["entries": 0]])
        let none: JSONValue = ["match": ["route": "/sdk/session"], "times": 0]
        #expect(try await unkept.send("POST", "/_sim/requests/verify", none).status == 200)
        _ = try await unkept.send("GET", "/sdk/session", token: token)
        #expect(try await unkept.send("POST", "/_sim/requests/verify", none).status == 409, "one was sent")
    }

    /// Answers have numbers of bytes, whatever form the size had. `SizeTextTests` has the forms.
    @Test func theJournalsSizesAreTextsOrNumbers() async throws {
        let world = try await TestWorld.make(settings: ["journal": ["bytes": "64MB", "body_bytes": "1.5 kB"]])
        #expect(try await world.send("GET", "/_sim/settings")["journal.bytes"] == 64_000_000)
        let changed = try await world.send("PATCH", "/_sim/settings", ["journal": ["bytes": "64MiB"]])
        #expect(changed["journal.bytes"] == 67_108_864 && changed["journal.body_bytes"] == 1500)
        #expect(changed["journal.entries"] == 10_000)
        for wrong: JSONValue in ["65MiB", "1e6", "64 megabytes", "-1", "", "1.5", true, 1e12] {
            let refused = try await world.send("PATCH", "/_sim/settings", ["journal": ["bytes": wrong]])
            #expect(refused.status == 400 && refused["details.0.field"] == "journal.bytes", "\(wrong)")
            #expect(
                refused["details.0.problem"].text?.contains("a size such as 500kB, 10MB") == true, "\(refused.json)")
        }
        for wrong: JSONValue in [["entries": -1], ["body_bytes": "1k"], ["size": 1]] {
            #expect(try await world.send("PATCH", "/_sim/settings", ["journal": wrong]).status == 400)
        }
        #expect(try await world.send("PATCH", "/_sim/settings", ["journal": .null])["journal.bytes"] == 16_777_216)
    }

    // MARK: Searches

    @Test func theListIsFilteredAndPaged() async throws {
        let world = try await TestWorld.withoutLimits()
        let token = try await world.login()
        for _ in 0..<3 { _ = try await world.send("GET", "/sdk/session", token: token) }
        try await world.advance("1h")
        for test in ["a", "b"] {
            _ = try await world.send("GET", "/sdk/results/none", token: token, headers: ["X-Sim-Test": test])
        }
        for (query, count) in [
            ("route=/sdk/results/*", 2), ("status=4xx", 2), ("status=404&test=b", 1),
            ("username=DemoOrg-example-user-id&method=get", 5), ("since=\(Int(TestWorld.epoch) + 3600)", 2),
            ("since=2026-01-05T10:00:00Z", 2), ("before=2026-01-05T10:00:00Z", 5), ("after_sequence=6", 1),
            ("before_sequence=3", 2),
        ] {
            #expect(try await requests(world, "?\(query)").count == count, "\(query)")
        }
        var ids: [String] = []
        var cursor = ""
        while true {
            let page = try await world.send("GET", "/_sim/requests?limit=3\(cursor)")
            ids += page["requests"].items.compactMap { $0["id"].text }
            guard let next = page["next_cursor"].text else { break }
            cursor = "&cursor=\(next)"
        }
        #expect(Set(ids).count == 7 && ids.count == 7)
        for wrong in ["status=9", "since=monday", "limit=0", "format=xml", "cursor=x", "route=", "method=BOGUS"] {
            #expect(try await world.send("GET", "/_sim/requests?\(wrong)").status == 400, "\(wrong)")
        }
        #expect(try await world.send("DELETE", "/_sim/requests").status == 204)
        #expect(try await requests(world).isEmpty)
    }

    @Test func aTextIsLookedForInPathsHeadersAndBodies() async throws {
        let world = try await TestWorld.withoutLimits()
        let token = try await world.login()
        for number in 1...5 {
            _ = try await world.send(
                "POST", "/sdk/captures",
                ["item": ["brand": "Nike", "style_name": "Air", "customer_item_id": .string("sku-\(number)")]],
                token: token)
        }
        _ = try await world.send("GET", "/sdk/session", token: token, headers: ["X-Sim-Test": "checkout sku-5"])
        for (text, count) in [
            ("SKU-3", 1), ("sku-5", 2), ("sku-5&method=GET", 1), ("nike%20sku-5", 1), ("%22checkout%20sku-5%22", 1),
            ("demo-api", 0),
        ] {
            #expect(try await requests(world, "?text=\(text)").count == count, "\(text)")
        }
        // Nothing found would look as if it had not been sent.
        for secret in [token, "x%20\(token)"] {
            let refused = try await world.send("GET", "/_sim/requests?text=\(secret)")
            #expect(refused.status == 400 && refused["details.0.problem"].text?.contains("token-in-url") == true)
        }
        // A word of a route may be a receiver's secret.
        try await world.subscribe(url: "http://127.0.0.1:9/x", ["secret_key": "captures"])
        #expect(try await !requests(world, "?route=/sdk/captures").isEmpty)
        #expect(try await world.send("GET", "/_sim/requests?text=captures").status == 400)
        let first = try await world.send("GET", "/_sim/requests?text=sku-&limit=4")
        let cursor = try #require(first["next_cursor"].text)
        let rest = try await world.send("GET", "/_sim/requests?text=sku-&limit=4&cursor=\(cursor)")
        #expect(first["requests"].items.count == 4 && rest["requests"].items.count == 2)
        #expect(rest["next_cursor"] == .null)
        #expect(try await world.send("GET", "/_sim/requests?text=sku&cursor=\(cursor)").status == 400)
        let archive = try await world.send("GET", "/_sim/requests?text=sku-3&format=har")
        #expect(archive["log.entries"].items.count == 1)
        let long = String(repeating: "x", count: 501)
        for wrong in ["", "%20", "%22%22", "a%20b%20c%20d%20e%20f%20g%20h%20i%20j%20k", long, "a%00b"] {
            let refused = try await world.send("GET", "/_sim/requests?text=\(wrong)")
            #expect(refused.status == 400 && refused["details.0.field"] == "text", "\(wrong)")
        }
    }

    /// A star is one part of a path, for the journal and for faults. `GlobTests` has the patterns.
    @Test func aStarOfARouteStopsAtASlash() async throws {
        let world = try await TestWorld.withoutLimits()
        _ = try await world.send("GET", "/sdk/session")
        _ = try await world.send("GET", "/sdk/results/ABCD2345/flag")
        for (route, count) in [("/sdk/*", 1), ("/sdk/**", 2), ("/sdk/*/*/*", 1), ("/sdk/s?ssion", 1), ("*", 2)] {
            #expect(try await requests(world, "?route=\(route)").count == count, "\(route)")
        }
        let rule: JSONValue = ["match": ["route": "/v2/lookup/*"], "effect": ["status": 503]]
        let narrow = try await world.send("POST", "/_sim/faults", rule)
        #expect(
            narrow["notes.0"].text
                == "no route of the server matches /v2/lookup/*; a * stands for one part of a path, and /v2/lookup/** for any number of them"
        )
        let all: JSONValue = ["match": ["route": "/sdk/captures/**"], "effect": ["status": 503]]
        #expect(try await world.send("POST", "/_sim/faults", all)["notes"] == [])
        #expect(try await world.send("POST", "/sdk/captures/none/submit").status == 503)
    }
}
