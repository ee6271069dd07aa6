import Foundation
import SimulationAPI
import TestSupport
import Testing

/// The commands that are clients of the control API, run as processes. Wrong command lines are in `UsageTests`.
@Suite struct ControlCommandTests {
    @Test func theClockIsShownFrozenAdvancedAndResumed() async throws {
        let world = try await TestWorld.make()
        #expect(try await world.output("clock", "show") == "2026-01-05T09:00:00.000000Z  frozen\n")
        #expect(try await world.json("clock", "advance", "2h")["now"] == "2026-01-05T11:00:00.000000Z")
        #expect(try await world.json("clock", "advance", "90")["now"] == "2026-01-05T11:01:30.000000Z")
        #expect(try await world.json("clock", "freeze", "--at", "2026-01-06T09:00:00Z")["mode"] == "frozen")
        #expect(try await world.json("clock", "resume")["mode"] == "running")
    }

    /// Words that the parser lets pass, and the server, or a file, does not.
    @Test(arguments: [
        ["clock", "advance", "2h30"], ["clock", "advance", "1e400"], ["clock", "advance", "-1s"],
        ["clock", "freeze", "--at", "noon"], ["namespace", "make", "UPPER"], ["seed", "load", "/nowhere.yaml"],
        ["fault", "add", "--effect", "explode"], ["fault", "add", "--status", "500", "--probability", "1.5"],
        ["fault", "add", "--status", "500", "--probability", "nan"], ["items", "generate", "--count", "0"],
        ["requests", "list", "--trace", "x"], ["requests", "verify", "--delivered", "perhaps"],
        ["webhooks", "add", "nonsense", "--secret", "s"], ["webhooks", "add", "http://127.0.0.1:9/x", "--secret", ""],
        ["webhooks", "add", "http://127.0.0.1:9/x", "--secret", "s", "--events", "done"],
        ["webhooks", "listen", "--events", "done"], ["settings", "set", "nothing.here", "3"],
        ["settings", "set", "quota", "many"],
        ["settings", "set", #"{"colour": 1}"#], ["choices", "colours"],
        ["webhooks", "listen", "--organization", "nobody"],
    ])
    func aWrongCommandExits64WithAnError(arguments: [String]) async throws {
        let run = try await TestWorld.make().run(arguments)
        #expect(run.status == 64 && run.output.hasPrefix("error: "), "\(run.output)")
    }

    @Test func withoutAServerACommandExits69AndNamesTheNextStep() async throws {
        for arguments in [
            ["clock", "show"], ["doctor"], ["requests", "tail"], ["items", "generate", "--count", "20000"],
        ] {
            let run = try await TestWorld(base: "http://127.0.0.1:9").run(arguments)
            #expect(run.status == 69 && run.output.contains("entrupy-sim serve"), "\(arguments): \(run.output)")
        }
    }

    @Test func aRefusalByTheServerExits1AndNamesTheNextStep() async throws {
        let world = try await TestWorld.make()
        let unknown = try await world.root.run("clock", "show", "-n", "nobody-here")
        #expect(unknown.status == 1 && unknown.output.contains("entrupy-sim namespace make nobody-here"))
        for words in [
            ["users", "show", "DemoOrg-nobody"], ["namespace", "drop", "default"], ["fault", "clear", "flt_nothing"],
            ["deliveries", "redeliver", "dlv_nothing"], ["items", "show", "NOPE2345"], ["requests", "resend", "99"],
            ["held", "release", "hld_nothing"], ["scenario", "show", "no-such"], ["webhooks", "remove", "wh_nothing"],
            ["api", "GET", "/nothing"],
        ] {
            #expect(try await world.run(words).status == 1, "\(words)")
        }
    }

    @Test func faultsAreAddedListedAndCleared() async throws {
        let world = try await TestWorld.make()
        let id = try await world.output(
            "fault", "add", "--route", "/v1/health", "--status", "503", "--body", "{\"a\":1}", "--times", "1")
        #expect(id.hasPrefix("flt_"))
        let odd = try await world.output("fault", "add", "--route", "/nothing", "--effect", "drop_connection")
        #expect(odd.contains("note: no route"))
        _ = try await world.output("fault", "add", "--webhook", "*", "--delay", "2h")
        let ask = { try await world.send("GET", "/v1/health", token: TestWorld.apiToken) }
        #expect(try await world.output("doctor").contains("faults: 3 rules active"))
        let answer = try await ask()
        #expect(answer.status == 503 && answer.json == ["a": 1])
        let left = try await world.output("doctor")
        #expect(left.contains("faults: 2 rules active") && left.contains("1 rule used up"), "\(left)")
        #expect(try await world.output("fault", "list").contains("1 of 1, used up"))
        let listed = try await world.json("fault", "list")["faults"].items
        try #require(listed.map { $0["hits"] } == [1, 0, 0])
        #expect(listed[2]["match"] == ["webhook": "*"])
        _ = try await world.output("fault", "clear", try #require(listed[0]["id"].text))
        #expect(try await world.json("fault", "list")["faults"].items.count == 2)
        _ = try await world.output("fault", "clear")
        #expect(try await world.output("fault", "list") == "no faults\n")
    }

    @Test func heldRequestsAreListedAndReleased() async throws {
        let world = try await TestWorld.make()
        #expect(try await world.output("held", "list") == "no request is held\n")
        _ = try await world.output("fault", "add", "--route", "/v1/*", "--effect", "hold")
        func ask() -> Task<Int, any Error> {
            Task {
                try await world.send(
                    "GET", "/v1/health", token: TestWorld.apiToken,
                    headers: ["Api-Version": "1.3", "X-Sim-Test": "mine"]
                ).status
            }
        }
        let first = ask()
        _ = try await world.output("wait", "request:held")
        let listed = try await world.output("held", "list")
        #expect(listed.contains("before") && listed.contains("/v1/health") && listed.contains("mine"), "\(listed)")
        let id = try #require(try await world.json("held", "list")["held.0.id"].text)
        let released = try await world.output("held", "release", id, "--status", "503", "--body", "later")
        #expect(released.contains("released: GET"))
        #expect(try await first.value == 503)
        let late = try await world.run("held", "release", id)
        #expect(late.status == 1 && late.output.contains("it was released already"), "\(late.output)")
        let second = ask()
        while try await world.json("held", "list")["held"].items.isEmpty { await Task.yield() }
        #expect(try await world.output("held", "release", "--all") == "all held requests are released\n")
        #expect(try await second.value == 200)
    }

    @Test func requestsAreListedVerifiedAndFollowed() async throws {
        let world = try await TestWorld.withoutLimits()
        async let followed = world.output("requests", "tail", "--count", "2", "--json")
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        let headers = [
            "Api-Version": "1.3", "X-Sim-Test": "mine", "traceparent": "00-\(trace)-00f067aa0ba902b7-01",
        ]
        // Requests repeat until the listening command has printed enough.
        let asking = Task {
            while !Task.isCancelled {
                _ = try await world.send("GET", "/v1/health", token: TestWorld.apiToken, headers: headers)
            }
        }
        let lines = try await followed.split(separator: "\n")
        asking.cancel()
        #expect(lines.count == 2)
        #expect(
            try lines.someAndAll {
                try WireJSON.decode(JSONValue.self, from: Data($0.utf8))["path"] == "/v1/health"
            })
        _ = await asking.result
        _ = try await world.output("requests", "verify", "--route", "/v1/health", "--test", "mine", "--at-least", "2")
        let none = try await world.run("requests", "verify", "--route", "/v1/*", "--method", "POST")
        #expect(none.status == 1 && none.output.contains("GET /v1/health"))
        let listed = try await world.output("requests", "list", "--status", "2xx", "--limit", "1")
        #expect(listed.contains("/v1/health") && listed.hasPrefix("TIME"))
        #expect(try await world.json("requests", "list", "--har")["log.version"] == "1.2")
        _ = try await world.send("GET", "/sdk/config")
        let traced = try await world.json("requests", "list", "--trace", trace, "--limit", "500")["requests"].items
        #expect(traced.someAndAll { $0["trace"].text == trace && $0["path"] == "/v1/health" })
        try await checkLostRequests(world)
    }

    /// Answers that did not arrive, in the list and in verifications.
    private func checkLostRequests(_ world: TestWorld) async throws {
        _ = try await world.send(
            "POST", "/_sim/faults",
            ["match": ["route": "/v2/webhooks"], "effect": ["drop_connection": true], "times": 1])
        _ = try? await world.send("GET", "/v2/webhooks", token: TestWorld.apiToken)
        let lost = try await world.output("requests", "list", "--delivered", "false")
        #expect(lost.contains("200, not delivered: connection reset"), "\(lost)")
        for (delivered, status) in [(nil, 1), ("true", 1), ("false", 0), ("any", 0)] as [(String?, Int32)] {
            let option = delivered.map { ["--delivered", $0] } ?? []
            let run = try await world.run(
                ["requests", "verify", "--route", "/v2/webhooks", "--status", "200"] + option)
            #expect(run.status == status, "\(delivered ?? "untold"): \(run.output)")
            if delivered == nil { #expect(run.output.contains("was not delivered: connection reset"), "\(run.output)") }
        }
    }

    @Test func usersSeedDataAndItemsAreChangedAndExported() async throws {
        let world = try await TestWorld.make()
        let folder = try TestFolder()
        defer { folder.remove() }
        #expect(try await world.output("users", "set", "DemoOrg-sim-test-user", "--first-name", "Sim").contains("Sim"))
        #expect(try await world.json("users", "show", "DemoOrg-sim-test-user")["first_name"] == "Sim")
        try await world.subscribe(url: "http://127.0.0.1:9/")
        let made = try await world.output("items", "generate", "--count", "2", "--brand", "Nike")
        #expect(made.split(separator: "\n").count == 2)
        #expect(try await world.json("items", "generate", "--count", "1")["webhooks"] == false)
        #expect(try await world.webhookDeliveries().isEmpty, "counted items send none")
        #expect(try await world.json("items", "generate", "--brand", "Gucci")["webhooks"] == true)
        #expect(try await world.webhookDeliveries().count == 2)
        let many = try await world.output("items", "generate", "--count", "12000")
        #expect(many.hasPrefix("made 12000 items, the newest "))
        let yaml = try await world.output("seed", "export").replacing("name: OtherOrg", with: "name: ThirdOrg")
            .replacing("other-api-token", with: "third-token")
        let loaded = try await world.output("seed", "load", folder.write(yaml, to: "seed.yaml"))
        #expect(loaded.hasPrefix("added 1 organization, 0 users, 1 token"))
        let wrong = try await world.run("seed", "load", folder.write("organizations: [{nam: X}]", to: "seed.yaml"))
        #expect(
            wrong.status == 64 && wrong.output.contains("line 1") && wrong.output.contains("nothing was changed"))
        #expect(try await world.output("reset").contains("was reset"))
        #expect(try await world.counts()["authentications"] == 0)
    }

    @Test func aLoopOfAdvancesEnds() async throws {
        let world = try await TestWorld.make()
        _ = try await world.submit(try await world.login())
        var status: [Int32] = []
        repeat {
            status.append(try await world.run("clock", "advance", "--to", "next").status)
        } while status.last == 0 && status.count < 10
        #expect(status == [0, 0, 1], "the result, the session's end, and nothing")
        #expect(try await world.run("clock", "advance", "--to", "next").output.contains("nothing is due"))
    }

    @Test func namespacesAreCreatedAndDropped() async throws {
        let root = TestWorld(base: SimProcess.shared.baseURL)
        let made = try await root.output(
            "namespace", "make", "--prefix", "cli", "--ttl", "30m", "--freeze", TestWorld.morning)
        // The clock is far behind that of a device.
        #expect(made.hasPrefix("note: the clock is frozen at 2026-01-05T09:00:00"))
        let url = String(try #require(made.split(separator: "\n").last))
        #expect(url.hasPrefix("\(root.base)/ns/cli-"))
        let world = TestWorld(base: url)
        #expect(try await root.output("clock", "show", "-n", world.name).hasPrefix("2026-01-05T09:00:00"))
        #expect(try await root.output("namespace", "list").contains(world.name))
        #expect(try await root.output("namespace", "drop", "--prefix", world.name) == "dropped 1 namespace\n")
        let none = try await root.run("namespace", "drop", "--prefix", world.name)
        #expect(none.status == 1)
        #expect(none.output.contains("there is no namespace whose name begins with \"\(world.name)\""))
        #expect(try await world.run("clock", "show").status == 1)
    }

    @Test func webhooksAreTriggeredListedAndSentAgain() async throws {
        let world = try await TestWorld.make()
        let receiver = try await WebhookReceiver.open()
        try await world.subscribe(receiver)
        let item = try #require(try await world.output("items", "generate").split(separator: "\n").first)
        #expect(try await world.output("settle", "--within", "10m") == "settled\n")
        let fired = try await world.json("deliveries", "trigger", "support.message", String(item))
        #expect(fired["deliveries.0.event"] == "support.message")
        _ = try await world.output("settle", "--within", "10m")
        let listed = try await world.output("deliveries", "list")
        #expect(listed.contains("delivered") && listed.contains("support.message"))
        let id = try #require(fired["deliveries.0.id"].text)
        _ = try await world.output("deliveries", "redeliver", id)
        _ = try await world.output("settle", "--within", "10m")
        #expect(receiver.deliveries.count == 4)
        #expect(try await world.output("webhooks", "list").contains(receiver.url))
    }

    @Test func settleExits1IfItDoesNotSettle() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        _ = try await world.submit(token)
        let server = SimProcess.shared.baseURL
        let run = try await SimProcess.run(
            ["settle"], environment: ["ENTRUPY_SIM_URL": server, "ENTRUPY_SIM_NAMESPACE": world.name])
        // The hint moves the namespace for which it was asked.
        #expect(run.status == 1 && run.output.contains("clock advance --to next\n"), "\(run.output)")
        #expect(run.output.contains("result of ") && run.output.contains(", due in 5s"), "\(run.output)")
        let named = try await SimProcess.run(["settle", "-n", world.name, "--url", server])
        #expect(named.output.contains("clock advance --to next -n \(world.name) --url \(server)\n"), "\(named.output)")
        let json = try await world.run("settle", "--json")
        #expect(json.status == 1 && json.output.contains(#""settled":false"#), "\(json.output)")
        _ = try await world.send("PATCH", "/_sim/settings", ["result": ["delay": "1h"]])
        _ = try await world.send("POST", "/_sim/clock/resume")
        _ = try await world.submit(token)
        let late = try await world.run("settle", "--within", "0s")
        #expect(late.status == 1 && late.output.contains("--within"), "\(late.output)")
    }

    @Test func theDoctorReportsProblemsAndRemedies() async throws {
        let world = try await TestWorld.make()
        _ = try await world.output("doctor")
        let receiver = try await WebhookReceiver.open()
        try await world.subscribe(receiver, ["events": ["session.completed"]])
        _ = try await world.send(
            "POST", "/_sim/faults", ["match": ["webhook": "*"], "effect": ["delay": "1h"], "times": 1])
        try await world.generatedItem()
        #expect(try await world.output("doctor").contains("none failed"), "a fault delays it")
        try await world.advance("1h")
        receiver.behave(.answer(500))
        try await world.generatedItem()
        #expect(try await world.run("settle", "--within", "10m").status == 1)
        let retrying = try await world.run("doctor")
        #expect(retrying.status == 1 && retrying.output.contains("1 failed and will be retried"), "\(retrying)")
        #expect(
            retrying.output.contains("status 500") && retrying.output.contains("2026-01-05T10:00:01Z"), "\(retrying)")
        try await world.advance("5d")
        let ill = try await world.run("doctor")
        #expect(ill.status == 1 && ill.output.contains("deliveries redeliver dlv_"), "\(ill.output)")
        #expect(ill.output.contains("frozen"))
        for _ in 0..<2 { try await world.subscribe(url: "http://127.0.0.1:9/hooks") }
        let equal = try await world.run("doctor").output
        #expect(equal.contains("are equal: http://127.0.0.1:9/hooks gets each event 2 times"), "\(equal)")
        let json = try WireJSON.decode(JSONValue.self, from: Data(try await world.run("doctor", "--json").output.utf8))
        #expect(json["findings"].items.contains { $0["check"] == "webhooks" && $0["level"] == "wrong" })
    }

    @Test func aTokenIsSentWhereTheServerAsksForOne() async throws {
        let server = try await SimProcess(["--in-memory", "--control-token", "s3cret"])
        defer { server.stop() }
        let world = TestWorld(base: server.baseURL)
        let refused = try await world.run("clock", "show")
        #expect(refused.status == 1 && refused.output.contains("ENTRUPY_SIM_CONTROL_TOKEN"))
        _ = try await world.output("clock", "show", "--control-token", "s3cret")
    }

    @Test func helpAndCompletionsArePrinted() async throws {
        for name in ["bash", "zsh", "fish"] {
            let run = try await SimProcess.run(["--generate-completion-script", name])
            #expect(run.status == 0 && run.output.contains("advance") && run.output.contains("webhooks"), "\(name)")
        }
        let help = try await SimProcess.run(["fault", "add", "--help"]).output
        let (own, connection) = (help.range(of: "  --route"), help.range(of: "  --url"))
        #expect(
            try #require(own).lowerBound < (try #require(connection)).lowerBound, "a command's own options come first")
        #expect(try await SimProcess.run(["serve", "--help"]).output.contains("./entrupy-sim-data"))
    }
}
