import SimulationAPI
import TestSupport
import Testing

/// Questions of support and their answers; transfers of certificates by the back end; the tag of the configuration.
@Suite struct SupportConversationTests {
    private func partner(
        _ world: TestWorld, _ method: String, _ path: String, _ body: JSONValue? = nil,
        token: String = TestWorld.apiToken
    ) async throws -> Answer {
        try await world.send(method, "/v2/authentications/\(path)", body, token: token)
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

    @Test func aSupportMessageAcceptsAHundredAnswers() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        let session = try await world.login()
        let id = try await world.submit(session)
        let (ask, path) = ("/_sim/authentications/\(id)/support-message", "/sdk/results/\(id)/support-messages")
        _ = try await world.send("POST", ask, ["message": "Which colour?"])
        for number in 0..<101 {
            let answer = try await world.send("POST", path, ["message": "Red"], token: session)
            #expect(answer.status == (number < 100 ? 201 : 409), "\(number)")
        }
        _ = try await world.send("POST", ask, ["message": "Sure?"])
        #expect(try await world.send("POST", path, ["message": "Yes"], token: session).status == 201)
        let wrong = try await partner(world, "POST", "\(id)/support-messages", ["message": 5])
        #expect(wrong["details"].items.count == 1, "\(wrong.json)")
    }

    @Test func anotherOrganizationsOrUsersItemIsMissing() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        let id = try await world.submit(world.login())
        let other = try await world.login("sim-test-user")
        for path in ["support-messages", "certificate/transfers"] {
            #expect(try await partner(world, "GET", "\(id)/\(path)", token: "other-api-token").status == 404)
        }
        let transfer: JSONValue = ["to": ["email": "a@b"]]
        #expect(
            try await partner(world, "POST", "\(id)/certificate/transfers", transfer, token: "other-api-token").status
                == 404)
        #expect(try await world.send("GET", "/sdk/results/\(id)/support-messages", token: other).status == 404)
        #expect(
            try await world.send("POST", "/sdk/results/\(id)/support-messages", ["message": "x"], token: other).status
                == 404)
        for wrong: JSONValue in [
            [:], ["message": ""], ["message": 1], ["message": .string(String(repeating: "x", count: 2001))],
        ] {
            #expect(try await partner(world, "POST", "\(id)/support-messages", wrong).status == 400)
        }
    }

    @Test func theBackEndTransfersACertificate() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        let made = try await world.send("POST", "/_sim/authentications")
        let id = try #require(made["entrupy_ids.0"].text)
        let receiver = try await WebhookReceiver.open()
        _ = try await world.send(
            "POST", "/v2/webhooks", ["url": .string(receiver.url), "secret_key": "s"], token: TestWorld.apiToken)
        let path = "\(id)/certificate/transfers"
        for wrong: JSONValue in [
            [:], ["to": "a@b"], ["to": ["email": "a"]], ["to": ["name": "x"]],
            ["to": ["email": "a@b", "name": .string(String(repeating: "x", count: 255))]],
        ] {
            #expect(try await partner(world, "POST", path, wrong).status == 400, "\(wrong)")
        }
        let started = try await partner(world, "POST", path, ["to": ["email": "buyer@example.com", "name": "Grace"]])
        #expect(started.status == 201 && started["to"] == ["email": "buyer@example.com", "name": "Grace"])
        _ = try await world.send("POST", "/_sim/authentications/\(id)/certificate/transfer", ["to": "next@example.com"])
        let all = try await partner(world, "GET", path)["transfers"].items
        try #require(all.map { $0["to.email"] } == ["buyer@example.com", "next@example.com"])
        #expect(all[0]["id"] == started["id"] && all[1]["id"] != started["id"])
        try await world.advance("0s")
        #expect(receiver.deliveries.map(\.event) == ["certificate.transfer", "certificate.transfer"])
        _ = try await world.send("PATCH", "/_sim/authentications/\(id)", ["result": "unknown"])
        #expect(try await partner(world, "POST", path, ["to": ["email": "a@b"]]).status == 409)
    }

    @Test func theConfigurationHasATagOfItsContentAndLanguage() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        let token = try await world.login()
        func fetch(_ type: String = "production", _ headers: [String: String] = [:]) async throws -> Answer {
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
