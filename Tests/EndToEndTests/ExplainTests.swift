import Foundation
import SimulationAPI
import TestSupport
import Testing

/// `GET /_sim/explain/{id}`: causes and consequences [D explain].
@Suite struct ExplainTests {
    @Test func anItemsChainGoesFromItsCaptureToTheAttemptOfItsWebhook() async throws {
        let world = try await TestWorld.withoutLimits()
        let receiver = try await WebhookReceiver.open()
        let session = try await world.login()
        try await world.subscribe(receiver, ["events": ["session.completed"]])
        _ = try await world.send(
            "POST", "/_sim/outcomes",
            ["match": ["customer_item_id": "sim-unknown-*"], "result": "not_supported", "after": "3h"])
        let id = try await world.submit(
            session, item: TestWorld.nike.merging(["customer_item_id": "sim-unknown-late"]))
        try await world.advance("3h")
        try await world.settleWebhooks()
        let explanation = try await world.explain(id)
        #expect(explanation.subject.kind == "item" && explanation.subject.id == id)
        #expect(!explanation.forgotten)
        let steps = explanation.steps
        let due = try #require(steps.first { $0.kind == .dueWork })
        let submit = try #require(steps.first { $0.kind == .request && $0.text.contains("/submit ->") })
        #expect(due.causes == [submit.id])
        #expect(due.text == "result of \(id) fell due" && due.at == TestWorld.epoch + 10_800)
        let set = try #require(steps.first { $0.text.hasPrefix("result.set of \(id)") })
        #expect(set.causes == [due.id])
        let delivery = try #require(steps.first { $0.kind == .delivery })
        #expect(delivery.causes == [due.id] && delivery.text.hasSuffix(": delivered"))
        let attempt = try #require(steps.first { $0.kind == .attempt })
        #expect(attempt.causes == [delivery.id] && attempt.text == "attempt 1: the receiver answered 200")
        let started = try #require(steps.first { $0.text.hasPrefix("capture.started") })
        #expect(steps.first { $0.id == started.causes.first }?.text.hasPrefix("POST /sdk/captures -> 201") == true)
        let rule = try #require(steps.first { $0.kind == .rule })
        #expect(submit.causes == [rule.id])
        #expect(rule.text.hasSuffix("decided: not_supported, after 3h"))
        #expect(
            explanation.would_differ.map(\.text) == [
                "without it the magic customer_item_id sim-unknown-late decides: unknown, after 5s"
            ])
        #expect(explanation.would_differ.map(\.step) == [rule.id])
    }

    @Test func attemptsFollowEachOtherAndNameTheFaultThatSpoiltThem() async throws {
        let world = try await TestWorld.withoutLimits()
        let receiver = try await WebhookReceiver.open()
        receiver.behave(.answer(500))
        try await world.subscribe(receiver, ["events": ["session.updated"]])
        let fault = try await world.send(
            "POST", "/_sim/faults", ["match": ["webhook": "session.updated"], "effect": ["drop": true], "times": 1])
        let session = try await world.login()
        _ = try await world.submit(session)
        try await world.settleWebhooks()
        try await world.advance("1m")
        receiver.behave(.answer(200))
        let id = try #require(try await world.webhookDeliveries().first?["id"].text)
        let explanation = try await world.explain(id)
        #expect(explanation.subject.kind == "delivery")
        let attempts = explanation.steps.filter { $0.kind == .attempt }
        try #require(attempts.count >= 2)
        let rule = try #require(explanation.steps.first { $0.kind == .rule && $0.text.contains("fault") })
        #expect(rule.text == "the fault rule \(fault["id"].text ?? "") was triggered")
        #expect(attempts[0].causes == [id, rule.id])
        #expect(attempts[1].causes == [attempts[0].id])
        #expect(attempts[1].text == "attempt 2: the receiver answered 500")
        #expect(explanation.steps.contains { $0.kind == .dueWork && $0.text == "webhook.attempt of \(id) is due" })
    }
}

/// The numbers of requests, and the traces that they belong to.
@Suite struct RequestNumberTests {
    private func sequences(_ world: TestWorld) async throws -> [Int] {
        try await world.send("GET", "/_sim/requests")["requests"].items.compactMap { $0["sequence"].integer }
    }

    @Test func aNumberAndAnIDAreNeverGivenTwiceNotEvenAfterAKill() async throws {
        try await Process.withDirectory { directory in
            var (ids, numbers): (Set<String>, [Int]) = ([], [])
            for _ in 0..<3 {
                let server = try await SimProcess(["--data-dir", directory])
                let world = TestWorld(base: server.baseURL)
                for _ in 0..<10 {
                    let answer = try await world.send("GET", "/sdk/config")
                    #expect(ids.insert(try #require(answer.headers.first(name: "X-Request-Id"))).inserted)
                }
                numbers += try await sequences(world).reversed()
                server.kill()
            }
            #expect(numbers.count == 30 && numbers == Set(numbers).sorted() && numbers.first == 1)
        }
    }

    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"

    @Test func aTraceIsKeptFoundAndGoesOnToTheWebhooks() async throws {
        let world = try await TestWorld.withoutLimits()
        let receiver = try await WebhookReceiver.open()
        try await world.subscribe(receiver)
        let session = try await world.login()
        let capture = try await world.readyCapture(session)
        let parent = "00-\(Self.trace)-00f067aa0ba902b7-01"
        _ = try await world.send(
            "POST", "/sdk/captures/\(capture)/submit", token: session, headers: ["traceparent": parent])
        try await world.advance("5s")
        try await world.settleWebhooks()
        let found = try await world.send("GET", "/_sim/requests?trace=\(Self.trace)")["requests"].items
        #expect(found.count == 1 && found.first?["trace"].text == Self.trace)
        let sent = receiver.deliveries.map { $0.headers["traceparent"].first ?? "none" }
        #expect(sent.count == 2 && Set(sent).count == 2, "\(sent)")
        for header in sent {
            let parts = header.split(separator: "-").map(String.init)
            try #require(parts.count == 4, "\(header)")
            #expect(parts[0] == "00" && parts[1] == Self.trace && parts[3] == "01")
            #expect(parts[2] != "00f067aa0ba902b7" && parts[2].count == 16)
        }
        let other = "/_sim/requests?trace=\(String(repeating: "a", count: 32))"
        #expect(try await world.send("GET", other)["requests"].items.isEmpty)
    }
}
