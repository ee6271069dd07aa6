import Foundation
import SimulationAPI
import TestSupport
import Testing

/// The commands that are clients of the control API, run as processes.
@Suite struct ControlCommandTests {
    /// A namespace and the command line for it.
    private struct Shell: Sendable {
        let world: TestWorld

        func callAsFunction(_ arguments: String...) async throws -> (status: Int32, output: String) {
            try await run(arguments)
        }

        func run(_ arguments: [String]) async throws -> (status: Int32, output: String) {
            let environment = [
                "ENTRUPY_SIM_URL": SimProcess.shared.baseURL,
                "ENTRUPY_SIM_NAMESPACE": String(world.base.split(separator: "/").last!),
            ]
            return try await SimProcess.run(arguments, environment: environment)
        }

        func json(_ arguments: String...) async throws -> JSONValue {
            let run = try await run(arguments + ["--json"])
            try #require(run.status == 0, "\(run.output)")
            return try WireJSON.decode(JSONValue.self, from: Data(run.output.utf8))
        }
    }

    private func shell() async throws -> Shell { Shell(world: try await TestWorld.make()) }

    @Test func theClockIsShownFrozenAdvancedAndResumed() async throws {
        let shell = try await shell()
        #expect(try await shell("clock", "show").output == "2026-01-05T09:00:00.000000Z  frozen\n")
        #expect(try await shell.json("clock", "advance", "2h")["now"] == "2026-01-05T11:00:00.000000Z")
        #expect(try await shell.json("clock", "advance", "90")["now"] == "2026-01-05T11:01:30.000000Z")
        #expect(try await shell.json("clock", "freeze", "--at", "2026-01-06T09:00:00Z")["mode"] == "frozen")
        #expect(try await shell.json("clock", "resume")["mode"] == "running")
    }

    @Test(arguments: [
        ["clock", "advance", "2h30"], ["clock", "advance", "1e400"], ["clock", "advance", "-1s"],
        ["clock", "advance", "-1h"], ["clock", "advance"],
        ["clock", "advance", "1h", "--to", "next"], ["clock", "freeze", "--at", "noon"], ["rest"],
        ["fault", "add", "--route", "/x"], ["fault", "add", "--effect", "explode"],
        ["fault", "add", "--status", "500", "--probability", "1.5"],
        ["fault", "add", "--status", "500", "--probability", "nan"], ["users", "set", "DemoOrg-sim-test-user"],
        ["namespace", "make", "UPPER"], ["namespace", "drop"], ["items", "generate", "--count", "0"],
        ["items", "generate", "--template", "[1]"], ["seed", "load", "/nowhere.yaml"],
        ["clock", "show", "--url", "nonsense"], ["clock", "show", "--timeout", "0"],
    ])
    func aWrongCommandExits64WithAnError(arguments: [String]) async throws {
        let run = try await shell().run(arguments)
        #expect(run.status == 64, "\(run.output)")
        #expect(run.output.lowercased().contains("error: "))
    }

    @Test func aWordThatIsNearlyACommandIsRecognized() async throws {
        let run = try await shell()("rest")
        #expect(run.output.contains("did you mean \"entrupy-sim reset\"?"))
    }

    @Test func withoutAServerACommandExits69AndNamesTheNextStep() async throws {
        for arguments in [
            ["clock", "show"], ["doctor"], ["requests", "tail"], ["items", "generate", "--count", "20000"],
        ] {
            let run = try await shell().run(arguments + ["--url", "http://127.0.0.1:9"])
            #expect(run.status == 69 && run.output.contains("entrupy-sim serve"), "\(arguments): \(run.output)")
        }
    }

    @Test func aRefusalByTheServerExits1AndNamesTheNextStep() async throws {
        let shell = try await shell()
        let unknown = try await shell("clock", "show", "-n", "nobody-here")
        #expect(unknown.status == 1 && unknown.output.contains("entrupy-sim namespace make nobody-here"))
        #expect(try await shell("users", "show", "DemoOrg-nobody").status == 1)
        #expect(try await shell("namespace", "drop", "default").status == 1)
        #expect(try await shell("fault", "clear", "flt_nothing").status == 1)
        #expect(try await shell("deliveries", "redeliver", "dlv_nothing").status == 1)
    }

