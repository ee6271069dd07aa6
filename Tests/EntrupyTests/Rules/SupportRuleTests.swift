import EntrupyAPI
import SimulationAPI
import TestSupport
import Testing

@testable import Entrupy
@testable import Simulation

/// Questions of support and their answers [D support-messages] [D support-conversations].
@Suite struct SupportRuleTests {
    private func ask(_ bench: RuleBench, _ id: String, _ body: JSONValue) async throws {
        _ = try await bench.control(SendSupportMessage(bench.sent(body, path: ["entrupy_id": id])))
    }

    private func answer(_ bench: RuleBench, _ id: String, _ body: JSONValue, _ user: Credential) async throws {
        _ = try await bench.user(AnswerSupport<SDKUser>(bench.sent(body, path: ["entrupy_id": id])), user)
    }

    @Test func aQuestionIsSentAsAWebhook() async throws {
        let bench = try await RuleBench()
        _ = try await bench.subscribe(.v1(minor: 4), events: ["support.message"])
        let id = try #require(try await bench.generate([:]).first)
        try await ask(bench, id, ["message": "Which colour?", "options": ["Red", "Black"]])
        #expect(try await bench.control(ByID<ShowAuthentication>(id)).timeline.last?.event == "support.message")
        let message = try RuleBench.body(try await bench.deliver(200))["data"]?["support_message"]
        #expect(message?["type"] == "question")
        #expect(message?["message"] == "Which colour?")
        #expect(message?["options"] == ["Red", "Black"])
    }

    @Test(
        arguments: [
            [:], ["message": ""], ["message": 1], ["message": "m", "options": []], ["message": "m", "options": [""]],
            ["message": "m", "options": "x"], ["message": "m", "option": []],
        ] as [JSONValue])
    func anInvalidQuestionIsRefused(body: JSONValue) async throws {
        let bench = try await RuleBench()
        let id = try #require(try await bench.generate([:]).first)
        #expect(await refusal { try await ask(bench, id, body) } == .invalid)
    }

    @Test func aSupportMessageAcceptsAHundredAnswers() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let id = try await bench.submit(user)
        try await ask(bench, id, ["message": "Which colour?"])
        for _ in 0..<100 { try await answer(bench, id, ["message": "Red"], user) }
        #expect(await refusal { try await answer(bench, id, ["message": "Red"], user) } == .wrongState)
        try await ask(bench, id, ["message": "Sure?"])
        #expect(await refusal { try await answer(bench, id, ["message": "Yes"], user) } == nil)
        let wrong = await refusalError { try await answer(bench, id, ["message": 5], user) }
        #expect(wrong?.details.count == 1)
    }

    @Test func anotherOrganizationsOrUsersItemIsMissing() async throws {
        let bench = try await RuleBench()
        let id = try await bench.submit(try await bench.login())
        let other = try await bench.login("sim-test-user")
        let stranger = RuleBench.otherPartner
        let list = ByID<ListSupportMessages<Partner>>(id)
        #expect(await refusal { try await bench.partner(list, stranger) } == .notFound)
        #expect(await refusal { try await bench.partner(ByID<ListCertificateTransfers>(id), stranger) } == .notFound)
        let transfer = bench.sent(["to": ["email": "a@b"]], path: ["entrupy_id": id])
        #expect(await refusal { try await bench.partner(StartCertificateTransfer(transfer), stranger) } == .notFound)
        #expect(await refusal { try await bench.user(ByID<ListSupportMessages<SDKUser>>(id), other) } == .notFound)
        #expect(await refusal { try await answer(bench, id, ["message": "x"], other) } == .notFound)
    }

    @Test(
        arguments: [
            [:], ["message": ""], ["message": 1], ["message": .string(String(repeating: "x", count: 2001))],
        ] as [JSONValue])
    func anInvalidAnswerIsRefused(body: JSONValue) async throws {
        let bench = try await RuleBench()
        let id = try await bench.submit(try await bench.login())
        let sent = bench.sent(body, path: ["entrupy_id": id])
        #expect(await refusal { try await bench.partner(AnswerSupport<Partner>(sent)) } == .invalid)
    }
}
