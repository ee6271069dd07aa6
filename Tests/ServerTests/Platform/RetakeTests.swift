import Foundation
import SimulationAPI
import TestSupport
import Testing

/// A retake over HTTP. Its rules are `RetakeRuleTests`.
@Suite struct RetakeTests {
    private func ask(_ world: TestWorld, _ id: String, _ body: JSONValue) async throws -> TestWorld.Answer {
        try await world.send("POST", "/_sim/authentications/\(id)/retake", body)
    }

    private func start(_ world: TestWorld, _ id: String, _ token: String) async throws -> TestWorld.Answer {
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
        #expect(capture.status == 201 && capture["steps"].items.someAndAll { $0["required"] == true })
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
}
