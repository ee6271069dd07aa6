import Foundation
import SimulationAPI
import TestSupport
import Testing

@Suite struct UserTests {
    @Test func supportCanChangeAUsersNameAndEmail() async throws {
        let world = try await TestWorld.make()
        _ = try await world.authorize()
        let path = "/_sim/users/DemoOrg-example-user-id"
        let before = try await world.send("GET", path)
        #expect(before["email"] == "user@entrupy-customer.com")
        #expect(before["budgets"] == ["sdk_this_second": 100, "logins_this_minute": 5, "logins_this_day": 100])
        let after = try await world.send("PATCH", path, ["email": "new@example.com", "first_name": "Ada"])
        #expect(after["email"] == "new@example.com" && after["first_name"] == "Ada")
        #expect(try await world.authorize().status == 409)
        #expect(try await world.send("GET", "/_sim/users/DemoOrg-nobody").status == 404)
        for bad: JSONValue in [
            ["email": nil], ["email": "x"], ["first_name": 1], ["name": "x"], ["rate_limits": "fast"],
            ["rate_limits": ["x": 1]], ["rate_limits": ["api_per_second": 1]],
        ] {
            #expect(try await world.send("PATCH", path, bad).status == 400, "\(bad)")
        }
    }

    @Test func usersOfAnIDAreFoundInAllOrganizations() async throws {
        let world = try await TestWorld.make()
        _ = try await world.authorize("ada-lovelace")
        let other = try await world.send(
            "POST", "/v2/integrations/authorize-user",
            ["sdk_authorization_request": "x", "unique_user_id": "ada-lovelace", "email": "ada@example.com"],
            token: "other-api-token")
        try #require(other.status == 200, "\(other.json)")
        func names(_ query: String) async throws -> [String?] {
            try await world.send("GET", "/_sim/users?\(query)")["users"].items.map { $0["username"].text }
        }
        #expect(try await names("unique_user_id=ada-lovelace") == ["OtherOrg-ada-lovelace", "DemoOrg-ada-lovelace"])
        #expect(try await names("unique_user_id=DemoOrg-ada-lovelace").isEmpty)
        let page = try await world.send("GET", "/_sim/users?unique_user_id=ada-lovelace&limit=1")
        let cursor = try #require(page["next_cursor"].text)
        #expect(try await names("unique_user_id=ada-lovelace&limit=1&cursor=\(cursor)") == ["DemoOrg-ada-lovelace"])
        #expect(try await world.send("GET", "/_sim/users?unique_user_id=bob&cursor=\(cursor)").status == 400)
        #expect(try await world.send("GET", "/_sim/users?unique_user_id=").status == 400)
    }

    @Test func aNameThatSupportClearsCanBeSetAnew() async throws {
        let world = try await TestWorld.make()
        let path = "/_sim/users/DemoOrg-example-user-id"
        func authorize(_ names: JSONObject) async throws -> Int {
            try await world.authorize("example-user-id", names).status
        }
        #expect(try await authorize(["first_name": "Ada", "last_name": "Byron"]) == 200)
        _ = try await world.send("PATCH", path, ["first_name": nil, "last_name": "Lovelace"])
        let cleared = try await world.send("GET", path)
        #expect(cleared["first_name"] == .null && cleared["last_name"] == "Lovelace")
        #expect(try await authorize(["first_name": "Augusta", "last_name": "Lovelace"]) == 200)
        #expect(try await world.send("GET", path)["first_name"] == "Augusta")
        #expect(try await authorize(["first_name": "Ada"]) == 409)
    }

    @Test func aUsersOwnLimitsComeFirst() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        let path = "/_sim/users/DemoOrg-example-user-id"
        #expect(
            try await world.send("PATCH", path, ["rate_limits": ["sdk_per_second": 3]])["budgets.sdk_this_second"]
                .double == 2)
        var statuses: [Int] = []
        for _ in 0..<4 { statuses.append(try await world.send("GET", "/sdk/session", token: token).status) }
        #expect(statuses == [200, 200, 429, 429])
        _ = try await world.send("PATCH", path, ["rate_limits": "off"])
        for _ in 0..<150 { #expect(try await world.send("GET", "/sdk/session", token: token).status == 200) }
        let back = try await world.send("PATCH", path, ["rate_limits": nil])
        #expect(back["rate_limits"] == .null)
        #expect(try await world.send("GET", "/sdk/session", token: token).status == 429)
    }

    @Test func missingLimitsOfAUserAreThoseOfTheNamespace() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": ["sdk_per_second": 7]])
        _ = try await world.authorize()
        let path = "/_sim/users/DemoOrg-example-user-id"
        let one = try await world.send("PATCH", path, ["rate_limits": ["logins_per_minute": 2]])
        #expect(one["budgets"] == ["sdk_this_second": 7, "logins_this_minute": 2, "logins_this_day": 100])
        let both = try await world.send("PATCH", path, ["rate_limits": ["sdk_per_second": 3]])
        #expect(both["rate_limits"] == ["logins_per_minute": 2, "sdk_per_second": 3], "a merge patch")
        let back = try await world.send("PATCH", path, ["rate_limits": ["sdk_per_second": nil]])
        #expect(back["rate_limits"] == ["logins_per_minute": 2])
        // New limits also apply to existing sessions.
        let token = try await world.login()
        _ = try await world.send("PATCH", "/_sim/settings", ["rate_limits": ["sdk_per_second": 1]])
        #expect(try await world.send("GET", "/sdk/session", token: token).status == 429)
        _ = try await world.send("PATCH", "/_sim/settings", ["rate_limits": "off"])
        #expect(try await world.send("GET", "/sdk/session", token: token).status == 200)
        #expect(
            try await world.send("GET", path)["budgets"]
                == ["sdk_this_second": nil, "logins_this_minute": 1, "logins_this_day": nil])
    }

    @Test func sixteenClientsOfAUserShareItsHundredRequestsASecond() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        let statuses = try await withThrowingTaskGroup(of: [Int].self) { group in
            for _ in 0..<16 {
                group.addTask {
                    var statuses: [Int] = []
                    for _ in 0..<10 {
                        statuses.append(try await world.send("GET", "/sdk/session", token: token).status)
                    }
                    return statuses
                }
            }
            return try await group.reduce(into: [Int]()) { $0 += $1 }
        }
        // The login was the first of the hundred requests.
        #expect(statuses.count { $0 == 200 } == 99)
        #expect(statuses.count { $0 == 429 } == 61)
    }
}
