import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Users over HTTP. Their rules are `UserRuleTests`.
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
