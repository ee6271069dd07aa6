import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Tests of expectations about faults, and of the faults that a scenario never met.
@Suite struct ScenarioFaultTests {
    private static let head = "name: mine\ndescription: A test.\nclock: {freeze: 2026-01-05T09:00:00Z}\n"
    private static let search =
        "faults:\n  - {match: {route: /sdk/search, method: post}, effect: {status: 503}, times: 2}\n"

    private func start(_ text: String) async throws -> TestWorld {
        let world = try await TestWorld.make()
        let run = try await world.send("POST", "/_sim/scenarios/start", ["scenario": .string(Self.head + text)])
        try #require(run.status == 200, "\(run.json)")
        #expect(run["notes"] == [], "a fault is not a note before it can be met")
        return world
    }

    private func verify(_ world: TestWorld, strict: Bool = false) async throws -> TestWorld.Answer {
        try await world.send("POST", "/_sim/scenarios/mine/verify\(strict ? "?strict=true" : "")")
    }

    private func search(_ world: TestWorld, _ count: Int) async throws {
        for _ in 0..<count { _ = try await world.send("POST", "/sdk/search", [:]) }
    }

    @Test func theTriggersOfAFaultAreCounted() async throws {
        let world = try await start(
            Self.search + """
                expect:
                  - {fault: {route: /sdk/search}, times: 2}
                  - {fault: {route: /sdk/search, method: POST}, at_most: 2}
                  - {fault: {}, at_least: 1}
                """)
        let never = try await verify(world)
        #expect(never.status == 409 && never["scenario.expectations.0.found"] == 0)
        #expect(
            never["details.0.problem"].text?.contains("expected 2, found 0; flt_") == true
                && never["details.0.problem"].text?.contains("matched no request and was triggered 0 times") == true,
            "\(never["details"])")
        try await search(world, 3)
        let met = try await verify(world)
        #expect(met.status == 200 && met["expectations.0.found"] == 2 && met["notes"] == [], "\(met.json)")
        #expect(try await verify(world, strict: true).status == 200)
    }

    @Test func aFaultIsNamedByItsID() async throws {
        let world = try await start(Self.search)
        let id = try #require(try await world.send("GET", "/_sim/faults")["faults.0.id"].text)
        try await search(world, 1)
        // The start makes the namespace anew with the same random seed, so that the id is the same.
        let text = Self.head + Self.search + "expect: [{fault: \(id), times: 1}, {fault: flt_unknown, times: 0}]\n"
        _ = try await world.send("POST", "/_sim/scenarios/start", ["scenario": .string(text)])
        try await search(world, 1)
        let run = try await verify(world)
        #expect(run["scenario.expectations.0.passed"] == true, "\(run.json)")
        // A mistake does not pass because nothing is expected of it.
        #expect(run["scenario.expectations.1.passed"] == false)
        #expect(run["details.0.problem"].text?.contains("there is no such fault rule") == true)
    }

    @Test(arguments: ["", "1", "[]", "{rout: /x}", "{route: 1}", "\"\""])
    func aWrongSelectorIsAMistake(selector: String) async throws {
        let world = try await TestWorld.make()
        let text = Self.head + "expect:\n  - {fault: \(selector.isEmpty ? "null" : selector), times: 1}\n"
        let refused = try await world.send("POST", "/_sim/scenarios/start", ["scenario": .string(text)])
        let isMissing = selector.isEmpty
        #expect(refused.status == 400, "\(refused.json)")
        #expect(isMissing || refused["details.0.field"].text?.hasPrefix("expect[0].fault") == true, "\(refused.json)")
    }

    @Test func aFaultThatWasNeverMetIsANote() async throws {
        let world = try await start(
            Self.search + """
                  - {match: {route: /sdk/config}, effect: {status: 503}}
                  - {match: {webhook: session.completed}, effect: {drop: true}, times: 1}
                timeline:
                  - {at: 1h, fault: {match: {route: /sdk/session}, effect: {status: 503}, times: 1, after_requests: 5}}
                expect:
                  - {route: /sdk/search, times: 0}
                """)
        try await world.advance("1h")
        _ = try await world.send("GET", "/sdk/session")
        let added = try await world.send(
            "POST", "/_sim/faults", ["match": ["username": "nobody"], "effect": ["status": 500], "times": 1])
        let run = try await verify(world)
        #expect(run.status == 200 && run["verified"] == true)
        let notes = run["notes"].items
        #expect(notes.map { $0["field"] } == ["faults[0]", "faults[2]", "timeline[0]", "fault"], "\(notes)")
        #expect(notes.someAndAll { $0["may_change"] == true })
        #expect(notes[0]["problem"].text?.hasPrefix("line 5: the fault flt_") == true)
        #expect(notes[0]["problem"].text?.hasSuffix("(POST /sdk/search) was never met: no request matched it") == true)
        #expect(notes[2]["problem"].text?.contains("one match, which it let pass") == true, "\(notes[2])")
        #expect(notes[3]["problem"].text?.contains(added["id"].text ?? "?") == true)
        #expect(try await world.send("GET", "/_sim/scenarios/mine")["run.notes"] == run["notes"])

        let strict = try await verify(world, strict: true)
        #expect(strict.status == 409 && strict["scenario.verified"] == false)
        #expect(strict["details"].items.map { $0["field"] } == notes.map { $0["field"] })
        #expect(strict["error"] == "the scenario mine did not pass: 0 of 2 checks failed, 4 notes")
        #expect(try await world.send("POST", "/_sim/scenarios/mine/verify?strict=maybe").status == 400)
        #expect(try await world.send("POST", "/_sim/scenarios/mine/verify?srict=true").status == 400)
    }

    @Test func removedFaultsAreCountedToo() async throws {
        let world = try await start(
            Self.search + """
                  - {match: {route: /sdk/config}, effect: {status: 503}, times: 1}
                timeline:
                  - {at: 1h, clear_faults: true}
                  - {at: 2h, fault: {match: {route: /sdk/search}, effect: {status: 500}, times: 1}}
                expect:
                  - {fault: {route: /sdk/search}, times: 2}
                """)
        try await search(world, 1)
        try await world.advance("2h")
        try await search(world, 2)
        let fault = try await world.send("GET", "/_sim/faults")["faults.0.id"].text ?? ""
        #expect(try await world.send("DELETE", "/_sim/faults/\(fault)").status == 204)
        let run = try await verify(world)
        #expect(run.status == 200 && run["expectations.0.found"] == 2, "\(run.json)")
        #expect(run["notes"].items.count == 1 && run["notes.0.may_change"] == false)
        #expect(run["notes.0.field"] == "faults[1]")
        #expect(run["notes.0.problem"].text?.hasSuffix("before it was removed") == true)
        // They are part of the namespace's state.
        _ = try await world.send("PUT", "/_sim/snapshots/s")
        let other = world.namespace("fork-\(UUID().uuidString.lowercased())")
        _ = try await world.send("POST", "/_sim/snapshots/s/fork", ["namespace": .string(other.name)])
        #expect(try await verify(other)["expectations.0.found"] == 2)
    }

    @Test func onlyTheLastRemovedFaultsAreRememberedAndThatIsSaid() async throws {
        let world = try await start("expect: [{fault: {route: /sdk/search}, at_most: 5}]\n")
        let rule: JSONValue = ["match": ["route": "/sdk/search"], "effect": ["status": 503]]
        for _ in 0..<2 {
            for _ in 0..<501 { _ = try await world.send("POST", "/_sim/faults", rule) }
            _ = try await world.send("DELETE", "/_sim/faults")
        }
        let run = try await verify(world)
        #expect(
            run.status == 409 && run["details.0.problem"].text?.contains("an upper limit cannot be checked") == true)
    }
}
