import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Attempts at a receiver that does not take a webhook, or not at once.
@Suite struct WebhookAttemptTests {
    @Test(arguments: ["redirect", "close", "refused", "flood"]) func aReceiverMayMisbehave(how: String) async throws {
        let world = try await TestWorld.withoutLimits()
        let receiver = try await WebhookReceiver.open()
        try await world.subscribe(receiver, ["events": ["session.completed"]])
        switch how {
        case "redirect": receiver.behave(.redirect)
        case "close": receiver.behave(.close)
        case "flood": receiver.behave(.flood)
        default: try await receiver.close()
        }
        _ = try await world.generatedItem()
        try await world.settleWebhooks()
        let delivery = try #require(try await world.webhookDeliveries().first)
        #expect(delivery["status"].text == (how == "flood" ? "delivered" : "retrying"))
        let attempt = delivery["attempts.0"]
        switch how {
        case "redirect":
            #expect(attempt["status"] == 307)
            #expect(receiver.deliveries.map(\.path) == ["/hooks"], "no redirect is followed")
        case "flood": #expect(attempt["answer"].text?.count == 1000, "only the start is kept")
        default: #expect(attempt["status"] == .null && attempt["error"].text?.isEmpty == false)
        }
    }

    @Test func anAttemptToAHangingReceiverTimesOutWithoutDelayingOthers() async throws {
        let world = try await TestWorld.withoutLimits()
        let receiver = try await WebhookReceiver.open()
        try await world.subscribe(receiver, ["events": ["session.completed"]])
        receiver.behave(.hang)
        // Longer than a busy machine needs to reach the advance.
        _ = try await world.send("PATCH", "/_sim/settings", ["webhooks": ["timeout": "120s"]])
        let id = try await world.generatedItem()
        // Requests are answered while the receiver still holds the delivery. It never answers.
        #expect(try await world.send("GET", "/v2/authentications/\(id)", token: TestWorld.apiToken).status == 200)
        let stopped = try await world.send("POST", "/_sim/clock/advance", ["by": "1h", "max_wall": "0.05s"])
        #expect(stopped["reached"] == false && stopped["pending"].double ?? 0 >= 1)
        #expect(stopped["now"] == "2026-01-05T09:00:00.000000Z", "what is under way comes first")
        #expect(try await world.send("POST", "/_sim/clock/advance", ["by": "1h", "max_wall": "11m"]).status == 400)
        try await receiver.hangUp()
        _ = try await world.send("PATCH", "/_sim/settings", ["webhooks": ["timeout": "0.05s", "retries": []]])
        let second = try await world.generatedItem()
        try await world.settleWebhooks()
        let timedOut = try #require(try await world.webhookDeliveries().last)
        #expect(timedOut["entrupy_id"].text == second && timedOut["status"] == "failed", "there is no other attempt")
        #expect(timedOut["attempts.0.error"] == "no answer within 0.05 s")
    }

    @Test(arguments: [200, 500]) func anAnswerThatDoesNotEndIsCutOff(status: Int) async throws {
        let world = try await TestWorld.withoutLimits()
        let receiver = try await WebhookReceiver.open()
        try await world.subscribe(receiver, ["events": ["session.completed"]])
        receiver.behave(.stall(status))
        // The timeout must be long enough for half an answer on this machine. It grows until half an answer has come.
        var timeout = 0.2
        var delivery = JSONValue.null
        repeat {
            let settings: JSONValue = ["timeout": .string("\(timeout)s"), "retries": ["1h"]]
            _ = try await world.send("PATCH", "/_sim/settings", ["webhooks": settings])
            _ = try await world.generatedItem()
            try await world.settleWebhooks()
            delivery = try #require(try await world.webhookDeliveries().last)
            timeout *= 5
        } while delivery["attempts.0.status"] == .null && timeout < 300
        let attempt = delivery["attempts.0"]
        #expect(delivery["status"].text == (status == 200 ? "delivered" : "retrying"), "the status has said all")
        #expect(attempt["status"].double == Double(status) && attempt["answer"] == "half")
        #expect(attempt["error"].text == "the answer did not end within \(timeout / 5) s")
    }

