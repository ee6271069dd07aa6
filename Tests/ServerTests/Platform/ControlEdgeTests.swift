import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Edge cases of the control API that a review found.
@Suite struct ControlEdgeTests {
    @Test(arguments: [
        "GET /_sim/requests?user=x", "DELETE /_sim/sessions?user=DemoOrg-a", "GET /_sim/users?limt=3",
        "GET /_sim/webhook-deliveries?state=failed", "GET /_sim/captures?state=all", "GET /_sim/events?foo=1",
        "DELETE /_sim/namespaces?prefx=a&prefix=zzz",
    ])
    func anUnknownParameterIsRefused(request: String) async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        let parts = request.split(separator: " ").map(String.init)
        let answer = try await world.send(parts[0], parts[1])
        #expect(answer.status == 400 && answer["details.0.problem"].text?.contains("expected") == true)
        #expect(try await world.send("GET", "/sdk/session", token: token).status == 200)
    }

    @Test func secretsAreMaskedEverywhereInTheJournal() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        let token = try await world.login()
        _ = try await world.send("GET", "/sdk/session?token=\(token)&api_token=demo-api-token&x=1")
        _ = try await world.send("GET", "/sdk/session/\(token)")
        for body in [
            #"{"pass\u0077ord":"hunter-a"}"#, #"{"password":{"a":"hunter-b"}}"#, #"{"password":770077}"#,
            #"{"Password":"hunter-c"}"#, #"{"note":"\#(token)"}"#, #"{"password": "hunter-d"#,
            #"{"url":"http://me:hunter-e@127.0.0.1/"}"#,
        ] {
            _ = try await world.send(
                "POST", "/partner/login", bytes: Data(body.utf8),
                headers: ["Content-Type": "application/json", "X-Api-Key": "hunter-f"])
        }
        var shown = try await world.send("GET", "/_sim/requests?format=har").body
        shown += try await world.send("GET", "/_sim/requests").body
        for entry in try await world.send("GET", "/_sim/requests")["requests"].items {
            shown += try await world.send("GET", "/_sim/requests/\(entry["id"].text ?? "")").body
        }
        shown += try await world.send(
            "POST", "/_sim/requests/verify", ["match": ["route": "/nothing"], "any_route": true]
        ).body
        let text = String(decoding: shown, as: UTF8.self)
        #expect(text.contains("x=1") && text.contains("***"))
        for secret in [token, "hunter", "770077", "demo-api-token"] { #expect(!text.contains(secret), "\(secret)") }
    }

    /// Each step is compared with the whole journal.
    @Test func theStepsOfAllSequencesOfAScenarioAreBounded() async throws {
        let world = try await TestWorld.make()
        func start(_ steps: [Int]) async throws -> TestWorld.Answer {
            let sequences = steps.map { count in
                "{sequence: [" + Array(repeating: "{route: /sdk/login}", count: count).joined(separator: ", ") + "]}"
            }
            let text = "{name: x, description: x, expect: [\(sequences.joined(separator: ", "))]}"
            return try await world.send("POST", "/_sim/scenarios/start", ["scenario": .string(text)])
        }
        #expect(try await start([100, 100]).status != 400)
        let refused = try await start([100, 100, 1])
        #expect(refused.status == 400)
        #expect(
            refused["details.0.problem"].text?.contains("at most 200 steps in all sequences together, found 201")
                == true,
            "\(refused.json)")
    }

    /// A test that shares its namespace is told of its own requests, however many others had findings, and a run says the others.
    @Test func anAuditOfATestHasItsFindingsAlone() async throws {
        var world = try await TestWorld.withoutLimits()
        for number in 0..<104 {
            world.headers = ["X-Sim-Test": "test \(number)"]
            _ = try await world.send("GET", "/v1/health?t=\(TestWorld.apiToken)", token: TestWorld.apiToken)
        }
        world.headers = [:]
        func audit(_ test: String) async throws -> TestWorld.Answer {
            try await world.send("GET", "/_sim/audit?rule=token-in-url&test=\(test)")
        }
        let last = try await audit("test%20103")
        #expect(last["findings"].items.map { $0["test"] } == ["test 103"])
        #expect(try await audit("another")["findings"].items.isEmpty)
        // Only a test whose requests may be forgotten is not judged.
        _ = try await world.send("PATCH", "/_sim/settings", ["journal": ["entries": 2]])
        world.headers = ["X-Sim-Test": "late"]
        _ = try await world.send("GET", "/v1/health", token: TestWorld.apiToken)
        world.headers = [:]
        #expect(try await audit("test%2050")["rules.0.not_judged"].text?.contains("forgotten") == true)
        #expect(try await audit("late")["rules.0.not_judged"] == .null)
    }

    /// In a namespace that tests share, what no test says is left for the run of all.
    @Test func whatATestTellsIsItsOwn() async throws {
        let server = try await TestWorld.opened { $0.keepsAudits = true }
        var world = try await server.made(
            settings: ["rate_limits": "off"])
        for test in ["a", "b", ""] {
            world.headers = test.isEmpty ? [:] : ["X-Sim-Test": test]
            _ = try await world.send("GET", "/v1/health?t=\(TestWorld.apiToken)", token: TestWorld.apiToken)
        }
        func left() async throws -> [JSONValue] {
            let audits = try await world.send("GET", "/_sim/audits")["namespaces"].items
            return audits.flatMap { $0["findings"].items.map { $0["test"] } }
        }
        #expect(try await left() == ["a", "b", .null])
        _ = try await world.send("GET", "/_sim/audit?told=error&test=a")
        #expect(try await left() == ["b", .null])
        world.headers = ["X-Sim-Test": "a"]
        _ = try await world.send("GET", "/v1/health?t=\(TestWorld.apiToken)", token: TestWorld.apiToken)
        world.headers = [:]
        #expect(try await left().count == 3, "what came later was not told")
        _ = try await world.send("GET", "/_sim/audit?told=error")
        #expect(try await left().isEmpty)
    }

    @Test func seedDataThatOmitsValuesRemovesNothing() async throws {
        let world = try await TestWorld.make()
        let yaml =
            "organizations: [{name: DemoOrg, api_tokens: [], users: [{unique_user_id: sim-test-user, email: a@b.c}]}]"
        let loaded = try await world.send(
            "POST", "/_sim/seed", bytes: Data(yaml.utf8), headers: ["Content-Type": "application/yaml"])
        #expect(loaded.status == 200)
        let before = try await world.send("GET", "/_sim/export").body
        _ = try await world.send("POST", "/_sim/reset")
        #expect(try await world.send("GET", "/_sim/users/DemoOrg-sim-test-user")["test_user"] == true)
        #expect(try await world.send("GET", "/_sim/export").body == before)
        let lenient = try await world.send(
            "POST", "/_sim/seed", bytes: Data(#"{"organizations":[],}"#.utf8),
            headers: ["Content-Type": "application/json"])
        #expect(lenient.status == 400)
    }

    @Test func aLoginIsFoundUnderItsUser() async throws {
        let world = try await TestWorld.make()
        _ = try await world.login()
        let found = try await world.send("GET", "/_sim/requests?username=DemoOrg-example-user-id")["requests"].items
        #expect(found.map { $0["path"] } == ["/sdk/login"])
    }

    @Test func settleEndsIfTheNamespaceIsReset() async throws {
        let world = try await TestWorld.make()
        _ = try await world.send("POST", "/_sim/clock/resume")
        try await world.subscribe(url: "http://127.0.0.1:9/")
        _ = try await world.send("POST", "/_sim/faults", ["match": ["webhook": "*"], "effect": ["delay": "1h"]])
        try await world.generatedItem()
        async let settled = world.send("POST", "/_sim/settle", ["within": "9m"])
        _ = try await world.send("POST", "/_sim/reset")
        // If settling waited for the delay of an hour, the test would take nine minutes.
        #expect(try await settled["settled"] == true)
    }
}
