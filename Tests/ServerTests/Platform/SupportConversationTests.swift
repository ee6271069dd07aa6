import SimulationAPI
import TestSupport
import Testing

/// Questions of support and their answers over HTTP, with `SupportRuleTests` for their rules; the tag of the configuration.
@Suite struct SupportConversationTests {
    private func partner(
        _ world: TestWorld, _ method: String, _ path: String, _ body: JSONValue? = nil
    ) async throws -> TestWorld.Answer {
        try await world.send(method, "/v2/authentications/\(path)", body, token: TestWorld.apiToken)
    }

    @Test func aQuestionIsReadAndAnsweredByBackEndAndUser() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        let session = try await world.login()
        let id = try await world.submit(session)
        let (messages, sdk) = ("\(id)/support-messages", "/sdk/results/\(id)/support-messages")
        #expect(try await partner(world, "GET", messages)["support_messages"] == [])
        #expect(try await partner(world, "POST", messages, ["message": "Hello?"]).status == 409)
        let ask = "/_sim/authentications/\(id)"
        _ = try await world.send(
            "POST", "\(ask)/support-message", ["message": "Which colour?", "options": ["Red", "Black"]])
        let wrong = try await partner(world, "POST", messages, ["message": "Green"])
        #expect(wrong.status == 400 && wrong["details.0.problem"].text?.contains("Red, Black") == true)
        let answered = try await world.send("POST", sdk, ["message": "Red"], token: session)
        #expect(answered.status == 201 && answered["type"] == "answer", "\(answered.json)")
        #expect(answered["author"] == "DemoOrg-example-user-id")
        _ = try await world.send("POST", "\(ask)/retake", ["regions": ["heel"], "message": "Sharper"])
        let second = try await partner(world, "POST", messages, ["message": "We asked the seller"])
        #expect(second.status == 201 && second["author"] == "DemoOrg")
        let all = try await partner(world, "GET", messages)["support_messages"]
        try #require(all.items.map { $0["type"] } == ["question", "answer", "retake", "answer"])
        #expect(all.items.map { $0["message"] } == ["Which colour?", "Red", "Sharper", "We asked the seller"])
        #expect(all.items[0]["options"] == ["Red", "Black"] && all.items[2]["regions"] == ["heel"])
        #expect(Set(all.items.compactMap { $0["id"].text }).count == 4)
        #expect(try await world.send("GET", sdk, token: session)["support_messages"] == all)
    }

    @Test func theConfigurationHasATagOfItsContentAndLanguage() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        let token = try await world.login()
        func fetch(_ type: String = "production", _ headers: [String: String] = [:]) async throws -> TestWorld.Answer {
            try await world.send("GET", "/sdk/config?config_type=\(type)", token: token, headers: headers)
        }
        let first = try await fetch()
        let tag = try #require(first.headers["ETag"].first)
        #expect(tag.hasPrefix("W/\"") && first["config_id"].text.map { tag.contains($0) } == true)
        try await world.advance("1h")
        let again = try await fetch()
        #expect(
            again.headers["ETag"] == [tag] && again["issued_at"] != first["issued_at"], "times are the answer's own")
        for known in [tag, String(tag.dropFirst(2)), "\"x\", \(tag)", "*"] {
            let same = try await fetch("production", ["If-None-Match": known])
            #expect(same.status == 304 && same.body.isEmpty && same.headers["ETag"] == [tag], "\(known)")
        }
        #expect(try await fetch("debug", ["If-None-Match": tag]).status == 200)
        #expect(try await fetch("production", ["If-None-Match": tag, "Accept-Language": "ja"]).status == 200)
        _ = try await world.send("POST", "/_sim/seed", ["flagging": ["eligible": ["authentic"]]])
        #expect(try await fetch("production", ["If-None-Match": tag]).status == 200, "the seed data changed")
        let refused = try await world.send(
            "GET", "/sdk/config", token: "wrong", headers: ["If-None-Match": tag])
        #expect(refused.status == 401, "the token comes first")
    }
}