    @Test func anAttemptThatFellDueWhileTheServerWasDownIsMadeOnce() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("webhooks-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let receiver = try await WebhookReceiver.open()
        var server = try await SimProcess(["--data-dir", directory])
        var world = try await TestWorld.withoutLimits(in: server)
        let path = String(world.base.dropFirst(server.baseURL.count))
        // On a slow machine the short gaps are used up before the server is killed. The long ones last.
        let gaps =
            ["0.02s"] + Array(repeating: JSONValue("0.5s"), count: 40) + Array(repeating: JSONValue("10s"), count: 59)
        _ = try await world.send("PATCH", "/_sim/settings", ["webhooks": ["retries": .array(gaps)]])
        _ = try await world.send("POST", "/_sim/clock/resume")
        try await world.subscribe(receiver, ["events": ["session.completed"]])
        receiver.behave(.answer(500))
        let ids = [try await world.generatedItem(), try await world.generatedItem(), try await world.generatedItem()]
        try await world.settleWebhooks()
        server.kill()

        // After this, everything that the dead process sent was read.
        try await receiver.hasNoConnections()
        let before = receiver.deliveries.count
        receiver.behave(.answer(200))
        server = try await SimProcess(["--data-dir", directory])
        world = TestWorld(base: server.baseURL + path)
        while try await world.webhookDeliveries().contains(where: { $0["status"] != "delivered" }) {}
        let after = receiver.deliveries.dropFirst(before).map { $0.item["entrupy_id"].text ?? "" }
        #expect(after.sorted() == ids.sorted(), "each once")
        server.stop()
    }

    @Test func attemptsSurviveTheDeathOfTheProcess() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("webhooks-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let receiver = try await WebhookReceiver.open()
        var server = try await SimProcess(["--data-dir", directory])
        var world = try await TestWorld.withoutLimits(in: server)
        let path = String(world.base.dropFirst(server.baseURL.count))
        try await world.subscribe(receiver, ["events": ["session.completed"]])
        // The attempt without an answer must not time out before the process is killed.
        _ = try await world.send("PATCH", "/_sim/settings", ["webhooks": ["timeout": "300s"]])
        receiver.behave(.answer(500))
        let first = try await world.generatedItem()
        try await world.advance("5s")
        receiver.behave(.hang)
        let second = try await world.generatedItem()
        // The attempt is in progress, and its end will not be recorded.
        while receiver.deliveries.last?.item["entrupy_id"].text != second { await Task.yield() }
        let before = receiver.deliveries.map(\.json)
        server.kill()

        receiver.behave(.answer(200))
        server = try await SimProcess(["--data-dir", directory])
        world = TestWorld(base: server.baseURL + path)
        try await world.settleWebhooks()
        let resumed = receiver.deliveries.dropFirst(before.count).map(\.json)
        #expect(resumed == [before.last], "the same event, at once")
        try await world.advance("10s")
        let retried = receiver.deliveries.dropFirst(before.count + 1).map(\.json)
        #expect(retried == [before.first])
        let states = try await world.webhookDeliveries()
        #expect(states.map { $0["entrupy_id"].text } == [first, second])
        #expect(states.someAndAll { $0["status"] == "delivered" })
        #expect(states.first?["attempts"].items.map { ($0["at"].double ?? 0) - TestWorld.epoch } == [0, 1, 11])
        server.stop()
    }

    @Test func aStopDuringAnAttemptIsNoProblemOfTheReceiver() async throws {
        let server = try await SimProcess(["--in-memory"])
        let world = try await TestWorld.withoutLimits(in: server)
        let receiver = try await WebhookReceiver.open()
        receiver.behave(.hang)
        try await world.subscribe(receiver, ["events": ["session.completed"]])
        _ = try await world.generatedItem()
        while receiver.deliveries.isEmpty { await Task.yield() }
        server.stop()
        let printed = server.printed()
        #expect(!printed.contains("webhook"), "\(printed)")
    }

    @Test func aNameIsResolvedOnlyAtTheAttempt() async throws {
        let world = try await TestWorld.withoutLimits()
        // Reserved names never resolve (RFC 6761).
        for url in ["http://nowhere.invalid/hooks", "http://localhost:1/hooks"] {
            let body: JSONValue = ["url": .string(url), "secret_key": "k", "events": ["session.completed"]]
            let answer = try await world.send("POST", "/v2/webhooks", body, token: TestWorld.apiToken)
            #expect(answer.status == 201)
        }
        _ = try await world.generatedItem()
        try await world.settleWebhooks()
        let errors = try await world.webhookDeliveries().map { $0["attempts.0.error"].text ?? "" }
        try #require(errors.count == 2)
        #expect(errors[0].contains("cannot be resolved") && !errors[1].isEmpty && !errors[1].contains("private"))
    }
}
