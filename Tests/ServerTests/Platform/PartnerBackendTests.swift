import SimulationAPI
import TestSupport
import Testing

@Suite struct PartnerBackendTests {
    private func login(_ world: TestWorld) async throws -> String {
        let answer = try await world.send("POST", "/partner/login", ["username": "demo", "password": "demo"])
        return try #require(answer["token"].text)
    }

    private func authorize(_ world: TestWorld, _ body: JSONValue, _ token: String?) async throws -> TestWorld.Answer {
        try await world.send("POST", "/partner/authorize-entrupy-sdk-user", body, token: token)
    }

    @Test func aSampleAppLogsInThroughThePartnerBackend() async throws {
        let world = try await TestWorld.make()
        let token = try await login(world)
        let signed = try await authorize(world, ["sdk_authorization_request": "opaque"], token)
        #expect(signed.status == 200 && signed["username"] == "DemoOrg-demo-user")
        let login = try await world.send(
            "POST", "/sdk/login", ["signed_authorization_request": signed["signed_authorization_request"]])
        #expect(login.status == 200)
        let user = try await world.send("GET", "/_sim/users/DemoOrg-demo-user")
        #expect(user["email"] == "demo@example.com" && user["first_name"] == "Demo" && user["last_name"] == "User")
    }

    @Test func givenValuesOverrideTheRecord() async throws {
        let world = try await TestWorld.make()
        let token = try await login(world)
        let given: JSONValue = [
            "sdk_authorization_request": "opaque", "unique_user_id": "another-user", "email": "another@example.com",
            "first_name": "",
        ]
        #expect(try await authorize(world, given, token)["username"] == "DemoOrg-another-user")
        let user = try await world.send("GET", "/_sim/users/DemoOrg-another-user")
        #expect(user["email"] == "another@example.com" && user["first_name"] == "Demo")
        let conflict = try await authorize(world, given.merging(["email": "third@example.com"]), token)
        #expect(conflict.status == 409 && conflict["signed_authorization_request"].text != nil)
    }

    @Test(
        arguments: [
            ["username": "demo", "password": "Demo"], ["username": "Demo", "password": "demo"],
            ["username": "nobody", "password": "demo"], ["username": "", "password": ""],
        ] as [JSONValue])
    func unknownUsersAndWrongPasswordsLookTheSame(body: JSONValue) async throws {
        let world = try await TestWorld.make()
        let answer = try await world.send("POST", "/partner/login", body)
        #expect(answer.status == 401)
        let other = try await world.send("POST", "/partner/login", ["username": "x", "password": "y"])
        #expect(answer["error"] == other["error"])
    }

    @Test func theTokenIsCheckedBeforeTheBodyAndTheLimitApplies() async throws {
        let world = try await TestWorld.make()
        let token = try await login(world)
        for wrong in [nil, TestWorld.apiToken, "partner_x"] {
            #expect(try await authorize(world, [:], wrong).status == 401)
        }
        #expect(try await authorize(world, [:], token).status == 400)
        var statuses: [Int] = []
        for _ in 0..<12 {
            statuses.append(try await authorize(world, ["sdk_authorization_request": "opaque"], token).status)
        }
        #expect(
            statuses == Array(repeating: 200, count: 10) + [429, 429], "it calls authorize-user as a backend would")
        #expect(try await world.send("POST", "/partner/login", ["username": "demo"]).status == 400)
    }

    @Test func aFaultRuleCountsAnAuthorizationOnce() async throws {
        let world = try await TestWorld.make()
        let token = try await login(world)
        let rule: JSONValue = [
            "match": ["route": "/partner/*"], "effect": ["status": 503], "after_requests": 1, "times": 1,
        ]
        try #require(try await world.send("POST", "/_sim/faults", rule).status == 201)
        let body: JSONValue = ["sdk_authorization_request": "opaque"]
        var statuses: [Int] = []
        for _ in 0..<3 { statuses.append(try await authorize(world, body, token).status) }
        #expect(statuses == [200, 503, 200])
        let counted = try await world.send("GET", "/_sim/faults")
        #expect(counted["faults.0.seen"] == 3 && counted["faults.0.hits"] == 1)
    }
}
