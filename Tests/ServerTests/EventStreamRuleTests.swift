import Foundation
import SimulationAPI
import TestSupport
import Testing

/// What a request of `/_sim/events` may ask, and the numbers of `/_sim/stats`.
@Suite struct EventStreamRuleTests {
    @Test func invalidStreamParametersAreRefused() async throws {
        let world = try await TestWorld.make()
        for query in ["types=requests", "types=", "since=-1", "since=x", "types=state&types=state"] {
            #expect(try await world.send("GET", "/_sim/events?\(query)").status == 400, "\(query)")
        }
        #expect(try await world.send("GET", "/_sim/events", headers: ["Last-Event-ID": "17"]).status == 400)
    }

    @Test func statsShowTheUseOfLimits() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        for _ in 0..<3 { _ = try await world.send("GET", "/sdk/session", token: token) }
        _ = try await world.send("GET", "/sdk/session", token: "unknown")
        let stats = try await world.send("GET", "/_sim/stats")
        #expect(
            stats["requests.last_second"] == 6
                && stats["requests.by_status"] == ["2xx": 5, "3xx": 0, "4xx": 1, "5xx": 0])
        #expect(
            stats["organizations.0"] == ["organization": "DemoOrg", "token": "demo***", "last_second": 1, "limit": 10])
        #expect(stats["users.0.username"] == "DemoOrg-example-user-id" && stats["users.0.last_second"] == 4)
        #expect(stats["users.0.logins_last_minute"] == 1 && stats["users.0.logins_per_minute"] == 5)
        try await world.advance("1s")
        let later = try await world.send("GET", "/_sim/stats")
        #expect(later["requests.last_second"] == 0 && later["requests.last_minute"] == 6)
        #expect(later["users.0.last_second"] == 0 && later["users.0.logins_last_day"] == 1)
    }
}
