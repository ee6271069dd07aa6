import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Pages of the console about requests that wait. The others are in `ConsoleRequestTests`.
@Suite struct ConsoleTests {
    private static let html = ["Accept": "text/html"]

    private func page(_ world: TestWorld, _ path: String) async throws -> Answer {
        try await world.send("GET", "/_sim/console\(path)", headers: Self.html)
    }

    @Test func heldRequestsAreShownWithTheirButtons() async throws {
        let world = try await TestWorld.make()
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        let rule: JSONValue = ["match": ["route": "/sdk/config"], "effect": ["hold": true], "times": 1]
        _ = try await world.send("POST", "/_sim/faults", rule)
        #expect(try await !page(world, "/rules").text.contains("Held requests"))
        async let answer = world.send(
            "GET", "/sdk/config",
            headers: ["X-Sim-Test": "<script>alert(1)</script>", "traceparent": "00-\(trace)-00f067aa0ba902b7-01"])
        _ = try await world.send("GET", "/_sim/events?until=request:held")
        let id = try #require(try await world.send("GET", "/_sim/held")["held.0.id"].text)
        let text = try await page(world, "/rules").text
        #expect(text.contains("/_sim/held/\(id)/release\""))
        #expect(text.contains("before it is handled"))
        #expect(text.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && !text.contains("<script>alert"))
        #expect(try await page(world, "").text.contains("1 request is held by a fault"))
        let readOnly = try await world.send(
            "GET", "/_sim/console/rules", headers: Self.html.merging(["Cookie": "sim_console_read_only=1"]) { $1 })
        #expect(readOnly.text.contains(id) && !readOnly.text.contains("/release\""))
        _ = try await world.send("DELETE", "/_sim/held")
        #expect(try await answer.status == 401)
        let number = try #require(try await world.send("GET", "/_sim/requests?limit=1")["requests.0.id"].text)
        let own = try await page(world, "/requests/\(number)").text
        #expect(own.contains("?q=trace%3A\(trace)\""))
        _ = try await world.send("GET", "/sdk/session")
        let found = try await page(world, "?q=trace%3A\(trace)").text
        #expect(found.contains("/sdk/config") && !found.contains("/sdk/session"))
    }
}
