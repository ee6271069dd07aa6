import Foundation
import SimulationAPI
import TestSupport
import Testing

extension TestWorld {
    /// The coverage of the namespace.
    func coverage() async throws -> Coverage {
        let answer = try await send("GET", "/_sim/coverage")
        try #require(answer.status == 200, "\(answer.json)")
        return try WireJSON.decode(Coverage.self, from: answer.body)
    }

    /// An edge of the namespace's coverage.
    func edge(_ axis: String, _ id: String) async throws -> Coverage.Edge {
        try #require(try await coverage().edge(axis, id), "there is no edge \(axis): \(id)")
    }
}

/// `GET /_sim/coverage`: what counts, and what does not [D coverage].
@Suite struct CoverageTests {
    private static let named = ["X-Sim-Test": "CoverageTests/one"]

    // MARK: Answers

    @Test func anAnswerCountsWithItsTestAndTheFirstRequest() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login()
        let before = try await world.edge("answers", "GET /sdk/session 200")
        #expect(before.reached == 0)
        #expect(before.meet_with?.isEmpty == false)
        for _ in 0..<3 { _ = try await world.send("GET", "/sdk/session", token: session, headers: Self.named) }
        let edge = try await world.edge("answers", "GET /sdk/session 200")
        #expect(edge.reached == 3)
        #expect(edge.injected == 0)
        #expect(edge.tests == ["CoverageTests/one"])
        #expect(edge.meet_with == nil)
        let first = try #require(edge.first)
        #expect(world.base.hasSuffix("/ns/\(first.namespace)"))
        let explained = try await world.send("GET", "/_sim/explain/\(first.request)")
        #expect(explained["steps.0.text"].text?.hasPrefix("GET /sdk/session -> 200") == true, "\(explained.json)")
    }

    /// A name of a test that holds a secret is stored once, masked.
    @Test func theNameOfATestIsMaskedOnce() async throws {
        let world = try await TestWorld.withoutLimits()
        for _ in 0..<3 {
            _ = try await world.send("GET", "/sdk/session", headers: ["X-Sim-Test": "of \(TestWorld.apiToken)"])
        }
        #expect(try await world.edge("answers", "GET /sdk/session 401").tests == ["of ***"])
    }

    @Test func anAxisSaysHowManyOfItsEdgesAreMet() async throws {
        let world = try await TestWorld.withoutLimits()
        let empty = try await world.coverage()
        #expect(
            empty.axes.map(\.id) == [
                "answers", "sdk_errors", "results", "captures", "flags", "limits", "components", "webhooks",
                "scenarios",
            ])
        #expect(empty.axes.someAndAll { $0.reached == 0 && $0.of == $0.edges.count && $0.of > 0 })
        #expect(empty.axes.someAndAll { $0.edges.someAndAll { $0.meet_with?.isEmpty == false } })
        _ = try await world.authorize()
        let answers = try #require(try await world.coverage().axes.first)
        #expect(answers.reached == 1)
        #expect(answers.edges.filter(\.isMet).map(\.id) == ["POST /v2/integrations/authorize-user 200"])
    }

    @Test func aRefusalCountsWithItsSDKErrorAndALimitWithItsName() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": ["sdk_per_second": 2]])
        let session = try await world.login()
        for _ in 0..<3 { _ = try await world.send("GET", "/sdk/session", token: session, headers: Self.named) }
        #expect(try await world.edge("answers", "GET /sdk/session 429").reached == 2)
        #expect(try await world.edge("sdk_errors", "ErrorCodeTooManyRequests").reached == 2)
        let limit = try await world.edge("limits", "sdk_per_second")
        #expect(limit.reached == 2)
        #expect(limit.tests == ["CoverageTests/one"])
        #expect(try await world.edge("limits", "api_per_second").reached == 0)
    }

    @Test func whatAFaultInjectedCountsApartAndProvesNothing() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login()
        _ = try await world.send(
            "POST", "/_sim/faults", ["match": ["route": "/sdk/session"], "effect": ["status": 403], "times": 1])
        _ = try await world.send("GET", "/sdk/session", token: session, headers: Self.named)
        let edge = try await world.edge("answers", "GET /sdk/session 403")
        #expect(edge.reached == 0)
        #expect(edge.injected == 1)
        #expect(!edge.isMet && !edge.fault_only)
        #expect(edge.tests.isEmpty)
        #expect(edge.first == nil)
        #expect(edge.meet_with != nil)
        #expect(try await world.edge("sdk_errors", "ErrorCodeForbiddenError").injected == 1)
    }

    /// A status that is none of an error, and a body of the rule's own, name no error of the SDK.
    @Test(arguments: [["status": 200], ["status": 204], ["status": 404, "body": ["detail": "gone"]]] as [JSONValue])
    func anInjectedAnswerIsNoErrorUnlessItNamesOne(effect: JSONValue) async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login()
        _ = try await world.send("POST", "/_sim/faults", ["match": ["route": "/sdk/session"], "effect": effect])
        _ = try await world.send("GET", "/sdk/session", token: session)
        let coverage = try await world.coverage()
        let errors = try #require(coverage.axes.first { $0.id == "sdk_errors" })
        #expect(errors.edges.someAndAll { $0.reached == 0 && $0.injected == 0 }, "\(errors)")
        #expect(coverage.edge("answers", "GET /sdk/session 200")?.reached == 0)
    }

    @Test func whatOnlyAFaultShowsIsMetWhenItIsInjected() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login()
        _ = try await world.send(
            "POST", "/_sim/faults", ["match": ["route": "/sdk/session"], "effect": ["status": 503], "times": 1])
        _ = try await world.send("GET", "/sdk/session", token: session, headers: Self.named)
        let edge = try await world.edge("answers", "GET /sdk/session 503")
        #expect(edge.fault_only && edge.isMet)
        #expect(edge.reached == 0)
        #expect(edge.injected == 1)
        #expect(edge.tests == ["CoverageTests/one"])
        #expect(edge.meet_with == nil)
        #expect(try await world.edge("sdk_errors", "ErrorCodeInternalServerError").isMet)
    }

    @Test(
        arguments: [
            (["delay": "1ms"], 1, 0), (["slow_body": 1_000_000], 1, 0), (["truncate_body": 1_000_000], 1, 0),
            (["malformed_json": true], 0, 1), (["truncate_body": 3], 0, 0), (["drop_connection": true], 0, 0),
            (["lose_request": true], 0, 0), (["expire_session": true], 0, 0),
        ] as [(JSONValue, Int, Int)])
    func anEffectDecidesWhetherTheAnswerCounts(effect: JSONValue, reached: Int, injected: Int) async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login()
        _ = try await world.send(
            "POST", "/_sim/faults", ["match": ["route": "/sdk/session"], "effect": effect, "times": 1])
        // Some of the answers are cut or missing, which is their point.
        _ = try? await world.send("GET", "/sdk/session", token: session)
        let edge = try await world.edge("answers", "GET /sdk/session 200")
        #expect(edge.reached == reached)
        #expect(edge.injected == injected)
        let isExpired = effect["expire_session"] == true
        #expect(try await world.edge("answers", "GET /sdk/session 401").injected == (isExpired ? 1 : 0))
    }

    @Test func answersThatNoJobDecidedCountForTheServer() async throws {
        try await withServer { root in
            _ = try await root.send("GET", "/ns/no-such-namespace/sdk/session", headers: Self.named)
            let unknown = try await root.edge("answers", "GET /sdk/session 404")
            #expect(unknown.reached == 1)
            #expect(unknown.tests == ["CoverageTests/one"])
            #expect(unknown.first?.namespace == "no-such-namespace")
            _ = try await root.send("GET", "/sdk/session", headers: ["Host": "elsewhere.example"])
            #expect(try await root.edge("answers", "GET /sdk/session 403").reached == 1)
            #expect(try await root.edge("sdk_errors", "ErrorCodeForbiddenError").reached == 1)
            // A namespace can never meet them, so it does not list them.
            _ = try await root.send("PUT", "/_sim/namespaces/pr-1", [:])
            let all = Set(try await root.coverage().namedEdges.map(\.name))
            for query in ["/ns/pr-1/_sim/coverage", "/_sim/coverage?prefix=pr-"] {
                let answer = try await root.send("GET", query)
                let listed = Set(try WireJSON.decode(Coverage.self, from: answer.body).namedEdges.map(\.name))
                let left = all.subtracting(listed)
                #expect(left.count > 80 && listed.isSubset(of: all))
                #expect(left.contains(.init("answers", "GET /v1/health 403")))
                #expect(left.contains(.init("answers", "GET /sdk/session 404")))
                // A session that the platform has ended may be 403.
                #expect(listed.contains(.init("answers", "GET /sdk/session 403")))
                #expect(listed.contains(.init("sdk_errors", "ErrorCodeForbiddenError")))
                #expect(left.someAndAll { $0.edge.hasSuffix(" 403") || $0.edge.hasSuffix(" 404") })
            }
        }
    }

    @Test func headsControlCallsAndRequestsThatAreSentAgainCountNowhere() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login()
        let before = try WireJSON.encode(try await world.coverage().axes)
        _ = try await world.send("HEAD", "/sdk/session", token: session)
        for path in ["/_sim/info", "/_sim/requests", "/_sim/captures", "/_sim/coverage"] {
            _ = try await world.send("GET", path)
        }
        #expect(try WireJSON.encode(try await world.coverage().axes) == before)
        let capture = try await world.startCapture(session)
        let id = try #require(
            try await world.send("GET", "/_sim/requests?route=/sdk/captures")["requests.0.id"].text)
        #expect(try await world.send("POST", "/_sim/requests/\(id)/resend")["status"] == 201)
        #expect(try await world.edge("answers", "POST /sdk/captures 201").reached == 1)
        #expect(try await world.edge("captures", "started").reached == 1)
        // Both captures time out; the client started one of them.
        try await world.advance("2h")
        #expect(try await world.edge("captures", "started -> timed_out").reached == 1, "\(capture.id)")
    }

    @Test func anAnswerWhoseClientHasGoneIsTakenBack() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login()
        _ = try await world.send(
            "POST", "/_sim/faults", ["match": ["route": "/sdk/session"], "effect": ["slow_body": 20]])
        let path = String(world.base.dropFirst(SimProcess.shared.baseURL.count))
        let begun = try await RawConnection.open(.shared).exchange(
            "GET \(path)/sdk/session HTTP/1.1\r\nHost: localhost\r\nAuthorization: Token \(session)\r\n\r\n"
        ) { $0.contains("\r\n\r\n") }
        #expect(begun.contains("200 OK"))
        var lost = 0
        for _ in 0..<5_000 where lost == 0 {
            lost = try await world.send("GET", "/_sim/requests?delivered=false")["requests"].items.count
        }
        #expect(lost == 1)
        let edge = try await world.edge("answers", "GET /sdk/session 200")
        #expect(edge.reached == 0)
        #expect(edge.first == nil)
    }

    // MARK: Events

    @Test func theStatesOfACaptureAndItsResultCountForTheTestOfItsRequests() async throws {
        let world = try await TestWorld.withoutLimits()
        var named = world
        named.headers = Self.named
        let session = try await named.login()
        _ = try await named.submit(session, item: TestWorld.nike.merging(["customer_item_id": "sim-unknown-after-1h"]))
        let submitted = try await world.edge("captures", "started -> submitted")
        #expect(submitted.reached == 1)
        #expect(submitted.tests == ["CoverageTests/one"])
        #expect(try await world.edge("results", "needs_review").reached == 1)
        #expect(try await world.edge("results", "unknown").reached == 0)
        try await world.advance("1h")
        let result = try await world.edge("results", "unknown")
        #expect(result.reached == 1)
        #expect(result.tests == ["CoverageTests/one"], "the request that planned it is behind it")
        #expect(result.first?.request.hasPrefix("sequence:") == true)
    }

    @Test func aResultAtOnceIsNoReview() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login()
        _ = try await world.submit(
            session, item: TestWorld.nike.merging(["customer_item_id": "sim-authentic-after-0s"]))
        #expect(try await world.edge("results", "authentic").reached == 1)
        #expect(try await world.edge("results", "needs_review").reached == 0)
    }

    @Test func flagsCountByWhatTheyWere() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login()
        let item = try await world.submit(
            session, item: TestWorld.nike.merging(["customer_item_id": "sim-unknown-after-0s"]))
        func flag(_ isSet: Bool) async throws {
            let answer = try await world.send(
                "PUT", "/sdk/results/\(item)/flag", ["flag": .bool(isSet)], token: session)
            try #require(answer.status == 200, "\(answer.json)")
        }
        try await flag(true)
        try await flag(false)
        try await flag(true)
        _ = try await world.send("POST", "/_sim/authentications/\(item)/flag/resolve", ["note": "Seen"])
        try await flag(true)
        let flags = try #require(try await world.coverage().axes.first { $0.id == "flags" })
        #expect(
            flags.edges.map { "\($0.id) \($0.reached)" } == [
                "none -> flagged 2", "flagged -> none 1", "flagged -> resolved 1", "resolved -> flagged 1",
            ])
    }

    @Test func whatTheControlAPIMadeHasMetNothing() async throws {
        let world = try await TestWorld.withoutLimits()
        let made = try await world.send("POST", "/_sim/authentications", ["template": ["result": "invalid"]])
        let id = try #require(made["entrupy_ids.0"].text)
        let path = "/_sim/authentications/\(id)"
        _ = try await world.send("PATCH", path, ["flag": "flagged"])
        for result in ["analyzed", "authentic", "needs_review", "unknown"] {
            _ = try await world.send("PATCH", path, ["result": .string(result)])
        }
        let resolved = try await world.send("POST", "\(path)/flag/resolve", ["note": "Seen", "result": "canceled"])
        #expect(resolved.status == 200)
        let flagged = try await world.send(
            "POST", "/_sim/authentications", ["template": ["result": "unknown", "flag": "flagged"]])
        let other = try #require(flagged["entrupy_ids.0"].text)
        _ = try await world.send("POST", "/_sim/authentications/\(other)/flag/resolve", ["note": "Seen"])
        #expect(try await world.coverage().axes.flatMap(\.edges).filter(\.isMet).map(\.id) == [])
    }

    /// What support does to an item of a client counts, and to a flag that a client set.
    @Test func whatSupportAnswersAClientCounts() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login()
        let own = try await world.submit(session)
        _ = try await world.send("PATCH", "/_sim/authentications/\(own)", ["result": "analyzed"])
        let set = try await world.edge("results", "analyzed")
        #expect(set.reached == 1)
        #expect(set.first?.request.hasPrefix("control:") == true)
        let made = try await world.send("POST", "/_sim/authentications", ["result": "unknown", "brand": "Nike"])
        let given = try #require(made["entrupy_ids.0"].text)
        let user = try #require(
            try await world.send("GET", "/_sim/authentications/\(given)")["username"].text)
        let owner = try await world.login(String(user.dropFirst("DemoOrg-".count)))
        let flagged = try await world.send("PUT", "/sdk/results/\(given)/flag", ["flag": true], token: owner)
        try #require(flagged.status == 200, "\(flagged.json)")
        _ = try await world.send("POST", "/_sim/authentications/\(given)/flag/resolve", ["note": "Seen"])
        #expect(try await world.edge("flags", "flagged -> resolved").reached == 1)
    }

    @Test func aJobThatFailedHasMetNothing() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login()
        let capture = try await world.startCapture(session)
        #expect(try await world.send("POST", "/sdk/captures/\(capture.id)/submit", token: session).status == 400)
        #expect(try await world.edge("captures", "started -> submitted").reached == 0)
        #expect(try await world.edge("answers", "POST /sdk/captures/{id}/submit 400").reached == 1)
    }

    @Test func webhooksCountByHowTheirDeliveryEnded() async throws {
        let world = try await TestWorld.withoutLimits()
        let receiver = try await WebhookReceiver.open()
        var named = world
        named.headers = Self.named
        let session = try await named.login()
        try await world.subscribe(receiver, ["events": ["session.completed"]])
        _ = try await named.submit(session, item: TestWorld.nike.merging(["customer_item_id": "sim-unknown-after-0s"]))
        try await world.settleWebhooks()
        let delivered = try await world.edge("webhooks", "session.completed delivered")
        #expect(delivered.reached == 1)
        #expect(delivered.tests == ["CoverageTests/one"])
        _ = try await world.send(
            "POST", "/_sim/faults", ["match": ["webhook": "session.completed"], "effect": ["drop": true]])
        _ = try await named.submit(
            session, item: TestWorld.nike.merging(["customer_item_id": "sim-unknown-after-0s-b"]))
        try await world.advance("30d")
        let failed = try await world.edge("webhooks", "session.completed failed")
        #expect(failed.reached == 0)
        #expect(failed.injected == 1)
    }

    @Test func aDeliveryThatEndsWithItsSubscriptionIsCancelled() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login()
        let hook = try await world.send(
            "POST", "/_sim/webhooks",
            ["url": "http://127.0.0.1:9/x", "secret_key": "s", "events": ["session.completed"]])
        let id = try #require(hook["id"].text)
        _ = try await world.submit(session, item: TestWorld.nike.merging(["customer_item_id": "sim-unknown-after-0s"]))
        try await world.settleWebhooks()
        #expect(try await world.send("DELETE", "/_sim/webhooks/\(id)").status == 204)
        #expect(try await world.edge("webhooks", "session.completed cancelled").reached == 1)
    }

    @Test func anErrorOfAppComponentsCountsByItsName() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.workflowSession(client: ["document_number": "sim-PersonNotAdult"])
        #expect(try await world.runDocument(session).status == 422)
        #expect(try await world.edge("components", "PersonNotAdult").reached == 1)
        _ = try await world.send(
            "POST", "/_sim/faults",
            ["match": ["route": "/components/sessions"], "effect": ["component_error": "InvalidFont"], "times": 1])
        _ = try await world.send("POST", "/components/sessions", ["validationCode": "x", "networkEnvironment": "mock"])
        let injected = try await world.edge("components", "InvalidFont")
        #expect(injected.reached == 0)
        #expect(injected.injected == 1)
    }

    @Test func aShippedScenarioCountsWhenItIsVerified() async throws {
        let player = try await Player.started("late-result")
        let script = try #require(Player.all["late-result"])
        #expect(try await player.world.send("POST", "/_sim/scenarios/late-result/verify").status == 409)
        #expect(try await player.world.edge("scenarios", "late-result").reached == 0)
        try await script(player, false)
        let answer = try await player.world.send("POST", "/_sim/scenarios/late-result/verify", headers: Self.named)
        #expect(answer.status == 200)
        let edge = try await player.world.edge("scenarios", "late-result")
        #expect(edge.reached == 1)
        #expect(edge.tests == ["CoverageTests/one"])
    }

    @Test func aChangedScenarioIsNotTheShippedOne() async throws {
        let world = try await TestWorld.withoutLimits()
        let text = "name: late-result\ndescription: Mine.\nexpect:\n  - {route: /sdk/session, times: 0}\n"
        let started = try await world.send("POST", "/_sim/scenarios/start", ["scenario": .string(text)])
        try #require(started.status == 200, "\(started.json)")
        #expect(try await world.send("POST", "/_sim/scenarios/late-result/verify").status == 200)
        #expect(try await world.edge("scenarios", "late-result").reached == 0)
    }

    // MARK: Parts

    @Test func namespacesAreCountedApartAndTheServerSumsThem() async throws {
        try await withServer { root in
            for name in ["pr-1-a", "pr-1-b", "pr-2"] {
                _ = try await root.send("PUT", "/_sim/namespaces/\(name)", [:])
                _ = try await TestWorld(base: "\(root.base)/ns/\(name)").authorize()
            }
            let id = "POST /v2/integrations/authorize-user 200"
            func count(_ query: String) async throws -> Int? {
                let answer = try await root.send("GET", "/_sim/coverage\(query)")
                return try WireJSON.decode(Coverage.self, from: answer.body).edge("answers", id)?.reached
            }
            #expect(try await count("") == 3)
            #expect(try await count("?prefix=pr-1-") == 2)
            #expect(try await count("?prefix=pr-3") == 0)
            #expect(try await TestWorld(base: "\(root.base)/ns/pr-2").edge("answers", id).reached == 1)
            #expect(try await TestWorld(base: "\(root.base)/ns/default").edge("answers", id).reached == 0)
            _ = try await root.send("DELETE", "/_sim/namespaces/pr-1-a")
            #expect(try await count("?prefix=pr-1-") == 1)
            #expect(try await count("") == 3, "the server remembers namespaces that are gone")
            #expect(try await root.send("DELETE", "/_sim/coverage?prefix=pr-1-").status == 204)
            #expect(try await count("?prefix=pr-1-") == 0)
            #expect(try await count("?prefix=pr-2") == 1)
            #expect(try await root.send("DELETE", "/_sim/coverage").status == 204)
            #expect(try await count("") == 0)
            #expect(try await count("?prefix=pr-2") == 1)
        }
    }

    @Test func aResetAndADeletionBeginANamespaceAnew() async throws {
        let world = try await TestWorld.withoutLimits()
        let id = "POST /v2/integrations/authorize-user 200"
        _ = try await world.authorize()
        #expect(try await world.edge("answers", id).reached == 1)
        _ = try await world.send("POST", "/_sim/reset")
        #expect(try await world.edge("answers", id).reached == 0)
        _ = try await world.authorize()
        #expect(try await world.edge("answers", id).reached == 1)
        #expect(try await world.send("DELETE", "/_sim/coverage").status == 204)
        #expect(try await world.edge("answers", id).reached == 0)
    }

    @Test(arguments: ["", "A", "a_b", "x%20y", String(repeating: "a", count: 64), "%C3%A9"])
    func aPrefixIsTheBeginningOfAName(prefix: String) async throws {
        let root = TestWorld(base: SimProcess.shared.baseURL)
        let answer = try await root.send("GET", "/_sim/coverage?prefix=\(prefix)")
        #expect(answer.status == 400)
        #expect(answer["details.0.field"] == "prefix", "\(answer.json)")
    }

    @Test func aPrefixWithinANamespaceIsRefused() async throws {
        let world = try await TestWorld.withoutLimits()
        let answer = try await world.send("GET", "/_sim/coverage?prefix=a")
        #expect(answer.status == 400)
        #expect(answer["details.0.problem"].text?.contains("for the server's namespaces") == true, "\(answer.json)")
        let headed = try await TestWorld(base: SimProcess.shared.baseURL).send(
            "GET", "/_sim/coverage?prefix=a", headers: ["X-Sim-Namespace": "default"])
        #expect(headed.status == 400)
    }

    // MARK: Bounds

    @Test func anEdgeNamesTwentyTestsOfTwoHundredBytes() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login()
        let long = String(repeating: "é", count: 1000)
        _ = try await world.send("GET", "/sdk/session", token: session, headers: ["X-Sim-Test": long])
        for number in 0..<40 {
            _ = try await world.send("GET", "/sdk/session", token: session, headers: ["X-Sim-Test": "t\(number)"])
        }
        let edge = try await world.edge("answers", "GET /sdk/session 200")
        #expect(edge.reached == 41)
        #expect(edge.tests.count == 20)
        #expect(edge.tests[0].hasSuffix("…") && edge.tests[0].utf8.count <= 200)
        #expect(edge.tests[1] == "t0" && edge.tests[19] == "t18")
    }

    @Test func aSecretInTheNameOfATestIsMasked() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login()
        _ = try await world.send("GET", "/sdk/session", token: session, headers: ["X-Sim-Test": "with \(session)"])
        _ = try await world.startCapture(session)
        let edge = try await world.edge("answers", "GET /sdk/session 200")
        #expect(edge.tests.count == 1 && !edge.tests[0].contains(session))
    }

    @Test func parallelRequestsAreAllCounted() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    _ = try await world.send(
                        "GET", "/sdk/session", token: session, headers: ["X-Sim-Test": "t\(number % 7)"])
                }
            }
            try await group.waitForAll()
        }
        let edge = try await world.edge("answers", "GET /sdk/session 200")
        #expect(edge.reached == 200)
        #expect(Set(edge.tests) == Set((0..<7).map { "t\($0)" }))
    }

    /// Runs with a server of its own, since the shared one counts what other tests do.
    private func withServer(_ body: (TestWorld) async throws -> Void) async throws {
        let server = try SimProcess(["--in-memory"])
        defer { server.stop() }
        try await body(TestWorld(base: server.baseURL))
    }
}
