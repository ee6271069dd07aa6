import EntrupyStorage
import Foundation
import SimulationAPI
import TestSupport
import Testing

@testable import Entrupy
@testable import Simulation

/// Scenarios [D scenarios]: what a start sets up, what the timeline does, and what is verified.
@Suite struct ScenarioRuleTests {
    // MARK: The start

    @Test func everySectionIsSetUp() async throws {
        let bench = try await RuleBench()
        try await bench.startScenario(
            """
            seed: empty
            clock: {freeze: 2026-03-01T12:00:00Z}
            settings: {quota: 7}
            items: [{customer_item_id: a, result: unknown, metadata: {warehouse: north}}, {count: 3, template: {customer_item_id: "b-{n}"}}]
            subscriptions: [{url: "http://127.0.0.1:1/hook", events: [session.updated]}]
            outcomes: [{match: {customer_item_id: "late-*"}, result: invalid, after: 3h}]
            faults: [{match: {route: /sdk/search}, effect: {status: 503}, times: 2}]
            """)
        let info = try await bench.control(ShowNamespace())
        #expect(info.seed == "empty" && info.clock.now == "2026-03-01T12:00:00.000000Z" && info.clock.mode == "frozen")
        #expect(try await bench.control(ShowSettings())["quota"] == 7)
        #expect(try await bench.found("a").result == .unknown)
        #expect(try await bench.found("b-3").result == .authentic)
        #expect(try await bench.control(ListOutcomes()).outcomes.count == 1)
        #expect(try await bench.control(ListFaults()).faults.count == 1)
        #expect(bench.attempts().isEmpty, "the scenario's own items are not announced")
        let user = try await bench.login()
        let late = try await bench.submit(user, "late-1")
        try await bench.advance("3h")
        #expect(try await bench.item(late).result == .invalid)
        #expect(try await bench.deliver(200).url == "http://127.0.0.1:1/hook")
    }

    @Test func aSubscriptionHasTheGivenOwnerVersionAndForm() async throws {
        let bench = try await RuleBench()
        try await bench.startScenario(
            """
            subscriptions:
              - {url: "http://127.0.0.1:1/a"}
              - {url: "http://127.0.0.1:1/b", organization: OtherOrg, username: OtherOrg-user, version: v1,
                 events: [support.message], format: event, signature: hex}
            """)
        let found = try await bench.control(ListAllSubscriptions()).webhooks
        #expect(found.map(\.url) == ["http://127.0.0.1:1/a", "http://127.0.0.1:1/b"])
        #expect(found.map(\.organization) == ["DemoOrg", "OtherOrg"])
        #expect(found.map(\.username) == [nil, "OtherOrg-user"])
        #expect(found.map(\.version) == ["v2", "1.4"])
        #expect(found.map(\.events.count) == [4, 1] && found.last?.events == ["support.message"])
        #expect(found.map(\.format) == ["items", "event"])
        #expect(found.map(\.signature) == ["sha256-base64", "hex"])
    }

