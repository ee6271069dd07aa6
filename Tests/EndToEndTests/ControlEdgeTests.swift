import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Edge cases of the control API that a review found.
@Suite struct ControlEdgeTests {
    private let root = TestWorld(base: SimProcess.shared.baseURL)

    /// A receiver that is subscribed to the namespace's webhooks.
    private func subscribe(_ world: TestWorld) async throws -> WebhookReceiver {
        let receiver = try await WebhookReceiver.open()
        _ = try await world.send(
            "POST", "/v2/webhooks", ["url": .string(receiver.url), "secret_key": "s"], token: TestWorld.apiToken)
        return receiver
    }

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

    @Test func aReorderedWebhookIsSentAfterAnHourThoughTheNextIsPending() async throws {
        let world = try await TestWorld.make()
        let receiver = try await subscribe(world)
        for rule: JSONValue in [
            ["match": ["webhook": "session.updated"], "effect": ["reorder": true], "times": 1],
            ["match": ["webhook": "session.completed"], "effect": ["delay": "5h"]],
        ] { _ = try await world.send("POST", "/_sim/faults", rule) }
        _ = try await world.send("POST", "/_sim/authentications", [:])
        let held = try await world.send("GET", "/_sim/webhook-deliveries")["deliveries.1"]
        #expect(held["status"] == "retrying" && held["fault"].text?.hasPrefix("flt_") == true)
        try await world.advance("1h")
        #expect(receiver.deliveries.map { $0.event } == ["session.updated"])
        try await world.advance("4h")
        #expect(receiver.deliveries.map { $0.event } == ["session.updated", "session.completed"])
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

    @Test func forgottenRequestsCannotBeCounted() async throws {
        let world = try await TestWorld.make(settings: ["journal": ["entries": 2]])
        for _ in 0..<5 { _ = try await world.send("GET", "/nope") }
        let exact: JSONValue = ["match": ["route": "/nope"], "any_route": true, "times": 2]
        let unsure = try await world.send("POST", "/_sim/requests/verify", exact)
        #expect(unsure.status == 409 && unsure["code"] == "forgotten" && unsure["sequence"] == 4)
        let least: JSONValue = ["match": ["route": "/nope"], "any_route": true, "at_least": 2]
        #expect(try await world.send("POST", "/_sim/requests/verify", least).status == 200)
        try await world.advance("1s")
        _ = try await world.send("GET", "/nope")
        // Of the moment of the forgotten requests, two are left with the last one. After it, none is missing.
        for (since, count, status) in [("2026-01-05T09:00:00Z", 2, 409), ("2026-01-05T09:00:01Z", 1, 200)] {
            let later: JSONValue = [
                "match": ["route": "/nope", "since": .string(since)], "any_route": true,
                "times": .number(JSONNumber(count)),
            ]
            #expect(try await world.send("POST", "/_sim/requests/verify", later).status == status, "\(since)")
        }
    }

    private func nope(_ world: TestWorld, since: JSONValue = .null, times: JSONValue = 0) async throws -> Answer {
        try await world.send(
            "POST", "/_sim/requests/verify",
            [
                "match": since == .null ? ["route": "/nope"] : ["route": "/nope", "since": since], "any_route": true,
                "times": times,
            ])
    }

    /// Of none of the requests before can be said that they did not happen.
    @Test(arguments: ["clear", "restore"]) func whatAJournalLostIsNotDenied(how: String) async throws {
        let world = try await TestWorld.make()
        #expect(try await nope(world).status == 200, "a new namespace had no request")
        _ = try await world.send("PUT", "/_sim/snapshots/s")
        try await world.advance("2h")
        for _ in 0..<2 { _ = try await world.send("GET", "/nope") }
        _ =
            how == "clear"
            ? try await world.send("DELETE", "/_sim/requests")
            : try await world.send("POST", "/_sim/snapshots/s/restore")
        let denied = try await nope(world)
        #expect(denied.status == 409 && denied["code"] == "forgotten" && denied["count"] == 0, "\(denied.json)")
        let passedAgain = try await nope(world, since: "2026-01-05T10:00:00Z")
        #expect(passedAgain.status == 409, "a restored clock has gone back")
        let first = try #require(denied["sequence"].integer)
        let from = JSONValue.string("sequence:\(first)")
        #expect(try await nope(world, since: from).status == 200)
        #expect(try await nope(world, since: .string("sequence:\(first - 1)")).status == 409)
        _ = try await world.send("GET", "/nope")
        #expect(try await nope(world, times: 1).status == 409)
        #expect(try await nope(world, since: from, times: 1).status == 200)
        #expect(try await world.send("GET", "/_sim/requests?limit=1")["requests.0.sequence"].integer == first)
        let rules = try await world.send("GET", "/_sim/audit")["rules"].items
        let unjudged = rules.filter { $0["not_judged"].text?.contains("the journal has forgotten") == true }
        #expect(!unjudged.isEmpty)
        #expect(try await world.send("GET", "/_sim/requests?since=sequence:\(first)")["requests"].items.count == 1)
        #expect(try await world.send("GET", "/_sim/requests?since=sequence:\(first + 1)")["requests"].items.isEmpty)
        // A reset begins anew.
        _ = try await world.send("POST", "/_sim/reset")
        #expect(try await nope(world).status == 200)
        let wrong = try await nope(world, since: "sequence:0")
        #expect(wrong.status == 400 && wrong["details.0.problem"].text?.contains("sequence:N") == true)
    }

    /// A restore takes counts back, so that no upper limit of them says anything.
    @Test func aRestoreLeavesNoUpperLimitOfFaultsAndWebhooks() async throws {
        let world = try await TestWorld.make()
        let scenario = """
            {name: x, description: x, faults: [{match: {route: /sdk/session}, effect: {status: 503}, times: 3}],
             expect: [{fault: {route: /sdk/session}, times: 0}, {fault: {route: /sdk/session}, at_most: 1},
              {webhook: {event: session.completed}, times: 0}]}
            """
        _ = try await world.send("POST", "/_sim/scenarios/start", ["scenario": .string(scenario)])
        _ = try await world.subscribe(url: "http://127.0.0.1:9/x")
        _ = try await world.send("PUT", "/_sim/snapshots/s")
        // There was no webhook to forget.
        _ = try await world.send("POST", "/_sim/snapshots/s/restore")
        let first = try await world.send("POST", "/_sim/scenarios/x/verify")["scenario.expectations"].items
        #expect(first.map { $0["passed"] } == [false, false, true])
        #expect(try await world.send("GET", "/_sim/webhook-deliveries")["forgotten_before"] == .null)
        try await world.generatedItem()
        #expect(try await !world.webhookDeliveries().isEmpty)
        _ = try await world.send("GET", "/sdk/session")
        let now = try await world.send("POST", "/_sim/snapshots/s/restore")["clock.epoch"].double
        let verified = try await world.send("POST", "/_sim/scenarios/x/verify")
        let checks = verified["scenario.expectations"].items
        #expect(checks.map { $0["passed"] } == [false, false, false], "\(verified.json)")
        #expect(checks.first?["problem"].text?.hasPrefix("the namespace was restored") == true)
        let notes = verified["scenario.notes"].items.compactMap { $0["problem"].text }
        #expect(notes.contains { $0.contains("was not met since the namespace was restored") }, "\(verified.json)")
        let list = try await world.send("GET", "/_sim/webhook-deliveries")
        #expect(list["deliveries"].items.isEmpty)
        #expect(abs((list["forgotten_before"].double ?? 0) - (now ?? 1)) < 60, "\(list.json)")
        // Another namespace has forgotten nothing, and neither has this one after a reset.
        _ = try await world.send("PUT", "/_sim/snapshots/t")
        let name = world.base.split(separator: "/").last ?? ""
        let forked = try await world.send("POST", "/_sim/snapshots/t/fork", ["namespace": .string("\(name)-child")])
        let child = TestWorld(base: try #require(forked["url"].text))
        #expect(try await child.send("GET", "/_sim/webhook-deliveries")["forgotten_before"] == .null)
        _ = try await world.send("POST", "/_sim/snapshots/s/restore")
        #expect(try await world.send("GET", "/_sim/webhook-deliveries")["forgotten_before"] != .null)
        _ = try await world.send("POST", "/_sim/reset")
        #expect(try await world.send("GET", "/_sim/webhook-deliveries")["forgotten_before"] == .null)
    }

    @Test func aRestoreIsNamedWhereASessionIsUnknownAfterIt() async throws {
        let world = try await TestWorld.make()
        _ = try await world.send("PUT", "/_sim/snapshots/s")
        let token = try await world.login()
        func explained(_ token: String) async throws -> String {
            try #require(try await world.send("GET", "/sdk/session", token: token).status == 401)
            let request = try await world.send("GET", "/_sim/requests?limit=1")["requests.0"]
            let chain = try await world.send("GET", "/_sim/explain/\(request["id"].text ?? "")")
            return chain["steps"].items.compactMap { $0["text"].text }.joined(separator: "\n")
        }
        #expect(try await !explained("sdk_nobody").contains("restored"))
        try #require(try await world.send("POST", "/_sim/snapshots/s/restore").status == 200)
        let text = try await explained(token)
        #expect(text.contains("the namespace was restored, which may have taken the session away"), "\(text)")
    }

    /// Each step is compared with the whole journal.
    @Test func theStepsOfAllSequencesOfAScenarioAreBounded() async throws {
        let world = try await TestWorld.make()
        func start(_ steps: [Int]) async throws -> Answer {
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
        func audit(_ test: String) async throws -> Answer {
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
        let server = try SimProcess(["--in-memory", "--keep-audits"])
        defer { server.stop() }
        var world = try await TestWorld.make(in: server, settings: ["rate_limits": "off"])
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

    /// A person's request is none of the client's.
    @Test func aRequestThatWasSentAgainMeetsNoExpectedFault() async throws {
        let world = try await TestWorld.make()
        let scenario = """
            {name: x, description: x, faults: [{match: {route: /sdk/session}, effect: {status: 503}}],
             expect: [{fault: {route: /sdk/session}, times: 1}, {fault: {route: /sdk/session}, times: 2}]}
            """
        _ = try await world.send("POST", "/_sim/scenarios/start", ["scenario": .string(scenario)])
        let asked = try await world.send("GET", "/sdk/session")
        try #require(asked.status == 503)
        let id = try #require(try await world.send("GET", "/_sim/requests?limit=1")["requests.0.id"].text)
        #expect(try await world.send("POST", "/_sim/requests/\(id)/resend").status == 200)
        let verified = try await world.send("POST", "/_sim/scenarios/x/verify")
        let checks = verified["scenario.expectations"].items
        #expect(checks.map { $0["passed"] } == [true, false], "\(verified.json)")
    }

    @Test func aForgottenRequestFailsWhatAScenarioExpects() async throws {
        let world = try await TestWorld.make()
        let expected = "expect: [{route: /sdk/session, times: 0}]"
        let scenario = "name: quiet\ndescription: no request\n\(expected)\n"
        let started = try await world.send("POST", "/_sim/scenarios/start", ["scenario": .string(scenario)])
        try #require(started.status == 200 || started.status == 201, "\(started.json)")
        #expect(try await world.send("POST", "/_sim/scenarios/quiet/verify").status == 200)
        _ = try await world.send("GET", "/sdk/session")
        _ = try await world.send("DELETE", "/_sim/requests")
        let verified = try await world.send("POST", "/_sim/scenarios/quiet/verify")
        let checks = verified["scenario.expectations"].items
        #expect(verified.status == 409 && checks.map { $0["passed"] } == [false], "\(verified.json)")
        #expect(checks.first?["problem"].text?.hasPrefix("the journal has forgotten requests") == true)
    }

    /// Not even where a namespace rests when the server starts, or where the server was killed.
    @Test(arguments: [true, false]) func anEarlierProcessIsNotDenied(isKilled: Bool) async throws {
        try await Process.withDirectory { directory in
            let before = try SimProcess(["--data-dir", directory])
            let quiet = TestWorld(base: before.baseURL + "/ns/quiet")
            _ = try await TestWorld(base: before.baseURL).send("PUT", "/_sim/namespaces/quiet")
            _ = try await TestWorld(base: before.baseURL).send("GET", "/nope")
            #expect(try await nope(quiet).status == 200)
            if isKilled { before.kill() } else { before.stop() }
            let after = try SimProcess(["--data-dir", directory])
            let world = TestWorld(base: after.baseURL)
            let denied = try await nope(world)
            #expect(denied.status == 409 && denied["code"] == "forgotten", "\(denied.json)")
            let from = JSONValue.string("sequence:\(denied["sequence"].integer ?? 0)")
            #expect(try await nope(world, since: from).status == 200)
            #expect(try await nope(TestWorld(base: after.baseURL + "/ns/quiet")).status == 200, "it had none")
            after.stop()
        }
    }

    @Test func aClientThatAlwaysNamesItsNamespaceCanCreateIt() async throws {
        let name = "self-made-\(getpid())"
        let headers = ["X-Sim-Namespace": name]
        #expect(try await root.send("GET", "/_sim/health", headers: headers).status == 200)
        #expect(try await root.send("GET", "/_sim/clock", headers: headers).status == 404)
        let made = try await root.send("PUT", "/_sim/namespaces/\(name)", ["random_seed": 9], headers: headers)
        #expect(made.status == 201 && made["random_seed"] == 9)
        #expect(try await root.send("GET", "/_sim/info", headers: headers)["namespace.name"].text == name)
        #expect(try await root.send("DELETE", "/_sim/namespaces/\(name)", headers: headers).status == 204)
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

    @Test func settleEndsIfTheNamespaceIsReset() async throws {
        let made = try await root.send("POST", "/_sim/namespaces", ["prefix": "settling"])
        let world = TestWorld(base: try #require(made["url"].text))
        _ = try await subscribe(world)
        _ = try await world.send("POST", "/_sim/faults", ["match": ["webhook": "*"], "effect": ["delay": "1h"]])
        _ = try await world.send("POST", "/_sim/authentications", [:])
        async let settled = world.send("POST", "/_sim/settle", ["within": "9m"])
        _ = try await world.send("POST", "/_sim/reset")
        // If settling waited for the delay of an hour, the client would time out.
        #expect(try await settled["settled"] == true)
    }

    // The time limits only end a test that fails. No machine needs that long if the server is right.

    @Test(.timeLimit(.minutes(15))) func theServerStopsWhileAnAdvanceWaitsForAReceiver() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("stops-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let server = try SimProcess(["--data-dir", directory])
        let world = try await TestWorld.make(in: server, settings: ["webhooks": ["timeout": "300s"]])
        let receiver = try await subscribe(world)
        receiver.behave(.hang)
        // The delay makes the advance send the webhook, so the advance has begun when the receiver gets it.
        _ = try await world.send("POST", "/_sim/faults", ["match": ["webhook": "*"], "effect": ["delay": "10m"]])
        let made = try await world.send("POST", "/_sim/authentications", [:])
        try #require(made.status == 201)
        let advancing = Task {
            try await world.send("POST", "/_sim/clock/advance", ["by": "1h", "max_wall": "9m"])
        }
        while receiver.deliveries.isEmpty {
            try Task.checkCancellation()
            await Task.yield()
        }
        #expect(try await stop(server) == 0)
        // The advance gets an answer, or the connection ends before it.
        if case .success(let answer) = await advancing.result { #expect(answer["reached"] == false) }
        // The attempt was interrupted, so it is repeated. A server that waited for it would have recorded a failure.
        let next = try SimProcess(["--data-dir", directory])
        let again = TestWorld(base: next.baseURL + world.base.dropFirst(server.baseURL.count))
        let first = try await again.send("GET", "/_sim/webhook-deliveries")["deliveries"].items.last
        let delivery = try #require(first)
        #expect(delivery["status"] == "sending" && delivery["attempts"] == [], "\(delivery)")
        #expect(try await stop(next) == 0)
    }

    @Test(.timeLimit(.minutes(15))) func theServerStopsWhileItemsAreGenerated() async throws {
        let server = try SimProcess(["--in-memory"])
        let world = TestWorld(base: server.baseURL)
        let making = Task { try await world.send("POST", "/_sim/authentications", ["count": 10_000_000]) }
        while try await world.counts()["authentications"] == 0 {}
        #expect(try await stop(server) == 0)
        guard case .success(let answer) = await making.result else { return }
        #expect(answer.status == 503 && answer["error"].text?.contains("of 10000000 items were made") == true)
    }

    /// Stops a server without blocking one of the few threads that tests share.
    private func stop(_ server: SimProcess) async throws -> Int32 {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: server.stop()) }
        }
    }

    @Test func extraSlashesDoNotHideARouteFromItsFault() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        _ = try await world.send(
            "POST", "/_sim/faults", ["match": ["route": "/sdk/session"], "effect": ["status": 503]])
        for path in ["/sdk/session", "/sdk/session/", "//sdk/session"] {
            #expect(try await world.send("GET", path, token: token).status == 503, "\(path)")
        }
    }

    @Test func aLoginIsFoundUnderItsUser() async throws {
        let world = try await TestWorld.make()
        _ = try await world.login()
        let found = try await world.send("GET", "/_sim/requests?username=DemoOrg-example-user-id")["requests"].items
        #expect(found.map { $0["path"] } == ["/sdk/login"])
    }

    @Test func aClosedPipeEndsACommandQuietly() async throws {
        let world = try await TestWorld.make()
        for _ in 0..<40 { _ = try await world.send("GET", "/v1/health?\(String(repeating: "x", count: 8000))") }
        let name = world.base.split(separator: "/").last!
        let command = "'\(SimProcess.path)' requests list --har -n \(name) --url \(SimProcess.shared.baseURL)"
        let shell = try await SimProcess.run(
            ["-c", "{ \(command); echo status=$? >&2; } | head -c 10"], program: "/bin/sh")
        #expect(shell.output.contains("status=141") && !shell.output.contains("Fatal"), "\(shell.output.prefix(500))")
        let full = try await SimProcess.run(["-c", "\(command) > /dev/full"], program: "/bin/sh")
        #expect(full.status == 70 && full.output.contains("cannot be written"), "\(full.output.prefix(500))")
    }
}
