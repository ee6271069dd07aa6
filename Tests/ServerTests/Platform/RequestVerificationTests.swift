import Foundation
import SimulationAPI
import TestSupport
import Testing

/// `POST /_sim/requests/verify`: a green that proves nothing is refused.
@Suite struct RequestVerificationTests {
    private func verify(_ world: TestWorld, _ body: JSONValue) async throws -> TestWorld.Answer {
        try await world.send("POST", "/_sim/requests/verify", body)
    }

    private func verify(_ world: TestWorld, _ match: JSONValue, _ members: (String, JSONValue)...) async throws
        -> TestWorld.Answer
    {
        try await verify(world, .object(JSONObject([("match", match)] + members)))
    }

    @Test func requestsAreCountedAndTheNearestMissesAreShown() async throws {
        let world = try await TestWorld.withoutLimits()
        let token = try await world.login()
        for _ in 0..<2 { _ = try await world.send("GET", "/sdk/session", token: token) }
        let match: JSONValue = ["route": "/sdk/session", "method": "GET", "status": 200]
        for good: JSONValue in [
            ["match": match, "times": 2], ["match": match], ["match": match, "at_least": 2],
            ["match": match, "at_most": 2], ["match": match, "at_least": 1, "at_most": 3],
            ["match": ["route": "/sdk/logout"], "times": 0], ["times": 4],
            ["match": ["status": "2xx", "username": "DemoOrg-example-user-id"], "times": 3],
            ["match": ["before": "2026-01-05T09:00:01Z"], "times": 4],
        ] {
            let answer = try await verify(world, good)
            #expect(answer.status == 200 && answer["verified"] == true, "\(good)")
        }
        let few = try await verify(world, ["match": ["route": "/sdk/session", "method": "POST", "status": 200]])
        #expect(few.status == 409 && few["count"] == 0 && few["code"] == "conflict")
        #expect(few["nearest.0.differences"] == ["method is GET, not POST"])
        #expect(few["nearest.0.request.path"] == "/sdk/session")
        let misspelt = try await verify(world, ["route": "/v2/integrations/authorise-user"], ("any_route", true))
        #expect(
            misspelt["nearest.0.request.path"] == "/v2/integrations/authorize-user", "not the last, but the nearest")
        let many = try await verify(world, ["match": match, "times": 1])
        #expect(many.status == 409 && many["count"] == 2 && many["nearest"].items.count == 2)
        for wrong: JSONValue in [
            ["times": -1], ["at_least": 0], ["times": 1, "at_least": 1], ["at_least": 3, "at_most": 2],
            ["match": ["rout": "x"]], ["match": ["status": 700]], ["match": ["since": "soon"]], ["match": "x"],
            ["time": 1], ["any_route": "yes"], ["match": ["method": "BOGUS"], "times": 0],
            // A beginning that lies ahead, and a member that is null, would be green whatever came.
            ["match": ["route": "/sdk/login", "since": "2036-01-05T09:00:00Z"], "times": 0],
            ["match": ["route": "/sdk/login", "since": "sequence:1000"], "times": 0],
            ["match": ["route": "/sdk/logout", "status": .null], "times": 0], ["match": ["route": .null], "times": 0],
            ["match": ["route": "/v2/*/flag"], "times": 0],
        ] {
            #expect(try await verify(world, wrong).status == 400, "\(wrong)")
        }
    }

    /// A typo would make an expectation of none worthless.
    @Test(
        arguments: [
            ("/sdk/serch", "POST /sdk/search"), ("/sdk/results/*/flga", "GET, PUT /sdk/results/{id}/flag"),
            ("/sdk/captures/*/submitt", "POST /sdk/captures/{id}/submit"), ("/sdk/captures/*/*/*/*", nil),
            ("*login", nil), ("/sdk/login/", "POST /sdk/login"), ("sdk/login", "POST /sdk/login"), ("/SDK/login", nil),
            ("/v2/webhook", "GET, POST /v2/webhooks"), ("/_sim/clock", nil), ("/ns/x/sdk/login", nil),
            ("/openapi.yaml", nil), ("/openapi.json", nil), ("/x", nil), ("/", nil),
            ("/sdk/login?x=1", "POST /sdk/login"),
        ] as [(String, String?)])
    func aRouteThatNoRouteCanMatchIsRefused(route: String, nearest: String?) async throws {
        let world = try await TestWorld.make()
        let match: JSONValue = ["route": .string(route)]
        for isGiven in [true, false] {
            let refused = try await verify(world, match, ("times", 0), ("any_route", isGiven ? false : .null))
            #expect(refused.status == 400 && refused["details.0.field"] == "match.route", "\(refused.json)")
            #expect(refused["details"].items.count == 1)
            let problem = refused["details.0.problem"].text ?? ""
            #expect(problem.contains("\"any_route\": true"))
            if let nearest { #expect(problem.contains("the nearest is \(nearest);"), "\(problem)") }
        }
        #expect(try await verify(world, match, ("times", 0), ("any_route", true)).status == 200)
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
            let refused = try await verify(world, match, (limit, 0))
            #expect(refused.status == 400 && refused["details.0.field"] == "match.method", "\(refused.json)")
            #expect(refused["details"].items.count == 1)
            let problem = refused["details.0.problem"].text ?? ""
            #expect(problem.contains("\"any_route\": true"))
            if let accepted { #expect(problem.contains("they accept \(accepted)."), "\(problem)") }
        }
        #expect(try await verify(world, match, ("times", 0), ("any_route", true)).status == 200)
        // One that is expected is missing, and one that came and was refused is counted.
        #expect(try await verify(world, match, ("times", 1)).status == 409)
        _ = try await world.send(method, route.replacing("*", with: "search"))
        #expect(try await verify(world, match, ("times", 1)).status == 200)
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
        #expect(try await verify(world, ["route": .string(route)], ("times", 0)).status == 200)
        // A scenario that expects it has no note.
        let text = "name: x\ndescription: x\nexpect: [{route: \"\(route)\", times: 0}]"
        let run = try await world.send("POST", "/_sim/scenarios/start?strict=true", ["scenario": .string(text)])
        #expect(run.status == 200, "\(run.json)")
    }

    @Test func aMethodThatSomeRouteAcceptsIsCounted() async throws {
        let world = try await TestWorld.make()
        for (route, method) in [
            ("/sdk/search", "POST"), ("/sdk/search", "OPTIONS"), ("/sdk/session", "HEAD"),
            ("/v2/fingerprints", "DELETE"),
        ] {
            let match: JSONValue = ["route": .string(route), "method": .string(method)]
            #expect(try await verify(world, match, ("times", 0)).status == 200, "\(match)")
        }
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
        for amount in ["times", "at_most"] {
            let refused = try await verify(world, match, (amount, 0))
            #expect(refused.status == 400 && refused["details.0.field"].text == field, "\(refused.json)")
            let problem = refused["details.0.problem"].text ?? ""
            #expect(problem.contains("\"\(flag)\": true beside match"), "\(problem)")
        }
        #expect(try await verify(world, match, ("times", 0), (flag, true)).status == 200)
        // That it is missing is no reason for a green.
        #expect(try await verify(world, match, ("times", 1)).status == 409)
        var condition = try #require(match.members)
        guard condition["route"] != nil else { return }
        condition["times"] = 0
        for isAllowed in [false, true] {
            if isAllowed { condition[flag] = true }
            let expected = String(decoding: try WireJSON.encode(condition), as: UTF8.self)
            let text = "{name: x, description: x, expect: [\(expected)]}"
            let run = try await world.send("POST", "/_sim/scenarios/start", ["scenario": .string(text)])
            #expect(run.status == 200, "\(run.json)")
            let verified = try await world.send("POST", "/_sim/scenarios/x/verify")
            #expect(verified.status == (isAllowed ? 200 : 409), "\(verified.json)")
        }
    }

    /// What somebody has can be expected not to happen.
    @Test func aNameThatSomebodyHasIsCounted() async throws {
        let world = try await TestWorld.withoutLimits()
        let token = try await world.login()
        let capture = try await world.startCapture(token)
        _ = try await world.send("GET", "/sdk/session", token: token, headers: ["X-Sim-Test": "aTest"])
        try await world.fault("/sdk/search", ["status": 418], times: 1)
        for match: JSONValue in [
            ["username": "DemoOrg-example-user-id", "status": 404], ["test": "aTest", "route": "/sdk/logout"],
            ["route": .string("/sdk/captures/\(capture.id)/submit")], ["route": "/sdk/captures/*/images/front"],
            ["route": "/sdk/search", "status": 418], ["route": "/sdk/search", "status": "5xx"], ["status": 429],
            ["route": "/v1/lookup/authentications/sku-1"], ["route": "/**/lookup/**/sku-1"],
            ["route": "/sdk/captures/cap_*/submit"], ["route": "/sdk/captures/*/images/fro*"], ["route": "**/submit"],
            ["route": "/v1/**"], ["route": "**/sub*"],
        ] {
            #expect(try await verify(world, match, ("times", 0)).status == 200, "\(match)")
        }
    }

    /// Journals mask secrets, so that it could match nothing: a green that proves nothing.
    @Test func aMatchOnASecretIsRefused() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        for (name, value) in [
            ("test", token), ("route", "/sdk/\(token)"), ("username", "demo-api-token"), ("test", "ab***"),
        ] {
            let match: JSONValue = .object([name: .string(value)])
            let counted = try await verify(
                world, match, ("times", 0), ("any_route", true), ("any_test", true), ("any_user", true))
            #expect(counted.status == 400 && counted["details.0.field"].text == "match.\(name)", "\(counted.json)")
            #expect(!counted.text.contains(token))
            let ordered = try await verify(world, ["sequence": [match], "any_route": true])
            #expect(
                ordered.status == 400 && ordered["details.0.field"].text == "sequence[0].\(name)", "\(ordered.json)")
        }
    }

    // MARK: Sequences

    @Test func aSequenceIsFoundWithOthersBetween() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        for path in ["/sdk/session", "/sdk/config", "/sdk/session"] {
            _ = try await world.send("GET", path, token: token)
        }
        let found = try await verify(
            world,
            [
                "sequence": [
                    ["route": "/sdk/login", "status": 200], ["method": "GET", "route": "/sdk/session"],
                    ["route": "/sdk/session", "username": "DemoOrg-example-user-id"],
                ], "max_gap": "10m",
            ])
        #expect(found.status == 200 && found["verified"] == true, "\(found.json)")
        #expect(found["requests"].items.map { $0["sequence"] } == [2, 3, 5])
        let listed = try await world.send("GET", "/_sim/requests?route=/sdk/login")
        #expect(found["requests.0.id"] == listed["requests.0.id"])
        let missing = try await verify(world, ["sequence": [["route": "/sdk/session"], ["route": "/sdk/login"]]])
        #expect(missing.status == 409 && missing["step"] == 1 && missing["code"] == "conflict", "\(missing.json)")
        #expect(missing["nearest.0.request.path"] == "/sdk/login")
        #expect(missing["nearest.0.differences"] == ["came before the previous step (request 3)"])
        let first = try await verify(world, ["sequence": [["route": "/sdk/login", "status": 429], ["route": "*"]]])
        #expect(first.status == 409 && first["step"] == 0)
        #expect(first["nearest.0.differences"] == ["status is 200, not 429"])
    }

    @Test func aGapIsRealTimeUnlessTheClockWasMoved() async throws {
        let world = try await TestWorld.withoutLimits()
        let token = try await world.login()
        for _ in 0..<2 { _ = try await world.send("GET", "/sdk/session", token: token) }
        let body: JSONValue = [
            "sequence": [["route": "/sdk/session"], ["route": "/sdk/session"]], "min_gap": "90m", "max_gap": "3h",
        ]
        let early = try await verify(world, body)
        #expect(early.status == 409 && early["step"] == 1)
        #expect(early["error"].text?.contains("but not with the expected gap (min_gap 1h30m, max_gap 3h)") == true)
        let difference = early["nearest.0.differences.0"].text ?? ""
        #expect(difference.contains("after the previous step (request 3), min_gap is 1h30m"), "\(difference)")
        try await world.advance("2h")
        _ = try await world.send("GET", "/sdk/session", token: token)
        let moved = try await verify(world, body)
        #expect(moved.status == 200 && moved["requests"].items.map { $0["sequence"] } == [3, 5], "\(moved.json)")
    }

    @Test(
        arguments: [
            (["sequence": []], "sequence"), (["sequence": "x"], "sequence"), (["sequence": [nil]], "sequence[0]"),
            (["sequence": .array(Array(repeating: [:], count: 101))], "sequence"),
            (["sequence": [[:], ["rout": "x"]]], "sequence[1].rout"),
            (["sequence": [["route": "/sdk/login"], ["route": "/sdk/logn"]]], "sequence[1].route"),
            (["sequence": [["status": 700]]], "sequence[0].status"),
            (["sequence": [["method": "X"]]], "sequence[0].method"),
            (["sequence": [[:], [:]], "min_gap": "soon"], "min_gap"),
            (["sequence": [[:], [:]], "max_gap": -1], "max_gap"),
            (["sequence": [[:], [:]], "min_gap": "2s", "max_gap": "1s"], "min_gap"),
            (["sequence": [[:]], "min_gap": "2s"], "min_gap"), (["match": [:], "min_gap": "2s"], "min_gap"),
            (["sequence": nil, "max_gap": "2s"], "max_gap"),
            (["sequence": [[:]], "match": [:]], "match"), (["sequence": [[:]], "times": 1], "times"),
            (["sequence": [[:]], "at_least": 1], "at_least"), (["sequence": [[:]], "at_most": 1], "at_most"),
        ] as [(JSONValue, String)])
    func aWrongSequenceIsRefusedWithItsField(body: JSONValue, field: String) async throws {
        let refused = try await verify(try await TestWorld.make(), body)
        #expect(refused.status == 400 && refused["details.0.field"].text == field, "\(refused.json)")
        #expect(refused["details"].items.count == 1)
    }

    @Test func anUnknownRouteOfAStepIsAllowedIfItIsMeant() async throws {
        let world = try await TestWorld.make()
        let steps: JSONValue = [["route": "/old-path"], ["route": "/old-path"]]
        let refused = try await verify(world, ["sequence": steps])
        #expect(refused["details.0.problem"].text?.contains("\"any_route\": true beside sequence") == true)
        for _ in 0..<2 { _ = try await world.send("GET", "/old-path") }
        #expect(try await verify(world, ["sequence": steps, "any_route": true]).status == 200)
    }
}
