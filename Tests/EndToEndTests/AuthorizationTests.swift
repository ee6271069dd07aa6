import Foundation
import SimulationAPI
import TestSupport
import Testing

@Suite struct AuthorizationTests {
    @Test func authorizationCreatesTheUserAndSignsTheRequest() async throws {
        let world = try await TestWorld.make()
        let answer = try await world.authorize()
        #expect(answer.status == 200)
        #expect(answer["username"] == "DemoOrg-example-user-id")
        #expect(answer["signed_authorization_request"].text?.split(separator: ".").count == 3)
        #expect(try await world.counts()["users"].double == 2)
    }

    /// The JSON value of a part of a JWT.
    private func decoded(_ part: Substring) throws -> JSONValue {
        let text = part.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        let data = try #require(Data(base64Encoded: text + padding))
        return try WireJSON.decode(JSONValue.self, from: data)
    }

    @Test func theSignedRequestIsAJWTWithTheDocumentedClaims() async throws {
        let world = try await TestWorld.make()
        func claims(_ request: String) async throws -> JSONValue {
            let answer = try await world.authorize(["sdk_authorization_request": .string(request)])
            let parts = try #require(answer["signed_authorization_request"].text).split(separator: ".")
            try #require(parts.count == 3)
            #expect(try decoded(parts[0]) == ["alg": "HS256", "typ": "JWT"])
            return try decoded(parts[1])
        }
        let content: JSONValue = ["bundle_id": "com.example.demo"]
        let request = try WireJSON.encode(content).base64EncodedString().replacingOccurrences(of: "=", with: "")
        let (first, second) = (try await claims(request), try await claims("example-sdk-authorization-request"))
        // Issued when the clock showed `TestWorld.epoch`; lives an hour.
        #expect(
            first == [
                "jti": first["jti"], "sub": "DemoOrg-example-user-id", "iss": "DemoOrg",
                "bundle_id": "com.example.demo", "iat": 1_767_603_600, "exp": 1_767_607_200,
            ])
        #expect(first["jti"].text?.isEmpty == false && first["jti"] != second["jti"], "a one-time id")
        #expect(second["bundle_id"] == .null)
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
        // The conflict stored nothing, so the last name can still be set.
        #expect(try await world.authorize(["last_name": "M"]).status == 200)
        #expect(try await world.authorize(["last_name": "L"]).status == 409)
    }

    @Test func absentNullAndEmptyValuesAreNotAConflict() async throws {
        let world = try await TestWorld.make()
        #expect(try await world.authorize(["first_name": "Ada", "last_name": "L"]).status == 200)
        #expect(try await world.authorize(["first_name": nil, "last_name": ""]).status == 200)
        #expect(try await world.authorize(["email": nil]).status == 200)
    }

    @Test func aUserWithoutAnEmailMustBeGivenOneAndKeepsIt() async throws {
        let world = try await TestWorld.make()
        let user = "sim-test-user"
        func email() async throws -> JSONValue { try await world.send("GET", "/_sim/users/DemoOrg-\(user)")["email"] }
        try #require(try await email() == .null)
        let missing = try await world.authorize(user, ["email": nil])
        #expect(missing.status == 400 && missing["details.0.field"] == "email")
        #expect(try await world.authorize(user, ["email": "first@example.com"]).status == 200)
        #expect(try await email() == "first@example.com")
        let other = try await world.authorize(user, ["email": "other@example.com"])
        #expect(other.status == 409 && other["details.0.field"] == "email")
        #expect(try await world.authorize(user, ["email": nil]).status == 200)
        #expect(try await email() == "first@example.com")
    }

    @Test func namesAreComparedByTheirBytes() async throws {
        let world = try await TestWorld.make()
        #expect(try await world.authorize(["first_name": .string("Zo\u{eb}")]).status == 200)
        #expect(try await world.authorize(["first_name": .string("Zoe\u{308}")]).status == 409)
    }

    @Test func lengthsAreOfUTF8Bytes() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        let at254 = "é@" + String(repeating: "a", count: 251)
        let at255 = "é@" + String(repeating: "a", count: 252)
        #expect(try await world.authorize("user-254", ["email": .string(at254)]).status == 200)
        let refused = try await world.authorize("user-255", ["email": .string(at255)])
        #expect(refused.status == 400)
        #expect(refused["details.0.field"] == "email")
        let name127 = String(repeating: "é", count: 127)
        #expect(try await world.authorize("user-256", ["first_name": .string(name127)]).status == 200)
        #expect(try await world.authorize("user-257", ["first_name": .string(name127 + "a")]).status == 400)
    }

    @Test(arguments: ["abcdefgh", "user.name+tag@example_1-2", String(repeating: "a", count: 40)])
    func theseUserIDsAreAccepted(id: String) async throws {
        #expect(try await TestWorld.make().authorize(id).status == 200)
    }

    @Test(arguments: [
        "", "abcdefg", String(repeating: "a", count: 41), "user id 1", "usér-0001", "user/0001", "user\n0001",
    ])
    func theseUserIDsAreRefused(id: String) async throws {
        let answer = try await TestWorld.make().authorize(id)
        #expect(answer.status == 400)
        #expect(answer["details.0.field"] == "unique_user_id")
    }

    @Test func theSameUserIDInTwoOrganizationsIsTwoUsers() async throws {
        let world = try await TestWorld.make()
        #expect(try await world.authorize()["username"] == "DemoOrg-example-user-id")
        let other = try await world.authorize("example-user-id", token: "other-api-token", ["email": "x@y"])
        #expect(other.status == 200)
        #expect(other["username"] == "OtherOrg-example-user-id")
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

    @Test func anAPITokenHasTenRequestsASecond() async throws {
        let world = try await TestWorld.make()
        for _ in 0..<10 { #expect(try await world.authorize().status == 200) }
        let refused = try await world.authorize()
        #expect(refused.status == 429)
        #expect(refused.headers["Retry-After"] == ["1"])
        #expect(refused["details"].items.contains { $0["field"] == "clock" })
        // Each organization has its own limits.
        #expect(try await world.authorize("example-user-id", token: "other-api-token").status == 200)
        try await world.advance("0.999999s")
        #expect(try await world.authorize().status == 429)
        try await world.advance("0.000001s")
        #expect(try await world.authorize().status == 200)
    }
}

extension TestWorld {
    fileprivate func authorize(_ more: JSONObject) async throws -> Answer {
        try await authorize("example-user-id", more)
    }

    fileprivate func authorize(_ user: String, _ more: JSONObject) async throws -> Answer {
        try await authorize(user, token: Self.apiToken, more)
    }
}
