import SimulationAPI
import TestSupport
import Testing

@testable import Entrupy
@testable import Simulation

/// Fault rules [D fault-rules]: the requests they match, and how often they trigger.
@Suite struct FaultRuleTests {
    private func ask(_ bench: RuleBench, _ user: Credential, _ method: String = "GET")
        async -> PlatformError.Kind?
    {
        var head = RequestHead()
        head.metadata = RequestMetadata(method: method, path: "/sdk/session", credential: user) { name in
            name.lowercased() == "x-build" ? ["42"] : []
        }
        let answer = await bench.namespace.answer(.success(ShowSession()), user, head).result
        switch answer {
        case .success: return nil
        case .failure(let error): return error.kind
        }
    }

    @Test func theFirstRuleThatMatchesTriggers() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        _ = try await bench.control(
            AddFault(["match": ["route": "/sdk/*", "method": "PUT"], "effect": ["status": 500]]))
        _ = try await bench.control(
            AddFault(["match": ["route": "/sdk/s*", "username": "DemoOrg-bench-user"], "effect": ["status": 503]]))
        _ = try await bench.control(AddFault(["match": ["route": "/sdk/*"], "effect": ["status": 500]]))
        #expect(await ask(bench, user) == .injected)
        #expect(try await bench.control(ListFaults()).faults.map(\.hits) == [0, 1, 0])
    }

    @Test func aRuleLetsRequestsPassThenTriggersThenStops() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        _ = try await bench.control(
            AddFault(["match": ["route": "/sdk/session"], "effect": ["status": 503], "after_requests": 2, "times": 2]))
        var refusals: [PlatformError.Kind?] = []
        for _ in 0..<6 { refusals.append(await ask(bench, user)) }
        #expect(refusals == [nil, nil, .injected, .injected, nil, nil])
    }

    @Test func aHeaderAndAMethodNarrowARule() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        _ = try await bench.control(
            AddFault(["match": ["header": ["X-Build": "41"]], "effect": ["status": 503]]))
        _ = try await bench.control(
            AddFault(["match": ["header": ["X-Build": "4?"], "method": "POST"], "effect": ["status": 503]]))
        #expect(await ask(bench, user) == nil)
        #expect(await ask(bench, user, "POST") == .injected)
    }

    @Test func anExpiredSessionIsRefusedFromThenOn() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        _ = try await bench.control(
            AddFault(["match": ["route": "/sdk/session"], "effect": ["expire_session": true], "times": 1]))
        #expect(await ask(bench, user) == .unauthorized)
        #expect(await ask(bench, user) == .unauthorized)
    }

    @Test func aRuleOfProbabilityOneTriggersAndOneOfZeroIsRefused() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        _ = try await bench.control(
            AddFault(["match": ["route": "/sdk/session"], "effect": ["status": 503], "probability": 1]))
        #expect(await ask(bench, user) == .injected)
        #expect(
            await refusal {
                try await bench.control(
                    AddFault(["match": ["route": "/sdk/session"], "effect": ["status": 503], "probability": 2]))
            } == .invalid)
    }

    @Test func anEffectHasExactlyOneKnownKey() async throws {
        let bench = try await RuleBench()
        for effect in [[:], ["status": 503, "delay": "1s"], ["explode": true], ["drop_connection": false]]
            as [JSONValue]
        {
            #expect(
                await refusal {
                    try await bench.control(AddFault(["match": ["route": "/sdk/session"], "effect": effect]))
                } == .invalid, "\(effect)")
        }
    }
}
