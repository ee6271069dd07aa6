import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Results over HTTP. Their rules are `OutcomeRuleTests`.
@Suite struct ResultTests {
    private func item(_ id: String) -> JSONValue {
        ["brand": "Nike", "style_name": "Air Max", "customer_item_id": .string(id)]
    }

    @Test func anItemIsUnderReviewUntilItsResultComes() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        let id = try await world.submit(token)
        try await world.advance("4.999999s")
        let before = try await world.result(id, token)
        #expect(before["status.result.id"] == "needs_review")
        #expect(before["status.result.display.header"] == "Under Review")
        #expect(before["status.result.final"] == false)
        #expect(before["more_details"] == .null)
        #expect(before["event_times.result_returned_at"] == .null)
        try await world.advance("0.000001s")
        let after = try await world.result(id, token)
        #expect(after["status.result.id"] == "authentic")
        #expect(after["status.result.final"] == true)
        #expect(after["event_times.result_returned_at.epoch"].double == TestWorld.epoch + 5)
        #expect(after["event_times.initial_result_set_at.epoch"].double == TestWorld.epoch + 5)
        #expect(after["more_details.certificate.site"].text?.contains("/certificates/") == true)
        #expect(after["timestamp"] == before["timestamp"])
        #expect(after["timestamp.display"] == "2026-01-05T09:00:00.000000Z")
    }

    @Test(arguments: [
        ("authentic", "Authentic", "本物"), ("unknown", "Unidentified", "判定不能"),
        ("not_supported", "Not Supported", "対象外"),
        ("invalid", "Invalid", "無効"),
    ])
    func aMagicIDDecides(result: String, header: String, japanese: String) async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        let id = try await world.submit(token, item: item("sim-\(result)-after-2h-17"))
        try await world.advance("7199.999999s")
        #expect(try await world.result(id, token)["status.result.id"] == "needs_review")
        try await world.advance("0.000001s")
        let answer = try await world.result(id, token)
        #expect(answer["status.result.id"] == .string(result))
        #expect(answer["status.result.display.header"] == .string(header))
        #expect((answer["more_details.certificate"] != .null) == (result == "authentic"))
        #expect((answer["status.result.reason"] != .null) == (result == "invalid"))
        #expect((answer["status.result.display.reasons.0.text"] != .null) == (result == "invalid"))
        let inJapanese = try await world.send(
            "GET", "/sdk/results/\(id)", token: token, headers: ["Accept-Language": "ja"])
        #expect(inJapanese["status.result.display.header"] == .string(japanese))
        #expect(try await world.send("GET", "/_sim/authentications/\(id)")["decided_by"] == "magic_customer_item_id")
    }

    @Test func theControlAPISetsAndChangesAResult() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        let id = try await world.submit(token)
        let path = "/_sim/authentications/\(id)"
        let set = try await world.send("PATCH", path, ["result": "invalid", "reason": "blurry_images"])
        #expect(set.status == 200)
        #expect(set["decided_by"] == "control")
        #expect(set["sdk.status.result.reason"] == "blurry_images")
        #expect(set["result_due_at"] == .null, "the planned result was taken back")
        try await world.advance("1h")
        #expect(try await world.result(id, token)["status.result.id"] == "invalid", "the planned result was taken back")
        #expect(try await world.send("PATCH", path, ["result": "authentic"])["certificate_id"] != .null)
        let answer = try await world.result(id, token)
        #expect(answer["event_times.initial_result_set_at.epoch"].double == TestWorld.epoch)
        #expect(answer["event_times.result_returned_at.epoch"].double == TestWorld.epoch + 3600)
        let kinds = answer["events"].items.compactMap { $0["type"].text }
        #expect(kinds == ["item.submitted", "result.set", "result.changed"])
        #expect(try await world.send("PATCH", "/_sim/authentications/NONE", ["result": "invalid"]).status == 404)
    }

    @Test func anotherUsersItemLooksLikeAMissingOne() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        let strangers = [
            try await world.login("another-user"), try await world.login("example-user-id", token: "other-api-token"),
        ]
        let id = try await world.submit(token)
        for stranger in strangers {
            for path in ["", "/flag"] {
                let same = ["X-Request-Id": "same"]
                let theirs = try await world.send("GET", "/sdk/results/\(id)\(path)", token: stranger, headers: same)
                let missing = try await world.send("GET", "/sdk/results/NONE\(path)", token: stranger, headers: same)
                #expect(theirs.status == 404)
                #expect(theirs.body == missing.body)
            }
        }
    }
}

