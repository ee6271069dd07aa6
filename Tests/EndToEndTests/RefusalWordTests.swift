import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Refusals in the words of the command line: options instead of members, and commands instead of routes.
@Suite struct RefusalWordTests {
    /// Runs a command in a namespace of its own.
    private func run(_ words: [String]) async throws -> (status: Int32, output: String) {
        try await SimProcess.run(words + ["--url", try await TestWorld.make().base])
    }

    @Test(
        arguments: [
            (["clock", "advance", "soon"], "error: the time must be a duration"),
            (["clock", "advance", "--to", "x"], "error: --to must be"),
            (["clock", "freeze", "--at", "x"], "error: --at must be"),
            (["wait", "nothing"], "error: EVENT must be one of"),
            (["wait", "webhook:sesion.completed"], "; did you mean webhook:session.completed?"),
            (["wait", "item:A1:reslt"], "; did you mean item:A1:result?"),
            (["events", "--kind", "flga.*"], "got \"flga.*\"; did you mean flag.*? kinds are"),
            (["webhooks", "listen", "--events", "sesion.updated"], "; did you mean session.updated?"),
            (["webhooks", "listen", "--events", "no"], "error: --events must be one of"),
            (
                ["webhooks", "add", "http://127.0.0.1:1/a", "--secret", "my-secret", "--events", "no"],
                "error: --events must"
            ),
            (
                ["webhooks", "add", "http://127.0.0.1:1/a", "--secret", "my-secret", "--organization", "DemoOgr"],
                "error: --organization must be one of DemoOrg, OtherOrg, got \"DemoOgr\"; did you mean DemoOrg?"
            ),
            (["scenario", "start", "."], "error: . is a folder"),
            // A sentence about what a request may have is not for a command without that option.
            (
                ["requests", "list", "--route", "/sdk/serach"],
                "error: route is wrong: no route of the server matches /sdk/serach; the nearest is POST /sdk/search\n"
            ),
            (["scenario", "verify", "/tmp/"], "/tmp/ is a folder"),
            (["bundle", "-o", "/no-such-folder/a.tar"], "there is no folder /no-such-folder"),
            (["namespace", "make", ""], "the name must be 1 to 63 characters of a-z, 0-9 and -, got \"\""),
            (["namespace", "make", "A b"], "the name must be 1 to 63 characters of a-z, 0-9 and -, got \"A b\""),
            (["namespace", "make", "a\nb"], #"got "a\x0ab""#), (["clock", "show", "-n", "a\nb"], #"got "a\x0ab""#),
        ] as [([String], String)])
    func aRefusalNamesTheOption(words: [String], text: String) async throws {
        let run = try await run(words)
        #expect(run.status == 64 && run.output.contains(text), "\(run.output)")
    }

    @Test(arguments: [
        (["scenario", "show", "late-resullt"], "did you mean late-result? \"entrupy-sim scenario list@\" lists them"),
        (["scenario", "start", "late-resullt"], "did you mean late-result? \"entrupy-sim scenario list@\" lists them"),
        (["scenario", "show", "qqqqqqqqqqqq"], "\n  \"entrupy-sim scenario list@\" lists them"),
        (["snapshot", "delete", "none"], "\n  \"entrupy-sim snapshot list@\" lists them"),
        (["snapshot", "restore", "none"], "; save one with \"entrupy-sim snapshot save none@\""),
        (["namespace", "drop", "default"], "cannot be deleted; \"entrupy-sim reset@\" empties it"),
        (["scenario", "verify", "late-result"], "; \"entrupy-sim scenario start late-result@\" starts one"),
        (["webhooks", "remove", "none"], "; \"entrupy-sim webhooks list@\" lists its subscriptions"),
        (["wait", "item:AAAAAAAA:result", "--within", "0.1s"], "there is no such item: \"entrupy-sim items list@\""),
        (["namespace", "drop", "a\nb"], #"there is no namespace "a\x0ab""#),
    ])
    func anUnknownNameIsAnsweredWithACommand(words: [String], text: String) async throws {
        let run = try await run(words)
        // The server for which it was asked stands at the @.
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        #expect(
            run.status == 1 && !run.output.contains("GET /_sim") && !run.output.contains("POST /_sim"), "\(run.output)")
        #expect(parts.count <= 2 && run.output.contains(parts.joined(separator: "")) == (parts.count == 1))
        for part in parts { #expect(run.output.contains(part), "\(run.output)") }
    }

    /// An answer by a fault is no reason to remove all faults.
    @Test func anAnswerOfAFaultNamesTheFault() async throws {
        let world = try await TestWorld.make()
        let fault = try await world.send(
            "POST", "/_sim/faults", ["match": ["route": "/v2/webhooks"], "effect": ["status": 418]])
        let run = try await SimProcess.run(["api", "GET", "/v2/webhooks", "--url", world.base])
        let id = try #require(fault["id"].text)
        #expect(run.output.hasPrefix("error: 418: answered by the fault rule \(id)\n"), "\(run.output)")
        #expect(run.output.contains("\"entrupy-sim fault clear \(id) --url"), "\(run.output)")
    }

    /// Testers wait for the app; only authors can change the scenario.
    @Test func anItemThatIsMissingIsNotSubmittedYet() async throws {
        let world = try await TestWorld.make()
        let scenario = "name: early\ndescription: y\nexpect: [{item: {customer_item_id: a, result: unknown}}]\n"
        _ = try await world.send("POST", "/_sim/scenarios/start", ["scenario": .string(scenario)])
        let run = try await SimProcess.run(["scenario", "verify", "early", "--url", world.base])
        #expect(
            run.status == 1 && run.output.contains("no item a was submitted yet. A scenario that means so"),
            "\(run.output)")
    }

    /// The variables of a shell outlive the namespace that they name.
    @Test func aNamespaceOfTheEnvironmentIsNamedByItsVariable() async throws {
        let server = ["ENTRUPY_SIM_URL": SimProcess.shared.baseURL, "ENTRUPY_SIM_NAMESPACE": "gone-now"]
        let gone = try await SimProcess.run(["clock", "show"], environment: server)
        let lines = gone.output.split(separator: "\n")
        #expect(
            gone.status == 1 && lines.count == 2
                && lines[0] == "error: there is no namespace \"gone-now\", which ENTRUPY_SIM_NAMESPACE names"
                && lines[1].hasSuffix(", or leave it with \"unset ENTRUPY_SIM_NAMESPACE\""), "\(gone.output)")
        let option = try await SimProcess.run(["clock", "show", "-n", "gone-now"], environment: server)
        #expect(option.status == 1 && !option.output.contains("ENTRUPY_SIM_NAMESPACE"), "\(option.output)")
        let address = try await SimProcess.run(["clock", "show"], environment: ["ENTRUPY_SIM_URL": "127.0.0.1:9300"])
        #expect(
            address.status == 64 && address.output.contains("ENTRUPY_SIM_URL must be an http or https URL"),
            "\(address.output)")
    }

    /// Only the control API takes the control token.
    @Test(arguments: [
        ("/v2/webhooks", "-H 'Authorization: Token demo-api-token'"), ("/sdk/session", "the token of a login"),
    ])
    func aMissingTokenIsThatOfTheRoute(path: String, text: String) async throws {
        let run = try await run(["api", "GET", path])
        #expect(
            run.status == 1 && run.output.contains(text) && !run.output.contains("--control-token"), "\(run.output)")
    }

    /// `WebhookTargetTests` has the addresses.
    @Test(arguments: ["http://nobody-has-this.invalid/a", "http://host.docker.internal/a", "http://192.168.1.5/a"])
    func noNoteIsAboutAnAddressThatDeliveriesMayGoTo(url: String) async throws {
        let run = try await run(["webhooks", "add", url, "--secret", "my-secret"])
        #expect(run.status == 0 && !run.output.contains("--webhook-targets any"), "\(run.output)")
    }

    @Test func aScenarioWithoutExpectationsSaysSo() async throws {
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let (file, world) = (directory + "/none.yaml", try await TestWorld.make())
            try "name: none\ndescription: y\n".write(toFile: file, atomically: true, encoding: .utf8)
            func scenario(_ words: String...) async throws -> (status: Int32, output: String) {
                try await SimProcess.run(["scenario"] + words + [file, "--url", world.base])
            }
            #expect(try await scenario("start").status == 0)
            let plain = try await scenario("verify")
            #expect(plain.status == 0 && plain.output.contains("none: nothing was checked"), "\(plain.output)")
            let strict = try await scenario("verify", "--strict")
            #expect(strict.status == 1 && strict.output.contains("no expectation was checked"), "\(strict.output)")
            let json = try await scenario("verify", "--strict", "--json")
            #expect(json.status == 1 && json.output.contains("\"verified\":false"), "\(json.output)")
        }
    }

    /// The requests that come near are of the same route, name the fact behind a refusal, and say nothing twice.
    @Test func nearRequestsAreOfTheSameRoute() async throws {
        let world = try await TestWorld.make()
        let scenario = """
            name: near
            description: y
            faults: [{match: {route: /v2/webhooks}, effect: {drop_connection: true}, times: 1}]
            expect:
              - {route: /v2/authentications/*, method: GET, status: 200}
              - {route: /v2/webhooks, status: 200}
            """
        try #require(
            try await world.send("POST", "/_sim/scenarios/start", ["scenario": .string(scenario)]).status == 200)
        _ = try await world.send("GET", "/v2/authentications/ABCD2345", token: TestWorld.apiToken)
        for _ in 0..<3 { _ = try await world.send("GET", "/v2/users", token: TestWorld.apiToken) }
        _ = try? await world.send("GET", "/v2/webhooks", token: TestWorld.apiToken)
        let run = try await SimProcess.run(["scenario", "verify", "near", "--url", world.base])
        let lines = run.output.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(
            lines.contains(
                "GET /v2/authentications/ABCD2345 was 404 (because the namespace has no item with this id)"),
            "\(run.output)")
        #expect(!run.output.contains("/v2/users"), "\(run.output)")
        #expect(
            lines.contains(
                "GET /v2/webhooks was 200, not delivered: connection reset: \"delivered\": \"any\" counts it too"),
            "\(run.output)")
        let verified = try await SimProcess.run(
            ["requests", "verify", "--route", "/v2/authentications/*", "--status", "200", "--url", world.base])
        #expect(verified.output.contains("(because the namespace has no item with this id)"), "\(verified.output)")
        #expect(!verified.output.contains("route is"), "\(verified.output)")
    }
}
