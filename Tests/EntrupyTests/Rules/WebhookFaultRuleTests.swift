import EntrupyAPI
import Foundation
import Hashes
import SimulationAPI
import Storage
import TestSupport
import Testing

@testable import Entrupy
@testable import Simulation

/// Faults on webhooks [D fault-rules]: what becomes of the two deliveries of an item, `session.updated` and `session.completed`.
@Suite struct WebhookFaultRuleTests {
    /// A namespace with a subscription, a fault and an item.
    private func bench(_ faults: JSONValue...) async throws -> RuleBench {
        let bench = try await RuleBench()
        _ = try await bench.subscribe()
        for fault in faults { _ = try await bench.control(AddFault(fault)) }
        try await bench.announce()
        return bench
    }

    private func deliveries(_ bench: RuleBench) async throws -> [DeliveryRecord] {
        try await bench.job { job in
            try job.transaction.deliveries(before: .max, status: nil, subject: nil, limit: 100).reversed()
        }
    }

    /// Ends each attempt with a failure until none is left.
    private func fail(_ bench: RuleBench) async throws {
        for _ in 0..<40 {
            while !bench.attempts().isEmpty { try await bench.deliver(500) }
            await bench.wait("1d")
        }
    }

    @Test func aDroppedAttemptIsFollowedByTheNextOne() async throws {
        let bench = try await bench(
            ["match": ["webhook": "session.completed"], "effect": ["drop": true], "times": 1])
        try await bench.deliver(200)
        #expect(bench.attempts().map(\.isDropped) == [true])
        try await bench.deliver(500)
        await bench.wait("999ms")
        #expect(bench.attempts().isEmpty)
        await bench.wait("1ms")
        #expect(bench.attempts().map(\.isDropped) == [false])
        #expect(try await bench.deliverAll() == ["session.completed"])
    }

    @Test func aDeliveryThatIsAlwaysDroppedFails() async throws {
        let bench = try await bench(["match": ["webhook": "*"], "effect": ["drop": true]])
        #expect(bench.attempts().map(\.isDropped) == [true])
        try await fail(bench)
        #expect(try await deliveries(bench).map(\.status) == [.failed, .failed])
    }

    @Test func aFaultOfAnotherUsersWebhooksDoesNotApply() async throws {
        let bench = try await bench(
            ["match": ["webhook": "*", "username": "DemoOrg-other-user"], "effect": ["drop": true]])
        #expect(bench.attempts().map(\.isDropped) == [false])
        #expect(try await bench.deliverAll() == ["session.updated", "session.completed"])
        #expect(try await bench.control(ListFaults()).faults.map(\.seen) == [0])
    }

    @Test func aDelayIsByTheNamespacesClockAndKeepsTheOrderOfTheItem() async throws {
        let bench = try await bench(["match": ["webhook": "session.updated"], "effect": ["delay": "3h"]])
        let waiting = try await deliveries(bench)
        #expect(waiting.map(\.status) == [.retrying, .waiting] && waiting.map(\.attempts) == [0, 0])
        await bench.wait("10799s")
        #expect(bench.attempts().isEmpty)
        await bench.wait("1s")
        #expect(try await bench.deliverAll() == ["session.updated", "session.completed"])
        #expect(try await deliveries(bench).first?.fault?.attempt == 1)
    }

    @Test func aDuplicateHasTheSameEventIDAndTheSameBytes() async throws {
        let bench = try await bench(["match": ["webhook": "session.completed"], "effect": ["duplicate": true]])
        #expect(try await bench.deliverAll() == ["session.updated", "session.completed", "session.completed"])
        let sent = try await deliveries(bench)
        try #require(sent.count == 3)
        #expect(sent[1].eventID == sent[2].eventID && sent[1].id != sent[2].id && sent[1].body == sent[2].body)
    }

