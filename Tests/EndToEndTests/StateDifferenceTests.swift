import Foundation
import SimulationAPI
import TestSupport
import Testing

/// `entrupy-sim diff`. `DifferenceRouteTests` has the route.
@Suite struct StateDifferenceTests {
    private func name(_ world: TestWorld) -> String { String(world.base.split(separator: "/").last!) }

    private func diff(_ words: [String], _ world: TestWorld) async throws -> (status: Int32, output: String) {
        try await SimProcess.run(["diff"] + words + ["-n", name(world), "--url", SimProcess.shared.baseURL])
    }

    private func objects(_ world: TestWorld, _ from: String, _ to: String) async throws -> [JSONValue] {
        let answer = try await world.send("GET", "/_sim/diff?from=\(from)&to=\(to)")
        try #require(answer.status == 200, "\(answer.json)")
        #expect(answer["equal"] == .bool(answer["objects"].items.isEmpty))
        return answer["objects"].items
    }

    /// The right client, and one that submits again after a lost answer.
    private func worlds() async throws -> (right: TestWorld, wrong: TestWorld) {
        let worlds = [try await TestWorld.make(randomSeed: 7), try await TestWorld.make(randomSeed: 8)]
        for world in worlds {
            let session = try await world.login()
            _ = try await world.submit(session)
            try await world.advance("10s")
        }
        return (worlds[0], worlds[1])
    }

    @Test func twoRunsOfOneClientAreEqualAndARetryIsNot() async throws {
        let (right, wrong) = try await worlds()
        let names = [name(right), name(wrong)]
        let equal = try await diff(names, right)
        #expect(equal.status == 0 && equal.output.hasPrefix("equal;"), "\(equal.output)")
        _ = try await wrong.submit(try await wrong.login())
        let found = try await diff(names, right)
        #expect(found.status == 1 && found.output.contains("added item  "), "\(found.output)")
        #expect(
            found.output.contains("nth 2") && found.output.contains(" added, 0 removed, 1 changed;"), "\(found.output)")
        let json = try await diff(names + ["--json"], right)
        let answer = try WireJSON.decode(StateDifference.self, from: Data(json.output.utf8))
        #expect(json.status == 1 && answer.objects.count { $0.kind == "item" } == 1 && !answer.truncated)
        // The other way round it is removed.
        #expect(try await objects(wrong, "now", "namespace:\(names[0])").contains { $0["change"] == "removed" })
    }

    @Test func aPlainNameIsASnapshotBeforeItIsANamespace() async throws {
        let world = try await TestWorld.make()
        let other = try await TestWorld.make()
        try #require(try await world.send("PUT", "/_sim/snapshots/\(name(other))").status == 201)
        _ = try await other.send("PATCH", "/_sim/settings", ["quota": 3])
        let snapshot = try await diff([name(other), "now"], world)
        #expect(snapshot.status == 0 && snapshot.output.contains("is a snapshot and a namespace"), "\(snapshot.output)")
        let namespace = try await diff(["namespace:\(name(other))", "now"], world)
        #expect(
            namespace.status == 1 && namespace.output.contains("changed setting  name quota"), "\(namespace.output)")
        #expect(namespace.output.contains("  value: 3 -> null"), "\(namespace.output)")
        #expect(try await diff(["now", name(world)], world).status == 0)
    }

    /// 1 is for states that differ alone.
    @Test func aStateThatDoesNotExistIsAWrongUse() async throws {
        let world = try await TestWorld.make()
        try #require(try await world.send("PUT", "/_sim/snapshots/before").status == 201)
        for (words, hint) in [
            (["befor", "now"], "did you mean before?"), (["now", "namespace:no-such"], "namespace list"),
            (["now", "then:x"], "must be now, namespace:NAME"), (["now"], "to"),
        ] {
            let found = try await diff(words, world)
            #expect(found.status == 64 && found.output.contains(hint), "\(words): \(found.output)")
        }
        #expect(try await SimProcess.run(["diff", "now", "now", "--url", "http://127.0.0.1:1"]).status == 69)
    }

    /// Apps' components are compared too.
    @Test func aWorkflowOfComponentsIsCompared() async throws {
        let (world, other) = (try await TestWorld.make(), try await TestWorld.make(randomSeed: 9))
        let place = ["--url", SimProcess.shared.baseURL]
        for run in [world, other] {
            let made = try await SimProcess.run(["capture", "component", "document", "-n", name(run)] + place)
            try #require(made.status == 0, "\(made.output)")
        }
        #expect(try await objects(world, "now", "namespace:\(name(other))") == [])
        try #require(
            try await SimProcess.run(["capture", "component", "document", "-n", name(other)] + place).status == 0)
        let kinds = try await objects(world, "now", "namespace:\(name(other))").compactMap { $0["kind"].text }
        #expect(
            Set(kinds).isSuperset(of: ["component_code", "component_session", "component", "component_file"]),
            "\(kinds)")
    }
}
