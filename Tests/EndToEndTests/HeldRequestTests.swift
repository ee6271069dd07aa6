import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Held requests whose clients or servers go, and commands that wait for them [D hold]. `HeldRequestRuleTests` has the rules.
@Suite struct HeldRequestTests: HoldSteps {
    @Test func aServerThatStopsAnswers503AtOnce() async throws {
        let server = try await SimProcess(["--in-memory"])
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

    /// A request as a client sends it over a connection of its own.
    private func raw(_ world: TestWorld, _ path: String, _ token: String, method: String = "GET") -> String {
        let target = String(world.base.dropFirst(SimProcess.shared.baseURL.count)) + path
        return "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Token \(token)\r\n"
            + (method == "GET" ? "\r\n" : "Content-Length: 0\r\n\r\n")
    }

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
    @Test(.timeLimit(.minutes(15)), arguments: [true, false])
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

    @Test func aTestWaitsUntilALaterRequestIsHeld() async throws {
        let world = try await TestWorld.make()
        try await hold(world, "/sdk/session", times: 2)
        async let first = world.send("GET", "/sdk/session")
        let number = try #require(try await held(world)[0]["request.sequence"].integer)
        let past = try await world.send("GET", "/_sim/events?until=request:held")
        try #require(past.text.contains("request.held"), "\(past.text)")
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

    @Test func aNumberIsForHeldRequestsAlone() async throws {
        let world = try await TestWorld.make()
        for query in [
            "until=webhook:session.completed&after=1", "after=1", "until=request:held&after=-1",
            "until=request:held&after=",
        ] {
            let answer = try await world.send("GET", "/_sim/events?\(query)")
            #expect(answer.status == 400 && answer["details.0.field"] == "after", "\(query)")
        }
    }
}