    @Test func aStartReplacesTheNamespacesState() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        _ = try await bench.submit(user, "old")
        try await bench.startScenario("settings: {quota: 7}")
        try await bench.startScenario("items: [{customer_item_id: new}]")
        #expect(try await bench.control(ShowSettings())["quota"] != 7)
        #expect(await refusal { try await bench.found("old") } != nil)
        #expect(try await bench.found("new").result == .authentic)
        #expect(await refusal { try await bench.user(ShowSession(), user) } == .unauthorized)
    }

    @Test func aNamedNamespaceMustBeFreeUnlessItIsReplaced() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        for (replaces, expected) in [(false, nil), (false, PlatformError.Kind.wrongState), (true, nil)] {
            let kind = await refusal {
                try await bench.startScenario("items: [{customer_item_id: a}]", in: "child", replaces: replaces)
            }
            #expect(kind == expected)
        }
        #expect(bench.namespaces.all().map(\.name) == ["child", "default"])
        #expect(await refusal { try await bench.found("a") } != nil, "the addressed namespace stays as it is")
        #expect(await refusal { try await bench.user(ShowSession(), user) } == nil)
    }

    @Test func theDefaultNamespaceHasNoTimeToLive() async throws {
        let bench = try await RuleBench()
        let kind = await refusal {
            try await bench.startScenario("items: []", in: "default", replaces: true, ttl: Span("1h"))
        }
        #expect(kind == .invalid)
    }

    @Test func partsThatMatchNothingAreNotedAndRefusedIfStrict() async throws {
        let bench = try await RuleBench()
        bench.namespaces.environment.routes.set([("GET", "/sdk/session")])
        let text = """
            items: [{brand: Nyke}]
            faults: [{match: {route: /sdk/sesion}, effect: {status: 503}}]
            expect: [{route: /sdk/session, method: PUT}, {route: /sdk/session, method: GET}]
            """
        let run = try await bench.startScenario(text)
        #expect(run.notes.map(\.field) == ["items[0].brand", "faults[0].match.route", "expect[0].method"])
        #expect(run.notes.someAndAll { $0.problem.hasPrefix("line ") })
        #expect(await refusal { try await bench.startScenario(text, isStrict: true) } == .invalid)
    }

    /// A mistake in the scenario's last line, and what the error must say.
    @Test(arguments: [
        ("colour: red", "line 3: colour"), ("clock: {freeze: tomorrow}", "line 3: clock.freeze"),
        ("clock: {freeze: 2026-01-05}", "must be ISO 8601"),
        ("items: [{result: fake}]", "line 3: items[0].result: must be one of"),
        ("settings: {qota: 7}", "line 3: settings.qota"), ("outcomes: [{result: fake}]", "line 3: outcomes[0]"),
        ("faults: [{effect: {}}]", "line 3: faults[0]"), ("timeline: [{at: 1m}]", "needs one action beside \"at\""),
        ("timeline: [{clear_faults: true}]", "timeline[0].at: is missing"),
        ("timeline: [{at: soon, clear_faults: true}]", "line 3: timeline[0].at"),
        ("timeline: [{at: 1m, set_result: {customer_item_id: a}}]", "set_result.result: is missing"),
        ("timeline: [{at: 1m, retake: {customer_item_id: a, regions: [elbow]}}]", "must be one of"),
        ("timeline: [{at: 1m, resolve_flag: {note: n}}]", "resolve_flag.customer_item_id: must be given"),
        (
            "expect: [{route: /sdk/session, item: {customer_item_id: a}}]",
            "needs one of route, sequence, item, capture, webhook"
        ),
        ("expect: [{route: sdk}]", "must begin with / or *"), ("expect: [{capture: {status: gone}}]", "must be one of"),
        ("expect: [{webhook: {event: gone}}]", "must be one of"),
        ("expect: [{route: /x, times: 1, at_least: 1}]", "cannot be combined"),
        ("expect: [{route: /sdk/session, at_least: 0}]", "met by whatever happens"),
        ("expect: [{sequence: []}]", "line 3: expect[0].sequence: must be a list of 1 to 100 steps"),
        ("expect: [{sequence: x}]", "line 3: expect[0].sequence: must be a list of 1 to 100 steps"),
        ("expect: [{sequence: [{route: /x}, {rout: /x}]}]", "line 3: expect[0].sequence[1].rout: is not known here"),
        ("expect: [{sequence: [{route: /x}, {route: sdk}]}]", "expect[0].sequence[1].route: must begin with / or *"),
        ("expect: [{sequence: [{}, {}], times: 1}]", "line 3: expect[0].times: is not known here"),
        ("expect: [{sequence: [{}, {}], min_gap: soon}]", "line 3: expect[0].min_gap: must be a duration"),
        ("expect: [{sequence: [{}, {}], min_gap: 2s, max_gap: 1s}]", "must not be more than max_gap"),
        ("subscriptions: [{events: [gone]}]", "subscriptions[0].url: is missing"),
    ])
    func aMistakeIsReportedWithItsLineAndWhatWasExpected(part: String, expected: String) async throws {
        let bench = try await RuleBench()
        let error = await #expect(throws: PlatformError.self) { try await bench.startScenario(part) }
        #expect(error?.kind == .invalid)
        #expect(error?.message.contains(expected) == true, "\(error?.message ?? "")")
        #expect(try await bench.control(ShowNamespace()).counts.events == 0, "nothing was started")
    }

    /// A mistake from line 3 on, its line, and a word of what is expected.
    @Test(arguments: [
        ("clock: {freeze: 2026-01-05T09:00:00Z, mode: x}", 3, "known here"), ("clock: frozen", 3, "object"),
        ("clock: {freeze: 2026-02-29T09:00:00Z}", 3, "29 February 2026 is not a date; February 2026 has 28 days"),
        ("outcoms: []", 3, "did you mean outcomes?"),
        ("faults:\n  - match: {rout: /x}\n    effect: {status: 500}", 4, "did you mean route?"),
        ("seed: stnadard", 3, "standard"), ("seed:\n  organisations: []", 4, "seed.organisations"),
        ("settings:\n  result:\n    delay: -1s", 5, "result.delay"), ("outcomes: unknown", 3, "list"),
        ("outcomes:\n  - match: {brnad: Nike}\n    result: unknown", 4, "brnad"),
        ("outcomes:\n  - match: {}\n    result: real", 5, "authentic"),
        ("faults:\n  - match: {route: /sdk/search}\n    effect: {status: 99}", 5, "effect.status"),
        ("faults:\n  - match: {route: /sdk/search}", 4, "effect"),
        ("items:\n  - {customer_item_id: a}\n  - {result: real}", 5, "result"),
        ("items:\n  - {product_category: cars}", 4, "product_category"),
        ("items:\n  - {username: Nobody-x}", 4, "username"), ("items: [{count: 0, template: {}}]", 3, "count"),
        ("items: [{count: 20000, template: {}}]", 3, "10000"), ("items: [{submitted_at: 1}]", 3, "cannot be set"),
        ("items: [{count: 2, template: {style_name: \"a\\0\"}}]", 3, "U+0000"),
        ("items: [{after: 3h}]", 3, "timeline (set_result)"), ("items: [{warehouse: north}]", 3, "is not known here"),
        ("items: [{custmer_item_id: b}]", 3, "did you mean customer_item_id?"),
        ("subscriptions:\n  - {url: ftp://x}", 4, "url"),
        ("subscriptions:\n  - {url: http://127.0.0.1:9, events: [done]}", 4, "session.completed"),
        ("subscriptions:\n  - {url: http://127.0.0.1:9, organization: X}", 4, "DemoOrg"),
        ("subscriptions:\n  - {url: http://127.0.0.1:9, signature: md5}", 4, "sha256-base64"),
        ("timeline:\n  - {at: 2h30, clear_faults: true}", 4, "duration"),
        ("timeline:\n  - {at: -1s, clear_faults: true}", 4, "at"),
        ("timeline:\n  - {at: 1h}", 4, "actions are set_result"),
        ("timeline:\n  - {at: 1h, clear_faults: true, settings: {}}", 4, "clear_faults, settings"),
        ("timeline:\n  - {at: 1h, explode: true}", 4, "explode"),
        ("timeline:\n  - at: 1h\n    set_result:\n      customer_item_id: a\n      result: real", 7, "authentic"),
        ("timeline:\n  - at: 1h\n    set_result: {result: unknown}", 5, "customer_item_id"),
        ("timeline:\n  - at: 1h\n    resolve_flag: {customer_item_id: a}", 5, "note"),
        ("timeline:\n  - at: 1h\n    trigger_webhook: {customer_item_id: a, event: x}", 5, "event"),
        ("timeline:\n  - at: 1h\n    fault: {match: {}, effect: {explode: true}}", 5, "explode"),
        ("timeline:\n  - at: 1h\n    settings: {quotas: 1}", 5, "quotas"),
        ("timeline:\n  - at: 1h\n    insert_items: {result: real}", 5, "result"),
        ("expect:\n  - {route: /x, item: {customer_item_id: a}}", 4, "item, route"),
        ("expect:\n  - {route: /x, status: 999}", 4, "status"), ("expect:\n  - {route: /x, method: GRAB}", 4, "method"),
        ("expect:\n  - {route: /x, times: -1}", 4, "times"), ("expect:\n  - {route: /x, since: 1h}", 4, "since"),
        ("expect:\n  - {route: /x, at_most: 1, at_least: 2}", 4, "at_most"),
        ("expect:\n  - {route: /ns/a/sdk/search}", 4, "without /ns/{ns}"),
        ("expect:\n  - {item: {result: real}}", 4, "customer_item_id"),
        ("expect:\n  - {item: {customer_item_id: a, flag: maybe}}", 4, "flagged"),
        ("expect:\n  - {capture: {}}", 4, "status"), ("expect:\n  - {capture: {status: lost}}", 4, "timed_out"),
        ("expect:\n  - {webhook: {event: session.completed, status: lost}}", 4, "delivered"),
    ])
    func aMistakeInASectionHasItsLine(sections: String, line: Int, words: String) async throws {
        let bench = try await RuleBench()
        let error = await #expect(throws: PlatformError.self) { try await bench.startScenario(sections) }
        let said = error?.details.map { "\($0.field) \($0.problem)" }.joined(separator: "\n") ?? ""
        #expect(said.contains(words) && said.contains("line \(line):"), "\(said)")
    }

    /// Whole texts that are no scenario, and a word of what is said about each.
    @Test(arguments: [
        ("", "empty"), ("name: [", "YAML"), ("- a", "mapping"), ("name: x", "description"), ("description: x", "name"),
        ("name: x\nname: x\ndescription: x", "twice"), ("name: a/b\ndescription: x", "A-Z"),
        ("name: ../etc\ndescription: x", "A-Z"),
        ("a: &a [1,1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]", "not known here"),
        (
            "name: x\ndescription: x\nsettings:\n  v0: &v0 [1,1,1,1,1,1,1,1,1,1]\n"
                + (1...5).map {
                    "  v\($0): &v\($0) [" + Array(repeating: "*v\($0 - 1)", count: 10).joined(separator: ",") + "]\n"
                }
                .joined(), "at most 100000 values"
        ),
    ])
    func aTextThatIsNoScenarioIsNotSaved(text: String, words: String) async throws {
        let bench = try await RuleBench()
        let control = RequestHead(isControl: true)
        let error = await refusalError {
            _ = try await bench.namespaces.putScenario("x", .success(text), bench.namespace, control).result.get()
        }
        let said = error?.details.map { "\($0.field) \($0.problem)" }.joined(separator: "\n") ?? ""
        #expect(error?.kind == .invalid && said.contains(words), "\(said)")
    }

    @Test(arguments: ["\u{feff}", "# A remark.\n---\n", "\r\n"])
    func byteOrderMarksLineEndsAndCommentsAreAccepted(start: String) async throws {
        let bench = try await RuleBench()
        let text = "name: x\ndescription: x\nexpect: []\n"
        let sent = start == "\r\n" ? text.replacing("\n", with: start) : start + text
        _ = try await bench.namespaces.putScenario("x", .success(sent), bench.namespace, RequestHead(isControl: true))
            .result.get()
    }

    @Test func aResetKeepsTheSettingsOfTheScenarioAndEndsItsRun() async throws {
        let bench = try await RuleBench()
        try await bench.startScenario("settings: {quota: 3}\ntimeline: [{at: 90s, clear_faults: true}]")
        _ = try await bench.namespace.reset(RequestHead(isControl: true)).result.get()
        #expect(try await bench.control(ShowSettings())["quota"] == 3)
        #expect(await refusal { try await bench.control(VerifyScenario(name: "x", isStrict: false)) } == .wrongState)
        try await bench.startScenario("settings: {quota: 3}")
    }

    @Test func aSequenceIsExpectedInItsOrder() async throws {
        let bench = try await RuleBench()
        bench.namespaces.environment.routes.set([("GET", "/a"), ("GET", "/b")])
        let run = try await bench.startScenario(
            """
            expect:
              - {sequence: [{route: /a}, {route: /b, status: 429}, {route: /b, status: 200}]}
              - sequence: [{route: /a}, {route: /c}]
            """)
        #expect(run.notes.map(\.field) == ["expect[1].sequence[1].route"])
        for (path, status) in [("/b", 200), ("/a", 200), ("/b", 429)] { await bench.journal("GET", path, status) }
        let failed = try await bench.scenario().expectations[0]
        #expect(failed.expectation == "/a, then /b -> 429, then /b -> 200" && failed.line == 4 && failed.found == 2)
        #expect(
            failed.problem?.hasPrefix(
                "sequence[2] (/b -> 200) did not follow sequence[1] (/b -> 429)\nGET /b was 200: came before the previous step (request 3)"
            ) == true)
        #expect(failed.nearest?.first?.sequence == 1)
        await bench.journal("GET", "/b", 200)
        let met = try await bench.scenario().expectations[0]
        #expect(met.passed && met.found == 3 && met.problem == nil && met.nearest == nil)
    }

    // MARK: The timeline

    /// Starts a scenario with one action after a minute, and moves its clock there.
    private func bench(after action: String, _ more: String = "") async throws -> (RuleBench, Credential) {
        let bench = try await RuleBench()
        try await bench.startScenario(
            """
            clock: {freeze: 2026-01-05T09:00:00Z}
            items: [{customer_item_id: a, flag: flagged, username: DemoOrg-bench-user}]
            timeline: [{at: 1m, \(action)}]
            \(more)
            """)
        let user = try await bench.login()
        try await bench.advance("59s")
        #expect(try await bench.scenario().timeline.map(\.state) == ["waiting"])
        try await bench.advance("1s")
        let run = try await bench.scenario()
        try #require(run.timeline.map(\.state) == ["done"], "\(run.timeline)")
        #expect(run.timeline[0].at == run.started_at + 60)
        return (bench, user)
    }

    @Test func setResultChangesTheItem() async throws {
        let (bench, _) = try await bench(
            after: "set_result: {customer_item_id: a, result: invalid, reason: \(Self.reason())}")
        #expect(try await bench.found("a").result == .invalid)
    }

    private static func reason() throws -> String {
        try #require(Seed.standard().entrupy.catalogue.texts.invalidReasons.first).id
    }

    @Test func resolveFlagResolvesAndMayChangeTheResult() async throws {
        let (bench, _) = try await bench(after: "resolve_flag: {customer_item_id: a, note: seen, result: unknown}")
        let item = try await bench.found("a")
        #expect(item.flag == .resolved && item.flagNote == "seen" && item.result == .unknown)
    }

    @Test func retakeAsksForImages() async throws {
        let (bench, user) = try await bench(after: "retake: {customer_item_id: a, regions: [outer_side]}")
        #expect(
            try await bench.user(ListRetakes(), user).items.map { $0.retake.regions.map(\.region_id) } == [
                ["outer_side"]
            ])
    }

    @Test func supportMessageReachesTheReceiver() async throws {
        let (bench, _) = try await bench(
            after: "support_message: {customer_item_id: a, message: Which size?, options: [S, M]}",
            "subscriptions: [{url: \"http://127.0.0.1:1/hook\", format: event}]")
        let body = try RuleBench.body(try #require(bench.attempts().last))
        #expect(body["event"] == "support.message")
        #expect(String(decoding: try #require(bench.attempts().last?.body), as: UTF8.self).contains("Which size?"))
    }

    @Test(arguments: [("revoke_sessions", "session.ended"), ("expire_sessions", "session.expired")])
    func sessionsOfOneUserOrOfAllEnd(action: String, event: String) async throws {
        let bench = try await RuleBench()
        try await bench.startScenario(
            """
            clock: {freeze: 2026-01-05T09:00:00Z}
            timeline:
              - {at: 1m, \(action): {username: DemoOrg-bench-user}}
              - {at: 2m, \(action): {}}
            """)
        let users = [try await bench.login(), try await bench.login(), try await bench.login("other-user")]
        func refusals() async -> [PlatformError.Kind?] {
            var refusals: [PlatformError.Kind?] = []
            for user in users { refusals.append(await refusal { try await bench.user(ShowSession(), user) }) }
            return refusals
        }
        #expect(await refusals() == [nil, nil, nil])
        try await bench.advance("1m")
        #expect(await refusals() == [.unauthorized, .unauthorized, nil])
        try await bench.advance("1m")
        #expect(await refusals() == [.unauthorized, .unauthorized, .unauthorized])
        #expect(
            try await bench.events(event) == ["DemoOrg-other-user", "DemoOrg-bench-user", "DemoOrg-bench-user"])
    }

    @Test func insertItemsAddsItems() async throws {
        let (bench, _) = try await bench(after: "insert_items: {count: 2, template: {customer_item_id: \"late-{n}\"}}")
        #expect(try await bench.found("late-2").result == .authentic)
    }

    @Test func faultAddsARule() async throws {
        let (bench, _) = try await bench(after: "fault: {match: {route: /sdk/search}, effect: {status: 500}}")
        #expect(try await bench.control(ListFaults()).faults.count == 1)
    }

    @Test func clearFaultsRemovesAllRules() async throws {
        let (bench, _) = try await bench(
            after: "clear_faults: true", "faults: [{match: {route: /sdk/search}, effect: {status: 500}}]")
        #expect(try await bench.control(ListFaults()).faults.isEmpty)
    }

    @Test func triggerWebhookSendsAnEvent() async throws {
        let (bench, _) = try await bench(
            after: "trigger_webhook: {customer_item_id: a, event: session.updated}",
            "subscriptions: [{url: \"http://127.0.0.1:1/hook\", format: event}]")
        #expect(try RuleBench.body(try #require(bench.attempts().last))["event"] == "session.updated")
    }

    @Test func settingsChangeFromThenOn() async throws {
        let (bench, _) = try await bench(after: "settings: {quota: 7}")
        #expect(try await bench.control(ShowSettings())["quota"] == 7)
    }

    @Test func anActionThatCannotBeDoneFailsTheVerification() async throws {
        let bench = try await RuleBench()
        try await bench.startScenario(
            """
            timeline:
              - {at: 1m, set_result: {customer_item_id: none, result: unknown}}
              - {at: 2m, insert_items: {customer_item_id: later}}
              - {at: 3m, resolve_flag: {customer_item_id: later, note: Not flagged}}
              - {at: 4m, revoke_sessions: {username: DemoOrg-nobody}}
            """)
        await bench.wait("4m")
        let run = try await bench.scenario()
        #expect(run.timeline.map(\.state) == ["failed", "done", "failed", "failed"], "later actions are done")
        #expect(run.timeline[2].problem?.contains("not flagged") == true)
        #expect(run.timeline[3].problem?.contains("user") == true)
        #expect(run.timeline.first?.problem?.contains("there is no item with the customer_item_id \"none\"") == true)
        #expect(!run.verified)
        #expect(
            await refusal { try await bench.control(VerifyScenario(name: "x", isStrict: false)) } == .scenarioFailed)
    }

    @Test func aFrozenTimelineMovesOnlyByAdvance() async throws {
        let bench = try await RuleBench()
        try await bench.startScenario(
            """
            clock: {freeze: 2026-01-05T09:00:00Z}
            timeline: [{at: 1m, insert_items: {customer_item_id: later}}]
            """)
        await bench.wait("1h")
        #expect(try await bench.scenario().timeline.map(\.state) == ["waiting"])
        #expect(
            await refusal { try await bench.control(VerifyScenario(name: "x", isStrict: false)) } == .scenarioFailed,
            "an action is due")
        try await bench.advance("1m")
        #expect(try await bench.control(VerifyScenario(name: "x", isStrict: false)).run.verified)
        #expect(try await bench.events("scenario.started") == ["x"])
        #expect(try await bench.events("scenario.action") == ["x"])
    }

    @Test func aStartThatRunsAdvancesThroughTheTimeline() async throws {
        let bench = try await RuleBench()
        let run = try await bench.startScenario(
            """
            clock: {freeze: 2026-01-05T09:00:00Z}
            timeline:
              - {at: 4h, insert_items: {customer_item_id: b}}
              - {at: 1h, insert_items: {customer_item_id: a}}
            """, runs: true)
        #expect(run.timeline.map(\.state) == ["done", "done"] && run.verified)
        #expect(run.clock.now == "2026-01-05T13:00:00.000000Z")
    }

    // MARK: Expectations

    @Test func expectationsCountRequestsItemsCapturesAndWebhooks() async throws {
        let bench = try await RuleBench()
        try await bench.startScenario(
            """
            subscriptions: [{url: "http://127.0.0.1:1/hook"}]
            expect:
              - {route: "/sdk/results/*/flag", method: PUT, status: 200, times: 1}
              - {route: /sdk/session, status: 2xx, at_least: 1, at_most: 2}
              - {item: {customer_item_id: "a*", result: needs_review, flag: none}}
              - {capture: {status: submitted, customer_item_id: a1}, times: 1}
              - {webhook: {event: session.updated, attempts: 1, status: delivered}, at_least: 1}
              - {route: /sdk/search, times: 0}
            """)
        var run = try await bench.scenario()
        #expect(run.expectations.map(\.passed) == [false, false, false, false, false, true])
        #expect(run.expectations.map(\.line) == [5, 6, 7, 8, 9, 10])
        #expect(run.expectations.dropLast().someAndAll { $0.problem != nil && $0.found == 0 })
        let user = try await bench.login()
        _ = try await bench.submit(user, "a1")
        _ = try await bench.deliverAll()
        await bench.journal("PUT", "/sdk/results/x/flag", 200)
        await bench.journal("GET", "/sdk/session", 201)
        run = try await bench.scenario()
        #expect(run.verified, "\(run.failures)")
        await bench.journal("PUT", "/sdk/results/x/flag", 200)
        await bench.journal("POST", "/sdk/search", 503)
        run = try await bench.scenario()
        #expect(run.expectations.map(\.passed) == [false, true, true, true, true, false])
        #expect(run.expectations.map(\.found) == [2, 1, 1, 1, 1, 1])
    }

    @Test func everyPartOfAnExpectationMustHold() async throws {
        let bench = try await RuleBench()
        try await bench.startScenario(
            """
            subscriptions: [{url: "http://127.0.0.1:1/hook"}]
            expect:
              - {item: {customer_item_id: a1, flag: flagged}}
              - {item: {customer_item_id: a1, result: authentic}}
              - {item: {customer_item_id: other}}
              - {capture: {status: submitted, customer_item_id: other}}
              - {capture: {status: cancelled, customer_item_id: a1}}
              - {webhook: {event: session.updated, attempts: 2}}
              - {webhook: {event: session.updated, status: failed}}
              - {webhook: {event: session.completed}}
            """)
        _ = try await bench.submit(bench.login(), "a1")
        try await bench.deliver(200)
        let checks = try await bench.scenario().expectations
        try #require(checks.count == 8)
        #expect(checks.filter(\.passed).map(\.expectation) == [])
        #expect(checks.someAndAll { $0.found == 0 })
    }

    @Test func onlyAStartedScenarioCanBeVerified() async throws {
        let bench = try await RuleBench()
        #expect(await refusal { try await bench.control(VerifyScenario(name: "x", isStrict: false)) } == .wrongState)
        try await bench.startScenario("items: []")
        #expect(await refusal { try await bench.control(VerifyScenario(name: "y", isStrict: false)) } == .wrongState)
        #expect(
            try await bench.control(VerifyScenario(name: "x", isStrict: false)).run.verified, "nothing was expected")
    }
}

