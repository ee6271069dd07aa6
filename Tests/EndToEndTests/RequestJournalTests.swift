import Foundation
import SimulationAPI
import TestSupport
import Testing

@Suite struct RequestJournalTests {
    private func requests(_ world: TestWorld, _ query: String = "") async throws -> [JSONValue] {
        try await world.send("GET", "/_sim/requests\(query)")["requests"].items
    }

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
        let sent = login["request.body"].text ?? ""
        let got = login["response.body"].text ?? ""
        #expect(sent == #"{"signed_authorization_request":"***"}"# && got.contains(#""token":"***""#))
        #expect(!String(decoding: login.body, as: UTF8.self).contains(token) && login["response.truncated"] == false)
        let shown = try await world.send("GET", "/_sim/requests/\(list[1]["id"].text ?? "")")
        let headers = shown["request.headers"].items.map(\.items)
        #expect(headers.contains { $0[0].text?.lowercased() == "authorization" && $0[1] == "Token ***" })
        #expect(try await world.send("GET", "/_sim/requests/nope").status == 404)
    }

    @Test func theJournalNamesWhatDecidedAnAnswer() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": ["sdk_per_second": 50]])
        let token = try await world.login()
        let fault = try await world.send(
            "POST", "/_sim/faults", ["match": ["route": "/sdk/config"], "effect": ["status": 503]])
        let outcome = try await world.send("POST", "/_sim/outcomes", ["result": "unknown"])
        _ = try await world.send("GET", "/sdk/config", token: token)
        _ = try await world.submit(token)
        _ = try await world.send("PATCH", "/_sim/settings", ["rate_limits": ["sdk_per_second": 1]])
        _ = try await world.send("GET", "/sdk/session", token: token)
        let found = Dictionary(
            try await requests(world).map {
                ($0["path"].text?.split(separator: "/").last.map(String.init) ?? "", $0["decided_by"])
            }
        ) { first, _ in first }
        #expect(found["config"]?["fault"] == fault["id"])
        #expect(found["submit"]?["outcome"] == outcome["id"])
        #expect(found["session"]?["limits"] == ["sdk_per_second"] && found["session"]?["fault"] == .null)
    }

    @Test func theListIsFilteredAndPaged() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        let token = try await world.login()
        for _ in 0..<3 { _ = try await world.send("GET", "/sdk/session", token: token) }
        try await world.advance("1h")
        for test in ["a", "b"] {
            _ = try await world.send("GET", "/sdk/results/none", token: token, headers: ["X-Sim-Test": test])
        }
        #expect(try await requests(world, "?route=/sdk/results/*").count == 2)
        #expect(try await requests(world, "?status=4xx").count == 2)
        #expect(try await requests(world, "?status=404&test=b").count == 1)
        #expect(try await requests(world, "?username=DemoOrg-example-user-id&method=get").count == 5)
        #expect(try await requests(world, "?since=\(Int(TestWorld.epoch) + 3600)").count == 2)
        #expect(try await requests(world, "?since=2026-01-05T10:00:00Z").count == 2)
        var paths: [String] = []
        var cursor = ""
        while true {
            let page = try await world.send("GET", "/_sim/requests?limit=3\(cursor)")
            paths += page["requests"].items.compactMap { $0["id"].text }
            guard let next = page["next_cursor"].text else { break }
            cursor = "&cursor=\(next)"
        }
        #expect(Set(paths).count == 7 && paths.count == 7)
        for wrong in ["?status=9", "?since=monday", "?limit=0", "?format=xml", "?cursor=x", "?route="] {
            #expect(try await world.send("GET", "/_sim/requests\(wrong)").status == 400, "\(wrong)")
        }
        #expect(try await world.send("DELETE", "/_sim/requests").status == 204)
        #expect(try await requests(world).isEmpty)
    }

    @Test func aTextIsLookedForInPathsHeadersAndBodies() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        let token = try await world.login()
        for number in 1...5 {
            _ = try await world.send(
                "POST", "/sdk/captures",
                ["item": ["brand": "Nike", "style_name": "Air", "customer_item_id": .string("sku-\(number)")]],
                token: token)
        }
        _ = try await world.send("GET", "/sdk/session", token: token, headers: ["X-Sim-Test": "checkout sku-5"])
        #expect(try await requests(world, "?text=SKU-3").count == 1)
        #expect(try await requests(world, "?text=sku-5").count == 2)
        #expect(try await requests(world, "?text=sku-5&method=GET").count == 1)
        #expect(try await requests(world, "?text=nike%20sku-5").count == 1)
        #expect(try await requests(world, "?text=%22checkout%20sku-5%22").count == 1)
        #expect(try await requests(world, "?text=demo-api").isEmpty)
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
        for wrong in ["", "%20", "%22%22", "a+b+c+d+e+f+g+h+i+j+k".replacing("+", with: "%20"), long, "a%00b"] {
            let refused = try await world.send("GET", "/_sim/requests?text=\(wrong)")
            #expect(refused.status == 400 && refused["details.0.field"] == "text", "\(wrong)")
        }
    }

    /// A typo would make an expectation of none worthless.
    @Test(
        arguments: [
            ("/sdk/serch", "POST /sdk/search"), ("/sdk/results/*/flga", "GET, PUT /sdk/results/{id}/flag"),
            ("/sdk/captures/*/submitt", "POST /sdk/captures/{id}/submit"), ("/sdk/captures/*/*/*/*", nil),
            ("*login", nil),
            ("/sdk/login/", "POST /sdk/login"), ("sdk/login", "POST /sdk/login"), ("/SDK/login", nil),
            ("/v2/webhook", "GET, POST /v2/webhooks"), ("/_sim/clock", nil), ("/ns/x/sdk/login", nil),
            ("/openapi.yaml", nil), ("/openapi.json", nil),
            ("/x", nil), ("/", nil), ("/sdk/login?x=1", "POST /sdk/login"),
        ] as [(String, String?)])
    func aRouteThatNoRouteCanMatchIsRefused(route: String, nearest: String?) async throws {
        let world = try await TestWorld.make()
        let match: JSONValue = ["route": .string(route)]
        for body: JSONValue in [["match": match, "times": 0], ["match": match, "times": 0, "any_route": false]] {
            let refused = try await world.send("POST", "/_sim/requests/verify", body)
            #expect(refused.status == 400 && refused["details.0.field"] == "match.route", "\(refused.json)")
            #expect(refused["details"].items.count == 1)
            let problem = refused["details.0.problem"].text ?? ""
            #expect(problem.contains("\"any_route\": true"))
            if let nearest { #expect(problem.contains("the nearest is \(nearest);"), "\(problem)") }
        }
        let meant: JSONValue = ["match": match, "times": 0, "any_route": true]
        #expect(try await world.send("POST", "/_sim/requests/verify", meant).status == 200)
    }

    /// PUT for POST is as likely a typo as `serch`.
    @Test(
        arguments: [
            ("/sdk/search", "PUT", "POST"), ("/sdk/*", "PATCH", nil), ("/sdk/session", "POST", "GET, HEAD"),
            ("/sdk/login", "HEAD", "POST"),
        ] as [(String, String, String?)])
    func aMethodThatNoRouteAcceptsIsRefused(route: String, method: String, accepted: String?) async throws {
        let world = try await TestWorld.make()
        let match: JSONValue = ["route": .string(route), "method": .string(method)]
        for limit in ["times", "at_most"] {
            let refused = try await world.send(
                "POST", "/_sim/requests/verify",
                .object(JSONObject([("match", match), (limit, .number(JSONNumber(0)))])))
            #expect(refused.status == 400 && refused["details.0.field"] == "match.method", "\(refused.json)")
            #expect(refused["details"].items.count == 1)
            let problem = refused["details.0.problem"].text ?? ""
            #expect(problem.contains("\"any_route\": true"))
            if let accepted { #expect(problem.contains("they accept \(accepted)."), "\(problem)") }
        }
        let meant: JSONValue = ["match": match, "times": 0, "any_route": true]
        #expect(try await world.send("POST", "/_sim/requests/verify", meant).status == 200)
        // One that is expected is missing, and one that came and was refused is counted.
        let one: JSONValue = ["match": match, "times": 1]
        #expect(try await world.send("POST", "/_sim/requests/verify", one).status == 409)
        _ = try await world.send(method, route.replacing("*", with: "search"))
        #expect(try await world.send("POST", "/_sim/requests/verify", one).status == 200)
    }

    @Test(arguments: [
        ("/sdk/search", "POST"), ("/sdk/search", "OPTIONS"), ("/sdk/session", "HEAD"), ("/v2/fingerprints", "DELETE"),
    ])
    func aMethodThatSomeRouteAcceptsIsCounted(route: String, method: String) async throws {
        let world = try await TestWorld.make()
        let body: JSONValue = ["match": ["route": .string(route), "method": .string(method)], "times": 0]
        #expect(try await world.send("POST", "/_sim/requests/verify", body).status == 200)
    }

    @Test(
        arguments: [
            "*", "**", "/sdk/*", "/sdk/**", "/sdk/results/*/flag", "**login", "/v?/webhooks/*", "/sdk/captures/**",
            "/sdk/captures/*/images/*",
            // Known and not simulated.
            "/v2/fingerprints", "/v2/search/fingerprints", "/v2/search/domains", "/v2/integrations/app-login-voucher",
            "/components/sessions/*/document", "/certificates/*",
        ])
    func aRouteThatSomeRouteCanMatchIsCounted(route: String) async throws {
        let world = try await TestWorld.make()
        let body: JSONValue = ["match": ["route": .string(route)], "times": 0]
        #expect(try await world.send("POST", "/_sim/requests/verify", body).status == 200)
        #expect(
            try await world.send("POST", "/_sim/requests/verify", ["match": [:], "times": 0, "any_route": true]).status
                == 200)
        #expect(try await world.send("POST", "/_sim/requests/verify", ["any_route": "yes"]).status == 400)
        // A scenario that expects it has no note.
        let text = "name: x\ndescription: x\nexpect: [{route: \"\(route)\", times: 0}]"
        let run = try await world.send("POST", "/_sim/scenarios/start?strict=true", ["scenario": .string(text)])
        #expect(run.status == 200, "\(run.json)")
    }

    /// Each would make an expectation of none worthless.
    @Test(
        arguments: [
            (["username": "DemoOrg-nobdy"], "any_user", "match.username"),
            (["test": "CheckoutTest/pays"], "any_test", "match.test"),
            (["route": "/sdk/results/ABCD2345/flag"], "any_item", "match.route"),
            (["route": "/sdk/captures/none/submit"], "any_item", "match.route"),
            (["route": "/sdk/captures/*/images/frnt"], "any_region", "match.route"),
            (["route": "/sdk/captures/**/frnt"], "any_region", "match.route"),
            (["route": "/sdk/captures/*/images/zz*"], "any_region", "match.route"),
            (["route": "/sdk/captures/cpa_*/submit"], "any_item", "match.route"),
            (["route": "**/submitt"], "any_item", "match.route"),
            (["route": "/**submitt"], "any_item", "match.route"),
            (["route": "/sdk/**itt"], "any_item", "match.route"),
            (["route": "/*/logn"], "any_item", "match.route"),
            (["route": "/v2/webhooks/nosuch"], "any_item", "match.route"),
            (["route": "/images/abc/original"], "any_item", "match.route"),
            (["route": "/certificates/XX"], "any_item", "match.route"),
            (["route": "/sdk/search", "status": 418], "any_status", "match.status"),
            (["route": "/sdk/search", "status": "3xx"], "any_status", "match.status"),
            (["route": "/sdk/captures/*/submit", "method": "POST", "status": "204"], "any_status", "match.status"),
        ] as [(JSONValue, String, String)])
    func aNameThatNobodyHasIsRefused(match: JSONValue, flag: String, field: String) async throws {
        let world = try await TestWorld.make()
        func verify(_ members: (String, JSONValue)...) async throws -> Answer {
            try await world.send("POST", "/_sim/requests/verify", .object(JSONObject([("match", match)] + members)))
        }
        for amount in ["times", "at_most"] {
            let refused = try await verify((amount, 0))
            #expect(refused.status == 400 && refused["details.0.field"].text == field, "\(refused.json)")
            #expect(
                refused["details.0.problem"].text?.contains("\"\(flag)\": true beside match") == true, "\(refused.json)"
            )
        }
        #expect(try await verify(("times", 0), (flag, true)).status == 200)
        // That it is missing is no reason for a green.
        #expect(try await verify(("times", 1)).status == 409)
        let expected: [(String, JSONValue)] = match.members!.sorted.map { ($0.name, $0.value) } + [("times", 0)]
        for (more, isGreen) in [([], false), ([(flag, true)], true)] as [([(String, JSONValue)], Bool)] {
            let condition = JSONObject(expected + more)
            guard condition["route"] != nil else { continue }
            let text =
                "{name: x, description: x, expect: [\(try String(decoding: WireJSON.encode(condition), as: UTF8.self))]}"
            let run = try await world.send("POST", "/_sim/scenarios/start", ["scenario": .string(text)])
            #expect(run.status == 200, "\(run.json)")
            let verified = try await world.send("POST", "/_sim/scenarios/x/verify")
            #expect(verified.status == (isGreen ? 200 : 409), "\(verified.json)")
        }
    }

    /// A beginning that lies ahead, and a member that is null, would be green whatever came.
    @Test func aMatchOfNothingIsRefused() async throws {
        let world = try await TestWorld.make()
        _ = try await world.login()
        for match: JSONValue in [
            ["route": "/sdk/login", "since": "2036-01-05T09:00:00Z"],
            ["route": "/sdk/login", "since": "sequence:1000"],
            ["route": "/sdk/logout", "status": .null], ["route": .null], ["route": "/v2/*/flag"],
        ] {
            let answer = try await world.send("POST", "/_sim/requests/verify", ["match": match, "times": 0])
            #expect(answer.status == 400, "\(match) \(answer.json)")
        }
    }

    /// What somebody has can be expected not to happen.
    @Test func aNameThatSomebodyHasIsCounted() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        let token = try await world.login()
        let capture = try await world.startCapture(token)
        _ = try await world.send("GET", "/sdk/session", token: token, headers: ["X-Sim-Test": "aTest"])
        _ = try await world.send(
            "POST", "/_sim/faults", ["match": ["route": "/sdk/search"], "effect": ["status": 418], "times": 1])
        for match: JSONValue in [
            ["username": "DemoOrg-example-user-id", "status": 404], ["test": "aTest", "route": "/sdk/logout"],
            ["route": .string("/sdk/captures/\(capture.id)/submit")], ["route": "/sdk/captures/*/images/front"],
            ["route": "/sdk/search", "status": 418], ["route": "/sdk/search", "status": "5xx"], ["status": 429],
            ["route": "/v1/lookup/authentications/sku-1"], ["route": "/**/lookup/**/sku-1"],
            ["route": "/sdk/captures/cap_*/submit"], ["route": "/sdk/captures/*/images/fro*"], ["route": "**/submit"],
            ["route": "/v1/**"], ["route": "**/sub*"],
        ] {
            let answer = try await world.send("POST", "/_sim/requests/verify", ["match": match, "times": 0])
            #expect(answer.status == 200, "\(match) \(answer.json)")
        }
    }

    /// Journals mask secrets, so that it could match nothing: a green that proves nothing.
    @Test func aMatchOnASecretIsRefused() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        for (name, value) in [
            ("test", token), ("route", "/sdk/\(token)"), ("username", "demo-api-token"), ("test", "ab***"),
        ] {
            let match: JSONValue = .object(JSONObject([(name, .string(value))]))
            let counted = try await world.send(
                "POST", "/_sim/requests/verify",
                ["match": match, "times": 0, "any_route": true, "any_test": true, "any_user": true])
            #expect(counted.status == 400 && counted["details.0.field"].text == "match.\(name)", "\(counted.json)")
            #expect(!"\(counted.json)".contains(token))
            let ordered = try await world.send(
                "POST", "/_sim/requests/verify", ["sequence": [match], "any_route": true])
            #expect(
                ordered.status == 400 && ordered["details.0.field"].text == "sequence[0].\(name)", "\(ordered.json)")
        }
    }

    /// A star is one part of a path.
    @Test func aStarOfARouteStopsAtASlash() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        _ = try await world.send("GET", "/sdk/session")
        _ = try await world.send("GET", "/sdk/results/ABCD2345/flag")
        for (route, count) in [
            ("/sdk/*", 1), ("/sdk/**", 2), ("/sdk/*/*/*", 1), ("/sdk/s?ssion", 1), ("*", 2), ("/*/*", 1),
        ] {
            #expect(try await requests(world, "?route=\(route)").count == count, "\(route)")
        }
        let rule = try await world.send(
            "POST", "/_sim/faults", ["match": ["route": "/v2/lookup/*"], "effect": ["status": 503]])
        #expect(
            rule["notes.0"].text
                == "no route of the server matches /v2/lookup/*; a * stands for one part of a path, and /v2/lookup/** for any number of them",
            "\(rule.json)")
        let wide = try await world.send(
            "POST", "/_sim/faults", ["match": ["route": "/sdk/captures/**"], "effect": ["status": 503]])
        #expect(wide["notes"] == [], "\(wide.json)")
        #expect(try await world.send("POST", "/sdk/captures/none/submit").status == 503)
    }

    @Test func theCommandRefusesARouteThatNoRouteCanMatch() async throws {
        let world = try await TestWorld.make()
        func verify(_ arguments: String...) async throws -> (status: Int32, output: String) {
            try await SimProcess.run(
                [
                    "requests", "verify", "--route", "/sdk/serch", "--times", "0", "-n",
                    String(world.base.split(separator: "/").last!), "--url", SimProcess.shared.baseURL,
                ] + arguments)
        }
        let refused = try await verify()
        #expect(
            refused.status == 64 && refused.output.contains("the nearest is POST /sdk/search")
                && refused.output.contains("--any-route"), "\(refused.output)")
        #expect(try await verify("--any-route").status == 0)
    }

    @Test func verifyCountsAndShowsTheNearestMisses() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        let token = try await world.login()
        for _ in 0..<2 { _ = try await world.send("GET", "/sdk/session", token: token) }
        func verify(_ body: JSONValue) async throws -> Answer {
            try await world.send("POST", "/_sim/requests/verify", body)
        }
        let match: JSONValue = ["route": "/sdk/session", "method": "GET", "status": 200]
        for good: JSONValue in [
            ["match": match, "times": 2], ["match": match], ["match": match, "at_least": 2],
            ["match": match, "at_most": 2],
            ["match": match, "at_least": 1, "at_most": 3], ["match": ["route": "/sdk/logout"], "times": 0],
            ["times": 4],
            ["match": ["status": "2xx", "username": "DemoOrg-example-user-id"], "times": 3],
        ] {
            let answer = try await verify(good)
            #expect(answer.status == 200 && answer["verified"] == true, "\(good)")
        }
        let few = try await verify(["match": ["route": "/sdk/session", "method": "POST", "status": 200]])
        #expect(few.status == 409 && few["count"] == 0 && few["code"] == "conflict")
        #expect(few["nearest.0.differences"] == ["method is GET, not POST"])
        #expect(few["nearest.0.request.path"] == "/sdk/session")
        let route: JSONValue = ["match": ["route": "/v2/integrations/authorise-user"], "any_route": true]
        let misspelt = try await world.send("POST", "/_sim/requests/verify", route)
        #expect(
            misspelt["nearest.0.request.path"] == "/v2/integrations/authorize-user", "not the last, but the nearest")
        let method: JSONValue = ["match": ["method": "BOGUS"], "times": 0]
        #expect(
            try await world.send("POST", "/_sim/requests/verify", method).status == 400, "nothing is asked with that")
        #expect(try await world.send("GET", "/_sim/requests?method=BOGUS").status == 400)
        let many = try await verify(["match": match, "times": 1])
        #expect(many.status == 409 && many["count"] == 2 && many["nearest"].items.count == 2)
        for wrong: JSONValue in [
            ["times": -1], ["at_least": 0], ["times": 1, "at_least": 1], ["at_least": 3, "at_most": 2],
            ["match": ["rout": "x"]],
            ["match": ["status": 700]], ["match": ["since": "soon"]], ["match": "x"], ["time": 1],
        ] {
            #expect(try await verify(wrong).status == 400, "\(wrong)")
        }
    }

    @Test func theJournalCanBeReadAsAnHTTPArchive() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        _ = try await world.send("GET", "/sdk/captures?limit=1", token: token)
        let archive = try await world.send("GET", "/_sim/requests?format=har")
        let entries = archive["log.entries"].items
        #expect(archive["log.version"] == "1.2")
        try #require(entries.count == 3)
        #expect(entries[2]["request.url"].text == "\(world.base)/sdk/captures?limit=1")
        #expect(entries[2]["request.queryString"] == [["name": "limit", "value": "1"]])
        #expect(entries[1]["request.postData.text"] == #"{"signed_authorization_request":"***"}"#)
        #expect(!String(decoding: archive.body, as: UTF8.self).contains(token))
    }

    @Test func settingsBoundTheJournalAndResetEmptiesIt() async throws {
        let world = try await TestWorld.make(settings: [
            "rate_limits": "off", "journal": ["entries": 2, "body_bytes": 10],
        ])
        let token = try await world.login()
        _ = try await world.send("GET", "/sdk/session", token: token)
        let kept = try await requests(world)
        #expect(kept.map { $0["path"] } == ["/sdk/session", "/sdk/login"])
        let login = try await world.send("GET", "/_sim/requests/\(kept[1]["id"].text ?? "")")
        #expect(login["request.body"].text?.utf8.count == 10 && login["request.truncated"] == true)
        #expect(login["response.body"].text?.utf8.count == 10 && login["response.truncated"] == true)
        _ = try await world.send("PATCH", "/_sim/settings", ["journal": ["entries": 0]])
        _ = try await world.send("GET", "/sdk/session", token: token)
        #expect(try await world.send("GET", "/_sim/requests/verify").headers["Allow"] == ["POST"])
        #expect(try await requests(world).count == 2, "nothing more is kept")
        let unkept = try await TestWorld.make(settings: ["journal": ["entries": 0]])
        let none: JSONValue = ["match": ["route": "/sdk/session"], "times": 0]
        #expect(try await unkept.send("POST", "/_sim/requests/verify", none).status == 200)
        _ = try await unkept.send("GET", "/sdk/session", token: token)
        #expect(try await unkept.send("POST", "/_sim/requests/verify", none).status == 409, "one was sent")
        _ = try await world.send("POST", "/_sim/reset")
        #expect(try await requests(world).isEmpty)
        for wrong: JSONValue in [["entries": -1], ["bytes": 1e12], ["body_bytes": "1k"], ["size": 1]] {
            #expect(try await world.send("PATCH", "/_sim/settings", ["journal": wrong]).status == 400)
        }
    }

    /// Answers have numbers of bytes, whatever form the size had.
    @Test func theJournalsSizesAreTextsOrNumbers() async throws {
        let world = try await TestWorld.make(settings: ["journal": ["bytes": "64MB", "body_bytes": "1.5 kB"]])
        #expect(try await world.send("GET", "/_sim/settings")["journal.bytes"] == 64_000_000)
        let changed = try await world.send(
            "PATCH", "/_sim/settings", ["journal": ["bytes": "64MiB", "body_bytes": "10"]])
        #expect(changed.status == 200 && changed["journal.bytes"] == 67_108_864, "\(changed.json)")
        #expect(changed["journal.body_bytes"] == 10 && changed["journal.entries"] == 10_000)
        _ = try await world.login()
        let login = try #require(try await requests(world).first?["id"].text)
        #expect(try await world.send("GET", "/_sim/requests/\(login)")["request.body"].text?.utf8.count == 10)
        for wrong: JSONValue in ["65MiB", "1e6", "64 megabytes", "-1", "", "1.5", true] {
            let refused = try await world.send("PATCH", "/_sim/settings", ["journal": ["bytes": wrong]])
            #expect(refused.status == 400 && refused["details.0.field"] == "journal.bytes")
            #expect(
                refused["details.0.problem"].text?.contains("a size such as 500kB, 10MB") == true, "\(refused.json)")
        }
        let name = try #require(world.base.split(separator: "/").last)
        let words = ["--url", SimProcess.shared.baseURL, "-n", String(name)]
        let set = try await SimProcess.run(["settings", "set", "journal.body_bytes", "2kB"] + words)
        #expect(set.status == 0 && set.output.contains("\"body_bytes\":2000"), "\(set.output)")
        #expect(try await world.send("PATCH", "/_sim/settings", ["journal": .null])["journal.bytes"] == 16_777_216)
    }

    @Test func picturesAreCountedButNotRecorded() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        let capture = try await world.startCapture(token)
        _ = try await world.upload(capture.id, capture.regions[0], token)
        let upload = try #require(try await requests(world, "?method=PUT").first)
        let shown = try await world.send("GET", "/_sim/requests/\(upload["id"].text ?? "")")
        #expect(shown["request.bytes"].double == Double(TestWorld.picture.count) && shown["request.truncated"] == true)
        #expect(shown["request.body"] == "")
    }
}
