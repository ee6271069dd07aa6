import Foundation
import TestSupport
import Testing

@testable import EntrupySimTesting

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The kit for tests itself.
@Suite(.entrupySim(frozenAt: "2026-01-05T09:00:00Z"), .timeLimit(.minutes(10)))
struct SimulatorTests {
    @Test func everyTestHasANamespaceOfItsOwn() async throws {
        let sim = try SimulatedNamespace.current
        #expect(try await sim.clock.state.now == "2026-01-05T09:00:00.000000Z")
        #expect(sim.url.absoluteString.hasSuffix("/ns/\(sim.name)"))
        #expect(sim.environment["ENTRUPY_SIM_URL"] == sim.url.absoluteString)
        #expect(sim.environment["ENTRUPY_SIM_NAMESPACE"] == sim.name)
        let other = try await Simulator.start().makeNamespace()
        try await sim.insertItems(3)
        #expect(try await other.requests().isEmpty)
        let found = try await other.control("GET", "/_sim/authentications").members?["authentications"]
        #expect(found?.elements?.isEmpty == true)
        try await other.delete()
        await #expect { try await other.settle() } throws: { "\($0)".contains("The namespace was deleted") }
    }

    @Test func requestsAreExpectedInAnOrderAndWithGaps() async throws {
        let sim = try SimulatedNamespace.current
        try await sim.fault(.status(503), on: "/sdk/config", times: 1)
        for path in ["sdk/config", "sdk/session", "sdk/config"] {
            _ = try await URLSession.shared.data(from: sim.url.appendingPathComponent(path))
        }
        let steps: [ExpectedRequest] = [
            .init("GET", "/sdk/config", status: "503"), .init("GET", "/sdk/config", status: "401"),
        ]
        try await sim.expectRequests(steps, maxGap: .minutes(30))
        await #expect {
            try await Task.detached { try await sim.expectRequests(steps, minGap: "1h") }.value
        } throws: {
            "\($0)".contains("sequence[1] (GET /sdk/config -> 401) followed sequence[0], but not with the expected gap")
                && "\($0)".contains("min_gap is 1h")
        }
        await #expect {
            try await Task.detached { try await sim.expectRequests(steps.reversed()) }.value
        } throws: {
            "\($0)".contains("sequence[1] (GET /sdk/config -> 503) did not follow") && "\($0)".contains("nearest:")
        }
        try await sim.clock.advance(by: "2h")
        _ = try await URLSession.shared.data(from: sim.url.appendingPathComponent("sdk/config"))
        try await sim.expectRequests(steps, minGap: "1h")
        await #expect { try await sim.expectRequests([.init(nil, "/sdk/confg")]) } throws: {
            "\($0)".contains("anyRoute: true in expectRequests")
        }
        await #expect { try await sim.expectRequests([]) } throws: { "\($0)".contains("1 to 100 steps") }
    }

    @Test func misuseIsAFailureWithItsRequests() async throws {
        let sim = try SimulatedNamespace.current
        var request = URLRequest(url: sim.url.appendingPathComponent("v1/health"))
        request.setValue("1.0", forHTTPHeaderField: "Api-Version")
        _ = try await URLSession.shared.data(for: request)
        try await sim.expectNoMisuse()
        await #expect {
            try await Task.detached { try await sim.expectNoMisuse(failingAt: .warning) }.value
        } throws: {
            "\($0)".contains("warning deprecated-version: GET /v1/health asks for version 1.0 (requests 1)")
        }
        try await sim.expectNoMisuse(failingAt: .warning, ignore: ["deprecated-version": "an old client"])
        #expect(try await sim.audit(rule: "deprecated-version").findings.count == 1)
        #expect(try await sim.audit(level: .error).findings.isEmpty)
        await #expect { try await sim.expectNoMisuse(ignore: ["retry-to-soon": "x"]) } throws: {
            "\($0)".contains("the audit has no rule \"retry-to-soon\"")
        }
    }

    @Test func whatTheJournalHasForgottenWasNotJudged() async throws {
        let sim = try SimulatedNamespace.current
        _ = try await URLSession.shared.data(from: sim.url.appendingPathComponent("v1/health"))
        try await sim.control("DELETE", "/_sim/requests")
        await #expect { try await sim.expectNoMisuse() } throws: {
            "\($0)".hasPrefix("retry-too-soon could not judge everything: the journal has forgotten requests")
        }
        try await sim.expectNoMisuse(ignore: ["forgotten": "this test empties the journal"])
        let rules = try await sim.audit(level: .error).rules.map { ($0.id, "not asked about") }
        try await sim.expectNoMisuse(ignore: Dictionary(uniqueKeysWithValues: rules))
    }

    @Test func aWaitForAHeldRequestTakesTheOneBefore() async throws {
        let sim = try SimulatedNamespace.current
        let url = sim.url.appendingPathComponent("sdk/config")
        try await sim.fault(.hold(), on: "/sdk/config", times: 2)
        func ask() -> Task<Int?, any Error> {
            Task { (try await URLSession.shared.data(from: url).1 as? HTTPURLResponse)?.statusCode }
        }
        let first = ask()
        try await sim.wait(for: .requestHeld)
        let number = try #require(try await sim.held().first).request.sequence
        await #expect { try await sim.wait(for: .requestHeld(after: number), within: "0.05s") } throws: {
            "\($0)".contains("request:held did not happen within 50ms")
        }
        let second = ask()
        try await sim.wait(for: .requestHeld(after: number))
        #expect(try await sim.held().count == 2)
        try await sim.release()
        let answers = try await [first.value, second.value]
        #expect(answers == [401, 401])
    }

    @Test func aRequestIsHeldUntilItIsReleased() async throws {
        let sim = try SimulatedNamespace.current
        let url = sim.url.appendingPathComponent("sdk/config")
        func ask() -> Task<Int?, any Error> {
            Task { (try await URLSession.shared.data(from: url).1 as? HTTPURLResponse)?.statusCode }
        }
        func untilHeld() async throws {
            while try await sim.held().isEmpty { await Task.yield() }
        }
        try await sim.fault(.hold(), on: "/sdk/config", times: 3)
        let first = ask()
        try await sim.wait(for: .requestHeld)
        let request = try #require(try await sim.held().first)
        #expect(request.request.path == "/sdk/config" && request.when == "before")
        try await sim.release(request)
        #expect(try await first.value == 401)
        await #expect { try await sim.release(request) } throws: { "\($0)".contains("it was released already") }
        let second = ask()
        try await untilHeld()
        try await sim.release(sim.held()[0], status: 503, body: ["a": 1])
        #expect(try await second.value == 503)
        let third = ask()
        try await untilHeld()
        try await sim.release(sim.held()[0], dropConnection: true)
        // The client asks again over another connection.
        _ = try? await third.value
        #expect(try await sim.requests("/sdk/config").contains { $0.status == nil })
        try await sim.fault(.hold(when: .after, for: .seconds(60)), on: "/sdk/config", times: 1)
        let last = ask()
        try await untilHeld()
        #expect(try await sim.held().map(\.when) == ["after"])
        try await sim.release()
        #expect(try await last.value == 401)
    }

    @Test func ofRequestsBeforeARestoreNothingCanBeSaid() async throws {
        let sim = try SimulatedNamespace.current
        try await sim.snapshot("before")
        _ = try await URLSession.shared.data(from: sim.url.appendingPathComponent("sdk/session"))
        try await sim.restore("before")
        // Outside a test the problem is thrown.
        let problem = await Task.detached { () -> String in
            do {
                try await sim.expectRequest("GET", "/sdk/session", times: 0)
                return "none"
            } catch { return "\(error)" }
        }.value
        #expect(problem.contains("the journal has forgotten requests"), "\(problem)")
        let next = try #require(problem.firstMatch(of: /"since": "(sequence:[0-9]+)"/)?.output.1)
        try await sim.expectRequest("GET", "/sdk/session", since: String(next), times: 0)
    }

    @Test func aWrongNumberOfRequestsNamesTheNearest() async throws {
        let sim = try SimulatedNamespace.current
        _ = try await URLSession.shared.data(from: sim.url.appendingPathComponent("sdk/session"))
        try await sim.expectRequest("GET", "/sdk/session", status: "401", times: 1)
        // Outside a test there is nobody to record an issue for: it is thrown.
        await #expect {
            try await Task.detached { try await sim.expectRequest("GET", "/sdk/session", status: "200") }.value
        } throws: {
            "\($0)".contains("GET /sdk/session 200: expected") && "\($0)".contains("nearest:")
        }
        // A refusal says why, although the client does not learn it.
        _ = try await URLSession.shared.data(from: sim.url.appendingPathComponent("certificates/NONE"))
        await #expect {
            try await Task.detached { try await sim.expectRequest("GET", "/certificates/*", status: "200") }.value
        } throws: {
            "\($0)".contains("404 (because the namespace has no certificate with this id): status is 404")
        }
    }

    @Test func coverageTellsWhatTheNamespaceAndTheServerHaveMet() async throws {
        let sim = try SimulatedNamespace.current
        let simulator = try await Simulator.start()
        let own = try await sim.coverage()
        #expect(own.edge("captures", "started")?.isMet == false)
        #expect(own.axes.someAndAll { $0.of == $0.edges.count })
        let server = try await simulator.coverage()
        #expect(server.axes.map(\.id) == own.axes.map(\.id))
        #expect(try await simulator.coverage(prefix: "no-such-prefix").axes.someAndAll { $0.reached == 0 })
        await #expect { _ = try await simulator.coverage(prefix: "Not one") } throws: {
            "\($0)".contains("prefix")
        }
    }

    @Test func aWaitEndsWithAPastEventOrNamesTheMissingOne() async throws {
        let sim = try SimulatedNamespace.current
        let id = try #require(try await sim.insertItems().first)
        try await sim.wait(for: .result(of: id))
        let waiting = Task { try await sim.wait(for: .webhook("session.completed"), within: "60s") }
        try await sim.control(
            "POST", "/_sim/webhooks/trigger",
            .object(.init([("event", .string("session.completed")), ("entrupy_id", .string(id))])))
        await #expect { try await sim.wait(for: .captureTimeout("cap_x"), within: "0.05s") } throws: {
            "\($0)".contains("did not happen within 50ms. The clock is frozen at 2026-01-05T09:00:00")
        }
        await #expect { try await sim.wait(for: "item:x", within: "1s") } throws: {
            "\($0)".contains("until must be one of")
        }
        let gone = try await Simulator.start().makeNamespace()
        let ending = Task { try await gone.wait(for: .webhook("session.completed"), within: "60s") }
        try await gone.delete()
        await #expect { try await ending.value } throws: { "\($0)".contains("was deleted") }
        waiting.cancel()
        _ = await waiting.result
    }

    @Test func aLoopThroughEverythingDueEnds() async throws {
        let sim = try SimulatedNamespace.current
        var request = URLRequest(url: sim.url.appendingPathComponent("v2/webhooks"))
        request.httpMethod = "POST"
        request.httpBody = Data(#"{"url": "http://127.0.0.1:9/", "secret_key": "s"}"#.utf8)
        for (name, value) in ["Authorization": "Token demo-api-token", "Content-Type": "application/json"] {
            request.setValue(value, forHTTPHeaderField: name)
        }
        let subscribed = try await URLSession.shared.data(for: request).1 as? HTTPURLResponse
        try #require(subscribed?.statusCode == 201)
        try await sim.insertItems(1)
        #expect(try await sim.clock.advance(to: "next").nothing_due == true, "counted items send no webhooks")
        try await sim.insertItems()
        var stops = 0
        while stops < 100, try await sim.clock.advance(to: "next").reached == true { stops += 1 }
        #expect(stops > 3 && stops < 100, "the retries of the item's webhooks")
        let end = try await sim.clock.advance(to: "next")
        #expect(end.reached == false && end.nothing_due == true && end.pending == 0)
    }

    @Test func snapshotsAndResets() async throws {
        let sim = try SimulatedNamespace.current
        let id = try #require(try await sim.insertItems(result: "authentic").first)
        try await sim.snapshot("before")
        #expect(try await sim.diff("snapshot:before").equal)
        try await sim.setResult("unknown", of: id)
        try await sim.clock.advance(by: .days(1))
        let changed = try await sim.diff("snapshot:before", "namespace:\(sim.name)").objects
        #expect(
            changed.map(\.kind) == ["item"] && changed[0].members.contains { $0.name == "result" && $0.to == "unknown" }
        )
        await #expect(throws: SimulatorError.self) { try await sim.diff("snapshot:befor & after") }
        try await sim.restore("before")
        #expect(try await sim.clock.state.now == "2026-01-05T09:00:00.000000Z")
        try await sim.reset()
        #expect(try await sim.bundle().count > 10_000)
    }

    @Test func aReceiverIsSubscribedAndUnsubscribed() async throws {
        let sim = try SimulatedNamespace.current
        let id = try await sim.subscribe("http://127.0.0.1:9/hooks", secret: "s", events: ["session.completed"])
        let listed = try await sim.control("GET", "/_sim/webhooks").members?["webhooks"]?.elements ?? []
        #expect(listed.count == 1 && listed.first?.members?["id"] == .string(id))
        #expect(listed.first?.members?["events"] == ["session.completed"])
        try await sim.unsubscribe(id)
        #expect(try await sim.control("GET", "/_sim/webhooks").members?["webhooks"]?.elements == [])
        await #expect(throws: SimulatorError.self) {
            try await sim.subscribe("http://127.0.0.1:9/hooks", secret: "s", organization: "nobody")
        }
    }

    @Test func aUserFlagsAnItemAndTakesTheFlagBack() async throws {
        let sim = try SimulatedNamespace.current
        let item = try #require(try await sim.insertItems(result: "authentic").first)
        let user = sim.user()
        #expect(try await user.flag(item).members?["id"] == "flagged")
        #expect(user.username == "DemoOrg-sim-test-user")
        #expect(try await sim.item(item).members?["flag"]?.members?["id"] == "flagged")
        #expect(try await user.unflag(item).members?["id"] == "none")
        let flag = try await user.flag(item, reason: "wrong_photos", message: "Those are of another shoe")
        let info = flag.members?["flag_status"]?.members?["flag_info"]?.members
        #expect(info?["id"] == "wrong_photos" && info?["message"] == "Those are of another shoe")
        let route = "/sdk/results/\(item)/flag"
        try await sim.expectRequest("PUT", route, status: "200", username: user.username, times: 3)
        try await sim.expectRequest("POST", "/sdk/login", status: "200", times: 1)
        await #expect { try await user.flag(item) } throws: {
            ($0 as? SimulatorError)?.status == 409 && "\($0)".contains("the item is flagged already")
        }
        try await sim.resolveFlag(of: item, note: "Seen again")
        #expect(try await sim.item(item).members?["flag"]?.members?["id"] == "resolved")
    }

    @Test func aSessionThatEndedIsRefusedUntilTheNextLogin() async throws {
        let sim = try SimulatedNamespace.current
        let item = try #require(try await sim.insertItems(result: "authentic").first)
        let user = sim.user("sim-test-user")
        try await user.login()
        try await sim.revokeSessions(of: user.username)
        await #expect { try await user.flag(item) } throws: {
            // The platform's refusal is not one of the control API.
            ($0 as? SimulatorError)?.status == 401 && !"\($0)".contains("control token")
        }
        try await user.login()
        try await user.flag(item)
        await #expect { try await sim.user("DemoOrg-someone-else").unflag(item) } throws: {
            ($0 as? SimulatorError)?.status == 404
        }
        await #expect { try await sim.revokeSessions(of: "DemoOrg-nobody") } throws: { "\($0)".contains("nobody") }
    }

    @Test func itemsRequestsEventsAndDueWorkAreListed() async throws {
        let sim = try SimulatedNamespace.current
        let fields = ["customer_item_id": "sku-1"]
        let item = try #require(try await sim.insertItems(result: "unknown", flag: "flagged", fields: fields).first)
        #expect(try await sim.items(text: "sku-").first?.members?["entrupy_id"] == .string(item))
        #expect(try await sim.items(flag: "flagged").count == 1)
        try await sim.setResult("authentic", of: item)
        #expect(try await sim.events(subject: item, kind: "result.*").count == 2)
        try await sim.insertItems(30, brand: "Jordan")
        #expect(try await sim.items().count == 31)
        #expect(try await sim.items(limit: 27).count == 27)
        await #expect { _ = try await sim.items(limit: 0) } throws: { "\($0)".contains("at least 1, got 0") }
        try await sim.user().login()
        #expect(try await sim.due().map(\.kind) == ["session.expiry"])
        let login = try #require(try await sim.requests("/sdk/login").first)
        let whole = try await sim.request(login.id)
        #expect(whole.request?.body?.contains("signed_authorization_request") == true)
        let number = try #require(whole.sequence)
        #expect(try await sim.request(number).id == login.id)
    }

    @Test func webhooksAreExpected() async throws {
        let sim = try SimulatedNamespace.current
        func problem(_ call: @escaping @Sendable () async throws -> Void) async -> String {
            // Outside a test the problem is thrown.
            await Task.detached { () -> String in
                do {
                    try await call()
                    return "none"
                } catch { return "\(error)" }
            }.value
        }
        #expect(await problem { try await sim.expectWebhook() }.contains("there is no subscription"))
        try await sim.subscribe("http://127.0.0.1:9/hooks", secret: "s", events: ["session.completed"])
        try await sim.snapshot("before")
        let item = try #require(try await sim.insertItems().first)
        #expect(await problem { try await sim.expectWebhook("session.completed", of: item) }.contains("nearest:"))
        try await sim.clock.advance(by: "2s")
        try await sim.expectWebhook("session.completed", of: item, status: "retrying", attempts: 2, times: 1)
        try await sim.expectWebhook("session.updated", of: item, status: "any", times: 0)
        #expect(try await sim.deliveries(of: item, status: "retrying").count == 1)
        let text = await problem {
            try await sim.expectWebhook("session.completed", of: item, atLeast: 1, within: "0.05s")
        }
        #expect(text.contains("expected at least 1 such deliveries, found 0"), "\(text)")
        #expect(text.contains("status is retrying, not delivered"), "\(text)")
        #expect(await problem { try await sim.expectWebhook("session.done") }.contains("there is no event"))
        #expect(await problem { try await sim.expectWebhook(status: "lost") }.contains("status must be"))
        let elsewhere = await problem { try await sim.expectWebhook(url: "http://127.0.0.1:9/hook", times: 0) }
        #expect(elsewhere.contains("they have http://127.0.0.1:9/hooks"), "\(elsewhere)")
        try await sim.expectWebhook(url: "http://127.0.0.1:9/hook", times: 0, anyURL: true)
        try await sim.expectWebhook("session.updated", status: "any", url: "http://127.0.0.1:9/hooks", times: 0)
        try await sim.restore("before")
        let forgotten = await problem { try await sim.expectWebhook(status: "any", times: 0) }
        #expect(forgotten.contains("the namespace was restored"), "\(forgotten)")
    }

    @Test func aBundleIsSavedAsAFile() async throws {
        let sim = try SimulatedNamespace.current
        let path = try await sim.saveBundle(named: "kept")
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(path.hasSuffix("/kept.entrupy-bundle.tar") && FileManager.default.fileExists(atPath: path))
    }

    @Test(.entrupySim(scenario: "late-result", verify: false)) func aScenarioOfTheServerIsStarted() async throws {
        let sim = try SimulatedNamespace.current
        #expect(try await sim.control("GET", "/_sim/outcomes").members?["outcomes"]?.elements?.isEmpty == false)
        await #expect { try await Task.detached { try await sim.verifyScenario("late-result") }.value } throws: {
            "\($0)".contains("did not pass")
        }
    }

    @Test func filesOfScenariosAndSeedDataAreRead() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("entrupy-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let scenario = directory.appendingPathComponent("mine.yaml")
        try Data(
            "name: mine\ndescription: One item.\nitems: [{customer_item_id: a}]\nexpect: [{item: {customer_item_id: a}}]\n"
                .utf8
        )
        .write(to: scenario)
        let seed = directory.appendingPathComponent("seed.yaml")
        try Data("brands: []\n".utf8).write(to: seed)
        let simulator = try await Simulator.start()
        try await simulator.withNamespace(scenario: scenario.path) { sim in try await sim.verifyScenario("mine") }
        try await simulator.withNamespace(seed: seed.path) { sim in
            let seed = try await sim.control("GET", "/_sim/info").members?["namespace"]?.members?["seed"]
            #expect(seed == "loaded")
        }
        await #expect { try await simulator.makeNamespace(scenario: "/nowhere.yaml") } throws: {
            "\($0)".contains("the scenario /nowhere.yaml cannot be read")
        }
        await #expect { try await simulator.makeNamespace(scenario: "nonsense") } throws: {
            "\($0)".contains("nonsense")
        }
    }

    @Test func aServerThatIsNotThereOrOfAnotherVersionIsNamed() async throws {
        await #expect { try await Simulator.connect(to: URL(string: "http://127.0.0.1:9")!) } throws: {
            "\($0)".hasPrefix("no server answers at http://127.0.0.1:9")
        }
        await #expect { try await Simulator.startProcess(binary: "/nowhere/entrupy-sim") } throws: {
            "\($0)".contains("the path /nowhere/entrupy-sim is not a program")
        }
        await #expect { try await Simulator.startProcess(binary: "/bin/true") } throws: {
            "\($0)".contains("/bin/true did not start: it printed nothing")
        }
        await #expect { try await Simulator.startProcess(arguments: ["--nonsense"]) } throws: {
            "\($0)".contains("did not start") && "\($0)".contains("--nonsense")
        }
    }

    @Test func aStartedServerStopsOnRequest() async throws {
        let process = try await Simulator.startProcess()
        let sim = try await process.simulator.makeNamespace()
        try await sim.settle()
        #expect(process.stop() == 0)
        await #expect(throws: SimulatorError.self) { try await sim.settle() }
    }

    @Test func onlyTheSameMinorVersionIsCompatible() {
        #expect(Simulator.isCompatible("0.2.0") && Simulator.isCompatible("0.2.9-beta"))
        for version in ["0.1.9", "0.3.0", "1.2.0", "", "x"] { #expect(!Simulator.isCompatible(version)) }
    }

    @Test func aNamespacesURLConnectsToItsServer() async throws {
        let sim = try SimulatedNamespace.current
        let other = try await Simulator.connect(to: sim.url).makeNamespace()
        try await other.settle()
        try await other.delete()
        try await other.delete()
    }

    @Test(arguments: ["sdk/login", "/ns/x/sdk/login", ""]) func aRouteThatMatchesNothingIsRefused(route: String)
        async throws
    {
        let sim = try SimulatedNamespace.current
        await #expect(throws: SimulatorError.self) { try await sim.expectRequest("POST", route, times: 0) }
        await #expect(throws: SimulatorError.self) { try await sim.fault(.dropConnection, on: route) }
    }

    /// The same forms as the control API has, and a number of seconds.
    @Test func durationsAreThoseOfTheControlAPI() async throws {
        let sim = try SimulatedNamespace.current
        let known: [(SimulatedDuration, Double)] = [
            ("1h30m", 5400), ("1h59m59s", 7199), ("300ms", 0.3), (.minutes(1.5), 90), (2, 2),
        ]
        var sum = 0.0
        let start = try await sim.clock.state.epoch
        for (duration, seconds) in known {
            #expect(duration.seconds == seconds)
            try await sim.clock.advance(by: duration)
            sum += seconds
        }
        let passed = try await sim.clock.state.epoch - start
        #expect(passed > sum - 0.001)
        for wrong in ["30m1h", "1.5h30m", "1h 30m", "300us"] as [SimulatedDuration] { #expect(wrong.seconds == nil) }
    }

    @Test func namesAndDurationsAreChecked() async throws {
        let sim = try SimulatedNamespace.current
        for within in [SimulatedDuration.seconds(.infinity), .days(300_000), 0, "soon", "30m1h"] {
            await #expect(throws: SimulatorError.self) { try await sim.wait(for: "item:x:result", within: within) }
        }
        try await sim.clock.advance(by: .seconds(0.00001))
        await #expect(throws: SimulatorError.self) { try await sim.snapshot("") }
        await #expect(throws: SimulatorError.self) { try await sim.control("GET", "_sim/due") }
        await #expect { try await Simulator.start().makeNamespace(seed: "stndard") } throws: {
            "\($0)".contains("give standard, empty, or the path")
        }
    }
}

