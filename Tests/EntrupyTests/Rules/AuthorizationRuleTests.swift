import EntrupyAPI
import Foundation
import SimulationAPI
import TestSupport
import Testing

@testable import Entrupy
@testable import Simulation

/// Back ends authorize their users: who is created, which values stay, and what is signed [S].
@Suite struct AuthorizationRuleTests {
    /// Authorizes a user with an email, and with more members or others.
    private func authorize(
        _ bench: RuleBench, _ more: JSONObject = [:], _ user: String = "example-user-id",
        _ caller: Credential = RuleBench.partner
    ) async throws -> AuthorizedUser {
        let body: JSONObject = [
            "sdk_authorization_request": "r", "unique_user_id": .string(user), "email": "user@example.com",
        ]
        let whole = body.merging(more) { $1 }
        return try await bench.partner(AuthorizeUser(bench.sent(.object(whole))), caller)
    }

    /// The fields that are named in a refusal; `nil` if there is none.
    private func wrong(_ bench: RuleBench, _ more: JSONObject, _ user: String = "example-user-id") async -> [String]? {
        await refusalError { try await authorize(bench, more, user) }?.details.map(\.field)
    }

    /// The JSON value of a part of a JWT.
    private func decoded(_ part: Substring) throws -> JSONValue {
        let text = part.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        return try WireJSON.decode(JSONValue.self, from: try #require(Data(base64Encoded: text + padding)))
    }

    @Test func theSignedRequestIsAJWTWithTheDocumentedClaims() async throws {
        let bench = try await RuleBench()
        func claims(_ request: String) async throws -> JSONValue {
            let signed = try await authorize(bench, ["sdk_authorization_request": .string(request)]).signed
            let parts = signed.signed_authorization_request.split(separator: ".")
            try #require(parts.count == 3)
            #expect(try decoded(parts[0]) == ["alg": "HS256", "typ": "JWT"])
            return try decoded(parts[1])
        }
        let content: JSONValue = ["bundle_id": "com.example.demo"]
        let request = try WireJSON.encode(content).base64EncodedString().replacingOccurrences(of: "=", with: "")
        let (first, second) = (try await claims(request), try await claims("example-sdk-authorization-request"))
        // Issued in the morning; lives an hour.
        #expect(
            first == [
                "jti": first["jti"], "sub": "DemoOrg-example-user-id", "iss": "DemoOrg",
                "bundle_id": "com.example.demo", "iat": 1_767_603_600, "exp": 1_767_607_200,
            ])
        #expect(first["jti"].text?.isEmpty == false)
        #expect(first["jti"] != second["jti"], "a one-time id")
        #expect(second["bundle_id"] == .null)
    }

    @Test func aConflictStoresNothing() async throws {
        let bench = try await RuleBench()
        #expect(try await authorize(bench, ["first_name": "Ada"]).conflict == nil)
        let other: JSONObject = ["email": "other@example.com", "first_name": "Eve", "last_name": "L"]
        #expect(try await authorize(bench, other).conflict?.details.map(\.field) == ["email", "first_name"])
        #expect(try await authorize(bench, ["last_name": "M"]).conflict == nil, "it can still be set")
        #expect(try await authorize(bench, ["last_name": "L"]).conflict?.details.map(\.field) == ["last_name"])
    }

    @Test func absentNullAndEmptyValuesAreNoConflict() async throws {
        let bench = try await RuleBench()
        #expect(try await authorize(bench, ["first_name": "Ada", "last_name": "L"]).conflict == nil)
        #expect(try await authorize(bench, ["first_name": nil, "last_name": ""]).conflict == nil)
        #expect(try await authorize(bench, ["email": nil]).conflict == nil)
    }

    @Test func aUserWithoutAnEmailMustBeGivenOneAndKeepsIt() async throws {
        let bench = try await RuleBench()
        let user = "sim-test-user"
        func email() async throws -> String? { try await bench.control(ByID<ShowUser>("DemoOrg-\(user)")).email }
        try #require(try await email() == nil)
        #expect(await wrong(bench, ["email": nil], user) == ["email"])
        #expect(try await authorize(bench, ["email": "first@example.com"], user).conflict == nil)
        #expect(try await email() == "first@example.com")
        #expect(try await authorize(bench, ["email": "other@example.com"], user).conflict != nil)
        #expect(try await authorize(bench, ["email": nil], user).conflict == nil)
        #expect(try await email() == "first@example.com")
    }

    @Test func namesAreComparedByTheirBytes() async throws {
        let bench = try await RuleBench()
        #expect(try await authorize(bench, ["first_name": .string("Zo\u{eb}")]).conflict == nil)
        #expect(try await authorize(bench, ["first_name": .string("Zoe\u{308}")]).conflict != nil)
    }

    @Test func lengthsAreOfUTF8Bytes() async throws {
        let bench = try await RuleBench()
        let domain = String(repeating: "a", count: 251)
        #expect(await wrong(bench, ["email": .string("é@" + domain)], "user-254") == nil)
        #expect(await wrong(bench, ["email": .string("é@a" + domain)], "user-255") == ["email"])
        let name = String(repeating: "é", count: 127)
        #expect(await wrong(bench, ["first_name": .string(name)], "user-256") == nil)
        #expect(await wrong(bench, ["first_name": .string(name + "a")], "user-257") == ["first_name"])
    }

    @Test(arguments: ["abcdefgh", "user.name+tag@example_1-2", String(repeating: "a", count: 40)])
    func theseUserIDsAreAccepted(id: String) async throws {
        #expect(await wrong(try await RuleBench(), [:], id) == nil)
    }

    @Test(arguments: [
        "", "abcdefg", String(repeating: "a", count: 41), "user id 1", "usér-0001", "user/0001", "user\n0001",
    ])
    func theseUserIDsAreRefused(id: String) async throws {
        #expect(await wrong(try await RuleBench(), [:], id) == ["unique_user_id"])
    }

    @Test func theSameUserIDInTwoOrganizationsIsTwoUsers() async throws {
        let bench = try await RuleBench()
        #expect(try await authorize(bench).signed.username == "DemoOrg-example-user-id")
        let other = try await authorize(bench, ["email": "x@y"], "example-user-id", RuleBench.otherPartner)
        #expect(other.signed.username == "OtherOrg-example-user-id")
        #expect(other.conflict == nil)
    }

    @Test func anAPITokenHasTenRequestsASecond() async throws {
        let bench = try await RuleBench(settings: ["rate_limits": "documented"])
        func ask(_ caller: Credential = RuleBench.partner) async -> PlatformError? {
            await refusalError { try await authorize(bench, [:], "example-user-id", caller) }
        }
        for _ in 0..<10 { #expect(await ask() == nil) }
        let refused = await ask()
        #expect(refused?.kind == .rateLimited)
        #expect(refused?.retryAfter == 1)
        #expect(await ask(RuleBench.otherPartner) == nil, "each organization has its own limits")
        await bench.wait("0.999999s")
        #expect(await ask()?.kind == .rateLimited)
        await bench.wait("0.000001s")
        #expect(await ask() == nil)
    }
}
