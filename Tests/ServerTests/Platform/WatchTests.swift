import Foundation
import SimulationAPI
import TestSupport
import Testing

@Suite struct WatchTests {
    @Test func dueWorkIsListedSoonestFirstWithoutSecrets() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        let token = try await world.login()
        let capture = try await world.startCapture(token)
        let item = try await world.submit(token)
        let due = try await world.send("GET", "/_sim/due")
        #expect(due["due"].items.map { $0["kind"] } == ["result", "capture.timeout", "session.expiry"])
        #expect(due["due"].items.map { $0["seconds_left"].double ?? 0 } == [5, 7200, 86_400])
        #expect(due["due.0.subject"].text == item && due["due.1.subject"].text == capture.id && due["total"] == 3)
        #expect(!String(decoding: due.body, as: UTF8.self).contains(token))
        let sessions = try await world.send("GET", "/_sim/sessions")
        #expect(due["due.2.subject"] == sessions["sessions.0.id"])
        #expect(try await world.send("GET", "/_sim/due?limit=1")["due"].items.count == 1)
    }

    @Test func whatHasEndedLeavesNoDueWork() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        let token = try await world.login()
        func due() async throws -> [String] {
            try await world.send("GET", "/_sim/due")["due"].items.compactMap { $0["kind"].text }
        }
        func end(_ path: String) async throws {
            let answer = try await world.send("POST", path, token: token)
            try #require([200, 204].contains(answer.status), "\(answer.json)")
        }
        let cancelled = try await world.startCapture(token).id
        #expect(try await due() == ["capture.timeout", "session.expiry"])
        try await end("/sdk/captures/\(cancelled)/cancel")
        #expect(try await due() == ["session.expiry"])
        let item = try await world.submit(token)
        #expect(try await due() == ["result", "session.expiry"])
        // The result waits for the retake.
        _ = try await world.send("POST", "/_sim/authentications/\(item)/retake", ["regions": ["heel"]])
        let started = try await world.send("POST", "/sdk/results/\(item)/retake", token: token)
        let retake = try #require(started["capture_id"].text)
        #expect(try await due() == ["capture.timeout", "session.expiry"])
        _ = try await world.upload(retake, "heel", token)
        try await end("/sdk/captures/\(retake)/submit")
        #expect(try await due() == ["result", "session.expiry"])
        try await end("/sdk/logout")
        #expect(try await due() == ["result"])
    }

    @Test func capturesAreListedWithTheTimeTheyHaveLeft() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        let token = try await world.login()
        let submitted = try await world.submit(token)
        let open = try await world.startCapture(token)
        let region = try #require(open.regions.first)
        _ = try await world.upload(open.id, region, token)
        try await world.advance("30m")
        let list = try await world.send("GET", "/_sim/captures")["captures"].items
        try #require(list.map { $0["id"].text } == [open.id])
        #expect(list[0]["seconds_left"] == 5400 && list[0]["uploaded"] == [.string(region)])
        #expect(list[0]["username"] == "DemoOrg-example-user-id" && !list[0]["missing"].items.isEmpty)
        let first = try await world.send("GET", "/_sim/captures?status=all&limit=1")
        let cursor = try #require(first["next_cursor"].text)
        let second = try await world.send("GET", "/_sim/captures?status=all&limit=1&cursor=\(cursor)")
        #expect(second["captures.0.entrupy_id"].text == submitted && second["next_cursor"] == .null)
        #expect(second["captures.0.seconds_left"] == .null)
        #expect(try await world.send("GET", "/_sim/captures?limit=1&cursor=\(cursor)").status == 400, "another query")
        #expect(try await world.send("GET", "/_sim/captures?status=open").status == 400)
    }

    @Test func sessionsAreRevokedOneByOneByUserOrAll() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        var tokens: [String] = []
        for user in ["first-user", "second-user", "second-user", "third-user"] {
            tokens.append(try await world.login(user))
        }
        func living() async throws -> [Bool] {
            var found: [Bool] = []
            for token in tokens {
                found.append(try await world.send("GET", "/sdk/session", token: token).status == 200)
            }
            return found
        }
        let mine = try await world.send("GET", "/_sim/sessions?username=DemoOrg-first-user")
        #expect(mine["total"] == 1 && mine["sessions.0.username"] == "DemoOrg-first-user")
        let id = try #require(mine["sessions.0.id"].text)
        #expect(try await world.send("DELETE", "/_sim/sessions/\(id)").status == 204)
        #expect(try await world.send("DELETE", "/_sim/sessions/\(id)").status == 404)
        #expect(try await living() == [false, true, true, true])
        #expect(try await world.send("DELETE", "/_sim/sessions?username=DemoOrg-second-user").status == 204)
        #expect(try await living() == [false, false, false, true])
        #expect(try await world.send("DELETE", "/_sim/sessions?username=DemoOrg-nobody").status == 400)
        #expect(try await world.send("DELETE", "/_sim/sessions?username=").status == 400, "an unset variable is nobody")
        #expect(try await living() == [false, false, false, true])
        #expect(try await world.send("DELETE", "/_sim/sessions").status == 204)
        #expect(try await living() == [false, false, false, false])
        let refused = try await world.send("GET", "/sdk/session", token: tokens[3])
        #expect(refused["error"].text?.contains("revoked") == true)
        #expect(try await world.send("GET", "/_sim/sessions")["total"] == 0)
    }

    @Test func subscriptionsOfAllOrganizationsAreListedWithoutSecrets() async throws {
        let world = try await TestWorld.make()
        let body: JSONValue = ["url": "http://127.0.0.1:9/x", "secret_key": "s3cr3t"]
        for token in ["other-api-token", TestWorld.apiToken] {
            _ = try await world.send("POST", "/v2/webhooks", body, token: token)
        }
        let list = try await world.send("GET", "/_sim/webhooks")
        #expect(list["webhooks"].items.map { $0["organization"] } == ["DemoOrg", "OtherOrg"])
        #expect(!String(decoding: list.body, as: UTF8.self).contains("s3cr3t"))
    }

    @Test func settleWaitsOnlyForResultsAndWebhooks() async throws {
        let world = try await TestWorld.make()
        let scenario = """
            name: mine
            description: x
            clock: {freeze: 2026-01-05T09:00:00Z}
            timeline: [{at: 1h, clear_faults: true}]
            """
        _ = try await world.send(
            "PUT", "/_sim/scenarios/mine", bytes: Data(scenario.utf8), headers: ["Content-Type": "application/yaml"])
        _ = try await world.send("POST", "/_sim/scenarios/mine/start")
        _ = try await world.startCapture(world.login())
        let due = try await world.send("GET", "/_sim/due")["due"].items.compactMap { $0["kind"].text }
        #expect(due.sorted() == ["capture.timeout", "scenario.action", "session.expiry"])
        let settled = try await world.send("POST", "/_sim/settle", ["within": "10m"])
        #expect(settled.status == 200 && settled["pending"] == 0)
        for wrong: JSONValue in [["within": "11m"], ["within": "-1s"], ["within": true], ["for": "1s"]] {
            #expect(try await world.send("POST", "/_sim/settle", wrong).status == 400)
        }
    }
}
