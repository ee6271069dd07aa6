import Foundation
import SimulationAPI
import TestSupport
import Testing

/// A clock stops at the end of the year 9999. Everything that would end later ends there.
@Suite struct EndOfTimeTests {
    private static let end: JSONValue = "9999-12-31T23:59:59.999999Z"

    /// Makes a capture, a result and a webhook's retries that fall due after the end of time.
    private func scheduleBeyondTheEnd(_ world: TestWorld) async throws -> (
        session: String, capture: String, item: String
    ) {
        let frozen = try await world.send("POST", "/_sim/clock/freeze", ["at": "9999-12-31T23:30:00Z"])
        try #require(frozen.status == 200)
        _ = try await world.send(
            "POST", "/v2/webhooks", ["url": "http://127.0.0.1:9/", "secret_key": "s"], token: TestWorld.apiToken)
        let session = try await world.login()
        let capture = try await world.startCapture(session)
        var item = TestWorld.nike.members ?? [:]
        item["customer_item_id"] = "sim-unknown-after-2h"
        return (session, capture.id, try await world.submit(session, item: .object(item)))
    }

    /// Advances to the next due time until nothing is due.
    private func advanceToTheEnd(_ world: TestWorld) async throws {
        for _ in 0..<100 {
            let answer = try await world.send("POST", "/_sim/clock/advance", ["to": "next"])
            try #require(answer.status == 200, "\(answer.json)")
            try #require(answer["now"].text ?? "" <= Self.end.text!, "\(answer.json)")
            if try await world.send("GET", "/_sim/due")["total"] == 0 { return }
        }
        Issue.record("there is no end of what falls due")
    }

    /// Expects that the namespace answers at the end of time as at any other time.
    private func answers(_ world: TestWorld, item: String, sourceLocation: SourceLocation = #_sourceLocation)
        async throws
    {
        let clock = try await world.send("GET", "/_sim/clock")
        #expect(clock.status == 200 && clock["now"] == Self.end, "\(clock.json)", sourceLocation: sourceLocation)
        for path in ["info", "due", "users", "captures", "sessions", "stats", "authentications/\(item)", "bundle"] {
            let answer = try await world.send("GET", "/_sim/\(path)")
            #expect(answer.status == 200, "\(path): \(answer.json)", sourceLocation: sourceLocation)
        }
        let next = try await world.send("POST", "/_sim/clock/advance", ["to": "next"])
        #expect(next.status == 200 && next["now"] == Self.end, "\(next.json)", sourceLocation: sourceLocation)
        let past = try await world.send("POST", "/_sim/clock/advance", ["by": "1s"])
        #expect(
            past.status == 400 && past["error"].text?.contains("year 10000") == true, sourceLocation: sourceLocation)
    }

    @Test func workDueAfterTheYear9999RunsAtItsEnd() async throws {
        try await Process.withDirectory { directory in
            var server = try await SimProcess(["--data-dir", directory])
            var world = TestWorld(base: server.baseURL)
            let (session, capture, item) = try await scheduleBeyondTheEnd(world)
            try await advanceToTheEnd(world)

            #expect(try await world.send("GET", "/sdk/session", token: session).status == 401)
            let captures = try await world.send("GET", "/_sim/captures?status=timed_out")["captures"].items
            #expect(captures.map { $0["id"].text } == [capture])
            let shown = try await world.send("GET", "/_sim/authentications/\(item)")
            #expect(shown["result.id"] == "unknown" && shown["result.final"] == true)
            // At the end of time, retries are made one after the other until there are no more.
            var deliveries: [JSONValue] = []
            repeat {
                deliveries = try await world.send("GET", "/_sim/webhook-deliveries")["deliveries"].items
            } while deliveries.contains { $0["status"] != "failed" }
            #expect(deliveries.count == 2)
            try await answers(world, item: item)

            // The same holds for a snapshot, after a restart, and with a running clock.
            try #require(try await world.send("PUT", "/_sim/snapshots/end").status == 201)
            try #require(try await world.send("POST", "/_sim/snapshots/end/restore").status == 200)
            try await answers(world, item: item)
            let archive = try await world.send("GET", "/_sim/snapshots/end").body
            let kept = try await world.send(
                "PUT", "/_sim/snapshots/carried", bytes: archive, headers: ["Content-Type": "application/octet-stream"])
            #expect(kept.status == 201, "\(kept.json)")
            server.stop()
            server = try await SimProcess(["--data-dir", directory])
            defer { server.stop() }
            world = TestWorld(base: server.baseURL)
            try await answers(world, item: item)
            #expect(try await world.send("POST", "/_sim/clock/resume")["mode"] == "running")
            try await answers(world, item: item)
            // Everything that begins at the end of time expires at once.
            let signed = try await world.signedRequest()
            let login = try await world.send("POST", "/sdk/login", ["signed_authorization_request": signed])
            #expect(login.status == 401 && login["error"].text?.contains("expired at 9999-12-31T23:59:59") == true)
            #expect(try await world.send("POST", "/_sim/clock/freeze")["now"] == Self.end)
        }
    }

    @Test func aRunningClockStopsAtTheEndOfTheYear9999() async throws {
        let world = try await TestWorld.make()
        try #require(try await world.send("POST", "/_sim/clock/resume").status == 200)
        let session = try await world.login()
        let item = try await world.submit(session)
        let moved = try await world.send("POST", "/_sim/clock/advance", ["to": "9999-12-31T23:59:59.500000Z"])
        try #require(moved.status == 200)
        while try await world.send("GET", "/_sim/clock")["now"] != Self.end {}
        try await answers(world, item: item)
        #expect(try await world.send("POST", "/_sim/reset").status == 200)
    }
}
