import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Tests of `POST /_sim/scenarios/{name}/start`: the target namespace, and notes about parts that nothing can match.
@Suite struct ScenarioStartTests {
    private static let head = "name: mine\ndescription: A test.\nclock: {freeze: 2026-01-05T09:00:00Z}\n"

    private func put(_ world: TestWorld, _ text: String) async throws {
        let kept = try await world.send(
            "PUT", "/_sim/scenarios/mine", bytes: Data(text.utf8), headers: ["Content-Type": "application/yaml"])
        try #require([200, 201].contains(kept.status), "\(kept["error"])")
    }

    private func start(_ world: TestWorld, _ body: JSONValue? = nil, strict: Bool = false) async throws
        -> TestWorld.Answer
    {
        try await world.send("POST", "/_sim/scenarios/mine/start\(strict ? "?strict=true" : "")", body)
    }

    private static let misspelt =
        head + """
            items:
              - {brand: Nkie}
              - {brand: Nike, item_type: handbagg}
              - {count: 2, template: {brand: Gucchi, customer_item_id: "n-{n}"}}
              - {brand: "maker {n}"}
              - {brand: Adidas, item_type: T-Shirt}
              - {brand: Adidas, item_type: hat}
            outcomes:
              - {match: {brand: Addidas}, result: unknown}
              - {match: {product_category: sneekers}, result: unknown}
              - {match: {brand: "New Balance", product_category: Sneakers}, result: invalid}
            faults:
              - {match: {route: /sdk/serch}, effect: {status: 503}}
              - {match: {route: /sdk/search, method: PUT}, effect: {status: 503}}
              - {match: {route: /_sim/clock}, effect: {status: 503}}
              - {match: {webhook: session.finished}, effect: {drop: true}}
              - {match: {route: /sdk/session, method: HEAD, username: DemoOrg-not-there-yet}, effect: {status: 503}}
            timeline:
              - {at: 1s, fault: {match: {route: /v3/*}, effect: {status: 500}}}
              - {at: 2s, insert_items: {brand: Nkie}}
            expect:
              - {route: /sdk/login, status: 200}
              - {route: /sdk/logins, times: 0}
              - {route: /sdk/results/*/flag, method: DELETE}
              - {route: "*", times: 0}
            """

    private static let notes = [
        "items[0].brand", "items[1].item_type", "items[2].template.brand", "outcomes[0].match.brand",
        "outcomes[1].match.product_category", "faults[0].match.route", "faults[1].match.method",
        "faults[2].match.route", "faults[3].match.webhook", "timeline[0].fault.match.route",
        "timeline[1].insert_items.brand", "expect[1].route", "expect[2].method",
    ]

