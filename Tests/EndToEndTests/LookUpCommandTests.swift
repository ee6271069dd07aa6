import Foundation
import SimulationAPI
import TestSupport
import Testing

/// The commands that look up and act on single requests, items and settings, as the console names them.
@Suite struct LookUpCommandTests {
    private func run(_ world: TestWorld, _ words: String...) async throws -> (status: Int32, output: String) {
        let name = String(world.base.split(separator: "/").last ?? "")
        return try await SimProcess.run(words + ["--url", SimProcess.shared.baseURL, "--namespace", name])
    }

    @Test func aRequestIsShownSentAgainAndCompared() async throws {
        let world = try await TestWorld.make()
        let session = try await world.login()
        _ = try await world.send(
            "POST", "/_sim/faults", ["match": ["route": "/sdk/search"], "effect": ["status": 503]])
        _ = try await world.send("GET", "/sdk/session", token: session)
        let shown = try await run(world, "requests", "show", "3")
        #expect(
            shown.status == 0 && shown.output.hasPrefix("GET /sdk/session\n200\nuser DemoOrg-example-user-id\n"),
            "\(shown)")
        #expect(shown.output.contains("/_sim/console/requests/") && !shown.output.contains(session))
        let again = try await run(
            world, "requests", "resend", "3", "--path", "/sdk/results/NOPE2345", "--header", "X-Sim-Test: cli")
        #expect(
            again.status == 0
                && again.output.hasPrefix(
                    "GET /sdk/results/NOPE2345\n404\nuser DemoOrg-example-user-id\nbecause the namespace has no item"),
            "\(again)")
        #expect(try await world.send("GET", "/_sim/requests?test=cli")["requests"].items.count == 1)
        let rules = try await run(world, "requests", "rules", "3")
        #expect(rules.output.contains("does not match") && rules.output.contains("/sdk/search"))
        #expect(try await run(world, "requests", "resend", "99").status == 1)
        #expect(try await run(world, "requests", "resend", "3", "--header", "none").status == 64)
        #expect(try await run(world, "requests", "clear").status == 0)
        #expect(try await world.send("GET", "/_sim/requests")["requests"].items.isEmpty)
    }

    @Test func itemsAreListedChangedAndShown() async throws {
        let world = try await TestWorld.make()
        let item = try await world.submit(try await world.login())
        #expect(try await run(world, "items", "list", "--text", "sku-").output.contains(item))
        #expect(try await run(world, "items", "list", "--result", "invalid").output == "no such items\n")
        let set = try await run(world, "items", "set", item, "--result", "invalid", "--reason", "blurry_images")
        #expect(set.status == 0 && set.output.contains("invalid") && set.output.contains("blurry_images"))
        #expect(try await run(world, "items", "set", item).status == 64)
        #expect(try await run(world, "items", "set", item, "--flag", "flagged").status == 0)
        #expect(
            try await run(world, "items", "resolve-flag", item, "--note", "Seen again", "--result", "authentic").status
                == 0)
        #expect(try await run(world, "items", "retake", item, "--region", "heel", "--message", "Sharper").status == 0)
        #expect(try await run(world, "items", "message", item, "Which size?").status == 0)
        #expect(try await run(world, "items", "show", item).output.contains("authentic"))
        #expect(try await run(world, "items", "rules", item).output == "there are no rules\n")
        let events = try await run(world, "events", "--subject", item)
        #expect(events.output.contains("retake.requested") && events.output.contains("flag.resolved"))
        #expect(try await run(world, "items", "show", "NOPE2345").status == 1)
    }

    /// A name that is probably misspelt is taken, and said.
    @Test func slipsAreNotedWithTheNearestName() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        func output(_ words: String...) async throws -> String {
            let run = try await SimProcess.run(words + ["--url", world.base])
            #expect(run.status == 0, "\(run.output)")
            return run.output
        }
        let brand = try await output("capture", "run", "--sku", "", "--brand", "Nkie")
        #expect(brand.contains("note: the customer_item_id is empty\n"), "\(brand)")
        #expect(
            brand.contains(
                "note: --brand \"Nkie\" is not in the catalogue, so the item ends as not_supported, did you mean Nike?"),
            "\(brand)")
        let type = try await output("capture", "run", "--sku", "a", "--item-type", "sneekers")
        #expect(type.contains("note: --item-type \"sneekers\"") && type.contains("did you mean sneakers?"), "\(type)")
        let item = try await world.submit(try await world.login())
        let flag = try await output("items", "set", item, "--flag", "flaged")
        #expect(
            flag.contains("note: \"flaged\" is a flag that the SDK does not know, did you mean flagged?\n"), "\(flag)")
        #expect(!(try await output("items", "set", item, "--flag", "flagged")).contains("note:"))
        let webhook = try await output("fault", "add", "--webhook", "session.complete", "--effect", "drop")
        #expect(webhook.contains("did you mean session.completed?"), "\(webhook)")
        let rule = try await output("outcome", "add", "unknown", "--brand", "Nkie")
        #expect(rule.contains("did you mean Nike?"), "\(rule)")
        #expect(try await output("items", "list", "--text", item).contains("  Nike  "))
        // A user is called as in a list.
        #expect(try await output("items", "generate", "--username", "sim-test-user").hasPrefix("note") == false)
        let user = try await SimProcess.run(["items", "generate", "--username", "seller-1", "--url", world.base])
        #expect(user.status == 64 && user.output.contains("did you mean DemoOrg-seller-1?"), "\(user.output)")
        #expect(try await output("requests", "verify").contains("requests of any kind: no option chooses which\n"))
    }

    /// A duration without a unit is in seconds, and a list shows what was given.
    @Test func durationsOfRulesAreReadAsEverywhere() async throws {
        let world = try await TestWorld.make()
        for words in [
            ["outcome", "add", "unknown", "--after", "3"], ["outcome", "add", "unknown", "--after", "3h"],
            ["fault", "add", "--delay", "3"],
        ] {
            #expect(try await SimProcess.run(words + ["--url", world.base]).status == 0, "\(words)")
        }
        let rules = try await world.send("GET", "/_sim/outcomes")["outcomes"].items
        #expect(rules.map { $0["after"] } == [3, "3h"])
        #expect(try await world.send("GET", "/_sim/faults")["faults.0.effect"] == ["delay": 3])
        let list = try await SimProcess.run(["outcome", "list", "--url", world.base]).output
        #expect(list.contains("  3h  ") && !list.contains("\"3h\""), "\(list)")
    }

    /// A replacement is said, since nothing brings the old back.
    @Test func whatIsReplacedIsSaid() async throws {
        let world = try await TestWorld.make()
        _ = try await world.submit(try await world.login())
        func output(_ words: String...) async throws -> String {
            try await SimProcess.run(words + ["--url", world.base]).output
        }
        #expect(!(try await output("snapshot", "save", "s")).contains("replaced"))
        #expect(try await output("snapshot", "save", "s").contains("note: it replaced a snapshot of this name"))
        #expect(try await output("scenario", "start", "late-result").contains("note: replaced 1 item\n"))
    }

    /// The README promises statuses, and a body may be a file as in curl.
    @Test func theStatusAndTheFileOfACallAreAsInCurl() async throws {
        let world = try await TestWorld.make()
        let refused = try await SimProcess.run(["api", "GET", "/v2/authentications/NOPE2345", "--url", world.base])
        #expect(refused.status == 1 && refused.output.hasPrefix("error: 401: "), "\(refused.output)")
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let file = directory + "/body.json"
            try "{\"by\": \"1h\"}".write(toFile: file, atomically: true, encoding: .utf8)
            let run = try await SimProcess.run(
                ["api", "POST", "/_sim/clock/advance", "-d", "@" + file, "--url", world.base])
            #expect(run.status == 0 && run.output.contains("\"frozen\""), "\(run.output)")
        }
    }

    @Test func settingsSessionsAndChoicesAreShown() async throws {
        let world = try await TestWorld.make()
        _ = try await world.login()
        #expect(
            try await run(world, "settings", "set", #"{"result": {"delay": "3h"}}"#).output.contains(#""delay":"3h""#))
        #expect(try await run(world, "settings", "set", #"{"colour": 1}"#).status == 64)
        #expect(try await run(world, "settings", "show").output.contains(#""delay":"3h""#))
        #expect(try await run(world, "sessions", "list").output.contains("DemoOrg-example-user-id"))
        #expect(try await run(world, "sessions", "revoke").status == 64)
        #expect(try await run(world, "sessions", "revoke", "--all").status == 0)
        #expect(try await run(world, "sessions", "list").output == "no user is logged in\n")
        #expect(try await run(world, "choices").output.hasPrefix("routes\n"))
        #expect(try await run(world, "choices", "results").output.contains("needs_review"))
        #expect(try await run(world, "choices", "routes").output.contains("POST /sdk/search\n"))
        #expect(try await run(world, "choices", "colours").status == 64)
    }

    @Test func aReportIsWritten() async throws {
        let world = try await TestWorld.make()
        let session = try await world.login()
        _ = try await world.submit(session)
        let directory = NSTemporaryDirectory() + "report-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let bundle = directory + "/case.bundle.tar"
        try await world.send("GET", "/_sim/bundle").body.write(to: URL(fileURLWithPath: bundle))
        let run = try await SimProcess.run(["report", bundle, "-o", directory + "/case.html"])
        #expect(run.status == 0, "\(run)")
        let html = try String(contentsOfFile: directory + "/case.html", encoding: .utf8)
        #expect(html.contains("/sdk/captures") && html.contains("script-src &#39;sha256-"))
        #expect(!html.contains(session) && !html.contains("demo-api-token"))
        let wrong = try await SimProcess.run(["report", directory + "/case.html", "-o", directory + "/none.html"])
        #expect(wrong.status == 64 && !FileManager.default.fileExists(atPath: directory + "/none.html"))
    }

    @Test func aReportOfAFailedGateBeginsWithWhatFailed() async throws {
        let world = try await TestWorld.make()
        let scenario = """
            name: gate
            description: A gate.
            clock: {freeze: 2026-01-05T09:00:00Z}
            items: [{customer_item_id: one, result: unknown}]
            timeline: [{at: 3h, clear_faults: true}]
            expect:
              - {item: {customer_item_id: one, result: unknown}}
              - {route: /sdk/search, status: 200, times: 2}
              - {item: {customer_item_id: one, result: authentic}}
            """
        let yaml = ["Content-Type": "application/yaml"]
        _ = try await world.send("PUT", "/_sim/scenarios/gate", bytes: Data(scenario.utf8), headers: yaml)
        try #require(try await world.send("POST", "/_sim/scenarios/gate/start").status == 200)
        let token = try await world.login()
        #expect(try await world.send("POST", "/sdk/search", [:], token: token).status == 200)
        let failed = try await report(world)
        let (top, rest) = (failed.range(of: "id=\"expectations\""), failed.range(of: "id=\"requests\""))
        let section = failed[try #require(top).lowerBound..<(try #require(rest).lowerBound)]
        #expect(section.contains("Scenario gate") && section.contains("3 not met") && section.contains("1 met"))
        // Failed expectations come before the met ones, with reason and line.
        let parts = section.components(separatedBy: "<details>")
        try #require(parts.count == 2)
        for text in ["clear_faults", "is still due", "/sdk/search", "line 8", "line 9", "authentic"] {
            #expect(parts[0].contains(text), "\(text): \(section)")
        }
        #expect(parts[1].contains("line 7") && !parts[0].contains("line 7"))

        _ = try await world.send("POST", "/sdk/search", [:], token: token)
        let item = try await world.send("GET", "/_sim/authentications")["authentications.0.entrupy_id"].text ?? ""
        _ = try await world.send("PATCH", "/_sim/authentications/\(item)", ["result": "authentic"])
        try await world.advance("3h")
        let next = try await report(world)
        #expect(next.contains("1 not met"), "the item is not unknown any more")
        let plain = try await TestWorld.make()
        #expect(try await !report(plain).contains("id=\"expectations\""), "without a scenario there is no gate")
    }

    /// `scenario verify --strict` fails on it, so the page must not be green.
    @Test func aReportShowsTheNotesOfAGate() async throws {
        let world = try await TestWorld.make()
        let scenario = """
            name: noted
            description: A fault that is never met.
            faults:
              - {match: {route: /sdk/search}, effect: {status: 503}, times: 2}
            expect:
              - {route: /sdk/login, times: 0}
            """
        try #require(
            try await world.send("POST", "/_sim/scenarios/start", ["scenario": .string(scenario)]).status == 200)
        let page = try await report(world)
        let section = try #require(page.range(of: "id=\"expectations\"")).lowerBound
        let gate = page[section...].prefix(2000)
        #expect(gate.contains("pill warn\">all expectations are met, with 1 note"), "\(gate)")
        #expect(gate.contains("faults[0]") && !gate.contains("pill good\">all"), "\(gate)")
    }

    /// The report of a namespace's bundle.
    private func report(_ world: TestWorld) async throws -> String {
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let bundle = directory + "/case.bundle.tar"
            try await world.send("GET", "/_sim/bundle").body.write(to: URL(fileURLWithPath: bundle))
            let run = try await SimProcess.run(["report", bundle, "-o", directory + "/case.html"])
            try #require(run.status == 0, "\(run)")
            return try String(contentsOfFile: directory + "/case.html", encoding: .utf8)
        }
    }
}
