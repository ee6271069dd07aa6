import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Tests of `POST /_sim/scenarios/start`: a scenario that is sent with its start belongs to the namespace that it starts in.
@Suite struct ScenarioTextTests {
    private static func text(_ description: String, _ rest: String = "", name: String = "mine") -> String {
        "name: \(name)\ndescription: \(description)\nclock: {freeze: 2026-01-05T09:00:00Z}\n\(rest)"
    }

    private func start(_ world: TestWorld, _ body: JSONValue, strict: Bool = false) async throws -> TestWorld.Answer {
        try await world.send("POST", "/_sim/scenarios/start\(strict ? "?strict=true" : "")", body)
    }

    private func stored(_ world: TestWorld) async throws -> [String] {
        try await world.send("GET", "/_sim/scenarios")["scenarios"].items
            .filter { $0["source"] == "namespace" }.compactMap { $0["name"].text }
    }

    private static func freshName() -> String { "text-\(UUID().uuidString.lowercased())" }

    @Test func aScenarioIsStoredWhereItStartsAndNowhereElse() async throws {
        let world = try await TestWorld.make()
        let (name, text) = (Self.freshName(), Self.text("First.", "items: [{customer_item_id: a}]\n"))
        let run = try await start(world, ["scenario": .string(text), "namespace": .string(name), "ttl": "1h"])
        #expect(run.status == 200 && run["namespace"].text == name && run["name"] == "mine", "\(run.json)")
        #expect(run["notes"] == [] && run["verified"] == true)
        #expect(try await stored(world) == [])
        #expect(try await world.send("GET", "/_sim/scenarios/mine").status == 404)
        let root = world.root
        #expect(try await root.send("GET", "/_sim/scenarios/mine").status == 404)

        let own = world.namespace(name)
        #expect(try await stored(own) == ["mine"])
        let shown = try await own.send("GET", "/_sim/scenarios/mine")
        #expect(shown["text"].text == text && shown["run.name"] == "mine" && shown["scenario.source"] == "namespace")
        #expect(try await own.send("POST", "/_sim/reset").status == 200)
        #expect(try await own.send("GET", "/_sim/scenarios/mine")["text"].text == text)
        #expect(try await own.send("POST", "/_sim/scenarios/mine/start").status == 200)
        // It goes with its namespace.
        #expect(try await root.send("DELETE", "/_sim/namespaces/\(name)").status == 204)
        #expect(try await root.send("PUT", "/_sim/namespaces/\(name)").status == 201)
        #expect(try await stored(own) == [])
    }

    @Test func withoutANamespaceThePathsOwnIsMadeAnew() async throws {
        let world = try await TestWorld.make()
        let session = try await world.login()
        let run = try await start(world, ["scenario": .string(Self.text("Here."))])
        #expect(run.status == 200 && run["url"].text == world.base)
        #expect(try await world.send("GET", "/sdk/session", token: session).status == 401)
        #expect(try await stored(world) == ["mine"])
        let again = try await start(world, ["scenario": .string(Self.text("Again."))])
        #expect(again.status == 200)
        #expect(try await world.send("GET", "/_sim/scenarios/mine")["scenario.description"] == "Again.")
    }