    @Test func partsThatMatchNothingAreReportedInNotes() async throws {
        let world = try await TestWorld.make()
        try await put(world, Self.misspelt)
        let run = try await start(world)
        #expect(run.status == 200)
        #expect(run["notes"].items.compactMap { $0["field"].text } == Self.notes, "\(run["notes"])")
        #expect(run["notes.3.problem"].text?.hasPrefix("line 12: the catalogue has no brand \"Addidas\"") == true)
        #expect(
            run["notes.5.problem"]
                == "line 16: no route of the server matches /sdk/serch; the nearest is POST /sdk/search")
        #expect(run["notes.6.problem"].text?.contains("they accept POST") == true)
        // Every answer that shows the run has the notes.
        #expect(try await world.send("GET", "/_sim/scenarios/mine")["run.notes"] == run["notes"])
        // The rule with the unknown category was added, though the route for rules rejects such a rule.
        #expect(try await world.send("GET", "/_sim/outcomes")["outcomes"].items.count == 3)
        let rule: JSONValue = ["match": ["product_category": "sneekers"], "result": "unknown"]
        #expect(try await world.send("POST", "/_sim/outcomes", rule).status == 400)
        // Submissions and snapshots work in spite of this rule.
        _ = try await world.submit(world.login())
        _ = try await world.send("PUT", "/_sim/snapshots/s")
        let archive = try await world.send("GET", "/_sim/snapshots/s").body
        let uploaded = try await world.send(
            "PUT", "/_sim/snapshots/again", bytes: archive, headers: ["Content-Type": "application/octet-stream"])
        #expect(uploaded.status == 201, "\(uploaded.json)")
    }

    @Test func aStrictStartRefusesPartsThatMatchNothing() async throws {
        let world = try await TestWorld.make()
        try await put(world, Self.misspelt)
        let session = try await world.login()
        let refused = try await start(world, strict: true)
        #expect(refused.status == 400 && refused["code"] == "bad_request")
        #expect(refused["details"].items.compactMap { $0["field"].text } == Self.notes)
        #expect(try await world.send("GET", "/sdk/session", token: session).status == 200)
        let elsewhere = try await start(
            world, ["namespace": .string("strict-\(UUID().uuidString.lowercased())")], strict: true)
        #expect(elsewhere.status == 400)
        #expect(try await world.send("POST", "/_sim/scenarios/mine/start?strict=yes").status == 400)
        try await put(world, Self.head)
        #expect(try await start(world, strict: true).status == 200)
    }

    @Test func shippedScenariosHaveNoNotes() async throws {
        let world = try await TestWorld.make()
        for scenario in try await world.send("GET", "/_sim/scenarios")["scenarios"].items {
            let name = try #require(scenario["name"].text)
            let run = try await world.send("POST", "/_sim/scenarios/\(name)/start?strict=true")
            #expect(run.status == 200 && run["notes"] == [], "\(name): \(run.json)")
        }
    }

    @Test func aNamedNamespaceMustBeFreeUnlessItIsReplaced() async throws {
        let world = try await TestWorld.make()
        try await put(world, Self.head + "items: [{customer_item_id: a}]\ntimeline: [{at: 1h, clear_faults: true}]")
        let name = "start-\(UUID().uuidString.lowercased())"
        let first = try await start(world, ["namespace": .string(name), "replace": true])
        #expect(first.status == 200 && first["namespace"].text == name)
        let other = world.namespace(name)
        let session = try await other.login()
        _ = try await other.send("PUT", "/_sim/snapshots/kept")
        let ids = try await other.send("GET", "/_sim/authentications")["authentications"].items.map { $0["id"] }

        let taken = try await start(world, ["namespace": .string(name)])
        #expect(taken.status == 409 && taken["details.0.field"] == "namespace")
        #expect(taken["error"].text?.contains("\"replace\": true") == true)
        #expect(try await other.send("GET", "/sdk/session", token: session).status == 200, "nothing happened")

        let again = try await start(world, ["namespace": .string(name), "replace": true, "ttl": "1h", "run": true])
        #expect(again.status == 200 && again["timeline.0.state"] == "done", "\(again.json)")
        #expect(try await other.send("GET", "/sdk/session", token: session).status == 401)
        let info = try await other.send("GET", "/_sim/info")["namespace"]
        #expect(info["ttl"] == 3600 && info["counts.sessions"] == 0)
        // The namespace is as if its name had been free, except for its snapshots.
        let found = try await other.send("GET", "/_sim/authentications")["authentications"].items.map { $0["id"] }
        #expect(found == ids)
        #expect(try await other.send("GET", "/_sim/snapshots")["snapshots"].items.count == 1)
        #expect(try await other.send("GET", "/_sim/requests?route=/sdk/login")["requests"].items.isEmpty)
        // The namespace that got the request is unchanged.
        #expect(try await world.send("GET", "/_sim/scenarios/mine")["run"] == .null)
    }

    @Test func concurrentStartsThatReplaceOneNamespaceAllSucceed() async throws {
        let world = try await TestWorld.make()
        try await put(world, Self.head + "items: [{customer_item_id: a}]")
        let name = "race-\(UUID().uuidString.lowercased())"
        let root = world.root
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<12 {
                group.addTask {
                    if number % 4 == 3 {
                        _ = try await root.send("DELETE", "/_sim/namespaces/\(name)")
                    } else {
                        let run = try await start(world, ["namespace": .string(name), "replace": true])
                        // The namespace may be deleted between the start and its answer.
                        #expect([200, 404].contains(run.status), "\(run.json)")
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await start(world, ["namespace": .string(name), "replace": true]).status == 200)
    }

    @Test func theDefaultNamespaceIsReplacedAndNeverDropped() async throws {
        let world = try await TestWorld.opened()
        try await put(world, Self.head)
        #expect(try await start(world, ["namespace": "default", "replace": true, "ttl": "1s"]).status == 400)
        let run = try await start(world, ["namespace": "default", "replace": true])
        #expect(run.status == 200 && run["namespace"] == "default")
        // The namespace is the same, so it keeps its scenario.
        #expect(try await world.send("POST", "/_sim/scenarios/mine/verify").status == 200)
    }
}
