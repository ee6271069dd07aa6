import SimulationAPI
import TestSupport
import Testing

/// The causes of requests that a fault held [D explain].
@Suite struct HoldCauseTests: HoldSteps {
    /// Two submits of one capture, of which one is held until the other has been handled.
    @Test(arguments: [true, false]) func aRaceNamesTheOtherRequestAndTheRelease(isFrozen: Bool) async throws {
        let world = try await TestWorld.withoutLimits()
        if !isFrozen { _ = try await world.send("POST", "/_sim/clock/resume") }
        let session = try await world.login()
        let capture = try await world.readyCapture(session)
        let path = "/sdk/captures/\(capture)/submit"
        try await hold(world, path)
        async let loser = world.send("POST", path, token: session)
        let held = try await held(world)[0]
        #expect(try await world.send("POST", path, token: session).status == 200)
        _ = try await release(world, held)
        #expect(try await loser.status == 409)
        _ = try await entry(world, held)
        let sequence = held["request.sequence"].integer ?? 0
        let chain = try await world.explain("sequence:\(sequence)")
        let names = chain.names.filter { !$0.contains("result") && $0 != "setting" && $0 != "rule" }
        let release = "POST /_sim/held/\(held["id"].text ?? "")/release"
        let before = ["POST /_sim/faults", "fault.added", "request.held", "POST submit 200", "capture.submitted"]
        #expect(names == before + [release, "request.released", "POST submit 409"])
        let released = try #require(chain.steps.first { $0.text.hasPrefix("request.released") })
        #expect(chain.steps.last?.causes.contains(released.id) == true)
        let winner = try #require(chain.steps.first { $0.text.hasPrefix("POST \(path) -> 200") })
        #expect(chain.steps.contains { $0.text.hasPrefix("capture.submitted") && $0.causes == [winner.id] })
        #expect(!chain.forgotten)
        // From the release, the request follows.
        let call = try #require(chain.steps.first { $0.text == release })
        #expect(try await world.explain(call.id).steps.contains { $0.id == "sequence:\(sequence)" })
    }

    @Test(arguments: ["before", "after"]) func theEndOfTheTimeOfAHoldIsAStep(when: String) async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login()
        try await hold(world, "/sdk/session", ["when": .string(when), "for": "0.05s"])
        #expect(try await world.send("GET", "/sdk/session", token: session).status == 200)
        let chain = try await world.chain(200)
        let ended = try #require(chain.steps.first { $0.text.hasPrefix("request.released") })
        #expect(ended.text.contains("reason its time was over") && ended.kind == .event && !chain.forgotten)
        let steps = chain.names.filter { $0 == "GET session 200" || $0.hasPrefix("request.") }
        let events = ["request.held", "request.released"]
        #expect(steps == (when == "before" ? events + ["GET session 200"] : ["GET session 200"] + events))
    }

    @Test func theReleaseOfAKeptAnswerFollowsFromItsRequest() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login()
        try await hold(world, "/sdk/captures", ["when": "after"])
        async let answer = world.send("POST", "/sdk/captures", ["item": TestWorld.nike], token: session)
        let held = try await held(world)[0]
        _ = try await world.send("DELETE", "/_sim/held")
        #expect(try await answer.status == 201)
        _ = try await entry(world, held)
        let chain = try await world.explain("sequence:\(held["request.sequence"].integer ?? 0)")
        let names = chain.names.filter { $0 != "rule" && $0 != "due_work" && !$0.contains("fault") }
        #expect(
            names == ["POST captures 201", "request.held", "capture.started", "DELETE /_sim/held", "request.released"])
    }
}
