import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Scenarios that a namespace stores.
@Suite struct StoredScenarioTests {
    private let head = "name: mine\ndescription: A test.\nclock: {freeze: 2026-01-05T09:00:00Z}\n"

    private func put(_ world: TestWorld, _ text: String, _ name: String = "mine") async throws -> TestWorld.Answer {
        try await world.send("PUT", "/_sim/scenarios/\(name)", yaml: text)
    }

    @Test func aScenarioThatDoesNotFitTheSeedDataIsRefused() async throws {
        // The scenario names an organization that the namespace's own seed data does not have.
        let seed: JSONValue = [
            "organizations": [["name": "OnlyOrg", "api_tokens": ["only-token"]]], "categories": [], "brands": [],
            "texts": try await TestWorld.server.send("GET", "/_sim/export?format=json")[
                "texts"],
        ]
        let world = try await TestWorld.make(seed: seed)
        let text = head + "items: [{username: DemoOrg-example-user-id}]"
        #expect(try await put(world, text).status == 400)
        let other = try await TestWorld.make()
        _ = try await other.login()
        #expect(try await put(other, text).status == 201)
        // Data that a scenario needs can be removed after its upload.
        let loaded = try await other.send("GET", "/_sim/scenarios/mine")
        #expect(loaded.status == 200 && loaded["run"] == .null)
        #expect(try await other.counts()["sessions"] == 1)
        #expect(try await other.send("POST", "/_sim/scenarios/mine/start").status == 200)
        #expect(try await other.counts()["sessions"] == 0)
    }

    @Test func scenariosAreSavedReplacedAndDeleted() async throws {
        let world = try await TestWorld.make()
        #expect(try await put(world, head).status == 201)
        #expect(try await put(world, head + "expect: []").status == 200)
        let own = try await put(world, head.replacing("name: mine", with: "name: late-result"), "late-result")
        #expect(own.status == 201 && own["source"] == "namespace")
        #expect(try await world.send("GET", "/_sim/scenarios/late-result")["scenario.source"] == "namespace")
        #expect(try await world.send("DELETE", "/_sim/scenarios/late-result").status == 204)
        #expect(try await world.send("GET", "/_sim/scenarios/late-result")["scenario.source"] == "shipped")
        #expect(try await world.send("DELETE", "/_sim/scenarios/late-result").status == 409)
        #expect(try await world.send("DELETE", "/_sim/scenarios/nope").status == 404)
        #expect(try await world.send("POST", "/_sim/scenarios/nope/start").status == 404)
        #expect(try await put(world, head, "yours").status == 400)
        #expect(try await put(world, head, "a%2Fb").status == 400)
        for body in [
            ["run": 1], ["namespace": "A b"], ["ttl": "5m"], ["x": 1], ["replace": 1], ["replace": "yes"],
            ["namespace": "A b", "replace": true],
        ] as [JSONValue] {
            #expect(try await world.send("POST", "/_sim/scenarios/mine/start", body).status == 400, "\(body)")
        }
        #expect(try await world.send("POST", "/_sim/scenarios/mine/start", ["namespace": "default"]).status == 409)
        // Another namespace has scenarios of its own.
        let other = try await TestWorld.make()
        #expect(try await other.send("GET", "/_sim/scenarios/mine").status == 404)
    }

    @Test func aTimelineWithDueActionsIsNotVerified() async throws {
        let world = try await TestWorld.make()
        _ = try await put(world, head + "timeline: [{at: 1h, clear_faults: true}]")
        _ = try await world.send("POST", "/_sim/scenarios/mine/start")
        let early = try await world.send("POST", "/_sim/scenarios/mine/verify")
        let wait = "is still due: in 1h, 1h after the start; the clock is frozen: advance it"
        #expect(early.status == 409 && early["details.0.problem"].text == "clear_faults \(wait)")
        #expect(early["details.0.field"] == "timeline[0]")
        try await world.advance("1h")
        #expect(try await world.send("POST", "/_sim/scenarios/mine/verify").status == 200)
    }
}
