import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Tests of `/_sim/scenarios`: grammar, start and verification.
@Suite struct ScenarioTests {
    private static let yaml = ["Content-Type": "application/yaml"]

    private func put(_ world: TestWorld, _ text: String, _ name: String = "mine") async throws -> Answer {
        try await world.send("PUT", "/_sim/scenarios/\(name)", bytes: Data(text.utf8), headers: Self.yaml)
    }

    /// Uploads a scenario and starts it in the same namespace.
    private func start(_ world: TestWorld, _ text: String, _ body: JSONValue? = nil) async throws -> Answer {
        let kept = try await put(world, text)
        try #require([200, 201].contains(kept.status), "\(kept["error"])")
        return try await world.send("POST", "/_sim/scenarios/mine/start", body)
    }

    private func verify(_ world: TestWorld) async throws -> Answer {
        try await world.send("POST", "/_sim/scenarios/mine/verify")
    }

    private let head = "name: mine\ndescription: A test.\nclock: {freeze: 2026-01-05T09:00:00Z}\n"

    @Test func aStartReplacesTheStateWithThatOfTheScenario() async throws {
        let world = try await TestWorld.make()
        let session = try await world.login()
        _ = try await world.submit(session)
        let run = try await start(
            world,
            head + """
                settings: {quota: 3}
                items:
                  - {customer_item_id: one, brand: Nike}
                  - {count: 5, template: {customer_item_id: "more-{n}", result: unknown}}
                subscriptions:
                  - {url: "http://127.0.0.1:9/hooks", events: [session.completed]}
                outcomes:
                  - {match: {brand: Nike}, result: invalid}
                faults:
                  - {match: {route: /sdk/search}, effect: {status: 503}, times: 1}
                timeline:
                  - {at: 90, insert_items: {customer_item_id: late}}
                """)
        #expect(run.status == 200 && run["timeline.0.state"] == "waiting" && run["started_at"] == 1_767_603_600)
        #expect(try await world.send("GET", "/sdk/session", token: session).status == 401)
        #expect(try await world.counts()["authentications"] == 6)
        #expect(try await world.send("GET", "/_sim/settings")["quota"] == 3)
        #expect(try await world.send("GET", "/_sim/webhooks")["webhooks"].items.count == 1)
        #expect(try await world.send("GET", "/_sim/outcomes")["outcomes"].items.count == 1)
        #expect(try await world.send("GET", "/_sim/faults")["faults"].items.count == 1)
        #expect(try await world.send("GET", "/_sim/requests")["requests"].items.count == 1)
        // A scenario's first items cause no deliveries.
        #expect(try await world.send("GET", "/_sim/webhook-deliveries")["deliveries"].items.isEmpty)
        let due = try await world.send("GET", "/_sim/due")["due"].items
        #expect(due.map { $0["kind"] } == ["scenario.action"])
        try await world.advance("90s")
        #expect(try await world.counts()["authentications"] == 7)
        // A reset restores the scenario's settings and ends its run. The scenario stays and can be started again.
        _ = try await world.send("POST", "/_sim/reset")
        #expect(try await world.send("GET", "/_sim/settings")["quota"] == 3)
        #expect(try await verify(world).status == 409)
        #expect(try await world.send("POST", "/_sim/scenarios/mine/start").status == 200)
    }

    @Test func everyActionIsExecuted() async throws {
        let world = try await TestWorld.make()
        let session = "DemoOrg-sim-test-user"
        let run = try await start(
            world,
            head + """
                items:
                  - {customer_item_id: a, result: unknown, flag: flagged, brand: Nike}
                  - {customer_item_id: b, result: needs_review, brand: Nike}
                timeline:
                  - {at: 1s, set_result: {customer_item_id: b, result: invalid, reason: multiple_items}}
                  - {at: 2s, resolve_flag: {customer_item_id: a, note: Seen again, result: authentic}}
                  - {at: 3s, support_message: {customer_item_id: a, message: Which size?, options: [S, M]}}
                  - {at: 4s, retake: {customer_item_id: a, regions: [heel], message: Sharper}}
                  - {at: 5s, insert_items: {count: 3, template: {customer_item_id: "n-{n}"}}}
                  - {at: 6s, trigger_webhook: {customer_item_id: "n-*", event: certificate.transfer}}
                  - {at: 7s, revoke_sessions: {username: \(session)}}
                  - {at: 8s, expire_sessions: {}}
                  - {at: 9s, fault: {match: {route: /sdk/*}, effect: {status: 500}}}
                  - {at: 10s, clear_faults: true}
                  - {at: 11s, settings: {quota: 9}}
                expect:
                  - {item: {customer_item_id: a, result: authentic, flag: resolved}, times: 1}
                  - {item: {customer_item_id: b, result: invalid}}
                  - {item: {customer_item_id: "n-?"}, at_least: 3, at_most: 3}
                  - {capture: {status: started}, times: 0}
                  - {webhook: {event: session.completed}, times: 0}
                """, ["run": true])
        #expect(run.status == 200)
        #expect(run["timeline"].items.map { $0["problem"] }.someAndAll { $0 == .null }, "\(run["timeline"])")
        #expect(run["timeline"].items.someAndAll { $0["state"] == "done" })
        #expect(run["verified"] == true, "\(run["expectations"])")
        #expect(try await verify(world).status == 200)
        #expect(try await world.send("GET", "/_sim/settings")["quota"] == 9)
        #expect(try await world.send("GET", "/_sim/clock")["now"].text?.hasPrefix("2026-01-05T09:00:11") == true)
    }

