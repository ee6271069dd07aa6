import Foundation
import SimulationAPI
import TestSupport
import Testing

/// The commands that look up and act on single requests, items and settings, as the console names them, and those that save a script.
@Suite struct LookUpCommandTests {
    @Test func aRequestIsShownSentAgainAndCompared() async throws {
        let world = try await TestWorld.make()
        let session = try await world.login()
        _ = try await world.send(
            "POST", "/_sim/faults", ["match": ["route": "/sdk/search"], "effect": ["status": 503]])
        _ = try await world.send("GET", "/sdk/session", token: session)
        let shown = try await world.output("requests", "show", "3")
        #expect(shown.hasPrefix("GET /sdk/session\n200\nuser DemoOrg-example-user-id\n"), "\(shown)")
        #expect(shown.contains("/_sim/console/requests/") && !shown.contains(session))
        let again = try await world.output(
            "requests", "resend", "3", "--path", "/sdk/results/NOPE2345", "--header", "X-Sim-Test: cli")
        #expect(
            again.hasPrefix(
                "GET /sdk/results/NOPE2345\n404\nuser DemoOrg-example-user-id\nbecause the namespace has no item"),
            "\(again)")
        #expect(try await world.send("GET", "/_sim/requests?test=cli")["requests"].items.count == 1)
        let rules = try await world.output("requests", "rules", "3")
        #expect(rules.contains("does not match") && rules.contains("/sdk/search"))
        _ = try await world.output("requests", "clear")
        #expect(try await world.send("GET", "/_sim/requests")["requests"].items.isEmpty)
    }

    @Test func itemsAreListedChangedAndShown() async throws {
        let world = try await TestWorld.make()
        let item = try await world.submit(try await world.login())
        let listed = try await world.output("items", "list", "--text", "sku-")
        #expect(listed.contains(item) && listed.contains("  Nike  "))
        #expect(try await world.output("items", "list", "--result", "invalid") == "no such items\n")
        let set = try await world.output("items", "set", item, "--result", "invalid", "--reason", "blurry_images")
        #expect(set.contains("invalid") && set.contains("blurry_images"))
        #expect(try await !world.output("items", "set", item, "--flag", "flagged").contains("note:"))
        _ = try await world.output("items", "resolve-flag", item, "--note", "Seen again", "--result", "authentic")
        _ = try await world.output("items", "retake", item, "--region", "heel", "--message", "Sharper")
        _ = try await world.output("items", "message", item, "Which size?")
        #expect(try await world.output("items", "show", item).contains("authentic"))
        #expect(try await world.output("items", "rules", item) == "there are no rules\n")
        let events = try await world.output("events", "--subject", item)
        #expect(events.contains("retake.requested") && events.contains("flag.resolved"))
    }

    /// A name that is probably misspelt is taken, and said.
    @Test func slipsAreNotedWithTheNearestName() async throws {
        let world = try await TestWorld.withoutLimits()
        let item = try await world.generatedItem()
        for (words, notes) in [
            (
                ["capture", "run", "--sku", "", "--brand", "Nkie"],
                [
                    "note: the customer_item_id is empty\n",
                    "note: --brand \"Nkie\" is not in the catalogue, so the item ends as not_supported, did you mean Nike?",
                ]
            ),
            (
                ["capture", "run", "--sku", "a", "--item-type", "sneekers"],
                ["note: --item-type \"sneekers\"", "did you mean sneakers?"]
            ),
            (
                ["items", "set", item, "--flag", "flaged"],
                ["note: \"flaged\" is a flag that the SDK does not know, did you mean flagged?\n"]
            ),
            (
                ["fault", "add", "--webhook", "session.complete", "--effect", "drop"],
                ["did you mean session.completed?"]
            ),
            (["outcome", "add", "unknown", "--brand", "Nkie"], ["did you mean Nike?"]),
            (["requests", "verify"], ["requests of any kind: no option chooses which\n"]),
        ] {
            let run = try await world.run(words)
            #expect(run.status == 0)
            for note in notes { #expect(run.output.contains(note), "\(words): \(run.output)") }
        }
        // A user is called as in a list.
        #expect(try await !world.output("items", "generate", "--username", "sim-test-user").hasPrefix("note"))
        let user = try await world.run("items", "generate", "--username", "seller-1")
        #expect(user.status == 64 && user.output.contains("did you mean DemoOrg-seller-1?"), "\(user.output)")
    }

    /// A duration without a unit is in seconds, and a list shows what was given.
    @Test func durationsOfRulesAreReadAsEverywhere() async throws {
        let world = try await TestWorld.make()
        for after in ["3", "3h"] { _ = try await world.output("outcome", "add", "unknown", "--after", after) }
        _ = try await world.output("fault", "add", "--delay", "3")
        let rules = try await world.send("GET", "/_sim/outcomes")["outcomes"].items
        #expect(rules.map { $0["after"] } == [3, "3h"])
        #expect(try await world.send("GET", "/_sim/faults")["faults.0.effect"] == ["delay": 3])
        let list = try await world.output("outcome", "list")
        #expect(list.contains("  3h  ") && !list.contains("\"3h\""), "\(list)")
    }

    /// A replacement is said, since nothing brings the old back.
    @Test func whatIsReplacedIsSaid() async throws {
        let world = try await TestWorld.make()
        try await world.generatedItem()
        #expect(try await !world.output("snapshot", "save", "s").contains("replaced"))
        #expect(try await world.output("snapshot", "save", "s").contains("note: it replaced a snapshot of this name"))
        #expect(try await world.output("scenario", "start", "late-result").contains("note: replaced 1 item\n"))
    }

    @Test func settingsSessionsAndChoicesAreShown() async throws {
        let world = try await TestWorld.make()
        _ = try await world.login()
        #expect(try await world.output("settings", "set", #"{"result": {"delay": "3h"}}"#).contains(#""delay":"3h""#))
        #expect(try await world.output("settings", "set", "quota", "3").contains("\"quota\":3"))
        _ = try await world.output("settings", "set", "rate_limits", "off")
        let all = try await world.json("settings", "show")
        #expect(all["quota"] == 3 && all["result.delay"] == "3h" && all["rate_limits"] == "off", "\(all)")
        _ = try await world.output("settings", "set", "quota", "null")
        #expect(try await world.send("GET", "/_sim/settings")["quota"] == .null)
        #expect(try await world.output("sessions", "list").contains("DemoOrg-example-user-id"))
        _ = try await world.output("sessions", "revoke", "--all")
        #expect(try await world.output("sessions", "list") == "no user is logged in\n")
        #expect(try await world.output("choices").hasPrefix("routes\n"))
        #expect(try await world.output("choices", "results").contains("needs_review"))
        #expect(try await world.output("choices", "routes").contains("POST /sdk/search\n"))
        let shipped = TestWorld.root.appendingPathComponent("seed-data/scenarios/late-result.yaml")
        #expect(
            try await world.output("scenario", "show", "late-result") == String(contentsOf: shipped, encoding: .utf8))
    }

    // MARK: Any request

    @Test func anyRequestIsSent() async throws {
        let world = try await TestWorld.make()
        #expect(try await world.output("api", "get", "/_sim/due").contains("\"due\""))
        let fault = #"{"match": {"route": "/v1/health"}, "effect": {"status": 503}, "times": 1}"#
        #expect(try await world.output("api", "POST", "/_sim/faults", "-d", fault).contains("flt_"))
        let ask = ["api", "GET", "/v1/health", "-H", "Authorization: Token demo-api-token", "-H", "Api-Version: 1.3"]
        for status in [1, 0] as [Int32] { #expect(try await world.run(ask).status == status) }
        #expect(try await world.output("api", "DELETE", "/_sim/faults") == "204, without a body\n")
        // A body may be a file, as in curl, and the namespace of a path may be the chosen one.
        let folder = try TestFolder()
        defer { folder.remove() }
        let body = try folder.write("{\"by\": \"1h\"}", to: "body.json")
        #expect(try await world.output("api", "POST", "/_sim/clock/advance", "-d", "@" + body).contains("\"frozen\""))
        for path in ["\(world.root.base)/_sim/clock", "/ns/\(world.name)/_sim/clock", world.base + "/_sim/clock"] {
            #expect(try await world.output("api", "GET", path).contains("2026-01-05"), "\(path)")
        }
        _ = try await world.root.output("api", "GET", "/ns/\(world.name)/_sim/clock")
    }

    /// The README promises statuses.
    @Test func anErrorOfAnyFormIsShown() async throws {
        let world = try await TestWorld.make()
        let refused = try await world.run("api", "GET", "/v2/authentications/NOPE2345")
        #expect(refused.status == 1 && refused.output.hasPrefix("error: 401: "), "\(refused.output)")
        let rule: JSONValue = ["match": ["route": "/sdk/**"], "effect": ["status": 418, "body": "short and stout"]]
        _ = try await world.send("POST", "/_sim/faults", rule)
        let shown = try await world.run("api", "GET", "/sdk/session")
        #expect(shown.status == 1 && shown.output.contains("the answer is 418"), "\(shown.output)")
        #expect(shown.output.contains("short and stout"))
        let json = try await world.run("api", "GET", "/sdk/session", "--json")
        #expect(json.status == 1 && json.output.contains("short and stout"), "\(json.output)")
    }

    // MARK: Captures

    @Test func anItemIsCaptured() async throws {
        let world = try await TestWorld.make()
        let made = try await world.output("capture", "run", "--sku", "sim-unknown")
        try await world.advance("1h")
        let item = try await world.send("GET", "/_sim/authentications/\(made.dropLast())")
        #expect(item["customer_item_id"] == "sim-unknown" && item["result.id"] == "unknown", "\(item.json)")
        let shirt = try await world.json(
            "capture", "run", "--sku", "a b/'", "--brand", "Supreme", "--item-type", "t-shirt", "--user",
            "tester@x.com")
        #expect(shirt["entrupy_id"].text != nil, "\(shirt)")
        let wrongUser = try await world.run("capture", "run", "--sku", "x", "--user", "ü-tester x")
        #expect(wrongUser.status == 64 && wrongUser.output.contains("unique_user_id"), "\(wrongUser.output)")
        _ = try await world.send("PATCH", "/_sim/settings", ["quota": 1])
        let refused = try await world.run("capture", "run", "--sku", "x", "--user", "tester@x.com")
        #expect(refused.status == 1 && refused.output.contains("submissions made"), "\(refused.output)")
        // A connection that a fault closes is no missing server.
        _ = try await world.output("fault", "add", "--route", "/sdk/captures", "--effect", "drop_connection")
        let closed = try await world.run("capture", "run", "--sku", "a")
        #expect(closed.status == 69 && closed.output.contains("was closed before an answer came"), "\(closed.output)")
        #expect(closed.output.contains("entrupy-sim fault list") && !closed.output.contains("entrupy-sim serve"))
    }

    // MARK: Reports

    /// The report of a namespace's bundle.
    private func report(_ world: TestWorld) async throws -> String {
        let folder = try TestFolder()
        defer { folder.remove() }
        let bundle = folder.file("case.bundle.tar")
        try await world.send("GET", "/_sim/bundle").body.write(to: URL(fileURLWithPath: bundle))
        let run = try await SimProcess.run(["report", bundle, "-o", folder.file("case.html")])
        try #require(run.status == 0, "\(run)")
        return try folder.text(of: "case.html")
    }

    @Test func aReportIsWritten() async throws {
        let world = try await TestWorld.make()
        let session = try await world.login()
        _ = try await world.submit(session)
        let html = try await report(world)
        #expect(html.contains("/sdk/captures") && html.contains("script-src &#39;sha256-"))
        #expect(!html.contains(session) && !html.contains("demo-api-token"))
        #expect(!html.contains("id=\"expectations\""), "without a scenario there is no gate")
        let folder = try TestFolder()
        defer { folder.remove() }
        let wrong = try await SimProcess.run(
            ["report", folder.write(html, to: "case.html"), "-o", folder.file("none.html")])
        #expect(try wrong.status == 64 && folder.names == ["case.html"])
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
        let started = try await world.send("POST", "/_sim/scenarios/start", ["scenario": .string(scenario)])
        try #require(started.status == 200)
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
        let started = try await world.send("POST", "/_sim/scenarios/start", ["scenario": .string(scenario)])
        try #require(started.status == 200)
        let page = try await report(world)
        let gate = page[try #require(page.range(of: "id=\"expectations\"")).lowerBound...].prefix(2000)
        #expect(gate.contains("pill warn\">all expectations are met, with 1 note"), "\(gate)")
        #expect(gate.contains("faults[0]") && !gate.contains("pill good\">all"), "\(gate)")
    }
}
