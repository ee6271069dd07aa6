import Foundation
import SimulationAPI
import TestSupport
import Testing

/// `GET /_sim/explain/{id}`: causes and consequences [D explain].
@Suite struct ExplainTests {
    /// The kinds of the steps, and for events and requests their names.
    private func chain(_ explanation: Explanation) -> [String] {
        explanation.steps.map { step in
            let words = step.text.split(separator: " ")
            switch step.kind {
            case .request:
                return words.prefix(1).joined() + " " + (step.text.components(separatedBy: " -> ").last ?? "")
            case .event: return String(words.first ?? "")
            default: return step.kind.rawValue
            }
        }
    }

    @Test func anItemsChainGoesFromItsCaptureToTheAttemptOfItsWebhook() async throws {
        let world = try await TestWorld.withoutLimits()
        let receiver = try await WebhookReceiver.open()
        let session = try await world.login()
        try await world.subscribe(receiver, ["events": ["session.completed"]])
        _ = try await world.send(
            "POST", "/_sim/outcomes",
            ["match": ["customer_item_id": "sim-unknown-*"], "result": "not_supported", "after": "3h"])
        let id = try await world.submit(
            session, item: TestWorld.nike.merging(["customer_item_id": "sim-unknown-late"]))
        try await world.advance("3h")
        try await world.settleWebhooks()
        let explanation = try await world.explain(id)
        #expect(explanation.subject.kind == "item" && explanation.subject.id == id)
        #expect(!explanation.forgotten)
        let steps = explanation.steps
        let due = try #require(steps.first { $0.kind == .dueWork })
        let submit = try #require(steps.first { $0.kind == .request && $0.text.contains("/submit ->") })
        #expect(due.causes == [submit.id])
        #expect(due.text == "result of \(id) fell due" && due.at == TestWorld.epoch + 10_800)
        let set = try #require(steps.first { $0.text.hasPrefix("result.set of \(id)") })
        #expect(set.causes == [due.id])
        let delivery = try #require(steps.first { $0.kind == .delivery })
        #expect(delivery.causes == [due.id] && delivery.text.hasSuffix(": delivered"))
        let attempt = try #require(steps.first { $0.kind == .attempt })
        #expect(attempt.causes == [delivery.id] && attempt.text == "attempt 1: the receiver answered 200")
        let started = try #require(steps.first { $0.text.hasPrefix("capture.started") })
        #expect(steps.first { $0.id == started.causes.first }?.text.hasPrefix("POST /sdk/captures -> 201") == true)
        let rule = try #require(steps.first { $0.kind == .rule })
        #expect(submit.causes == [rule.id])
        #expect(rule.text.hasSuffix("decided: not_supported, after 3h"))
        #expect(
            explanation.would_differ.map(\.text) == [
                "without it the magic customer_item_id sim-unknown-late decides: unknown, after 5s"
            ])
        #expect(explanation.would_differ.map(\.step) == [rule.id])
    }

    @Test func aCaptureThatTimedOutExplainsTheRefusal() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login()
        let capture = try await world.startCapture(session).id
        try await world.advance("2h")
        #expect(try await world.send("POST", "/sdk/captures/\(capture)/submit", token: session).status == 410)
        let sequence = try await world.send("GET", "/_sim/requests?limit=1")["requests.0.sequence"].integer
        let explanation = try await world.explain("sequence:\(sequence ?? 0)")
        #expect(explanation.subject.kind == "request")
        #expect(
            chain(explanation) == [
                "POST 201, DemoOrg-example-user-id", "capture.started", "due_work", "capture.timed_out", "setting",
                "POST 410, DemoOrg-example-user-id",
            ])
        let setting = try #require(explanation.steps.first { $0.kind == .setting })
        #expect(
            setting.text
                == "timed out at 2026-01-05T11:00:00.000000Z: started at 2026-01-05T09:00:00.000000Z, capture_timeout is 2h"
        )
        #expect(
            explanation.would_differ.map(\.text) == [
                "a request before 2026-01-05T11:00:00.000000Z, or a longer capture_timeout"
            ])
        // The capture's own explanation has the refusal and its fact too, which no event of the log has.
        let history = try await world.explain(capture)
        #expect(history.subject.kind == "capture")
        #expect(history.steps.last?.id == "sequence:\(sequence ?? 0)")
        #expect(history.steps.contains { $0.kind == .setting && $0.text == setting.text })
    }

    @Test func anItemsExplanationHasItsRefusedRequestsAndNoOthers() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login()
        let id = try await world.submit(session)
        let other = try await world.submit(session)
        _ = try await world.send(
            "POST", "/_sim/faults",
            ["match": ["route": "/sdk/results/*"], "effect": ["status": 503], "times": 2])
        #expect(try await world.send("GET", "/sdk/results/\(id)", token: session).status == 503)
        #expect(try await world.send("GET", "/sdk/results/\(other)", token: session).status == 503)
        #expect(try await world.send("GET", "/sdk/results/\(id)", token: session).status == 200)
        let steps = try await world.explain(id).steps
        let reads = steps.filter { $0.kind == .request && $0.text.hasPrefix("GET ") }
        #expect(reads.map(\.text) == ["GET /sdk/results/\(id) -> 503, DemoOrg-example-user-id"])
        #expect(steps.contains { $0.kind == .rule && reads.first?.causes == [$0.id] })
    }

    @Test func aRefusalForALimitNamesItAndTheFrozenClock() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": ["sdk_per_second": 2]])
        let session = try await world.login()
        var statuses: [Int] = []
        for _ in 0..<3 { statuses.append(try await world.send("GET", "/sdk/session", token: session).status) }
        #expect(statuses == [200, 429, 429])
        let last = try await world.send("GET", "/_sim/requests?limit=1")["requests.0"]
        #expect(last["decided_by.facts.0.name"] == "rate_limits.sdk_per_second")
        let explanation = try await world.explain(last["id"].text ?? "")
        #expect(explanation.steps.map(\.kind) == [.control, .event, .limit, .request])
        #expect(
            explanation.steps[2].text
                == "one more than 2 requests a second for a user; the clock is frozen at 2026-01-05T09:00:00.000000Z")
        #expect(
            explanation.would_differ.map(\.text) == ["an advance of the clock by 1 s, or a higher limit"])
    }

    @Test func aUsersOwnLimitNamesWhoSetItAndNotTheSetting() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": ["sdk_per_second": 5]])
        let session = try await world.login("user-of-a")
        let user = "/_sim/users/DemoOrg-user-of-a"
        _ = try await world.send("PATCH", user, ["rate_limits": ["sdk_per_second": 1]])
        _ = try await world.send("PATCH", user, ["first_name": "Ada"])
        _ = try await world.send("GET", "/sdk/session", token: session)
        let refused = try await world.send("GET", "/sdk/session", token: session)
        #expect(refused.status == 429 && refused.text.contains("PATCH \(user)"), "\(refused.json)")
        let last = try await world.send("GET", "/_sim/requests?limit=1")["requests.0"]
        #expect(last["decided_by.limits.0"] == "sdk_per_second")
        let explanation = try await world.explain("sequence:\(last["sequence"].integer ?? 0)")
        #expect(explanation.steps.map(\.kind) == [.control, .event, .limit, .request])
        #expect(explanation.steps[0].text == "PATCH \(user)")
        #expect(explanation.steps[1].text.hasPrefix("user.updated of DemoOrg-user-of-a"))
        #expect(explanation.steps[2].text.contains("for a user, the own limit of DemoOrg-user-of-a"))
        // Without it, the namespace's limit counts again, and the setting is the cause.
        _ = try await world.send("PATCH", user, ["rate_limits": .null])
        for _ in 0..<5 { _ = try await world.send("GET", "/sdk/session", token: session) }
        let again = try await world.send("GET", "/_sim/requests?limit=1")["requests.0"]
        let steps = try await world.explain("sequence:\(again["sequence"].integer ?? 0)").steps
        #expect(again["status"] == 429 && steps.contains { $0.text.hasPrefix("settings.changed") })
    }

    @Test func attemptsFollowEachOtherAndNameTheFaultThatSpoiltThem() async throws {
        let world = try await TestWorld.withoutLimits()
        let receiver = try await WebhookReceiver.open()
        receiver.behave(.answer(500))
        try await world.subscribe(receiver, ["events": ["session.updated"]])
        let fault = try await world.send(
            "POST", "/_sim/faults", ["match": ["webhook": "session.updated"], "effect": ["drop": true], "times": 1])
        let session = try await world.login()
        _ = try await world.submit(session)
        try await world.settleWebhooks()
        try await world.advance("1m")
        receiver.behave(.answer(200))
        let id = try #require(try await world.webhookDeliveries().first?["id"].text)
        let explanation = try await world.explain(id)
        #expect(explanation.subject.kind == "delivery")
        let attempts = explanation.steps.filter { $0.kind == .attempt }
        try #require(attempts.count >= 2)
        let rule = try #require(explanation.steps.first { $0.kind == .rule && $0.text.contains("fault") })
        #expect(rule.text == "the fault rule \(fault["id"].text ?? "") was triggered")
        #expect(attempts[0].causes == [id, rule.id])
        #expect(attempts[1].causes == [attempts[0].id])
        #expect(attempts[1].text == "attempt 2: the receiver answered 500")
        #expect(explanation.steps.contains { $0.kind == .dueWork && $0.text == "webhook.attempt of \(id) is due" })
    }

    @Test func callsOfTheControlAPIAreNumberedOnceTheyChangeSomething() async throws {
        let world = try await TestWorld.withoutLimits()
        let id = try await world.generatedItem(["result": "unknown"])
        for path in ["info", "requests", "settings"] { _ = try await world.send("GET", "/_sim/\(path)") }
        _ = try await world.send("PATCH", "/_sim/authentications/\(id)", ["result": "authentic"])
        let changed = try await world.send("GET", "/_sim/event-log?kind=result.changed&subject=\(id)")["events.0"]
        // The first one switched the limits off.
        #expect(changed["cause"] == "control:3")
        let explanation = try await world.explain("control:3")
        #expect(explanation.subject.kind == "control")
        #expect(explanation.steps.map(\.kind) == [.control, .event])
        #expect(explanation.steps[0].text == "PATCH /_sim/authentications/\(id)")
        let item = try await world.explain(id)
        #expect(item.steps.first?.text == "POST /_sim/authentications")
        #expect(try await world.send("GET", "/_sim/explain/control:4").status == 404)
    }

    /// Two thousand items are made in several jobs of one call.
    @Test func aCallThatTakesSeveralJobsIsOneCause() async throws {
        let world = try await TestWorld.withoutLimits()
        _ = try await world.send("POST", "/_sim/authentications", ["count": 2000])
        let events = try await world.send("GET", "/_sim/event-log?kind=items.generated&limit=1000")["events"].items
        #expect(events.count > 1)
        #expect(Set(events.map { $0["cause"].text }) == ["control:2"])
    }

    @Test func aScenariosActionIsTheCauseOfWhatItDoes() async throws {
        let world = try await TestWorld.make()
        let text = """
            name: later
            description: A result that changes later.
            clock: {freeze: 2026-01-05T09:00:00Z}
            items:
              - {customer_item_id: one, result: unknown, username: DemoOrg-example-user-id}
            timeline:
              - at: 1h
                set_result: {customer_item_id: one, result: authentic}
            """
        let started = try await world.send("POST", "/_sim/scenarios/start", ["scenario": .string(text)])
        try #require(started.status == 200, "\(started.json)")
        try await world.advance("1h")
        let change = try await world.send("GET", "/_sim/event-log?kind=result.changed")["events.0"]
        let explanation = try await world.explain("event:\(change["sequence"].integer ?? 0)")
        #expect(explanation.steps.map(\.kind) == [.control, .scenario, .event])
        #expect(explanation.steps[0].text == "POST /_sim/scenarios/start")
        #expect(explanation.steps[1].text == "the scenario's timeline[0] ran")
    }

    @Test func aSessionHasItsLoginAndItsEnd() async throws {
        let world = try await TestWorld.withoutLimits()
        _ = try await world.login()
        let id = try #require(try await world.send("GET", "/_sim/sessions")["sessions.0.id"].text)
        try await world.advance("1s")
        _ = try await world.login()
        _ = try await world.send("DELETE", "/_sim/sessions/\(id)")
        let explanation = try await world.explain(id)
        #expect(explanation.subject.kind == "session")
        #expect(
            chain(explanation).filter { !$0.hasPrefix("due") } == [
                "POST 200, DemoOrg-example-user-id", "session.started", "control", "session.ended",
            ])
    }

    @Test func whatTheJournalHasForgottenIsSaid() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login()
        let id = try await world.submit(session)
        _ = try await world.send("DELETE", "/_sim/requests")
        let explanation = try await world.explain(id)
        #expect(explanation.forgotten)
        let requests = explanation.steps.filter { $0.kind == .request }
        #expect(!requests.isEmpty && requests.someAndAll { $0.text == "a request that the journal has forgotten" })
        #expect(explanation.steps.contains { $0.text.hasPrefix("item.submitted") })
        #expect(explanation.would_differ.count == 1, "the decision is kept with the event")
    }

    @Test(arguments: [
        "nothing", "sequence:99999", "event:99999", "event:x", "due:1234567", "control:9", "dlv_x", "ses_x",
        "%22%3B%27",
        "9999999999999999999999",
    ])
    func anUnknownIDIsNotFound(id: String) async throws {
        let world = try await TestWorld.make()
        #expect(try await world.send("GET", "/_sim/explain/\(id)").status == 404)
    }

    @Test func anIDThatSeveralRequestsHaveIsAConflictThatListsThem() async throws {
        let world = try await TestWorld.make()
        let session = try await world.login()
        for _ in 0..<2 {
            _ = try await world.send("GET", "/sdk/session", token: session, headers: ["X-Request-Id": "mine"])
        }
        let answer = try await world.send("GET", "/_sim/explain/mine")
        #expect(answer.status == 409 && answer["details"].items.count == 2)
    }

    @Test func anObjectOfAnotherNamespaceIsUnknown() async throws {
        let (mine, other) = (try await TestWorld.withoutLimits(), try await TestWorld.make(randomSeed: 8))
        let id = try await mine.generatedItem()
        #expect(try await other.send("GET", "/_sim/explain/\(id)").status == 404)
    }
}

