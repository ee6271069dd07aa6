import EntrupySimTesting
import Foundation
import SimulationAPI
import TestSupport
import Testing

/// The control API of requests that a fault holds [D hold].
@Suite struct HeldReleaseTests: HoldSteps {
    @Test func theListNamesTheRequest() async throws {
        let world = try await TestWorld.make()
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
        let world = try await TestWorld.make()
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
        let world = try await TestWorld.make()
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
    }

    @Test(arguments: ["before", "after"]) func aConnectionCanBeReset(when: String) async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        try await hold(world, "/sdk/captures", ["when": .string(when)])
        let sent = Task { try await world.send("POST", "/sdk/captures", ["item": TestWorld.nike], token: token) }
        let request = try await held(world)[0]
        #expect(try await release(world, request, ["drop_connection": true, "status": .null]).status == 200)
        await #expect(throws: (any Error).self) { _ = try await sent.value }
        let isBefore = when == "before"
        #expect(try await world.counts()["captures"] == (isBefore ? 0 : 1))
        let entry = try await entry(world, request)
        #expect(entry["status"] == (isBefore ? .null : 201))
        #expect(entry["delivered"] == false)
    }

    @Test func aRequestIsReleasedOnce() async throws {
        let world = try await TestWorld.make()
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
        let world = try await TestWorld.make()
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
        let world = try await TestWorld.make()
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
        let world = try await TestWorld.make()
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

    @Test func aTestWaitsUntilARequestIsHeld() async throws {
        let world = try await TestWorld.make()
        try await hold(world, "/sdk/session")
        async let answer = world.send("GET", "/sdk/session")
        let stream = try await world.send("GET", "/_sim/events?until=request:held")
        #expect(stream.text.contains("request.held"))
        let list = try await world.send("GET", "/_sim/held")["held"].items
        #expect(list.count == 1)
        #expect(try await world.send("DELETE", "/_sim/held").status == 204)
        _ = try await answer
    }

    @Test func aTestWaitsUntilALaterRequestIsHeld() async throws {
        let world = try await TestWorld.make()
        try await hold(world, "/sdk/session", times: 2)
        async let first = world.send("GET", "/sdk/session")
        let number = try #require(try await held(world)[0]["request.sequence"].integer)
        let command = ["wait", "request:held", "--url", world.base, "--within"]
        #expect(try await SimProcess.run(command + ["10s", "--after", "\(number - 1)"]).status == 0)
        let early = try await SimProcess.run(command + ["0.1s", "--after", "\(number)"])
        #expect(early.status == 1 && early.output.contains("request:held did not happen within 0.1s"))
        async let stream = world.send("GET", "/_sim/events?until=request:held&after=\(number)&types=webhook")
        async let second = world.send("GET", "/sdk/session")
        #expect(try await stream.text.contains("\"sequence\":\(number + 1)"))
        #expect(try await world.send("DELETE", "/_sim/held").status == 204)
        _ = try await (first, second)
    }

    @Test(arguments: [
        "until=webhook:session.completed&after=1", "after=1", "until=request:held&after=-1",
        "until=request:held&after=",
    ])
    func aNumberIsForHeldRequestsAlone(query: String) async throws {
        let world = try await TestWorld.make()
        let answer = try await world.send("GET", "/_sim/events?\(query)")
        #expect(answer.status == 400 && answer["details.0.field"] == "after")
    }
}
