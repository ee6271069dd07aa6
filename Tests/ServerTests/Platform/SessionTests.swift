import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Logins and sessions over HTTP. Their rules are `SessionRuleTests` and `LoginLimitRuleTests`.
@Suite struct SessionTests {
    @Test(arguments: ["/sdk/login", "/login"]) func aLoginReturnsATokenThatIsValidForADay(path: String) async throws {
        let world = try await TestWorld.make()
        let answer = try await world.send(
            "POST", path, ["signed_authorization_request": world.signedRequest()])
        #expect(answer.status == 200)
        #expect(answer["username"] == "DemoOrg-example-user-id")
        #expect(answer["expiration_time"].double == TestWorld.epoch + 86400)
        #expect(answer["soft_expiration_time"].double == TestWorld.epoch + 86400 - 1800)
        let session = try await world.send("GET", "/sdk/session", token: answer["token"].text)
        #expect(session["organization"] == "DemoOrg")
        #expect(session["bundle_id"] == nil)
        #expect(session["created_at"].double == TestWorld.epoch)
    }

    @Test func sessionsLiveSideBySideAndLogoutEndsOne() async throws {
        let world = try await TestWorld.make()
        let first = try await world.login()
        let second = try await world.login()
        #expect(first != second)
        let logout = try await world.send("POST", "/sdk/logout", token: first)
        #expect(logout.status == 204)
        #expect(logout.body.isEmpty)
        #expect(try await world.send("GET", "/sdk/session", token: first).status == 401)
        #expect(try await world.send("POST", "/sdk/logout", token: first).status == 401)
        #expect(try await world.send("GET", "/sdk/session", token: second).status == 200)
    }

    @Test func tokensOfAnotherKindOrNamespaceAre401() async throws {
        let world = try await TestWorld.make()
        let other = try await TestWorld.make(seed: "empty")
        let token = try await other.login("a-user-elsewhere")
        for wrong in [TestWorld.apiToken, "nope", "\u{212a}"] {
            #expect(try await world.send("GET", "/sdk/session", token: wrong).status == 401)
        }
        _ = token
        let elsewhere = world.root
        #expect(try await elsewhere.send("GET", "/sdk/session", token: token).status == 401)
    }
}

@Suite struct LoginLimitTests {
    private func tryLogin(_ world: TestWorld) async throws -> TestWorld.Answer {
        try await world.send(
            "POST", "/sdk/login", ["signed_authorization_request": world.signedRequest("example-user-id")])
    }

    @Test func theSixthLoginSucceedsSixtySecondsAfterTheFirst() async throws {
        let world = try await TestWorld.make()
        for _ in 0..<5 {
            #expect(try await tryLogin(world).status == 200)
            try await world.advance("1s")
        }
        // 5 s after the first login, so 55 s remain.
        let signed = try await world.signedRequest()
        let body: JSONValue = ["signed_authorization_request": signed]
        let refused = try await world.send("POST", "/sdk/login", body)
        #expect(refused.status == 429)
        #expect(refused["code"] == "too_many_requests")
        #expect(refused["details"].items.contains { $0["field"] == "clock" }, "the clock is frozen")
        #expect(refused.headers["Retry-After"] == ["55"])
        try await world.advance("54.999999s")
        let late = try await world.send("POST", "/sdk/login", body)
        #expect(late.status == 429)
        #expect(late.headers["Retry-After"] == ["1"])
        try await world.advance("0.000001s")
        // The refused logins did not consume the signed request.
        #expect(try await world.send("POST", "/sdk/login", body).status == 200)
    }
}