    @Test func aFailedActionFailsTheVerificationAndLaterOnesRun() async throws {
        let world = try await TestWorld.make()
        let run = try await start(
            world,
            head + """
                items: [{customer_item_id: a, brand: Nike}]
                timeline:
                  - {at: 1s, resolve_flag: {customer_item_id: a, note: Not flagged}}
                  - {at: 2s, set_result: {customer_item_id: nowhere, result: unknown}}
                  - {at: 3s, revoke_sessions: {username: DemoOrg-nobody}}
                  - {at: 4s, insert_items: {customer_item_id: late}}
                expect:
                  - {item: {customer_item_id: late}, times: 1}
                """, ["run": true])
        let problems = run["timeline"].items.map { $0["problem"].text ?? "" }
        try #require(problems.count == 4)
        #expect(
            problems[0].contains("not flagged") && problems[1].contains("nowhere") && problems[2].contains("user"),
            "\(problems)")
        #expect(problems[3].isEmpty && run["timeline.3.state"] == "done")
        let verified = try await verify(world)
        #expect(verified.status == 409)
        #expect(verified["details"].items.map { $0["field"] } == ["timeline[0]", "timeline[1]", "timeline[2]"])
    }

    @Test(arguments: ["\u{feff}", "\r\n", "# A remark.\n---\n"])
    func byteOrderMarksLineEndsAndCommentsAreAccepted(start: String) async throws {
        let world = try await TestWorld.make()
        let lines = start == "\r\n" ? head.replacing("\n", with: "\r\n") : start + head
        #expect(try await put(world, lines + "expect: []").status == 201)
    }

    @Test func aScenarioThatDoesNotFitTheSeedDataIsRefused() async throws {
        // The scenario names an organization that the namespace's own seed data does not have.
        let seed: JSONValue = [
            "organizations": [["name": "OnlyOrg", "api_tokens": ["only-token"]]], "categories": [], "brands": [],
            "texts": try await TestWorld(base: SimProcess.shared.baseURL).send("GET", "/_sim/export?format=json")[
                "texts"],
        ]
        let world = try await TestWorld.make(seed: seed)
        let text = head + "items: [{username: DemoOrg-example-user-id}]"
        #expect(try await put(world, text).status == 400)
        let other = try await TestWorld.make()
        _ = try await other.login()
        #expect(try await put(other, text).status == 201)
        // Data that a scenario needs can be removed after its upload.
        let loaded = try await other.send("GET", "/_sim/scenarios/mine")
        #expect(loaded.status == 200 && loaded["run"] == .null)
        #expect(try await other.counts()["sessions"] == 1)
        #expect(try await other.send("POST", "/_sim/scenarios/mine/start").status == 200)
        #expect(try await other.counts()["sessions"] == 0)
    }

    @Test func aTimelineWithDueActionsIsNotVerified() async throws {
        let world = try await TestWorld.make()
        _ = try await start(world, head + "timeline: [{at: 1h, clear_faults: true}]")
        let early = try await verify(world)
        let wait = "is still due: in 1h, 1h after the start; the clock is frozen: advance it"
        #expect(early.status == 409 && early["details.0.problem"].text == "clear_faults \(wait)")
        let name = early["scenario.name"].text ?? ""
        let table = try await SimProcess.run(["scenario", "verify", name, "--url", world.base])
        let line = table.output.components(separatedBy: "\n").first { $0.contains("clear_faults waiting") }
        #expect(line?.hasSuffix(wait) == true, "\(table.output)")
        try await world.advance("1h")
        #expect(try await verify(world).status == 200)
    }

    @Test func aScenarioContinuesAfterARestartAndInAFork() async throws {
        try await Process.withDirectory { directory in
            let first = try SimProcess(["--data-dir", directory])
            let world = TestWorld(base: first.baseURL)
            _ = try await start(
                world,
                head
                    + "timeline: [{at: 1h, insert_items: {customer_item_id: late}}]\nexpect: [{item: {customer_item_id: late}}]"
            )
            _ = try await world.send("PUT", "/_sim/snapshots/started")
            first.kill()
            let second = try SimProcess(["--data-dir", directory])
            defer { second.stop() }
            let again = TestWorld(base: second.baseURL)
            #expect(try await again.send("GET", "/_sim/scenarios/mine")["run.verified"] == false)
            try await again.advance("1h")
            #expect(try await verify(again).status == 200)
            _ = try await again.send("POST", "/_sim/snapshots/started/fork", ["namespace": "branch"])
            let branch = TestWorld(base: second.baseURL + "/ns/branch")
            #expect(try await verify(branch).status == 409)
            try await branch.advance("2h")
            #expect(try await verify(branch).status == 200)
        }
    }

    @Test func scenariosAreSavedReplacedAndDeleted() async throws {
        let world = try await TestWorld.make()
        #expect(try await put(world, head).status == 201)
        #expect(try await put(world, head + "expect: []").status == 200)
        let own = try await put(world, head.replacing("name: mine", with: "name: late-result"), "late-result")
        #expect(own.status == 201 && own["source"] == "namespace")
        #expect(try await world.send("GET", "/_sim/scenarios/late-result")["scenario.source"] == "namespace")
        #expect(try await world.send("DELETE", "/_sim/scenarios/late-result").status == 204)
        #expect(try await world.send("GET", "/_sim/scenarios/late-result")["scenario.source"] == "shipped")
        #expect(try await world.send("DELETE", "/_sim/scenarios/late-result").status == 409)
        #expect(try await world.send("DELETE", "/_sim/scenarios/nope").status == 404)
        #expect(try await world.send("POST", "/_sim/scenarios/nope/start").status == 404)
        #expect(try await put(world, head, "yours").status == 400)
        #expect(try await put(world, head, "a%2Fb").status == 400)
        for body in [["run": 1], ["namespace": "A b"], ["ttl": "5m"], ["x": 1]] as [JSONValue] {
            #expect(try await world.send("POST", "/_sim/scenarios/mine/start", body).status == 400, "\(body)")
        }
        #expect(try await world.send("POST", "/_sim/scenarios/mine/start", ["namespace": "default"]).status == 409)
        // Another namespace has scenarios of its own.
        let other = try await TestWorld.make()
        #expect(try await other.send("GET", "/_sim/scenarios/mine").status == 404)
    }

    @Test(
        arguments: [
            ("", nil, "empty"), ("name: [", nil, "YAML"), ("- a", 1, "mapping"), ("name: mine", nil, "description"),
            ("description: x", nil, "name"), ("name: mine\ndescription: x\nfoo: 1", 3, "not known here"),
            ("name: mine\nname: mine\ndescription: x", 2, "twice"), ("name: a/b\ndescription: x", 1, "A-Z"),
            ("name: mine\ndescription: x\nclock: {freeze: tomorrow}", 3, "ISO 8601"),
            ("name: mine\ndescription: x\nclock: {freeze: 2026-01-05T09:00:00Z, mode: x}", 3, "known here"),
            ("name: mine\ndescription: x\nclock: frozen", 3, "object"),
            ("name: mine\ndescription: x\nseed: stnadard", 3, "standard"),
            ("name: mine\ndescription: x\nsettings: {quotas: 1}", 3, "quotas"),
            ("name: mine\ndescription: x\nsettings:\n  result:\n    delay: -1s", 5, "result.delay"),
            ("name: mine\ndescription: x\noutcomes:\n  - match: {}\n    result: real", 5, "authentic"),
            ("name: mine\ndescription: x\noutcomes:\n  - match: {brnad: Nike}\n    result: unknown", 4, "brnad"),
            ("name: mine\ndescription: x\noutcomes: unknown", 3, "list"),
            (
                "name: mine\ndescription: x\nfaults:\n  - match: {route: /sdk/search}\n    effect: {status: 99}", 5,
                "effect.status"
            ),
            ("name: mine\ndescription: x\nfaults:\n  - match: {route: /sdk/search}", 4, "effect"),
            ("name: mine\ndescription: x\nitems:\n  - {customer_item_id: a}\n  - {result: real}", 5, "result"),
            ("name: mine\ndescription: x\nitems:\n  - {product_category: cars}", 4, "product_category"),
            ("name: mine\ndescription: x\nitems:\n  - {username: Nobody-x}", 4, "username"),
            ("name: mine\ndescription: x\nitems: [{count: 0, template: {}}]", 3, "count"),
            ("name: mine\ndescription: x\nitems: [{count: 20000, template: {}}]", 3, "10000"),
            ("name: mine\ndescription: x\nitems: [{submitted_at: 1}]", 3, "cannot be set"),
            ("name: mine\ndescription: x\nitems: [{count: 2, template: {style_name: \"a\\0\"}}]", 3, "U+0000"),
            ("name: mine\ndescription: x\nsubscriptions:\n  - {url: ftp://x}", 4, "url"),
            ("name: mine\ndescription: x\nsubscriptions:\n  - {events: [done]}", 4, "url"),
            (
                "name: mine\ndescription: x\nsubscriptions:\n  - {url: http://127.0.0.1:9, events: [done]}", 4,
                "session.completed"
            ),
            (
                "name: mine\ndescription: x\nsubscriptions:\n  - {url: http://127.0.0.1:9, organization: X}", 4,
                "DemoOrg"
            ),
            ("name: mine\ndescription: x\ntimeline:\n  - {resolve_flag: {customer_item_id: a, note: b}}", 4, "at"),
            ("name: mine\ndescription: x\ntimeline:\n  - {at: 2h30, clear_faults: true}", 4, "duration"),
            ("name: mine\ndescription: x\ntimeline:\n  - {at: -1s, clear_faults: true}", 4, "at"),
            ("name: mine\ndescription: x\ntimeline:\n  - {at: 1h}", 4, "actions are set_result"),
            (
                "name: mine\ndescription: x\ntimeline:\n  - {at: 1h, clear_faults: true, settings: {}}", 4,
                "clear_faults, settings"
            ),
            ("name: mine\ndescription: x\ntimeline:\n  - {at: 1h, explode: true}", 4, "explode"),
            (
                "name: mine\ndescription: x\ntimeline:\n  - at: 1h\n    set_result:\n      customer_item_id: a\n      result: real",
                7, "authentic"
            ),
            (
                "name: mine\ndescription: x\ntimeline:\n  - at: 1h\n    set_result: {result: unknown}", 5,
                "customer_item_id"
            ),
            ("name: mine\ndescription: x\ntimeline:\n  - at: 1h\n    resolve_flag: {customer_item_id: a}", 5, "note"),
            (
                "name: mine\ndescription: x\ntimeline:\n  - at: 1h\n    retake: {customer_item_id: a, regions: [roof]}",
                5, "regions"
            ),
            (
                "name: mine\ndescription: x\ntimeline:\n  - at: 1h\n    trigger_webhook: {customer_item_id: a, event: x}",
                5, "event"
            ),
            (
                "name: mine\ndescription: x\ntimeline:\n  - at: 1h\n    fault: {match: {}, effect: {explode: true}}", 5,
                "explode"
            ),
            ("name: mine\ndescription: x\ntimeline:\n  - at: 1h\n    settings: {quotas: 1}", 5, "quotas"),
            ("name: mine\ndescription: x\ntimeline:\n  - at: 1h\n    insert_items: {result: real}", 5, "result"),
            (
                "name: mine\ndescription: x\nexpect:\n  - {times: 1}", 4,
                "route, sequence, item, capture, component, webhook"
            ),
            ("name: mine\ndescription: x\nexpect:\n  - {route: /x, item: {customer_item_id: a}}", 4, "item, route"),
            ("name: mine\ndescription: x\nexpect:\n  - {route: /x, status: 999}", 4, "status"),
            ("name: mine\ndescription: x\nexpect:\n  - {route: /x, method: GRAB}", 4, "method"),
            ("name: mine\ndescription: x\nexpect:\n  - {route: /x, times: -1}", 4, "times"),
            ("name: mine\ndescription: x\nexpect:\n  - {route: /x, times: 1, at_least: 1}", 4, "combined"),
            ("name: mine\ndescription: x\nexpect:\n  - {route: /x, at_most: 1, at_least: 2}", 4, "at_most"),
            ("name: mine\ndescription: x\nexpect:\n  - {route: /x, since: 1h}", 4, "since"),
            ("name: mine\ndescription: x\nexpect:\n  - {item: {result: real}}", 4, "customer_item_id"),
            ("name: mine\ndescription: x\nexpect:\n  - {item: {customer_item_id: a, flag: maybe}}", 4, "flagged"),
            ("name: mine\ndescription: x\nexpect:\n  - {route: sdk/search}", 4, "begin with /"),
            ("name: mine\ndescription: x\nexpect:\n  - {route: /ns/a/sdk/search}", 4, "without /ns/{ns}"),
            (
                "name: mine\ndescription: x\nseed:\n  organisations: []", 4,
                "seed.organisations line 4: is not known here"
            ),
            ("name: ../etc\ndescription: x", 1, "A-Z"),
            ("name: mine\ndescription: x\nexpect:\n  - {capture: {status: lost}}", 4, "timed_out"),
            ("name: mine\ndescription: x\nexpect:\n  - {capture: {}}", 4, "status"),
            ("name: mine\ndescription: x\nexpect:\n  - {webhook: {event: x}}", 4, "session.completed"),
            (
                "name: mine\ndescription: x\nexpect:\n  - {webhook: {event: session.completed, status: lost}}", 4,
                "delivered"
            ),
            (
                "a: &a [1,1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]",
                1, "not known here"
            ),
            (
                "name: mine\ndescription: x\nsettings:\n  a: &a [1,1,1,1,1,1,1,1,1,1]\n  b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
                    + "  c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n  d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
                    + "  e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\n  f: [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]", nil,
                "at most 100000 values"
            ),
        ] as [(String, Int?, String)])
    func aMistakeIsReportedWithItsLineAndNothingIsSaved(text: String, line: Int?, words: String) async throws {
        let world = try await TestWorld.make()
        let session = try await world.login()
        let answer = try await put(world, text)
        #expect(answer.status == 400)
        let said = "\(answer["details.0.field"].text ?? "") \(answer["details.0.problem"].text ?? "")"
        #expect(said.contains(words), "\(answer.json)")
        if let line { #expect(said.contains("line \(line):"), "\(said)") }
        #expect(try await world.send("GET", "/_sim/scenarios/mine").status == 404)
        #expect(try await world.send("GET", "/sdk/session", token: session).status == 200)
    }

    @Test func theCommandsStartAndVerify() async throws {
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let world = try await TestWorld.make()
            let common = ["-n", String(world.base.split(separator: "/").last!), "--url", SimProcess.shared.baseURL]
            func run(_ arguments: String...) async throws -> (status: Int32, output: String) {
                try await SimProcess.run(["scenario"] + arguments + common)
            }
            #expect(try await run("list").output.contains("late-result-then-disputed"))
            let file = directory + "/case.yaml"
            try Data(
                (head
                    + "expect:\n  - {route: /sdk/login, status: 200, times: 1}\n  - {item: {customer_item_id: '<&\"'}, times: 0}")
                    .utf8
            )
            .write(to: URL(fileURLWithPath: file))
            let started = try await run("start", file)
            #expect(
                started.status == 0 && started.output.contains("point the client at \(world.base)"), "\(started.output)"
            )
            let report = directory + "/junit.xml"
            let early = try await run("verify", "mine", "--junit", report)
            #expect(early.status == 1 && early.output.contains("FAILED") && early.output.contains("1 of 2 failed"))
            let xml = try JUnitText(report)
            #expect(xml.cases == 2 && xml.failures == 1)
            _ = try await world.login()
            let late = try await run("verify", "mine", "--junit", report)
            #expect(late.status == 0 && late.output.contains("mine verified"))
            #expect(try JUnitText(report).failures == 0)
            #expect(try await run("verify", "each-result").status == 1)
            #expect(try await run("start", "nope").status == 1)
            try Data("name: mine\ndescription: x\nexpect:\n  - {route: /x, status: 999}".utf8)
                .write(to: URL(fileURLWithPath: file))
            let wrong = try await run("start", file)
            #expect(
                wrong.status == 64 && wrong.output.contains("\(file):4: expect[0].status: must be"), "\(wrong.output)")
            #expect(try await run("start", directory + "/none.yaml").status == 64)
        }
    }
}

/// The counts in a JUnit report.
private struct JUnitText {
    let cases: Int
    let failures: Int

    init(_ path: String) throws {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        cases = text.components(separatedBy: "<testcase ").count - 1
        failures = text.components(separatedBy: "<failure ").count - 1
        // Every "<" begins markup, and every ampersand an entity.
        try #require(text.hasPrefix("<?xml") && text.hasSuffix("</testsuites>\n") && !text.contains("<&"))
    }
}