    @Test func aFailedAttemptIsNotDuplicatedAgain() async throws {
        let bench = try await bench(["match": ["webhook": "session.completed"], "effect": ["duplicate": true]])
        try await fail(bench)
        #expect(try await deliveries(bench).map(\.status) == [.failed, .failed, .failed])
    }

    @Test func aReorderedWebhookComesAfterTheNextOfItsItem() async throws {
        let bench = try await bench(
            ["match": ["webhook": "session.updated"], "effect": ["reorder": true], "times": 1])
        #expect(try await bench.deliverAll() == ["session.completed", "session.updated"])
        #expect(try await deliveries(bench).map(\.status) == [.delivered, .delivered])
        try await bench.announce()
        #expect(try await bench.deliverAll() == ["session.updated", "session.completed"], "once")
    }

    @Test func withoutANextOneAReorderedWebhookIsSentAfterAnHour() async throws {
        let bench = try await bench(["match": ["webhook": "session.completed"], "effect": ["reorder": true]])
        #expect(try await bench.deliverAll() == ["session.updated"])
        await bench.wait("3599s")
        #expect(bench.attempts().isEmpty)
        await bench.wait("1s")
        #expect(try await bench.deliverAll() == ["session.completed"])
    }

    @Test func aReorderedWebhookIsSentAfterAnHourThoughTheNextIsPending() async throws {
        let bench = try await bench(
            ["match": ["webhook": "session.updated"], "effect": ["reorder": true], "times": 1],
            ["match": ["webhook": "session.completed"], "effect": ["delay": "5h"]])
        #expect(try await deliveries(bench).first?.fault != nil)
        await bench.wait("1h")
        #expect(try await bench.deliverAll() == ["session.updated"])
        await bench.wait("4h")
        #expect(try await bench.deliverAll() == ["session.completed"])
    }

    @Test func aFaultySignatureDoesNotVerify() async throws {
        let bench = try await bench([
            "match": ["webhook": "session.*", "username": "DemoOrg-sim-test-user"],
            "effect": ["wrong_signature": true], "after_requests": 1, "times": 1,
        ])
        var isRight: [Bool] = []
        while !bench.attempts().isEmpty {
            let sent = try await bench.deliver(200)
            let code = HMACSHA256(key: Data("s".utf8)).code(for: try #require(sent.body))
            let signature = try #require(sent.headers.first { $0.name == "Entrupy-Signature" }).value
            #expect(signature.utf8.count == 51)
            isRight.append(signature == "SHA256:" + Data(code).base64EncodedString())
        }
        #expect(isRight == [true, false])
    }

    @Test(
        arguments: [
            (["effect": ["drop": true]], "effect.drop", "match.webhook"),
            (["match": ["webhook": "*"], "effect": ["status": 500]], "effect.status", "is for requests"),
            (["match": ["webhook": "*", "route": "/v1/*"], "effect": ["drop": true]], "match.route", "known here"),
            (["match": ["webhook": "*"], "effect": ["drop": true, "reorder": true]], "effect", "got 2 of them"),
            (["match": ["webhook": "*"], "effect": ["delay": "31d"]], "effect.delay", "from 0s to 30d"),
            (["match": ["webhook": 3], "effect": ["drop": true]], "match.webhook", "string"),
        ] as [(JSONValue, String, String)])
    func requestAndWebhookFaultsAcceptOnlyTheirOwnEffects(rule: JSONValue, field: String, problem: String) async throws
    {
        let bench = try await RuleBench()
        let error = await refusalError { try await bench.control(AddFault(rule)) }
        let details = error?.details ?? []
        #expect(details.contains { $0.field == field && $0.problem.contains(problem) }, "\(details)")
    }

    @Test func aFaultOfAnUnknownEventHasANote() async throws {
        let bench = try await RuleBench()
        let rule = try await bench.control(
            AddFault(["match": ["webhook": "session.finished"], "effect": ["drop": true]]))
        #expect(rule.notes.first?.contains("session.completed") == true)
    }
}
