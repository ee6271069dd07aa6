import EntrupySimTesting
import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Requests that the fault effect `hold` holds [D hold].
@Suite struct HeldRequestTests: HoldSteps {
    // MARK: Races

    @Test func aCaptureIsCancelledWhileItsSubmissionIsOnItsWay() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        let capture = try await world.readyCapture(token)
        try await hold(world, "/sdk/captures/*/submit")
        async let submitted = world.send("POST", "/sdk/captures/\(capture)/submit", token: token)
        let request = try await held(world)[0]
        #expect(try await world.send("POST", "/sdk/captures/\(capture)/cancel", token: token).status == 200)
        #expect(try await release(world, request).json == request)
        #expect(try await submitted.status == 409)
        #expect(try await world.counts()["authentications"] == 0)
        let entry = try await entry(world, request)
        #expect(entry["changes.after"] == entry["changes.through"], "others changed something in between")
    }

    @Test func aHeldSubmissionSeesTheTimeOfItsRelease() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        let capture = try await world.readyCapture(token)
        let fault = try await hold(world, "/sdk/captures/*/submit")
        async let submitted = world.send("POST", "/sdk/captures/\(capture)/submit", token: token)
        let request = try await held(world)[0]
        try await world.advance("2h")
        _ = try await release(world, request)
        let answer = try await submitted
        #expect(answer.status == 410)
        #expect(answer.headers["X-Sim-Fault"] == [fault])
        #expect(answer["request_id"] == request["request.id"])
        let entry = try await entry(world, request)
        #expect(entry["at"].double == TestWorld.epoch, "it came before the clock moved")
        #expect(entry["decided_by.fault"].text == fault)
        #expect(entry["effect"] == ["hold": true])
        #expect(entry["delivered"] == true)
        #expect(entry["status"] == 410)
    }

    @Test func whatAHeldRequestDoesHasItAsItsCause() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        let capture = try await world.readyCapture(token)
        try await hold(world, "/sdk/captures/*/submit")
        async let submitted = world.send("POST", "/sdk/captures/\(capture)/submit", token: token)
        let request = try await held(world)[0]
        _ = try await world.startCapture(token)
        _ = try await release(world, request)
        #expect(try await submitted.status == 200)
        let name = "sequence:\(request["request.sequence"].integer ?? 0)"
        let event = try await world.send("GET", "/_sim/event-log?kind=capture.submitted")["events.0"]
        #expect(event["cause"].text == name)
        let steps = try await world.send("GET", "/_sim/explain/\(name)")["steps"].items.compactMap { $0["text"].text }
        #expect(steps.contains { $0.hasPrefix("capture.submitted of ") }, "\(steps)")
        #expect(steps.contains { $0.contains(#"was triggered: {"hold":true}"#) }, "\(steps)")
        #expect(steps.count { $0.hasPrefix("capture.started of ") } == 0, "that was another request")
    }

    /// The token is checked when the request is handled.
    @Test func aSessionCanEndWhileItsRequestIsHeld() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        try await hold(world, "/sdk/session")
        async let answer = world.send("GET", "/sdk/session", token: token)
        let request = try await held(world)[0]
        _ = try await world.send("DELETE", "/_sim/sessions")
        _ = try await release(world, request)
        #expect(try await answer.status == 401)
    }

    @Test func aHeldRequestUsesNoLimitBeforeItIsHandled() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": ["sdk_per_second": 1]])
        let token = try await world.login()
        try await world.advance("1m")
        try await hold(world, "/sdk/session")
        async let waiting = world.send("GET", "/sdk/session", token: token)
        let request = try await held(world)[0]
        #expect(try await world.send("GET", "/sdk/session", token: token).status == 200)
        _ = try await release(world, request)
        #expect(try await waiting.status == 429)
    }

    @Test func anAnswerIsKeptAfterTheRequestWasHandled() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        let capture = try await world.readyCapture(token)
        try await hold(world, "/sdk/captures/*/submit", ["when": "after", "for": "5m"])
        async let submitted = world.send("POST", "/sdk/captures/\(capture)/submit", token: token)
        let request = try await held(world)[0]
        #expect(request["when"] == "after")
        #expect((request["until"].double ?? 0) - (request["since"].double ?? 0) == 300)
        #expect(try await world.counts()["authentications"] == 1)
        try await world.advance("5s")
        _ = try await release(world, request)
        let answer = try await submitted
        #expect(answer.status == 200)
        let entry = try await entry(world, request)
        #expect(entry["status"] == 200)
        #expect(entry["changes.through"].integer ?? 0 > entry["changes.after"].integer ?? 0)
    }

    /// An error is an answer too.
    @Test func aRefusalIsKeptLikeAnyAnswer() async throws {
        let world = try await TestWorld.make()
        try await hold(world, "/sdk/session", ["when": "after"])
        async let answer = world.send("GET", "/sdk/session", token: "not-a-token")
        _ = try await release(world, held(world)[0])
        #expect(try await answer.status == 401)
    }

    @Test func aRuleIsTriggeredWhenTheRequestComes() async throws {
        let world = try await TestWorld.make()
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
        let world = try await TestWorld.make()
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
        let world = try await TestWorld.make()
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
        let world = try await TestWorld.make()
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
        let world = try await TestWorld.make()
        let root = TestWorld(base: SimProcess.shared.baseURL)
        _ = try await world.send("PUT", "/_sim/snapshots/s")
        try await hold(world, "/sdk/session", ["when": .string(when)])
        async let answer = world.send("GET", "/sdk/session")
        let request = try await held(world)[0]
        switch change {
        case "reset": _ = try await world.send("POST", "/_sim/reset")
        case "restore": _ = try await world.send("POST", "/_sim/snapshots/s/restore")
        default: _ = try await root.send("DELETE", "/_sim/namespaces/\(world.base.split(separator: "/").last ?? "")")
        }
        let given = try await answer
        #expect(given.status == 503)
        #expect(given["error"].text?.contains("was reset, restored or deleted while the request was held") == true)
        guard change != "delete" else { return }
        #expect(try await world.send("GET", "/_sim/held")["held"] == [])
        #expect(try await release(world, request).status == 409)
        #expect(try await world.send("GET", "/_sim/requests?route=/sdk/session")["requests"] == [])
    }

    @Test func aServerThatStopsAnswers503AtOnce() async throws {
        let server = try SimProcess(["--in-memory"])
        let world = TestWorld(base: server.baseURL)
        for (route, when) in [("/sdk/session", "before"), ("/sdk/config", "after")] {
            try await hold(world, route, ["when": .string(when)])
        }
        async let before = world.send("GET", "/sdk/session")
        async let after = world.send("GET", "/sdk/config")
        _ = try await held(world, count: 2)
        #expect(server.stop() == 0)
        #expect(try await before.status == 503)
        #expect(try await after.status == 503)
    }

    // MARK: Bounds

    @Test func aNamespaceHoldsAHundredRequests() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        let other = try await TestWorld.make()
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
        let (world, other) = (try await TestWorld.make(), try await TestWorld.make())
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

    /// A client may announce any length: it is more than there is room for, and no number that the server counts with.
    @Test(arguments: ["9223372036854775807", "9223372036854775000"]) func anyLengthCanBeAnnounced(
        length: String
    ) async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        try await hold(world, "/sdk/**", times: 3)
        async let first = world.send("GET", "/sdk/session", token: token)
        let request = try await held(world)[0]
        for path in ["/sdk/search", "/sdk/logout"] {
            let text = raw(world, path, token, method: "POST").replacing("Length: 0", with: "Length: \(length)")
            let answer = try await RawConnection.open(.shared).exchange(text) { $0.contains("\r\n\r\n") }
            #expect(answer.hasPrefix("HTTP/1.1 503") || answer.hasPrefix("HTTP/1.1 413"), "\(path): \(answer)")
        }
        _ = try await release(world, request)
        #expect(try await first.status == 200, "the server goes on")
    }

    // MARK: Clients that go

    private struct Gone: Error {}

    /// Sends a request and leaves once it is held.
    private func leave(_ world: TestWorld, _ text: String, resets: Bool) async throws -> JSONValue {
        let connection = try await RawConnection.open(.shared, resets: resets)
        let seen = Task { try await held(world)[0] }
        await #expect(throws: Gone.self) {
            // The first answer shows that the connection is open.
            _ = try await connection.exchange(
                raw(world, "/_sim/clock", "none") + text, orUntil: "never", until: { $0.contains("200 OK") }
            ) {
                _ = try await seen.value
                throw Gone()
            }
        }
        return try await seen.value
    }

    /// At once, and not when the time of the hold is over.
    @Test(.timeLimit(.minutes(3)), arguments: [true, false])
    func aRequestWhoseClientHasGoneIsNeverHandled(resets: Bool) async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        let capture = try await world.readyCapture(token)
        try await hold(world, "/sdk/captures/*/submit", ["for": "10m"])
        let text = raw(world, "/sdk/captures/\(capture)/submit", token, method: "POST")
        let request = try await leave(world, text, resets: resets)
        let entry = try await entry(world, request)
        #expect(entry["status"] == .null)
        #expect(entry["delivered"] == false)
        let late = try await release(world, request)
        #expect(late.status == 409)
        #expect(late["error"].text == "the request is not held any more: its client has gone")
        #expect(try await world.counts()["authentications"] == 0)
        #expect(try await world.send("POST", "/sdk/captures/\(capture)/submit", token: token).status == 200)
    }

    @Test func anAnswerWhoseClientHasGoneIsOnlyNotDelivered() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        let capture = try await world.readyCapture(token)
        try await hold(world, "/sdk/captures/*/submit", ["when": "after"])
        let text = raw(world, "/sdk/captures/\(capture)/submit", token, method: "POST")
        let request = try await leave(world, text, resets: true)
        let entry = try await entry(world, request)
        #expect(entry["status"] == 200)
        #expect(entry["delivered"] == false)
        #expect(try await world.counts()["authentications"] == 1)
        #expect(try await release(world, request).status == 409)
    }
}
