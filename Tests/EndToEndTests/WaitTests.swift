import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Tests of `GET /_sim/events?until=` and of `entrupy-sim wait`.
@Suite struct WaitTests {
    private func wait(_ world: TestWorld, _ event: String, _ arguments: String...) async throws -> (
        status: Int32, output: String
    ) {
        try await SimProcess.run(["wait", event, "--url", world.base] + arguments)
    }

    /// The names of the events of a stream that ends by itself.
    private func events(_ world: TestWorld, _ query: String) async throws -> [(name: String, data: JSONValue)] {
        let text = String(decoding: try await world.send("GET", "/_sim/events?\(query)").body, as: UTF8.self)
        return text.components(separatedBy: "\n\n").compactMap { event in
            let lines = event.split(separator: "\n")
            guard let name = lines.first(where: { $0.hasPrefix("event: ") }),
                let data = lines.first(where: { $0.hasPrefix("data: ") })
            else { return nil }
            let value = try? WireJSON.decode(JSONValue.self, from: Data(data.dropFirst(6).utf8))
            return (String(name.dropFirst(7)), value ?? .null)
        }
    }

    @Test func theStreamEndsWithALaterResult() async throws {
        let world = try await TestWorld.make()
        let session = try await world.login()
        let id = try await world.submit(session)
        async let told = events(world, "until=item:\(id):result&types=webhook")
        _ = try await world.send("POST", "/_sim/clock/advance", ["by": "5s"])
        let last = try #require(try await told.last)
        #expect(last.name == "state" && last.data["kind"] == "result.set" && last.data["subject"].text == id)
    }

    @Test func pastEventsCountUnlessSinceIsGiven() async throws {
        let world = try await TestWorld.make()
        let session = try await world.login()
        let id = try await world.submit(session)
        _ = try await world.send("POST", "/_sim/authentications")
        _ = try await world.send("POST", "/_sim/clock/advance", ["by": "5s"])
        let told = try await events(world, "until=item:\(id):result")
        #expect(told.last?.data["subject"].text == id, "other items' results are not it")
        try #require(told.map(\.name) == ["state"], "what came before is not sent")
        let whole = try await events(world, "until=item:\(id):result&since=0&types=state")
        #expect(whole.count > 3 && whole.last?.data["kind"] == "result.set")
        let sequence = Int(told[0].data["sequence"].double ?? 0)
        async let next = events(world, "until=item:\(id):flag&since=\(sequence)")
        _ = try await world.send("PUT", "/sdk/results/\(id)/flag", ["flag": true], token: session)
        #expect(try await next.last?.data["kind"] == "flag.set")
    }

    @Test func retakesSubmissionsAndCancellationsAreAwaited() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        let session = try await world.login()
        let (submitted, cancelled) = (try await world.readyCapture(session), try await world.startCapture(session).id)
        let result = try await world.send("POST", "/sdk/captures/\(submitted)/submit", token: session)
        let item = try #require(result["entrupy_id"].text)
        _ = try await world.send("POST", "/sdk/captures/\(cancelled)/cancel", token: session)
        _ = try await world.send("POST", "/_sim/authentications/\(item)/retake", ["regions": ["heel"]])
        for (until, kind, subject) in [
            ("item:\(item):retake", "retake.requested", item),
            ("capture:\(submitted):submitted", "capture.submitted", submitted),
            ("capture:\(cancelled):cancelled", "capture.cancelled", cancelled),
        ] {
            let last = try #require(try await events(world, "until=\(until)").last)
            #expect(last.data["kind"].text == kind && last.data["subject"].text == subject, "\(until): \(last)")
        }
    }

    @Test func underReviewIsNotAResult() async throws {
        let world = try await TestWorld.make()
        let session = try await world.login()
        let id = try await world.submit(session)
        _ = try await world.send("PATCH", "/_sim/authentications/\(id)", ["result": "unknown"])
        _ = try await world.send("PATCH", "/_sim/authentications/\(id)", ["result": "needs_review"])
        let first = try #require(try await events(world, "until=item:\(id):result").first)
        let sequence = first.data["sequence"].double ?? 0
        async let told = events(world, "until=item:\(id):result&since=\(Int(sequence))")
        _ = try await world.send("PATCH", "/_sim/authentications/\(id)", ["result": "authentic"])
        #expect(try await told.last?.data["data.result"] == "authentic")
    }

    @Test(arguments: [
        "", "item", "item:x", "item::result", "item:x:nothing", "capture:x:result", "webhook:", "webhook:x",
    ])
    func anInvalidConditionIsRefusedWithTheValidForms(until: String) async throws {
        let world = try await TestWorld.make()
        let answer = try await world.send("GET", "/_sim/events?until=\(until)")
        #expect(answer.status == 400 && answer["details.0.field"] == "until")
        #expect(answer["details.0.problem"].text?.contains("item:{id}:result") == true)
        #expect(answer["details.0.problem"].text?.contains("webhook:session.completed") == true)
    }

    @Test func theCommandReportsTheEventOrTheReasonItIsMissing() async throws {
        let world = try await TestWorld.make()
        let session = try await world.login()
        let (capture, _) = try await world.startCapture(session)
        let early = try await wait(world, "capture:\(capture):timed_out", "--within", "0.2s")
        #expect(early.status == 1)
        #expect(early.output.contains("did not happen within 0.2s") && early.output.contains("the clock is frozen at"))
        _ = try await world.send("POST", "/_sim/clock/advance", ["by": "2h"])
        let there = try await wait(world, "capture:\(capture):timed_out")
        #expect(there.status == 0 && there.output.contains("2026-01-05"))
        let json = try await wait(world, "capture:\(capture):timed_out", "--json")
        #expect(json.output.contains("\"kind\":\"capture.timed_out\""))
        #expect(try await wait(world, "capture:\(capture)").status == 64)
        #expect(try await wait(world, "capture:\(capture):timed_out", "--within", "soon").status == 64)
    }

    @Test func anAttemptEndsTheWaitEvenIfItFailed() async throws {
        let world = try await TestWorld.make()
        let receiver = try await WebhookReceiver.open()
        receiver.behave(.answer(500))
        _ = try await world.send(
            "POST", "/v2/webhooks", ["url": .string(receiver.url), "secret_key": "s"], token: TestWorld.apiToken)
        let session = try await world.login()
        async let told = events(world, "until=webhook:session.updated")
        let id = try await world.submit(session)
        let last = try #require(try await told.last)
        #expect(last.name == "webhook" && last.data["data.status"] == 500 && last.data["data.entrupy_id"].text == id)
    }
}
