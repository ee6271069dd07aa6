import Foundation
import SimulationAPI
import Testing

/// Seed data after the death of the server.
@Suite struct SeedRestartTests {
    @Test func loadedSeedDataSurvivesAKill() async throws {
        try await Process.withDirectory { directory in
            var server = try await SimProcess(["--data-dir", directory])
            let seed =
                "organizations: [{name: NewOrg, api_tokens: [new-api-token], users: [{unique_user_id: ann-of-neworg, email: a@b.c}]}]"
            let before = TestWorld(base: server.baseURL)
            #expect(try await before.send("POST", "/_sim/seed", yaml: seed).status == 200)
            let export = try await before.send("GET", "/_sim/export").body
            server.kill()
            server = try await SimProcess(["--data-dir", directory])
            let world = TestWorld(base: server.baseURL)
            #expect(try await world.send("GET", "/_sim/export").body == export)
            _ = try await world.send("POST", "/_sim/reset")
            #expect(try await world.send("GET", "/_sim/export").body == export)
            server.stop()
        }
    }

    @Test func textsLoadedLaterBreakNeitherRulesNorATimeline() async throws {
        try await Process.withDirectory { directory in
            var server = try await SimProcess(["--data-dir", directory])
            var world = TestWorld(base: server.baseURL)
            let scenario = """
                name: mine
                description: A reason that later seed data takes away.
                clock: {freeze: 2026-01-05T09:00:00Z}
                outcomes:
                  - {match: {brand: Nike}, result: invalid, reason: multiple_items, after: 0s}
                timeline:
                  - {at: 1h, set_result: {customer_item_id: a, result: invalid, reason: multiple_items}}
                """
            let started = try await world.send("POST", "/_sim/scenarios/start", ["scenario": .string(scenario)])
            try #require(started.status == 200, "\(started.json)")
            var texts = try #require(try await world.send("GET", "/_sim/export?format=json")["texts"].members)
            texts["invalid_reasons"] = .array(
                (texts["invalid_reasons"]?.items ?? []).filter { $0["id"] != "multiple_items" })
            try #require(try await world.send("POST", "/_sim/seed", ["texts": .object(texts)]).status == 200)
            server.kill()
            server = try await SimProcess(["--data-dir", directory])
            world = TestWorld(base: server.baseURL)
            let session = try await world.login()
            let item = try await world.submit(session)
            #expect(try await world.result(item, session)["status.result.id"] == "invalid")
            #expect(try await world.advance("2h").status == 200)
            #expect(try await !world.send("GET", "/_sim/due").text.contains("scenario"))
            let verified = try await world.send("POST", "/_sim/scenarios/mine/verify")
            #expect(verified.status == 409)
            #expect(verified["error"].text?.contains("cannot be read with the current seed data") == true)
            server.stop()
        }
    }
}
