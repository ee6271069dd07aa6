import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Requests that the fault effect `hold` holds, and their release [D hold].
@Suite struct HeldRequestRuleTests: HoldSteps {
    private func ready() async throws -> (TestWorld, token: String, submit: String) {
        let world = try await TestWorld.holdable()
        let token = try await world.login()
        return (world, token, "/sdk/captures/\(try await world.readyCapture(token))/submit")
    }

    /// Sends a request that is held, runs `body` meanwhile, and releases it.
    private func send(
        _ method: String, _ path: String, _ token: String?, in world: TestWorld, held effect: JSONValue = true,
        _ body: (_ request: JSONValue) async throws -> Void
    ) async throws -> (request: JSONValue, answer: TestWorld.Answer, fault: String) {
        let fault = try await hold(world, path, effect)
        async let sent = world.send(method, path, token: token)
        let request = try await held(world)[0]
        try await body(request)
        #expect(try await release(world, request).json == request)
        return (request, try await sent, fault)
    }

    // MARK: Races

    @Test func aCaptureIsCancelledWhileItsSubmissionIsOnItsWay() async throws {
        let (world, token, submit) = try await ready()
        let (request, answer, _) = try await send("POST", submit, token, in: world) { _ in
            let cancel = submit.replacing("/submit", with: "/cancel")
            let cancelled = try await world.send("POST", cancel, token: token)
            #expect(cancelled.status == 200)
        }
        #expect(answer.status == 409)
        #expect(try await world.counts()["authentications"] == 0)
        let entry = try await entry(world, request)
        #expect(entry["changes.after"] == entry["changes.through"], "others changed something in between")
    }

    @Test func aHeldSubmissionSeesTheTimeOfItsRelease() async throws {
        let (world, token, submit) = try await ready()
        let (request, answer, fault) = try await send("POST", submit, token, in: world) { _ in
            try await world.advance("2h")
        }
        #expect(answer.status == 410 && answer.headers["X-Sim-Fault"] == [fault])
        #expect(answer["request_id"] == request["request.id"])
        let entry = try await entry(world, request)
        #expect(entry["at"].double == TestWorld.epoch, "it came before the clock moved")
        #expect(entry["decided_by.fault"].text == fault && entry["effect"] == ["hold": true])
        #expect(entry["delivered"] == true && entry["status"] == 410)
    }

    @Test func whatAHeldRequestDoesHasItAsItsCause() async throws {
        let (world, token, submit) = try await ready()
        let (request, answer, _) = try await send("POST", submit, token, in: world) { _ in
            _ = try await world.startCapture(token)
        }
        #expect(answer.status == 200)
        let name = "sequence:\(request["request.sequence"].integer ?? 0)"
        let event = try await world.send("GET", "/_sim/event-log?kind=capture.submitted")["events.0"]
        #expect(event["cause"].text == name)
        let steps = try await world.send("GET", "/_sim/explain/\(name)")["steps"].items.compactMap { $0["text"].text }
        #expect(steps.contains { $0.hasPrefix("capture.submitted of ") }, "\(steps)")
        #expect(steps.contains { $0.contains(#"was triggered: {"hold":true}"#) }, "\(steps)")
        #expect(steps.count { $0.hasPrefix("capture.started of ") } == 0, "that was another request")
    }

    /// The token and the limits are checked when the request is handled.
    @Test func aHeldRequestIsCheckedWhenItIsHandled() async throws {
        let world = try await TestWorld.holdable(settings: ["rate_limits": ["sdk_per_second": 1]])
        let token = try await world.login()
        try await world.advance("1m")
        let late = try await send("GET", "/sdk/session", token, in: world) { _ in
            let other = try await world.send("GET", "/sdk/session", token: token)
            #expect(other.status == 200)
        }
        #expect(late.answer.status == 429)
        let ended = try await send("GET", "/sdk/session", token, in: world) { _ in
            _ = try await world.send("DELETE", "/_sim/sessions")
        }
        #expect(ended.answer.status == 401)
    }

    @Test func anAnswerIsKeptAfterTheRequestWasHandled() async throws {
        let (world, token, submit) = try await ready()
        let effect: JSONValue = ["when": "after", "for": "5m"]
        let (request, answer, _) = try await send("POST", submit, token, in: world, held: effect) { request in
            #expect(request["when"] == "after")
            #expect((request["until"].double ?? 0) - (request["since"].double ?? 0) == 300)
            #expect(try await world.counts()["authentications"] == 1)
            try await world.advance("5s")
        }
        #expect(answer.status == 200)
        let entry = try await entry(world, request)
        #expect(entry["status"] == 200)
        #expect(entry["changes.through"].integer ?? 0 > entry["changes.after"].integer ?? 0)
    }

