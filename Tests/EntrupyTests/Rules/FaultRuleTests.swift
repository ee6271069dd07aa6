import SimulationAPI
import Storage
import TestSupport
import Testing

@testable import Entrupy
@testable import Simulation

/// Fault rules [D fault-rules]: the requests they match, and how often they trigger.
@Suite struct FaultRuleTests {
    private func send(_ bench: RuleBench, _ user: Credential, _ method: String = "GET")
        async -> Completed<ShowSession.Output>
    {
        var head = RequestHead()
        head.metadata = RequestMetadata(method: method, path: "/sdk/session", credential: user) { name in
            name.lowercased() == "x-build" ? ["42"] : []
        }
        return await bench.namespace.answer(.success(ShowSession()), user, head)
    }

    private func ask(_ bench: RuleBench, _ user: Credential, _ method: String = "GET")
        async -> PlatformError.Kind?
    {
        switch await send(bench, user, method).result {
        case .success: nil
        case .failure(let error): error.kind
        }
    }

    @Test func theFirstRuleThatMatchesTriggers() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        _ = try await bench.control(
            AddFault(["match": ["route": "/sdk/**", "method": "PUT"], "effect": ["status": 500]]))
        _ = try await bench.control(
            AddFault(["match": ["route": "/sdk/s*", "username": "DemoOrg-bench-user"], "effect": ["status": 503]]))
        _ = try await bench.control(AddFault(["match": ["route": "/sdk/**"], "effect": ["status": 500]]))
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

    @Test func aRuleOfProbabilityOneAlwaysTriggersAndOneOfZeroOnlyCounts() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        for probability in [0, 1] as [JSONValue] {
            _ = try await bench.control(
                AddFault([
                    "match": ["route": "/sdk/session"], "effect": ["status": 503], "probability": probability,
                ]))
        }
        for _ in 0..<3 { #expect(await ask(bench, user) == .injected) }
        let faults = try await bench.control(ListFaults()).faults
        #expect(faults.map(\.seen) == [3, 3] && faults.map(\.hits) == [0, 3])
    }

    /// The delays that a fault gives to the webhooks of ten items.
    private func webhookDelays(_ delay: JSONValue) async throws -> [Span] {
        let bench = try await RuleBench()
        _ = try await bench.subscribe(events: ["session.updated"])
        _ = try await bench.control(AddFault(["match": ["webhook": "*"], "effect": ["delay": delay]]))
        let template = try ItemTemplate(count: nil, result: .needsReview, item: ["brand": "Nike"])
        for _ in 0..<10 {
            _ = try await bench.namespace.generateItems(.success(template), RequestHead(isControl: true)).result.get()
        }
        let deliveries = try await bench.job { job in
            try job.transaction.deliveries(before: .max, status: nil, subject: nil, limit: 100)
        }
        try #require(deliveries.count == 10)
        return try deliveries.map { try #require($0.nextAttemptAt) - RuleBench.morning }
    }

    @Test func aUniformDelayLiesBetweenItsBounds() async throws {
        let delays = try await webhookDelays(["uniform": ["1h", "3h"]])
        #expect(delays.someAndAll { (Span("1h")!...Span("3h")!).contains($0) } && Set(delays).count > 1, "\(delays)")
    }

    @Test func aLognormalDelayWithoutSigmaIsItsMedian() async throws {
        let delays = try await webhookDelays(["lognormal": ["median": "2h", "sigma": 0]])
        #expect(Set(delays) == [Span("2h")!])
    }

    @Test func aLognormalDelayOfAWebhookIsAtMostThirtyDays() async throws {
        let delays = try await webhookDelays(["lognormal": ["median": "30d", "sigma": 10]])
        #expect(delays.max() == Span("30d")! && Set(delays).count > 1, "\(delays)")
    }

    @Test func aLognormalDelayOfAnAnswerIsAtMostAnHour() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        _ = try await bench.control(
            AddFault(["effect": ["delay": ["lognormal": ["median": "1h", "sigma": 10]]]]))
        var delays: [Double] = []
        for _ in 0..<10 {
            if let seconds = await send(bench, user).outcome?.fault?.effect?.delay { delays.append(seconds) }
        }
        #expect(delays.count == 10 && delays.max() == 3600, "\(delays)")
    }

    @Test(
        arguments: [
            [:], ["effect": nil], ["effect": [:]], ["effect": ["status": 99]], ["effect": ["status": 600]],
            ["effect": ["status": "503"]], ["effect": ["status": 500, "delay": "1s"]], ["effect": ["explode": true]],
            ["effect": ["drop_connection": false]], ["effect": ["delay": "-1s"]], ["effect": ["delay": "2h30"]],
            ["effect": ["delay": 1e300]], ["effect": ["delay": ["uniform": ["2s", "1s"]]]],
            ["effect": ["delay": ["lognormal": ["sigma": 1]]]], ["effect": ["delay": ["uniform": [nil, "1s"]]]],
            ["effect": ["delay": "2h"]], ["effect": ["status": 204, "body": ["a": 1]]], ["effect": ["slow_body": 0]],
            ["effect": ["truncate_body": -1]], ["effect": ["truncate_body": "1k"]],
            ["effect": ["malformed_json": true, "body": "x"]], ["effect": ["status": 500], "probability": 1.01],
            ["effect": ["status": 500], "probability": -0.1], ["effect": ["status": 500], "times": 0],
            ["effect": ["status": 500], "match": ["method": "FETCH"]],
            ["effect": ["status": 500], "match": ["header": "X-A"]],
            ["effect": ["status": 500], "match": ["header": ["X-A": nil]]], ["effect": ["status": 500], "when": "now"],
        ] as [JSONValue])
    func anInvalidFaultIsRefused(rule: JSONValue) async throws {
        let bench = try await RuleBench()
        let error = await refusalError { try await bench.control(AddFault(rule)) }
        #expect(error?.kind == .invalid && error?.details.isEmpty == false, "\(rule)")
        #expect(try await bench.control(ListFaults()).faults.isEmpty)
    }
}