extension RuleBench {
    /// Stores the scenario "x" with these sections, from line 3, and starts it.
    @discardableResult fileprivate func startScenario(
        _ sections: String, in child: String? = nil, replaces: Bool = false, ttl: Span? = nil, runs: Bool = false,
        isStrict: Bool = false
    ) async throws -> ScenarioRun {
        let control = RequestHead(isControl: true)
        let text = "name: x\ndescription: a test\n\(sections)\n"
        _ = try await namespaces.putScenario("x", .success(text), namespace, control).result.get()
        let start = ScenarioStart(namespace: child, replaces: replaces, ttl: ttl, runs: runs, isStrict: isStrict)
        return try await namespaces.startScenario(
            "x", .success(start), namespace, control, until: SettleDeadline { _ in true }
        ).result.get()
    }

    /// The state of the scenario that was started.
    fileprivate func scenario() async throws -> ScenarioRun {
        try #require(try await control(ShowScenarioRun())).run
    }

    /// The latest item of a `customer_item_id`.
    fileprivate func found(_ customerItemID: String) async throws -> ItemRecord {
        let id = try await job { job in
            guard let id = try job.transaction.latestItem(customerItemID: customerItemID) else {
                throw PlatformError.notFound("there is no item \(customerItemID)")
            }
            return id
        }
        return try await item(id)
    }