    @Test func aRuleIsTriggeredWhenTheRequestComes() async throws {
        let world = try await TestWorld.holdable()
        let token = try await world.login()
        try await hold(world, "/sdk/session", times: 1)
        async let first = world.send("GET", "/sdk/session", token: token)
        let request = try await held(world)[0]
        #expect(try await world.send("GET", "/sdk/session", token: token).status == 200, "its times are used up")
        let fault = try await world.send("GET", "/_sim/faults")["faults.0"]
        #expect([fault["seen"], fault["hits"]] == [2, 1])
        let events = try await world.send("GET", "/_sim/event-log?kind=request.held")["events"].items
        #expect(events.count == 1)
        #expect(events.first?["subject"] == request["id"])
        #expect(events.first?["cause"].text == "sequence:\(request["request.sequence"].integer ?? 0)")
        #expect(events.first?["data.when"] == "before")
        #expect(events.first?["data.for"] == "30s")
        _ = try await release(world, request)
        #expect(try await first.status == 200)
    }

    @Test func oneEntryOfTheJournalHasTheWholeTime() async throws {
        let world = try await TestWorld.holdable()
        let token = try await world.login()
        try await hold(world, "/sdk/session")
        async let answer = world.send("GET", "/sdk/session", token: token)
        let request = try await held(world)[0]
        #expect(try await world.send("GET", "/sdk/config", token: token).status == 200)
        #expect(try await world.send("GET", "/_sim/requests?route=/sdk/session")["requests"].items.isEmpty)
        _ = try await release(world, request)
        _ = try await answer
        let entries = try await world.send("GET", "/_sim/requests?route=/sdk/*&limit=2")["requests"].items
        #expect(entries.map { $0["path"] } == ["/sdk/config", "/sdk/session"], "in the order of their arrival")
        let own = entries.last ?? .null
        #expect(own["sequence"] == request["request.sequence"])
        #expect(own["id"] == request["request.id"])
        #expect(own["started_real"].double ?? .infinity <= request["since"].double ?? 0)
        #expect(own["ended_real"].double ?? 0 >= entries.first?["ended_real"].double ?? .infinity)
    }

    // MARK: What does not wait

    @Test func nothingElseWaits() async throws {
        let world = try await TestWorld.holdable()
        let token = try await world.login()
        try await hold(world, "/sdk/session", ["for": "10m"], times: nil)
        async let answer = world.send("GET", "/sdk/session", token: token)
        let request = try await held(world)[0]
        #expect(try await world.send("GET", "/sdk/config", token: token).status == 200)
        #expect(try await world.send("POST", "/_sim/settle", ["within": "1s"]).status == 200)
        try await world.advance("1d")
        #expect(try await world.send("PUT", "/_sim/snapshots/s").status == 201)
        #expect(try await world.send("GET", "/_sim/bundle").status == 200)
        _ = try await release(world, request)
        #expect(try await answer.status == 401, "the session has expired")
    }

    /// A request that is sent again is made by the server, which does not wait for itself.
    @Test func aRequestThatIsSentAgainIsNotHeld() async throws {
        let world = try await TestWorld.holdable()
        let token = try await world.login()
        _ = try await world.send("GET", "/sdk/session", token: token)
        let id = try #require(try await world.send("GET", "/_sim/requests?limit=1")["requests.0.id"].text)
        for when in ["before", "after"] {
            try await hold(world, "/sdk/session", ["when": .string(when)])
            let resent = try await world.send("POST", "/_sim/requests/\(id)/resend")
            #expect(resent["status"] == 200)
            #expect(resent["delivered"] == true)
        }
    }

    @Test(arguments: ["before", "after"], ["reset", "restore", "delete"])
    func theEndOfTheStateAnswers503(when: String, change: String) async throws {
        let world = try await TestWorld.holdable()
        let root = world.root
        _ = try await world.send("PUT", "/_sim/snapshots/s")
        try await hold(world, "/sdk/session", ["when": .string(when)])
        async let answer = world.send("GET", "/sdk/session")
        let request = try await held(world)[0]
        switch change {
        case "reset": _ = try await world.send("POST", "/_sim/reset")
        case "restore": _ = try await world.send("POST", "/_sim/snapshots/s/restore")
        default: _ = try await root.send("DELETE", "/_sim/namespaces/\(world.name)")
        }
        let given = try await answer
        #expect(given.status == 503)
        #expect(given["error"].text?.contains("was reset, restored or deleted while the request was held") == true)
        guard change != "delete" else { return }
        #expect(try await world.send("GET", "/_sim/held")["held"] == [])
        #expect(try await release(world, request).status == 409)
        #expect(try await world.send("GET", "/_sim/requests?route=/sdk/session")["requests"] == [])
    }