    @Test func faultsAreAddedListedAndCleared() async throws {
        let shell = try await shell()
        let id = try await shell(
            "fault", "add", "--route", "/v1/health", "--status", "503", "--body", "{\"a\":1}", "--times", "1")
        #expect(id.status == 0 && id.output.hasPrefix("flt_"))
        let odd = try await shell("fault", "add", "--route", "/nothing", "--effect", "drop_connection")
        #expect(odd.output.contains("note: no route"))
        #expect(try await shell("fault", "add", "--webhook", "*", "--delay", "2h").status == 0)
        let headers = ["Api-Version": "1.3"]
        let answer = try await shell.world.send("GET", "/v1/health", token: TestWorld.apiToken, headers: headers)
        #expect(answer.status == 503 && answer.json == ["a": 1])
        let listed = try await shell.json("fault", "list")["faults"].items
        try #require(listed.map { $0["hits"] } == [1, 0, 0])
        #expect(listed[2]["match"] == ["webhook": "*"])
        let first = try #require(listed[0]["id"].text)
        #expect(try await shell("fault", "clear", first).status == 0)
        #expect(try await shell.json("fault", "list")["faults"].items.count == 2)
        #expect(try await shell("fault", "clear").status == 0)
        #expect(try await shell("fault", "list").output == "no faults\n")
    }

