import Foundation
import SimulationAPI
import TestSupport
import Testing

@Suite struct RetakeTests {
    private func ask(_ world: TestWorld, _ id: String, _ body: JSONValue) async throws -> Answer {
        try await world.send("POST", "/_sim/authentications/\(id)/retake", body)
    }

    private func start(_ world: TestWorld, _ id: String, _ token: String) async throws -> Answer {
        try await world.send("POST", "/sdk/results/\(id)/retake", token: token)
    }

    @Test func aRetakeIsRequestedAndAnsweredWithACapture() async throws {
        let world = try await TestWorld.make()
        let receiver = try await WebhookReceiver.open()
        _ = try await world.send(
            "POST", "/v2/webhooks", ["url": .string(receiver.url), "secret_key": "s", "format": "event"],
            token: TestWorld.apiToken)
        let token = try await world.login()
        let id = try await world.submit(token)
        let before = try await world.result(id, token)
        #expect(before["batch_request"] == .null)
        let asked = try await ask(world, id, ["regions": ["size_tag", "heel"], "message": "Out of focus"])
        #expect(asked.status == 200 && asked["result_due_at"] == .null)
        #expect(try await world.result(id, token)["batch_request"] == ["customer_state": "batch_open"])
        #expect(try await ask(world, id, ["regions": ["heel"]]).status == 409, "one at a time")

        let list = try await world.send("GET", "/sdk/retakes", token: token)
        let found = try #require(list["items"].items.first)
        #expect(list["item_count"] == 1 && list["next_cursor"] == [])
        let retake = found["retake"]
        #expect(found["entrupy_id"].text == id && retake["message"] == "Out of focus")
        let shown = try await world.result(id, token)
        #expect(found == shown.json.merging(["retake": retake]), "the item, and its retake beside it")
        #expect(retake["regions"].items.map { $0["region_id"] } == ["heel", "size_tag"], "in the workflow's order")

        try await world.advance("1h")
        #expect(try await world.result(id, token)["status.result.id"] == "needs_review", "it waits for the answer")

        let capture = try await start(world, id, token)
        #expect(capture.status == 201 && capture["steps"].items.allSatisfy { $0["required"] == true })
        #expect(capture["steps"].items.map { $0["region_id"] } == ["heel", "size_tag"])
        #expect(capture["item"] == TestWorld.nike)
        let captureID = try #require(capture["capture_id"].text)
        let submit = "/sdk/captures/\(captureID)/submit"
        #expect(try await world.send("POST", submit, token: token).status == 400, "its pictures are missing")
        #expect(try await world.upload(captureID, "toe_box", token).status == 404, "that one was not asked for")
        let picture = TestWorld.picture.dropLast(2) + Data([0xff, 0xfe, 0, 3, 7, 0xff, 0xd9])
        let receipt = try await world.upload(captureID, "heel", token, picture)
        #expect(receipt.status == 200, "\(receipt.json)")
        #expect(try await world.upload(captureID, "size_tag", token, picture).status == 200)
        let submitted = try await world.send("POST", submit, token: token)
        #expect(submitted.status == 200 && submitted["entrupy_id"].text == id)
        #expect(submitted["batch_request"] == .null)
        let photos = submitted["images.uploaded_images"].items
        #expect(photos.count == before["images.uploaded_images"].items.count, "the others stay")
        let changed = photos.filter { $0["urls.original"].text?.contains(receipt["sha256"].text ?? "-") == true }
        #expect(changed.map { $0["display_name"] } == ["Heel", "Size tag"])
        #expect(try await world.send("GET", "/sdk/retakes", token: token)["items"] == [])
        #expect(try await start(world, id, token).status == 409, "none is asked for any more")

        try await world.advance("4s")
        #expect(try await world.result(id, token)["status.result.final"] == false)
        try await world.advance("1s")
        #expect(try await world.result(id, token)["status.result.id"] == "authentic")
        let user = try await world.send("GET", "/_sim/users/DemoOrg-example-user-id")
        #expect(user["submissions"] == 1, "a retake is no submission")
        let told = receiver.deliveries.map(\.json)
        try #require(
            told.map { $0["event"] } == ["session.updated", "support.message", "session.completed"],
            "the answer to a retake changes no result")
        #expect(told[1]["data.support_message.type"] == "retake")
        #expect(told[1]["data.support_message.regions"] == ["heel", "size_tag"])
    }

    @Test func retakesAreVisibleOnlyToTheirUser() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        let other = try await world.login("another-user-id")
        let id = try await world.submit(token)
        _ = try await ask(world, id, ["regions": ["heel"]])
        #expect(try await world.send("GET", "/sdk/retakes", token: other)["items"] == [])
        #expect(try await start(world, id, other).status == 404)
    }

    @Test func aRetakeWithoutRegionsRequestsAllRequiredOnes() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        let ids = [try await world.submit(token), try await world.submit(token)]
        for id in ids {
            #expect(try await world.send("POST", "/_sim/authentications/\(id)/retake").status == 200)
            try await world.advance("1s")
        }
        let list = try await world.send("GET", "/sdk/retakes", token: token)
        #expect(list["items"].items.map { $0["entrupy_id"].text } == ids.reversed(), "newest request first")
        #expect(list["items.0.retake.regions"].items.count == 7)
    }

    @Test func aRetakesCaptureTimesOutAndCanBeStartedAgain() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        let id = try await world.submit(token)
        _ = try await ask(world, id, ["regions": ["heel"]])
        let first = try #require(try await start(world, id, token)["capture_id"].text)
        try await world.advance("2h")
        #expect(try await world.upload(first, "heel", token).status == 410)
        // If two captures answer the retake, the first counts.
        let captures = try await [start(world, id, token), start(world, id, token)].map { $0["capture_id"].text ?? "" }
        var statuses: [Int] = []
        for capture in captures {
            _ = try await world.upload(capture, "heel", token)
            statuses.append(try await world.send("POST", "/sdk/captures/\(capture)/submit", token: token).status)
        }
        #expect(statuses == [200, 409])
        let second = try await world.send("GET", "/sdk/captures/\(captures[1])", token: token)
        #expect(second["status"] == "started", "what failed changed nothing")
    }

    @Test func aRetakeGivesAGeneratedItemItsFirstPictures() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login("sim-test-user")
        let made = try await world.send(
            "POST", "/_sim/authentications", ["result": "needs_review", "style_name": "AJ1"])
        let id = try #require(made["entrupy_ids.0"].text)
        #expect(try await world.result(id, token)["images"] == .null)
        _ = try await ask(world, id, ["regions": ["heel"]])
        let capture = try #require(try await start(world, id, token)["capture_id"].text)
        _ = try await world.upload(capture, "heel", token)
        let submitted = try await world.send("POST", "/sdk/captures/\(capture)/submit", token: token)
        #expect(submitted["images.uploaded_images"].items.map { $0["display_name"] } == ["Heel"])
    }

    @Test func aQuestionIsSentAsAWebhook() async throws {
        let world = try await TestWorld.make()
        let receiver = try await WebhookReceiver.open()
        let body: JSONValue = [
            "url": .string(receiver.url), "secret_key": "s", "format": "event", "events": ["support.message"],
        ]
        _ = try await world.send(
            "POST", "/v1/webhooks", body, token: TestWorld.apiToken, headers: ["Api-Version": "1.4"])
        let made = try await world.send("POST", "/_sim/authentications")
        let path = "/_sim/authentications/\(made["entrupy_ids.0"].text ?? "")/support-message"
        let asked = try await world.send("POST", path, ["message": "Which colour?", "options": ["Red", "Black"]])
        #expect(asked.status == 200 && asked["timeline"].items.last?["event"] == "support.message")
        try await world.advance("0s")
        let message = try #require(receiver.deliveries.first).json["data.support_message"]
        #expect(message["type"] == "question" && message["message"] == "Which colour?")
        #expect(message["options"] == ["Red", "Black"])
        for wrong: JSONValue in [
            [:], ["message": ""], ["message": 1], ["message": "m", "options": []], ["message": "m", "options": [""]],
            ["message": "m", "options": "x"], ["message": "m", "option": []],
        ] {
            #expect(try await world.send("POST", path, wrong).status == 400)
        }
    }

    @Test(
        arguments: [
            ["regions": []], ["regions": ["hee"]], ["regions": "heel"], ["regions": [1]],
            ["regions": ["heel"], "message": 5], ["regions": ["heel"], "region": "heel"],
            ["regions": ["heel"], "message": .string(String(repeating: "x", count: 2001))],
        ] as [JSONValue])
    func anInvalidRetakeIsRefused(body: JSONValue) async throws {
        let world = try await TestWorld.make()
        let made = try await world.send("POST", "/_sim/authentications")
        let id = try #require(made["entrupy_ids.0"].text)
        let answer = try await ask(world, id, body)
        #expect(answer.status == 400 && !answer["details"].items.isEmpty)
        #expect(try await ask(world, "nope", ["regions": ["heel"]]).status == 404)
    }
}