    /// The subjects of the events of a kind, newest first.
    fileprivate func events(_ kind: String) async throws -> [String] {
        let log = ListEvents(
            subject: nil, kind: Glob(kind), sequences: (after: 0, before: .max), limit: 100, cursor: nil)
        return try await control(log).events.map(\.subject)
    }

    fileprivate func advance(_ span: String) async throws {
        let span = try #require(Span(span))
        _ = try await namespace.advanceClock(
            .by(span), RequestHead(isControl: true), until: SettleDeadline { _ in true }
        ).result.get()
    }

    private struct NoMessage: JournalHeaders, JournalBody {
        let pairs: [(name: String, value: String)] = []
        let data = Data()
    }

    /// Adds a request to the journal, as the server does.
    fileprivate func journal(_ method: String, _ path: String, _ status: Int) async {
        let message = JournalEntry.Message(length: 0, kept: 0, headers: NoMessage(), body: NoMessage())
        let outcome = RequestOutcome(
            at: Self.morning, generation: namespace.outbox.generation,
            journal: .init(entries: 100, bytes: 1_000_000, bodyBytes: 0), secrets: [])
        await namespace.append(
            JournalEntry(
                requestID: "r", method: method, path: path, query: "", status: status, milliseconds: 1,
                outcome: outcome, request: message, response: message))
    }
}