    @Test func aNamespaceHoldsAHundredRequests() async throws {
        let world = try await TestWorld.holdable(settings: ["rate_limits": "off"])
        let other = try await TestWorld.holdable()
        let token = try await world.login()
        let fault = try await hold(world, "/sdk/captures", ["for": "10m"], times: nil)
        let waiting = Task {
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<100 {
                    group.addTask {
                        try await world.send("POST", "/sdk/captures", ["item": TestWorld.nike], token: token).status
                    }
                }
                return try await group.reduce(into: [Int]()) { $0.append($1) }
            }
        }
        _ = try await held(world, count: 100)
        let further = try await world.send("POST", "/sdk/captures", ["item": TestWorld.nike], token: token)
        #expect(further.status == 503)
        #expect(further["error"].text?.contains("100 requests of a namespace are held, the maximum") == true)
        #expect(further.headers["X-Sim-Fault"] == [fault])
        try await hold(other, "/sdk/session")
        async let elsewhere = other.send("GET", "/sdk/session")
        _ = try await release(other, held(other)[0])
        #expect(try await elsewhere.status == 401, "another namespace has places of its own")
        #expect(try await world.counts()["captures"] == 0)
        #expect(try await world.send("DELETE", "/_sim/held").status == 204)
        #expect(try await waiting.value == Array(repeating: 201, count: 100))
        #expect(try await world.counts()["captures"] == 100, "the further one was not handled")
    }

    @Test func anotherNamespaceNeitherSeesNorReleases() async throws {
        let (world, other) = (try await TestWorld.holdable(), try await TestWorld.holdable())
        try await hold(world, "/sdk/session")
        async let answer = world.send("GET", "/sdk/session")
        let request = try await held(world)[0]
        #expect(try await other.send("GET", "/_sim/held")["held"] == [])
        #expect(try await release(other, request).status == 404)
        #expect(try await other.send("DELETE", "/_sim/held").status == 204)
        #expect(try await world.send("GET", "/_sim/held")["held"].items.count == 1)
        _ = try await release(world, request)
        #expect(try await answer.status == 401)
    }

    // MARK: Releases

    @Test func theListNamesTheRequest() async throws {
        let world = try await TestWorld.holdable()
        let token = try await world.login()
        try await hold(world, "/sdk/**", times: 2)
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        async let first = world.send(
            "GET", "/sdk/session", token: token,
            headers: [
                "X-Sim-Test": "CartTests", "X-Request-Id": "mine", "traceparent": "00-\(trace)-00f067aa0ba902b7-01",
            ])
        let one = try await held(world)[0]
        async let second = world.send("GET", "/sdk/config")
        let list = try await held(world, count: 2)
        #expect(list.first == one)
        let request = one["request"]
        #expect([request["id"], request["method"], request["path"]] == ["mine", "GET", "/sdk/session"])
        #expect(request["test"] == "CartTests")
        #expect(request["trace"].text == trace)
        #expect(request["username"] == "DemoOrg-example-user-id")
        #expect(list.last?["request.sequence"].integer ?? 0 > request["sequence"].integer ?? .max)
        #expect(list.last?["request.username"] == .null, "it has no session")
        #expect(try await world.send("DELETE", "/_sim/held").status == 204)
        #expect(try await first.status == 200)
        #expect(try await second.status == 401)
        #expect(try await world.send("GET", "/_sim/held")["held"] == [])
    }

    @Test func aReleaseCanAnswerOtherwise() async throws {
        let world = try await TestWorld.holdable()
        let token = try await world.login()
        let item: JSONValue = ["item": TestWorld.nike]
        let fault = try await hold(world, "/sdk/captures", times: 3)
        for (body, status, answered) in [
            (["status": 503], 503, nil), (["status": 418, "body": ["tea": true]], 418, ["tea": true]),
            (["status": 204], 204, nil),
        ] as [(JSONValue, Int, JSONValue?)] {
            async let answer = world.send("POST", "/sdk/captures", item, token: token)
            let request = try await held(world)[0]
            #expect(try await release(world, request, body).status == 200)
            let given = try await answer
            #expect(given.status == status)
            #expect(answered == nil || given.json == answered)
            #expect(given.headers["X-Sim-Fault"] == [fault])
            #expect(try await entry(world, request)["status"].integer == status)
        }
        #expect(try await world.counts()["captures"] == 0, "none was handled")
    }

    @Test func aKeptAnswerCanBeReplaced() async throws {
        let world = try await TestWorld.holdable()
        let token = try await world.login()
        try await hold(world, "/sdk/captures", ["when": "after"])
        async let answer = world.send("POST", "/sdk/captures", ["item": TestWorld.nike], token: token)
        let request = try await held(world)[0]
        _ = try await release(world, request, ["status": 502, "body": "gone"])
        let given = try await answer
        #expect(given.status == 502)
        #expect(given.text == "gone")
        #expect(try await world.counts()["captures"] == 1, "it was handled")
        #expect(try await entry(world, request)["status"] == 502)
        // An error is kept like any answer.
        try await hold(world, "/sdk/session", ["when": "after"])
        async let refused = world.send("GET", "/sdk/session", token: "not-a-token")
        _ = try await release(world, held(world)[0])
        #expect(try await refused.status == 401)
    }

    @Test func aRequestIsReleasedOnce() async throws {
        let world = try await TestWorld.holdable()
        try await hold(world, "/sdk/session")
        async let answer = world.send("GET", "/sdk/session")
        let request = try await held(world)[0]
        #expect(try await release(world, request, [:]).status == 200)
        let again = try await release(world, request)
        #expect(again.status == 409)
        #expect(again["error"].text == "the request is not held any more: it was released already")
        _ = try await answer
        #expect(try await release(world, request).status == 409, "also once it was answered")
    }

    @Test func aRequestGoesOnWhenItsTimeIsOver() async throws {
        let world = try await TestWorld.holdable()
        let token = try await world.login()
        for span in ["0s", "0.05s"] {
            try await hold(world, "/sdk/session", ["for": .string(span)])
            #expect(try await world.send("GET", "/sdk/session", token: token).status == 200, "\(span)")
        }
        let events = try await world.send("GET", "/_sim/event-log?kind=request.held")["events"].items
        let late = try await world.send("POST", "/_sim/held/\(events.first?["subject"].text ?? "")/release")
        #expect(late.status == 409)
        #expect(late["error"].text == "the request is not held any more: its time was over")
    }

    @Test func wrongReleasesAreExplained() async throws {
        let world = try await TestWorld.holdable()
        try await hold(world, "/sdk/session")
        async let answer = world.send("GET", "/sdk/session")
        let request = try await held(world)[0]
        for (body, field) in [
            (["status": 99], "status"), (["status": 600], "status"), (["status": "503"], "status"),
            (["body": "x"], "body"), (["status": .null, "body": "x"], "body"), (["status": 204, "body": "x"], "body"),
            (["drop_connection": false], "drop_connection"),
            (["drop_connection": true, "status": 500], "drop_connection"),
            (["delay": "1s"], "delay"),
        ] as [(JSONValue, String)] {
            let wrong = try await release(world, request, body)
            #expect(wrong.status == 400, "\(body)")
            #expect(wrong["details.0.field"].text == field, "\(body): \(wrong.json)")
        }
        let unknown = try await world.send("POST", "/_sim/held/hld_none/release")
        #expect(unknown.status == 404)
        #expect(try await world.send("GET", "/_sim/held?limit=1").status == 400)
        #expect(try await world.send("GET", "/_sim/held")["held"].items.count == 1, "it is still held")
        _ = try await release(world, request)
        _ = try await answer
    }

    @Test func wrongEffectsAreExplained() async throws {
        let world = try await TestWorld.holdable()
        for (effect, field) in [
            (false, "effect.hold"), ("before", "effect.hold"), (30, "effect.hold"),
            (["when": "during"], "effect.hold.when"), (["for": "601s"], "effect.hold.for"),
            (["for": -1], "effect.hold.for"), (["until": "1m"], "effect.hold.until"),
        ] as [(JSONValue, String)] {
            let answer = try await world.send("POST", "/_sim/faults", ["effect": ["hold": effect]])
            #expect(answer.status == 400, "\(effect)")
            #expect(answer["details.0.field"].text == field, "\(effect): \(answer.json)")
        }
        for effect: JSONValue in [true, [:], ["when": nil, "for": nil], ["for": "10m"], ["for": 600]] {
            #expect(
                try await world.send("POST", "/_sim/faults", ["effect": ["hold": effect]]).status == 201, "\(effect)")
        }
        let webhook = try await world.send(
            "POST", "/_sim/faults", ["match": ["webhook": "*"], "effect": ["hold": true]])
        #expect(webhook.status == 400)
        #expect(webhook["details.0.problem"].text?.hasPrefix("is for requests; a webhook takes ") == true)
    }
}