    @Test func heldRequestsAreListedAndReleased() async throws {
        let shell = try await shell()
        #expect(try await shell("held", "list").output == "no request is held\n")
        #expect(try await shell("fault", "add", "--route", "/v1/*", "--effect", "hold").status == 0)
        let headers = ["Api-Version": "1.3", "X-Sim-Test": "mine"]
        func ask() -> Task<Int, any Error> {
            Task { try await shell.world.send("GET", "/v1/health", token: TestWorld.apiToken, headers: headers).status }
        }
        let first = ask()
        #expect(try await shell("wait", "request:held").status == 0)
        let listed = try await shell("held", "list").output
        #expect(listed.contains("before") && listed.contains("/v1/health") && listed.contains("mine"), "\(listed)")
        let id = try #require(try await shell.json("held", "list")["held.0.id"].text)
        #expect(
            try await shell("held", "release", id, "--status", "503", "--body", "later").output.contains(
                "released: GET"))
        #expect(try await first.value == 503)
        let late = try await shell("held", "release", id)
        #expect(late.status == 1 && late.output.contains("it was released already"), "\(late.output)")
        #expect(try await shell("held", "release", "hld_nothing").status == 1)
        let second = ask()
        while try await shell.json("held", "list")["held"].items.isEmpty { await Task.yield() }
        #expect(try await shell("held", "release", "--all").output == "all held requests are released\n")
        #expect(try await second.value == 200)
        for wrong in [
            [], [id, "--all"], ["--all", "--status", "500"], [id, "--body", "x"],
            [id, "--status", "500", "--drop-connection"],
        ] {
            #expect(try await shell.run(["held", "release"] + wrong).status == 64, "\(wrong)")
        }
    }

    @Test func requestsOfATraceAreListed() async throws {
        let shell = try await shell()
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        for headers in [["traceparent": "00-\(trace)-00f067aa0ba902b7-01"], [:]] {
            _ = try await shell.world.send("GET", "/sdk/config", headers: headers)
        }
        #expect(try await shell.json("requests", "list")["requests"].items.count == 2)
        let found = try await shell.json("requests", "list", "--trace", trace)["requests"].items
        #expect(found.map { $0["trace"].text } == [trace])
        #expect(try await shell.json("requests", "list", "--trace", trace, "--har")["log.entries"].items.count == 1)
        let wrong = try await shell("requests", "list", "--trace", "x")
        #expect(wrong.status == 64 && wrong.output.contains("trace must be the 32"), "\(wrong.output)")
    }

    @Test func requestsAreListedVerifiedAndFollowed() async throws {
        let shell = try await shell()
        async let followed = shell("requests", "tail", "--count", "2", "--json")
        let headers = ["Api-Version": "1.3", "X-Sim-Test": "mine"]
        // Requests repeat until the listening command has printed enough.
        let asking = Task {
            while !Task.isCancelled {
                _ = try await shell.world.send("GET", "/v1/health", token: TestWorld.apiToken, headers: headers)
            }
        }
        let lines = try await followed
        asking.cancel()
        #expect(lines.status == 0 && lines.output.split(separator: "\n").count == 2)
        #expect(
            try lines.output.split(separator: "\n").someAndAll {
                try WireJSON.decode(JSONValue.self, from: Data($0.utf8))["path"] == "/v1/health"
            })
        _ = await asking.result
        #expect(
            try await shell("requests", "verify", "--route", "/v1/health", "--test", "mine", "--at-least", "2").status
                == 0)
        let none = try await shell("requests", "verify", "--route", "/v1/*", "--method", "POST")
        #expect(none.status == 1 && none.output.contains("GET /v1/health"))
        let listed = try await shell("requests", "list", "--status", "2xx", "--limit", "1")
        #expect(listed.output.contains("/v1/health") && listed.output.hasPrefix("TIME"))
        #expect(try await shell.json("requests", "list", "--har")["log.version"] == "1.2")
        // The requests above have used up the second's limit.
        try await shell.world.advance("2s")
        _ = try await shell.world.send(
            "POST", "/_sim/faults",
            ["match": ["route": "/v2/webhooks"], "effect": ["drop_connection": true], "times": 1])
        _ = try? await shell.world.send("GET", "/v2/webhooks", token: TestWorld.apiToken)
        let lost = try await shell("requests", "list", "--delivered", "false")
        #expect(lost.output.contains("200, not delivered: connection reset"), "\(lost.output)")
        for (delivered, status) in [("true", 1), ("false", 0), ("any", 0), ("perhaps", 64)] as [(String, Int32)] {
            let run = try await shell(
                "requests", "verify", "--route", "/v2/webhooks", "--status", "200", "--delivered", delivered)
            #expect(run.status == status, "\(delivered): \(run.output)")
        }
        let untold = try await shell("requests", "verify", "--route", "/v2/webhooks", "--status", "200")
        #expect(untold.status == 1 && untold.output.contains("was not delivered: connection reset"), "\(untold.output)")
    }

    @Test func usersSeedDataAndItemsAreChangedAndExported() async throws {
        let shell = try await shell()
        #expect(try await shell("users", "set", "DemoOrg-sim-test-user", "--first-name", "Sim").output.contains("Sim"))
        #expect(try await shell.json("users", "show", "DemoOrg-sim-test-user")["first_name"] == "Sim")
        let made = try await shell("items", "generate", "--count", "2", "--brand", "Nike")
        #expect(made.output.split(separator: "\n").count == 2)
        #expect(
            try await shell("items", "generate", "--count", "12000").output.hasPrefix("made 12000 items, the newest "))
        let yaml = try await shell("seed", "export").output
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let file = directory + "/seed.yaml"
            try yaml.replacing("name: OtherOrg", with: "name: ThirdOrg").replacing(
                "other-api-token", with: "third-token"
            )
            .write(toFile: file, atomically: true, encoding: .utf8)
            #expect(try await shell("seed", "load", file).output.hasPrefix("added 1 organization, 0 users, 1 token"))
            try "organizations: [{nam: X}]".write(toFile: file, atomically: true, encoding: .utf8)
            let wrong = try await shell("seed", "load", file)
            #expect(
                wrong.status == 64 && wrong.output.contains("line 1")
                    && wrong.output.contains("nothing was changed"))
        }
        #expect(try await shell("reset").output.contains("was reset"))
        #expect(try await shell.world.counts()["authentications"] == 0)
    }

    @Test func aLoopOfAdvancesEnds() async throws {
        let shell = try await shell()
        _ = try await shell.world.submit(try await shell.world.login())
        var status: [Int32] = []
        repeat {
            status.append(try await shell("clock", "advance", "--to", "next").status)
        } while status.last == 0 && status.count < 10
        #expect(status == [0, 0, 1], "the result, the session's end, and nothing")
        #expect(try await shell("clock", "advance", "--to", "next").output.contains("nothing is due"))
        let json = try await shell.run(["clock", "advance", "--to", "next", "--json"])
        #expect(json.status == 1 && json.output.contains(#""nothing_due":true"#), "\(json.output)")
    }

    @Test func countedItemsSendNoWebhooks() async throws {
        let shell = try await shell()
        _ = try await shell.world.send(
            "POST", "/v2/webhooks", ["url": "http://127.0.0.1:9/", "secret_key": "s"], token: TestWorld.apiToken)
        let deliveries = {
            try await shell.world.send("GET", "/_sim/webhook-deliveries")["deliveries"].items.count
        }
        #expect(try await shell.json("items", "generate", "--count", "1")["webhooks"] == false)
        #expect(try await deliveries() == 0)
        #expect(try await shell.json("items", "generate", "--brand", "Gucci")["webhooks"] == true)
        #expect(try await deliveries() == 2)
    }

    @Test func namespacesAreCreatedAndDropped() async throws {
        let shell = try await shell()
        let made = try await shell(
            "namespace", "make", "--prefix", "cli", "--ttl", "30m", "--freeze", TestWorld.morning
        )
        .output
        // The clock is far behind that of a device.
        #expect(made.hasPrefix("note: the clock is frozen at 2026-01-05T09:00:00"))
        let url = String(made.drop { $0 != "\n" }.dropFirst())
        #expect(url.hasPrefix("\(SimProcess.shared.baseURL)/ns/cli-"))
        let name = String(try #require(url.split(separator: "/").last).dropLast())
        #expect(try await shell("clock", "show", "-n", name).output.hasPrefix("2026-01-05T09:00:00"))
        #expect(try await shell("namespace", "list").output.contains(name))
        #expect(try await shell("namespace", "drop", "--prefix", "\(name)").output == "dropped 1 namespace\n")
        let none = try await shell("namespace", "drop", "--prefix", "\(name)")
        #expect(none.status == 1 && none.output.contains("there is no namespace whose name begins with \"\(name)\""))
        #expect(try await shell("clock", "show", "-n", name).status == 1)
    }

    @Test func webhooksAreTriggeredListedAndSentAgain() async throws {
        let shell = try await shell()
        let receiver = try await WebhookReceiver.open()
        _ = try await shell.world.send(
            "POST", "/v2/webhooks", ["url": .string(receiver.url), "secret_key": "s"], token: TestWorld.apiToken)
        let item = try #require(try await shell("items", "generate").output.split(separator: "\n").first)
        #expect(try await shell("settle", "--within", "10m").output == "settled\n")
        let fired = try await shell.json("deliveries", "trigger", "support.message", String(item))
        #expect(fired["deliveries.0.event"] == "support.message")
        #expect(try await shell("settle", "--within", "10m").status == 0)
        let listed = try await shell("deliveries", "list").output
        #expect(listed.contains("delivered") && listed.contains("support.message"))
        let id = try #require(fired["deliveries.0.id"].text)
        #expect(try await shell("deliveries", "redeliver", id).status == 0)
        // The name that it had.
        let old = try await shell("webhooks", "redeliver", id)
        #expect(old.status == 0 && old.output.contains("\"webhooks redeliver\" is now \"deliveries redeliver\""))
        let options = try await shell("webhooks", "list", "--status=failed")
        #expect(options.status == 64 && options.output.contains("entrupy-sim deliveries list"), "\(options.output)")
        #expect(try await shell("settle", "--within", "10m").status == 0)
        #expect(receiver.deliveries.count == 5)
        #expect(try await shell("webhooks", "list").output.contains(receiver.url))
    }

    @Test func settleExits1IfItDoesNotSettle() async throws {
        let shell = try await shell()
        let token = try await shell.world.login()
        _ = try await shell.world.submit(token)
        let run = try await shell("settle")
        // The hint moves the namespace for which it was asked.
        #expect(run.status == 1 && run.output.contains("clock advance --to next\n"), "\(run.output)")
        #expect(run.output.contains("result of ") && run.output.contains(", due in 5s"), "\(run.output)")
        let name = String(shell.world.base.split(separator: "/").last!)
        let server = SimProcess.shared.baseURL
        let named = try await SimProcess.run(["settle", "-n", name, "--url", server])
        #expect(named.output.contains("clock advance --to next -n \(name) --url \(server)\n"), "\(named.output)")
        let json = try await shell.run(["settle", "--json"])
        #expect(json.status == 1 && json.output.contains(#""settled":false"#), "\(json.output)")
        _ = try await shell.world.send("PATCH", "/_sim/settings", ["result": ["delay": "1h"]])
        _ = try await shell.world.send("POST", "/_sim/clock/resume")
        _ = try await shell.world.submit(token)
        let late = try await shell("settle", "--within", "0s")
        #expect(late.status == 1 && late.output.contains("--within"), "\(late.output)")
    }

    @Test func theDoctorReportsProblemsAndRemedies() async throws {
        let shell = try await shell()
        #expect(try await shell("doctor").status == 0)
        let receiver = try await WebhookReceiver.open()
        receiver.behave(.answer(500))
        _ = try await shell.world.send(
            "POST", "/v2/webhooks", ["url": .string(receiver.url), "secret_key": "s"], token: TestWorld.apiToken)
        _ = try await shell("items", "generate")
        #expect(try await shell("settle", "--within", "10m").status == 1)
        let retrying = try await shell("doctor")
        #expect(
            retrying.status == 1 && retrying.output.contains("1 failed and will be retried")
                && retrying.output.contains("status 500") && retrying.output.contains("2026-01-05T09:00:01Z"),
            "\(retrying.output)")
        _ = try await shell("clock", "advance", "5d")
        let ill = try await shell("doctor")
        #expect(ill.status == 1 && ill.output.contains("deliveries redeliver dlv_"), "\(ill.output)")
        #expect(ill.output.contains("frozen"))
        let findings = try await shell.run(["doctor", "--json"])
        let json = try WireJSON.decode(JSONValue.self, from: Data(findings.output.utf8))
        #expect(json["findings"].items.contains { $0["check"] == "webhooks" && $0["level"] == "wrong" })
    }

    @Test func theDoctorCountsOnlyFaultsThatAreLeft() async throws {
        let shell = try await shell()
        for times in [1, 2] {
            _ = try await shell.world.send(
                "POST", "/_sim/faults",
                ["match": ["route": "/v1/health"], "effect": ["status": 503], "times": .number(JSONNumber(times))])
        }
        let ask = { _ = try await shell.world.send("GET", "/v1/health", token: TestWorld.apiToken) }
        #expect(try await shell("doctor").output.contains("faults: 2 rules active"))
        try await ask()
        let left = try await shell("doctor").output
        #expect(left.contains("faults: 1 rule active") && left.contains("1 rule used up"), "\(left)")
        try await ask()
        try await ask()
        let none = try await shell("doctor").output
        #expect(none.contains("ok     faults: none active, 2 rules used up"), "\(none)")
        #expect(try await shell("fault", "list").output.contains("2 of 2, used up"))
    }

    @Test func theDoctorIgnoresAWebhookThatAFaultDelays() async throws {
        let shell = try await shell()
        let receiver = try await WebhookReceiver.open()
        _ = try await shell.world.send(
            "POST", "/v2/webhooks", ["url": .string(receiver.url), "secret_key": "s"], token: TestWorld.apiToken)
        _ = try await shell.world.send(
            "POST", "/_sim/faults", ["match": ["webhook": "*"], "effect": ["delay": "1h"]])
        _ = try await shell("items", "generate")
        let run = try await shell("doctor")
        #expect(run.status == 0 && run.output.contains("none failed"), "\(run.output)")
    }

    @Test func aTokenIsSentWhereTheServerAsksForOne() async throws {
        let server = try SimProcess(["--in-memory", "--control-token", "s3cret"])
        let shell = try await shell()
        let refused = try await shell("clock", "show", "--url", server.baseURL, "-n", "default")
        #expect(refused.status == 1 && refused.output.contains("ENTRUPY_SIM_CONTROL_TOKEN"))
        let url = ["--url", server.baseURL, "-n", "default", "--control-token", "s3cret"]
        #expect(try await shell.run(["clock", "show"] + url).status == 0)
        server.stop()
    }

    @Test(arguments: ["bash", "zsh", "fish"]) func completionsAreGeneratedForShells(name: String) async throws {
        let run = try await shell()("--generate-completion-script", name)
        #expect(run.status == 0 && run.output.contains("advance") && run.output.contains("webhooks"))
    }
}
