import Foundation
import SimulationAPI
import TestSupport
import Testing

/// `GET /_sim/explain/{id}`: causes and consequences [D explain].
@Suite struct ExplainRuleTests {
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

    @Test func anIDThatIsUnknownOrAmbiguousIsSaid() async throws {
        let world = try await TestWorld.make()
        for id in [
            "nothing", "sequence:99999", "event:99999", "event:x", "due:1234567", "control:9", "dlv_x", "ses_x",
            "%22%3B%27", "9999999999999999999999", try await TestWorld.make(randomSeed: 8).generatedItem(),
        ] {
            #expect(try await world.send("GET", "/_sim/explain/\(id)").status == 404, "\(id)")
        }
        for _ in 0..<2 { _ = try await world.send("GET", "/sdk/session", headers: ["X-Request-Id": "mine"]) }
        let answer = try await world.send("GET", "/_sim/explain/mine")
        #expect(answer.status == 409 && answer["details"].items.count == 2)
    }
}

/// The numbers of requests, and the traces that they belong to.
@Suite struct RequestNumberRuleTests {
    private func newest(_ world: TestWorld) async throws -> JSONValue {
        try await world.send("GET", "/_sim/requests?limit=1")["requests.0"]
    }

    @Test func aResetAndARestoredSnapshotGiveNoNumberAgain() async throws {
        let world = try await TestWorld.make()
        _ = try await world.send("PUT", "/_sim/snapshots/early")
        var last = 0
        for change in [nil, "/_sim/snapshots/early/restore", "/_sim/reset"] {
            if let change { _ = try await world.send("POST", change) }
            for _ in 0..<2 { _ = try await world.send("GET", "/sdk/config") }
            let number = try #require(try await newest(world)["sequence"].integer)
            #expect(number > last + 1)
            last = number
        }
    }

    @Test func aRequestIsNamedByItsNumber() async throws {
        let world = try await TestWorld.make()
        _ = try await world.send("GET", "/sdk/config", headers: ["X-Request-Id": "mine"])
        let number = try #require(try await newest(world)["sequence"].integer)
        #expect(try await world.send("GET", "/_sim/requests/sequence:\(number)")["id"] == "mine")
        #expect(try await world.send("GET", "/_sim/requests/sequence:x").status == 404)
    }

    @Test func aMalformedTraceCountsAsNone() async throws {
        let world = try await TestWorld.make()
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        for header in [
            "", "00", "00-0-0-01", "ff-\(trace)-00f067aa0ba902b7-01", "00-\(trace.uppercased())-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01", "00-\(trace)-0000000000000000-01",
            "00-\(trace)-00f067aa0ba902b7-01-x", "00-\(trace)-00f067aa0ba902b7-0g",
        ] {
            #expect(try await world.send("GET", "/sdk/config", headers: ["traceparent": header]).status == 401)
            #expect(try await newest(world)["trace"] == .null, "\(header)")
        }
        for wrong in ["", "x", trace.uppercased(), "00-\(trace)-00f067aa0ba902b7-01"] {
            let answer = try await world.send("GET", "/_sim/requests?trace=\(wrong)")
            #expect(answer.status == 400 && answer["details.0.field"] == "trace", "\(wrong)")
        }
    }
}
