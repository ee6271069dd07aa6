import Foundation
import SimulationAPI
import TestSupport
import Testing

/// `GET /_sim/coverage`: what counts, and what does not [D coverage].
@Suite struct CoverageRuleTests {
    private static let test = "CoverageRuleTests/one"
    private static let named = ["X-Sim-Test": test]
    private static let authorized = "POST /v2/integrations/authorize-user 200"

    private func started() async throws -> (world: TestWorld, session: String) {
        let world = try await TestWorld.withoutLimits()
        return (world, try await world.login())
    }

    // MARK: Answers

    @Test func anAnswerCountsWithItsTestAndTheFirstRequest() async throws {
        let (world, session) = try await started()
        let before = try await world.edge("answers", "GET /sdk/session 200")
        #expect(before.reached == 0 && before.meet_with?.isEmpty == false)
        for _ in 0..<3 { _ = try await world.send("GET", "/sdk/session", token: session, headers: Self.named) }
        let edge = try await world.edge("answers", "GET /sdk/session 200")
        #expect(edge.reached == 3 && edge.injected == 0 && edge.tests == [Self.test] && edge.meet_with == nil)
        let first = try #require(edge.first)
        #expect(first.namespace == world.name)
        let explained = try await world.send("GET", "/_sim/explain/\(first.request)")
        #expect(explained["steps.0.text"].text?.hasPrefix("GET /sdk/session -> 200") == true, "\(explained.json)")
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
        #expect(answers.reached == 1 && answers.edges.filter(\.isMet).map(\.id) == [Self.authorized])
    }

