import Foundation
import SimulationAPI
import TestSupport
import Testing

/// The authorization of users over HTTP. Its rules are `AuthorizationRuleTests`.
@Suite struct AuthorizationTests {
    @Test func authorizationCreatesTheUserAndSignsTheRequest() async throws {
        let world = try await TestWorld.make()
        let answer = try await world.authorize()
        #expect(answer.status == 200)
        #expect(answer["username"] == "DemoOrg-example-user-id")
        #expect(answer["signed_authorization_request"].text?.split(separator: ".").count == 3)
        #expect(try await world.counts()["users"].double == 2)
    }

    @Test func v1NeedsAnAPIVersionAndV2IgnoresIt() async throws {
        let world = try await TestWorld.make()
        let body: JSONValue = ["sdk_authorization_request": "r", "unique_user_id": "user-0001", "email": "a@b"]
        func status(_ path: String, _ version: String?) async throws -> Int {
            try await world.send(
                "POST", path, body, token: TestWorld.apiToken, headers: version.map { ["Api-Version": $0] } ?? [:]
            ).status
        }
        for version in ["1.0", "1.4"] {
            #expect(try await status("/v1/integrations/authorize-user", version) == 200)
        }
        for version in [nil, "2.0", "1", "1.5"] {
            #expect(try await status("/v1/integrations/authorize-user", version) == 400)
            #expect(try await status("/v2/integrations/authorize-user", version) == 200)
            try await world.advance("1s")
        }
    }

    @Test func firstValuesStayAndAConflictStillReturnsASignedRequest() async throws {
        let world = try await TestWorld.make()
        #expect(try await world.authorize(["first_name": "Ada"]).status == 200)
        let conflict = try await world.authorize(["email": "other@example.com", "first_name": "Eve", "last_name": "L"])
        #expect(conflict.status == 409)
        #expect(conflict["code"] == "conflict")
        #expect(conflict["details"].items.compactMap { $0["field"].text } == ["email", "first_name"])
        #expect(conflict["username"] == "DemoOrg-example-user-id")
        let login = try await world.send(
            "POST", "/sdk/login", ["signed_authorization_request": conflict["signed_authorization_request"]])
        #expect(login.status == 200)
    }

    @Test func theTokenIsCheckedFirst() async throws {
        let world = try await TestWorld.make()
        let session = try await world.login()
        let wrong: [String?] = [nil, "nope", session]
        for token in wrong {
            let answer = try await world.send(
                "POST", "/v1/integrations/authorize-user", bytes: Data("{".utf8), token: token)
            #expect(answer.status == 401)
            #expect(answer["sdk_error"] == "ErrorCodeUnauthorizedAccess")
        }
        #expect(
            try await world.send(
                "GET", "/v1/health", headers: ["Authorization": "Bearer demo-api-token", "Api-Version": "1.0"]
            ).status == 200)
        #expect(try await world.send("GET", "/v1/health", token: TestWorld.apiToken).status == 400)
    }
}

extension TestWorld {
    fileprivate func authorize(_ more: JSONObject) async throws -> TestWorld.Answer {
        try await authorize("example-user-id", token: Self.apiToken, more)
    }
}