/// The numbers of requests, and the traces that they belong to.
@Suite struct RequestNumberTests {
    private func sequences(_ world: TestWorld) async throws -> [Int] {
        try await world.send("GET", "/_sim/requests")["requests"].items.compactMap { $0["sequence"].integer }
    }

    @Test func aNumberIsNeverGivenTwiceNotEvenAfterAKill() async throws {
        try await Process.withDirectory { directory in
            var server = try SimProcess(["--data-dir", directory])
            var world = TestWorld(base: server.baseURL)
            for _ in 0..<3 { _ = try await world.send("GET", "/sdk/config") }
            let first = try await sequences(world)
            #expect(first == [3, 2, 1])
            server.kill()
            server = try SimProcess(["--data-dir", directory])
            defer { server.stop() }
            world = TestWorld(base: server.baseURL)
            _ = try await world.send("GET", "/sdk/config")
            let second = try await sequences(world)
            #expect(second.count == 1 && (second.first ?? 0) > 3)
        }
    }

    @Test func aResetAndARestoredSnapshotGiveNoNumberAgain() async throws {
        let world = try await TestWorld.make()
        _ = try await world.send("PUT", "/_sim/snapshots/early")
        for _ in 0..<2 { _ = try await world.send("GET", "/sdk/config") }
        _ = try await world.send("POST", "/_sim/snapshots/early/restore")
        _ = try await world.send("GET", "/sdk/config")
        let restored = try #require(try await sequences(world).first)
        #expect(restored > 2)
        _ = try await world.send("POST", "/_sim/reset")
        _ = try await world.send("GET", "/sdk/config")
        #expect(try #require(try await sequences(world).first) > restored)
    }