    @Test func aRefusalCountsWithItsSDKErrorAndALimitWithItsName() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": ["sdk_per_second": 2]])
        let session = try await world.login()
        for _ in 0..<3 { _ = try await world.send("GET", "/sdk/session", token: session, headers: Self.named) }
        #expect(try await world.edge("answers", "GET /sdk/session 429").reached == 2)
        #expect(try await world.edge("sdk_errors", "ErrorCodeTooManyRequests").reached == 2)
        let limit = try await world.edge("limits", "sdk_per_second")
        #expect(limit.reached == 2 && limit.tests == [Self.test])
        #expect(try await world.edge("limits", "api_per_second").reached == 0)
    }

    @Test func whatAFaultInjectedCountsApart() async throws {
        let (world, session) = try await started()
        try await world.fault("/sdk/session", ["status": 403], times: 1)
        _ = try await world.send("GET", "/sdk/session", token: session, headers: Self.named)
        let edge = try await world.edge("answers", "GET /sdk/session 403")
        #expect(edge.reached == 0 && edge.injected == 1 && !edge.isMet && !edge.fault_only)
        #expect(edge.tests.isEmpty && edge.first == nil && edge.meet_with != nil)
        #expect(try await world.edge("sdk_errors", "ErrorCodeForbiddenError").injected == 1)
        // What only a fault shows is met when it is injected.
        try await world.fault("/sdk/session", ["status": 503], times: 1)
        _ = try await world.send("GET", "/sdk/session", token: session, headers: Self.named)
        let only = try await world.edge("answers", "GET /sdk/session 503")
        #expect(only.fault_only && only.isMet && only.reached == 0 && only.injected == 1)
        #expect(only.tests == [Self.test] && only.meet_with == nil)
        #expect(try await world.edge("sdk_errors", "ErrorCodeInternalServerError").isMet)
    }

    /// A status that is none of an error, and a body of the rule's own, name no error of the SDK.
    @Test(arguments: [["status": 200], ["status": 204], ["status": 404, "body": ["detail": "gone"]]] as [JSONValue])
    func anInjectedAnswerIsNoErrorUnlessItNamesOne(effect: JSONValue) async throws {
        let (world, session) = try await started()
        try await world.fault("/sdk/session", effect)
        _ = try await world.send("GET", "/sdk/session", token: session)
        let coverage = try await world.coverage()
        let errors = try #require(coverage.axes.first { $0.id == "sdk_errors" })
        #expect(errors.edges.someAndAll { $0.reached == 0 && $0.injected == 0 }, "\(errors)")
        #expect(coverage.edge("answers", "GET /sdk/session 200")?.reached == 0)
    }

    @Test(
        arguments: [
            (["delay": "1ms"], 1, 0), (["slow_body": 1_000_000], 1, 0), (["truncate_body": 1_000_000], 1, 0),
            (["malformed_json": true], 0, 1), (["truncate_body": 3], 0, 0), (["drop_connection": true], 0, 0),
            (["lose_request": true], 0, 0), (["expire_session": true], 0, 0),
        ] as [(JSONValue, Int, Int)])
    func anEffectDecidesWhetherTheAnswerCounts(effect: JSONValue, reached: Int, injected: Int) async throws {
        let (world, session) = try await started()
        try await world.fault("/sdk/session", effect, times: 1)
        _ = try await world.send("GET", "/sdk/session", token: session)
        let edge = try await world.edge("answers", "GET /sdk/session 200")
        #expect(edge.reached == reached && edge.injected == injected)
        let isExpired = effect["expire_session"] == true
        #expect(try await world.edge("answers", "GET /sdk/session 401").injected == (isExpired ? 1 : 0))
    }

    @Test func answersThatNoJobDecidedCountForTheServer() async throws {
        let world = try await HeldServer.open().world.made()
        let root = world.root
        _ = try await root.send("GET", "/ns/no-such-namespace/sdk/session", headers: Self.named)
        let unknown = try await root.edge("answers", "GET /sdk/session 404")
        #expect(unknown.reached == 1 && unknown.tests == [Self.test])
        #expect(unknown.first?.namespace == "no-such-namespace")
        // A namespace can never meet them, so it does not list them.
        let all = Set(try await root.coverage().namedEdges.map(\.name))
        for query in ["\(world.path)/_sim/coverage", "/_sim/coverage?prefix=t"] {
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

    @Test func headsControlCallsAndRequestsThatAreSentAgainCountNowhere() async throws {
        let (world, session) = try await started()
        let before = try WireJSON.encode(try await world.coverage().axes)
        _ = try await world.send("HEAD", "/sdk/session", token: session)
        for path in ["info", "requests", "captures", "coverage"] { _ = try await world.send("GET", "/_sim/\(path)") }
        #expect(try WireJSON.encode(try await world.coverage().axes) == before)
        _ = try await world.startCapture(session)
        let sent = try await world.send("GET", "/_sim/requests?route=/sdk/captures")
        let id = try #require(sent["requests.0.id"].text)
        #expect(try await world.send("POST", "/_sim/requests/\(id)/resend")["status"] == 201)
        #expect(try await world.edge("answers", "POST /sdk/captures 201").reached == 1)
        #expect(try await world.edge("captures", "started").reached == 1)
        // Both captures time out; the client started one of them.
        try await world.advance("2h")
        #expect(try await world.edge("captures", "started -> timed_out").reached == 1)
    }

    // MARK: Events

    @Test func theStatesOfACaptureAndItsResultCountForTheTestOfItsRequests() async throws {
        let world = try await TestWorld.withoutLimits()
        var named = world
        named.headers = Self.named
        let session = try await named.login()
        _ = try await named.submit(session, item: TestWorld.nike.merging(["customer_item_id": "sim-unknown-after-1h"]))
        let submitted = try await world.edge("captures", "started -> submitted")
        #expect(submitted.reached == 1 && submitted.tests == [Self.test])
        #expect(try await world.edge("results", "needs_review").reached == 1)
        #expect(try await world.edge("results", "unknown").reached == 0)
        try await world.advance("1h")
        let result = try await world.edge("results", "unknown")
        #expect(result.reached == 1 && result.tests == [Self.test], "the request that planned it is behind it")
        #expect(result.first?.request.hasPrefix("sequence:") == true)
        // A result at once is no review.
        _ = try await world.submit(
            session, item: TestWorld.nike.merging(["customer_item_id": "sim-authentic-after-0s"]))
        #expect(try await world.edge("results", "authentic").reached == 1)
        #expect(try await world.edge("results", "needs_review").reached == 1)
    }

    @Test func flagsCountByWhatTheyWere() async throws {
        let (world, session) = try await started()
        let item = try await world.submit(
            session, item: TestWorld.nike.merging(["customer_item_id": "sim-unknown-after-0s"]))
        func flag(_ isSet: Bool) async throws {
            let answer = try await world.send(
                "PUT", "/sdk/results/\(item)/flag", ["flag": .bool(isSet)], token: session)
            try #require(answer.status == 200, "\(answer.json)")
        }
        for isSet in [true, false, true] { try await flag(isSet) }
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
        let path = "/_sim/authentications/\(try await world.generatedItem(["result": "invalid"]))"
        _ = try await world.send("PATCH", path, ["flag": "flagged"])
        for result in ["analyzed", "authentic", "needs_review", "unknown"] {
            _ = try await world.send("PATCH", path, ["result": .string(result)])
        }
        let resolved = try await world.send("POST", "\(path)/flag/resolve", ["note": "Seen", "result": "canceled"])
        #expect(resolved.status == 200)
        let other = try await world.generatedItem(["result": "unknown", "flag": "flagged"])
        _ = try await world.send("POST", "/_sim/authentications/\(other)/flag/resolve", ["note": "Seen"])
        #expect(try await world.coverage().axes.flatMap(\.edges).filter(\.isMet).map(\.id) == [])
    }

    /// What support does to an item of a client counts, and to a flag that a client set.
    @Test func whatSupportAnswersAClientCounts() async throws {
        let (world, session) = try await started()
        let own = try await world.submit(session)
        _ = try await world.send("PATCH", "/_sim/authentications/\(own)", ["result": "analyzed"])
        let set = try await world.edge("results", "analyzed")
        #expect(set.reached == 1 && set.first?.request.hasPrefix("control:") == true)
        let given = try await world.generatedItem(
            ["result": "unknown", "brand": "Nike", "username": "DemoOrg-example-user-id"])
        let flagged = try await world.send("PUT", "/sdk/results/\(given)/flag", ["flag": true], token: session)
        try #require(flagged.status == 200, "\(flagged.json)")
        _ = try await world.send("POST", "/_sim/authentications/\(given)/flag/resolve", ["note": "Seen"])
        #expect(try await world.edge("flags", "flagged -> resolved").reached == 1)
    }

    @Test func aJobThatFailedHasMetNothing() async throws {
        let (world, session) = try await started()
        let capture = try await world.startCapture(session)
        #expect(try await world.send("POST", "/sdk/captures/\(capture.id)/submit", token: session).status == 400)
        #expect(try await world.edge("captures", "started -> submitted").reached == 0)
        #expect(try await world.edge("answers", "POST /sdk/captures/{id}/submit 400").reached == 1)
    }

    @Test func aDeliveryThatEndsWithItsSubscriptionIsCancelled() async throws {
        let (world, session) = try await started()
        let hook = try await world.subscribe(url: "http://127.0.0.1:9/x", ["events": ["session.completed"]])
        _ = try await world.submit(session, item: TestWorld.nike.merging(["customer_item_id": "sim-unknown-after-0s"]))
        #expect(try await world.send("DELETE", "/_sim/webhooks/\(hook)").status == 204)
        #expect(try await world.edge("webhooks", "session.completed cancelled").reached == 1)
    }

    @Test func anErrorOfAppComponentsThatAFaultInjectedCountsApart() async throws {
        let world = try await TestWorld.withoutLimits()
        try await world.fault("/components/sessions", ["component_error": "InvalidFont"], times: 1)
        _ = try await world.send("POST", "/components/sessions", ["validationCode": "x", "networkEnvironment": "mock"])
        let injected = try await world.edge("components", "InvalidFont")
        #expect(injected.reached == 0 && injected.injected == 1)
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
        let root = try await HeldServer.open().world
        for name in ["pr-1-a", "pr-1-b", "pr-2"] {
            _ = try await root.send("PUT", "/_sim/namespaces/\(name)", [:])
            _ = try await root.namespace(name).authorize()
        }
        func count(_ place: String) async throws -> Int? {
            let answer = try await root.send("GET", place)
            return try WireJSON.decode(Coverage.self, from: answer.body).edge("answers", Self.authorized)?.reached
        }
        func counts(_ queries: String...) async throws -> [Int?] {
            var found: [Int?] = []
            for query in queries { found.append(try await count("/_sim/coverage\(query)")) }
            return found
        }
        #expect(try await counts("", "?prefix=pr-1-", "?prefix=pr-3") == [3, 2, 0])
        #expect(try await count("/ns/pr-2/_sim/coverage") == 1)
        #expect(try await count("/ns/default/_sim/coverage") == 0)
        _ = try await root.send("DELETE", "/_sim/namespaces/pr-1-a")
        #expect(try await counts("?prefix=pr-1-", "") == [1, 3], "the server remembers namespaces that are gone")
        #expect(try await root.send("DELETE", "/_sim/coverage?prefix=pr-1-").status == 204)
        #expect(try await counts("?prefix=pr-1-", "?prefix=pr-2") == [0, 1])
        #expect(try await root.send("DELETE", "/_sim/coverage").status == 204)
        #expect(try await counts("", "?prefix=pr-2") == [0, 1])
    }

    @Test func aResetAndADeletionBeginANamespaceAnew() async throws {
        let world = try await TestWorld.withoutLimits()
        for (method, path) in [("POST", "/_sim/reset"), ("DELETE", "/_sim/coverage")] {
            _ = try await world.authorize()
            #expect(try await world.edge("answers", Self.authorized).reached == 1)
            _ = try await world.send(method, path)
            #expect(try await world.edge("answers", Self.authorized).reached == 0, "\(path)")
        }
    }

    @Test func aPrefixIsTheBeginningOfANameOfTheServer() async throws {
        let world = try await TestWorld.make()
        for prefix in ["", "A", "a_b", "x%20y", String(repeating: "a", count: 64), "%C3%A9"] {
            let answer = try await world.root.send("GET", "/_sim/coverage?prefix=\(prefix)")
            #expect(answer.status == 400 && answer["details.0.field"] == "prefix", "\(answer.json)")
        }
        let own = try await world.send("GET", "/_sim/coverage?prefix=a")
        #expect(own.status == 400)
        #expect(own["details.0.problem"].text?.contains("for the server's namespaces") == true, "\(own.json)")
        let headed = try await world.root.send(
            "GET", "/_sim/coverage?prefix=a", headers: ["X-Sim-Namespace": "default"])
        #expect(headed.status == 400)
    }

    // MARK: Bounds

    @Test func anEdgeNamesTwentyTestsOfTwoHundredBytes() async throws {
        let (world, session) = try await started()
        for name in [String(repeating: "é", count: 1000)] + (0..<40).map({ "t\($0)" }) {
            _ = try await world.send("GET", "/sdk/session", token: session, headers: ["X-Sim-Test": name])
        }
        let edge = try await world.edge("answers", "GET /sdk/session 200")
        #expect(edge.reached == 41 && edge.tests.count == 20)
        #expect(edge.tests[0].hasSuffix("…") && edge.tests[0].utf8.count <= 200)
        #expect(edge.tests[1] == "t0" && edge.tests[19] == "t18")
    }

    /// A name of a test that holds a secret is stored once, masked.
    @Test func aSecretInTheNameOfATestIsMasked() async throws {
        let (world, session) = try await started()
        for name in ["of \(TestWorld.apiToken)", "of \(session)", "of \(session)"] {
            _ = try await world.send("GET", "/sdk/session", token: session, headers: ["X-Sim-Test": name])
        }
        let tests = try await world.edge("answers", "GET /sdk/session 200").tests
        #expect(tests == ["of ***", "of sdk_***"])
    }

    @Test func parallelRequestsAreAllCounted() async throws {
        let (world, session) = try await started()
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
        #expect(edge.reached == 200 && Set(edge.tests) == Set((0..<7).map { "t\($0)" }))
    }
}