@Suite struct FlagTests {
    private func flag(_ world: TestWorld, _ id: String, _ token: String, _ body: JSONValue) async throws
        -> TestWorld.Answer
    {
        try await world.send("PUT", "/sdk/results/\(id)/flag", body, token: token)
    }

    /// A namespace with one final item.
    private func world(settings: JSONValue? = nil) async throws -> (TestWorld, String, String) {
        let world = try await TestWorld.make(settings: settings)
        let token = try await world.login()
        let id = try await world.submit(
            token, item: ["brand": "Nike", "style_name": "Air Max", "customer_item_id": "sim-authentic-after-0s"])
        return (world, id, token)
    }

    @Test func aFlagIsSetClearedAndSetAgain() async throws {
        let (world, id, token) = try await world()
        let none = try await world.send("GET", "/sdk/results/\(id)/flag", token: token)
        #expect(none["id"] == "none" && none["is_flaggable"] == true)
        #expect(none["flag_status"] == ["id": "none", "is_flaggable": true, "flag_info": nil])
        let reasons = none["supported_flag_reasons"].items
        try #require(reasons.count > 1)

        let flagged = try await flag(
            world, id, token, ["flag": true, "flag_reason_id": reasons[1]["id"], "message": "hm"])
        #expect(flagged.status == 200)
        #expect(flagged["id"] == "flagged" && flagged["is_flaggable"] == true)
        #expect(flagged["flag_status.flag_info.id"] == reasons[1]["id"])
        #expect(flagged["flag_status.flag_info.label"] == reasons[1]["label"])
        #expect(flagged["flag_status.flag_info.message"] == "hm")
        #expect(flagged["flag_status.flag_info.flagged_at"].double == TestWorld.epoch)
        #expect(flagged["flag_status.flag_info.resolved_at"] == .null)
        #expect(try await world.result(id, token)["status.flag.id"] == "flagged")
        #expect(try await flag(world, id, token, ["flag": true]).status == 409)

        let cleared = try await flag(world, id, token, ["flag": false])
        #expect(cleared["id"] == "none")
        #expect(cleared["flag_status.flag_info"] == .null)
        #expect(try await flag(world, id, token, ["flag": false]).status == 409)
        #expect(
            try await flag(world, id, token, ["flag": true])["flag_status.flag_info.id"] == reasons[0]["id"],
            "the first reason")
    }

    @Test func onlyThePlatformResolvesAFlag() async throws {
        let (world, id, token) = try await world()
        let path = "/_sim/authentications/\(id)/flag/resolve"
        #expect(try await world.send("POST", path, ["note": "x"]).status == 409, "not flagged")
        _ = try await flag(world, id, token, ["flag": true])
        try await world.advance("1h")
        #expect(try await world.send("POST", path, ["note": "Seen again", "result": "unknown"]).status == 200)
        let resolved = try await world.send("GET", "/sdk/results/\(id)/flag", token: token)
        #expect(resolved["id"] == "resolved" && resolved["is_flaggable"] == true)
        #expect(resolved["flag_status.flag_info.note"] == "Seen again")
        #expect(resolved["flag_status.flag_info.resolved_at"].double == TestWorld.epoch + 3600)
        let result = try await world.result(id, token)
        #expect(result["status.result.id"] == "unknown")
        #expect(result["more_details"] == .null)
        #expect(try await flag(world, id, token, ["flag": false]).status == 409)
        #expect(
            try await flag(world, id, token, ["flag": true])["id"] == "flagged", "a resolved item may be flagged again")
    }

    @Test func flaggingCanBeSwitchedOffForTheSDK() async throws {
        let (world, id, token) = try await world(settings: ["flagging": ["sdk": false]])
        #expect(try await flag(world, id, token, ["flag": true]).status == 403)
        #expect(try await world.send("GET", "/sdk/results/\(id)/flag", token: token)["is_flaggable"] == false)
        _ = try await world.send("PATCH", "/_sim/settings", ["flagging": ["sdk": nil]])
        #expect(try await flag(world, id, token, ["flag": true]).status == 200)
    }
}