    @Test func aRequestIsNamedByItsNumber() async throws {
        let world = try await TestWorld.make()
        _ = try await world.send("GET", "/sdk/config", headers: ["X-Request-Id": "mine"])
        let number = try #require(try await sequences(world).first)
        #expect(try await world.send("GET", "/_sim/requests/sequence:\(number)")["id"] == "mine")
        #expect(try await world.send("GET", "/_sim/requests/sequence:x").status == 404)
    }

    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"

    @Test func aTraceIsKeptFoundAndGoesOnToTheWebhooks() async throws {
        let world = try await TestWorld.withoutLimits()
        let receiver = try await WebhookReceiver.open()
        try await world.subscribe(receiver)
        let session = try await world.login()
        let capture = try await world.readyCapture(session)
        let parent = "00-\(Self.trace)-00f067aa0ba902b7-01"
        _ = try await world.send(
            "POST", "/sdk/captures/\(capture)/submit", token: session, headers: ["traceparent": parent])
        try await world.advance("5s")
        try await world.settleWebhooks()
        let found = try await world.send("GET", "/_sim/requests?trace=\(Self.trace)")["requests"].items
        #expect(found.count == 1 && found.first?["trace"].text == Self.trace)
        let sent = receiver.deliveries.map { $0.headers["traceparent"].first ?? "none" }
        #expect(sent.count == 2 && Set(sent).count == 2, "\(sent)")
        for header in sent {
            let parts = header.split(separator: "-").map(String.init)
            try #require(parts.count == 4, "\(header)")
            #expect(parts[0] == "00" && parts[1] == Self.trace && parts[3] == "01")
            #expect(parts[2] != "00f067aa0ba902b7" && parts[2].count == 16)
        }
        let other = "/_sim/requests?trace=\(String(repeating: "a", count: 32))"
        #expect(try await world.send("GET", other)["requests"].items.isEmpty)
    }

    @Test(arguments: [
        "", "00", "00-0-0-01", "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0g",
    ])
    func aMalformedTraceCountsAsNone(header: String) async throws {
        let world = try await TestWorld.make()
        #expect(try await world.send("GET", "/sdk/config", headers: ["traceparent": header]).status == 401)
        #expect(try await world.send("GET", "/_sim/requests")["requests.0.trace"] == .null)
    }

    @Test func aTraceToLookForIsChecked() async throws {
        let world = try await TestWorld.make()
        for wrong in ["", "x", Self.trace.uppercased(), "00-\(Self.trace)-00f067aa0ba902b7-01"] {
            let answer = try await world.send("GET", "/_sim/requests?trace=\(wrong)")
            #expect(answer.status == 400 && answer["details.0.field"] == "trace", "\(wrong)")
        }
    }
}