    @Test func twoFilesOfOneNameInParallelStartsKeepApart() async throws {
        let world = try await TestWorld.make()
        let runs = try await withThrowingTaskGroup(of: (Int, TestWorld.Answer).self) { group in
            for number in 0..<8 {
                let text = Self.text("Number \(number).", "items: [{count: \(number + 1), template: {brand: Nike}}]\n")
                group.addTask {
                    (
                        number,
                        try await start(world, ["scenario": .string(text), "namespace": .string(Self.freshName())])
                    )
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for (number, run) in runs {
            let own = world.namespace(try #require(run["namespace"].text, "\(run.json)"))
            #expect(
                try await own.send("GET", "/_sim/scenarios/mine")["scenario.description"].text == "Number \(number).")
            #expect(try await own.send("GET", "/_sim/authentications")["authentications"].items.count == number + 1)
        }
        #expect(try await stored(world) == [])
    }

    @Test func parallelStartsInOneNamespaceKeepTextAndRunTogether() async throws {
        let world = try await TestWorld.make()
        let name = Self.freshName()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                let text = Self.text("Number \(number).", "expect: [{route: /sdk/login, times: \(number)}]\n")
                group.addTask {
                    let body: JSONValue = ["scenario": .string(text), "namespace": .string(name), "replace": true]
                    let run = try await start(world, body)
                    #expect(run.status == 200, "\(run.json)")
                }
            }
            try await group.waitForAll()
        }
        let shown = try await world.namespace(name).send("GET", "/_sim/scenarios/mine")
        let description = try #require(shown["scenario.description"].text)
        let number = description.filter { $0.isNumber }
        let often = ["0": "never", "1": "once"][number] ?? "\(number) times"
        #expect(shown["run.expectations.0.expectation"].text == "/sdk/login, \(often)", "\(shown.json)")
    }

    @Test func aStartThatIsRefusedStoresNothing() async throws {
        let world = try await TestWorld.make()
        let (good, name) = (Self.text("Good."), Self.freshName())
        for wrong: JSONValue in [
            [:], ["scenario": 1], ["scenario": ""], ["scenario": "name: ["], ["scenario": .string(good), "nmae": "x"],
            ["scenario": .string(good), "ttl": "1h"], ["scenario": .string(good), "namespace": "A b"],
            ["scenario": .string(Self.text("x", "outcomse: []\n"))],
            ["scenario": .string(Self.text("x", name: "../x"))],
            ["scenario": .string(Self.text("x", "items: [{brand: Nike, product_category: none}]\n"))],
        ] {
            let refused = try await start(world, wrong)
            #expect(refused.status == 400, "\(wrong): \(refused.json)")
        }
        let misspelt = Self.text("x", "faults:\n  - {match: {route: /sdk/serch}, effect: {status: 503}}\n")
        let body: JSONValue = ["scenario": .string(misspelt), "namespace": .string(name)]
        let strict = try await start(world, body, strict: true)
        #expect(strict.status == 400 && strict["details.0.field"] == "faults[0].match.route")
        #expect(strict["details.0.problem"].text?.hasPrefix("line 5: ") == true, "\(strict.json)")
        #expect(try await stored(world) == [])
        let run = try await start(world, body)
        #expect(run["notes.0.field"] == "faults[0].match.route" && run["notes.0.may_change"] == false)
        // A taken name changes neither the namespace nor its scenarios.
        let taken = try await start(world, ["scenario": .string(good), "namespace": .string(name)])
        #expect(taken.status == 409 && taken["details.0.field"] == "namespace")
        let own = world.namespace(name)
        #expect(try await own.send("GET", "/_sim/scenarios/mine")["text"].text == misspelt)
        // A scenario that fails while it is set up leaves the one before.
        let failing = Self.text("x", "items: [{brand: Nike, product_category: none}]\n")
        let failed = try await start(
            world, ["scenario": .string(failing), "namespace": .string(name), "replace": true])
        #expect(failed.status == 400, "\(failed.json)")
        #expect(try await own.send("GET", "/_sim/scenarios/mine")["text"].text == misspelt)
    }

    @Test func aLargeScenarioFitsAndATooLargeOneIsRefused() async throws {
        let world = try await TestWorld.make()
        let line = "# \"\t\" " + String(repeating: "x", count: 90) + "\n"
        let text = Self.text("Large.", String(repeating: line, count: 9_900))
        #expect(try await start(world, ["scenario": .string(text)]).status == 200)
        let more = try await start(world, ["scenario": .string(text + String(repeating: line, count: 500))])
        #expect(more.status == 400 && more["details.0.field"] == "scenario", "\(more.json)")
    }

    /// The route `scenarios/start` takes no name from scenarios.
    @Test func aScenarioMayBeNamedStart() async throws {
        let world = try await TestWorld.make()
        let put = try await world.send(
            "PUT", "/_sim/scenarios/start", bytes: Data(Self.text("x", name: "start").utf8),
            headers: ["Content-Type": "application/yaml"])
        #expect(put.status == 201)
        #expect(try await world.send("GET", "/_sim/scenarios/start")["scenario.name"] == "start")
        #expect(try await world.send("POST", "/_sim/scenarios/start/start").status == 200)
        #expect(try await world.send("DELETE", "/_sim/scenarios/start").status == 204)
    }
}