/// Notes on rules and scenarios, and routes that the platforms do not have.
@Suite(.timeLimit(.minutes(10))) struct SimulatorNoteTests {
    /// The issues of `body`, which are not recorded.
    private func issues(
        _ body: @escaping @Sendable (SimulatedNamespace) async throws -> Void, strict: Bool
    ) async throws -> [String] {
        let found = FoundIssues()
        let observer = IssueHandlingTrait.compactMapIssues { issue in
            found.add((issue.isFailure ? "failure: " : "warning: ") + issue.comments.map(\.rawValue).joined())
            return nil
        }
        let sim = try await Simulator.start().makeNamespace(strict: strict)
        try await observer.provideScope(for: #require(Test.current), testCase: Test.Case.current) {
            try await body(sim)
        }
        try await sim.delete()
        return found.texts
    }

    @Test(arguments: [false, true]) func aRuleThatNothingMatchesIsNoted(strict: Bool) async throws {
        let found = try await issues(
            { sim in
                let fault = try await sim.fault(.status(503), on: "/sdk/serch")
                #expect(!fault.notes.isEmpty)
                try await sim.outcome("unknown", for: [.brand("Nkie")])
                try await sim.fault(.status(503), on: "/sdk/search", username: "DemoOrg-not-there-yet")
                try await sim.fault(.status(503), on: "/sdk/search")
            }, strict: strict)
        let level = strict ? "failure" : "warning"
        #expect(found.count == 3, "\(found)")
        #expect(found.first?.hasPrefix("\(level): the fault flt_") == true)
        #expect(
            found.first?.hasSuffix(
                "match.route: no route of the server matches /sdk/serch; the nearest is POST /sdk/search") == true)
        #expect(found.dropFirst().first?.hasPrefix("\(level): the outcome rule out_") == true)
        // A user who is not there yet may still come.
        #expect(found.last?.hasPrefix("warning: ") == true, "\(found)")
    }

    @Test(arguments: [false, true]) func aNoteThatIsNeverResolvedFailsAtTheEndWhereItIsStrict(strict: Bool) async throws
    {
        let found = try await issues(
            { sim in
                let user = "DemoOrg-late-user"
                try await sim.fault(.status(503), on: "/sdk/search", username: "\(user)-1")
                try await sim.fault(.status(503), on: "/sdk/captures", username: "\(user)-2")
                // This user comes.
                try await sim.insertItems(1, username: "\(user)-2")
                try await sim.verifyRules()
            }, strict: strict)
        #expect(found.filter { $0.hasPrefix("warning: ") }.count == 2, "\(found)")
        let failures = found.filter { $0.hasPrefix("failure: ") }
        #expect(failures.count == (strict ? 1 : 0) && found.count == 2 + failures.count, "\(found)")
        #expect(!failures.contains { !$0.contains("DemoOrg-late-user-1") }, "\(found)")
    }

    @Test(arguments: [false, true]) func aScenarioOfATraitIsVerifiedWhereTheTestPassed(fails: Bool) async throws {
        let found = try await issues(
            { sim in
                let test = try #require(Test.current)
                func run(_ trait: EntrupySimTrait, _ body: @escaping @Sendable () async throws -> Void) async throws {
                    try await trait.provideScope(for: test, testCase: Test.Case.current, performing: body)
                }
                try await run(.entrupySim(scenario: "late-result")) { if fails { Issue.record("mine") } }
                try await run(.entrupySim(scenario: "late-result", verify: false)) {}
                try await run(.entrupySim(scenario: "late-result")) { try await SimulatedNamespace.current.delete() }
            }, strict: false)
        #expect(found.count == 2, "\(found)")
        #expect(
            found.first?.hasPrefix(fails ? "failure: mine" : "failure: the scenario late-result did not pass") == true)
        #expect(found.last?.hasPrefix("warning: what the scenario late-result expects was not verified") == true)
    }

    @Test func whatAScenarioExpectsMustHaveHappenedWhenTheOperationReturns() async throws {
        let simulator = try await Simulator.start()
        await #expect {
            try await Task.detached { try await simulator.withNamespace(scenario: "late-result") { _ in } }.value
        } throws: { "\($0)".hasPrefix("the scenario late-result did not pass: 2 of 2 checks failed") }
        try await simulator.withNamespace(scenario: "late-result", verify: false) { sim in
            await #expect { try await sim.verifyScenario("no-such") } throws: {
                "\($0)".contains("was started from the scenario") && ($0 as? SimulatorError)?.status == 409
            }
        }
    }

    @Test func whatCouldNotBeJudgedOtherwiseIsAWarning() async throws {
        let found = try await issues(
            { sim in
                try await sim.settings(["journal": ["body_bytes": 10]])
                var request = URLRequest(url: sim.url.appendingPathComponent("v2/search/authentications"))
                request.httpMethod = "POST"
                request.httpBody = Data("{\"limit\": 2, \"text\": \"\(String(repeating: "x", count: 200))\"}".utf8)
                for (name, value) in ["Authorization": "Token demo-api-token", "Content-Type": "application/json"] {
                    request.setValue(value, forHTTPHeaderField: name)
                }
                _ = try await URLSession.shared.data(for: request)
                try await sim.expectNoMisuse(failingAt: .warning)
            }, strict: false)
        #expect(found.count == 1, "\(found)")
        #expect(found.first?.hasPrefix("warning: unread-member could not judge everything") == true)
    }

    @Test func outsideATestANoteIsThrownWhereItIsStrict() async throws {
        let sim = try await Simulator.start().makeNamespace(strict: true)
        await #expect {
            try await Task.detached { try await sim.fault(.rateLimit(), on: "/sdk/serch") }.value
        } throws: {
            "\($0)".contains("no route of the server matches /sdk/serch")
        }
        try await sim.delete()
    }

    @Test func aRouteThatThePlatformsDoNotHaveIsRefusedUnlessItIsMeant() async throws {
        let sim = try await Simulator.start().makeNamespace()
        await #expect { try await sim.expectRequest("POST", "/sdk/serch", times: 0) } throws: {
            "\($0)".contains("the nearest is POST /sdk/search") && "\($0)".contains("anyRoute: true")
        }
        try await sim.expectRequest("POST", "/sdk/serch", times: 0, anyRoute: true)
        _ = try await URLSession.shared.data(from: sim.url.appendingPathComponent("old-path"))
        try await sim.expectRequest("GET", "/old-path", status: "404", times: 1, anyRoute: true)
        await #expect { try await sim.requests("/sdk/serch") } throws: {
            "\($0)".contains("the nearest is POST /sdk/search") && "\($0)".contains("anyRoute: true")
        }
        await #expect {
            try await sim.expectRequest("POST", "/sdk/search", username: "DemoOrg-nobdy", times: 0)
        } throws: {
            "\($0)".contains("allowing: [.user] in expectRequest")
        }
        try await sim.expectRequest("POST", "/sdk/search", username: "DemoOrg-nobdy", times: 0, allowing: [.user])
        #expect(try await sim.requests("/sdk/serch", anyRoute: true).isEmpty)
        #expect(try await sim.requests("/old-path", anyRoute: true).count == 1)
        try await sim.delete()
    }

    @Test func aFaultThatWasNeverMetFailsAStrictVerification() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("entrupy-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let file = directory.appendingPathComponent("any-name.yaml")
        let head = "name: mine\ndescription: A test.\nfaults:\n"
        try Data("\(head)  - {match: {route: /sdk/search}, effect: {status: 503}, times: 1}\n".utf8).write(to: file)
        let simulator = try await Simulator.start()
        let sim = try await simulator.makeNamespace(scenario: file.path)
        // The name is the one in the file.
        await #expect { try await Task.detached { try await sim.verifyScenario("mine", strict: true) }.value } throws: {
            "\($0)".contains("faults[0]: line 4") && "\($0)".contains("was never met")
        }
        try await Task.detached { try await sim.verifyScenario("mine") }.value
        try await sim.delete()
        try Data("\(head)  - {match: {route: /sdk/serch}, effect: {status: 503}}\n".utf8).write(to: file)
        await #expect { try await simulator.makeNamespace(scenario: file.path, strict: true) } throws: {
            "\($0)".contains("/sdk/serch")
        }
        try Data([0x6e, 0xff]).write(to: file)
        await #expect { try await simulator.makeNamespace(scenario: file.path) } throws: {
            "\($0)".contains("is not UTF-8")
        }
    }
}

/// The texts of issues, in the order in which they came.
private final class FoundIssues: @unchecked Sendable {
    private let lock = NSLock()
    private var found: [String] = []

    func add(_ text: String) {
        lock.lock()
        defer { lock.unlock() }
        found.append(text)
    }

    var texts: [String] {
        lock.lock()
        defer { lock.unlock() }
        return found
    }
}
