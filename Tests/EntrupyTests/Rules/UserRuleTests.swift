import EntrupyAPI
import SimulationAPI
import TestSupport
import Testing

@testable import Entrupy
@testable import Simulation

/// Users as support changes them, and limits of their own [D user-limits].
@Suite struct UserRuleTests {
    private let name = "DemoOrg-bench-user"

    @discardableResult
    private func patch(_ bench: RuleBench, _ body: JSONValue) async throws -> UserInfo {
        try await bench.control(PatchUser(bench.sent(body, path: ["username": name])))
    }

    private func requests(_ bench: RuleBench, _ user: Credential, _ count: Int) async -> [Bool] {
        var answered: [Bool] = []
        for _ in 0..<count { answered.append(await refusal { try await bench.user(ShowSession(), user) } == nil) }
        return answered
    }

    @Test(
        arguments: [
            ["email": nil], ["email": "x"], ["first_name": 1], ["name": "x"], ["rate_limits": "fast"],
            ["rate_limits": ["x": 1]], ["rate_limits": ["api_per_second": 1]],
        ] as [JSONValue])
    func anInvalidChangeIsRefused(body: JSONValue) async throws {
        let bench = try await RuleBench()
        _ = try await bench.login()
        #expect(await refusal { try await patch(bench, body) } == .invalid)
    }

    @Test func aNameThatSupportClearsCanBeSetAnew() async throws {
        let bench = try await RuleBench()
        func authorize(_ first: String, _ last: String?) async throws -> Bool {
            try await bench.partner(
                AuthorizeUser(
                    AuthorizeUserRequest(
                        sdk_authorization_request: "r", unique_user_id: "bench-user", email: "b@example.com",
                        first_name: first, last_name: last))
            ).conflict == nil
        }
        #expect(try await authorize("Ada", "Byron"))
        let cleared = try await patch(bench, ["first_name": nil, "last_name": "Lovelace"])
        #expect(cleared.first_name == nil)
        #expect(cleared.last_name == "Lovelace")
        #expect(try await authorize("Augusta", "Lovelace"))
        #expect(try await bench.control(ByID<ShowUser>(name)).first_name == "Augusta")
        #expect(try await !authorize("Ada", nil))
    }

    @Test func usersOfAnIDAreFoundInAllOrganizations() async throws {
        let bench = try await RuleBench()
        for caller in [RuleBench.partner, RuleBench.otherPartner] {
            let request = AuthorizeUserRequest(
                sdk_authorization_request: "r", unique_user_id: "ada-lovelace", email: "ada@example.com")
            _ = try await bench.partner(AuthorizeUser(request), caller)
        }
        func list(_ query: String) async throws -> UserInfoList {
            try await bench.control(ListUsers(bench.sent([:], query: Substring(query))))
        }
        let both = try await list("unique_user_id=ada-lovelace")
        #expect(both.users.map(\.username) == ["OtherOrg-ada-lovelace", "DemoOrg-ada-lovelace"])
        #expect(try await list("unique_user_id=DemoOrg-ada-lovelace").users.isEmpty)
        let cursor = try #require(try await list("unique_user_id=ada-lovelace&limit=1").next_cursor)
        let rest = try await list("unique_user_id=ada-lovelace&limit=1&cursor=\(cursor)")
        #expect(rest.users.map(\.username) == ["DemoOrg-ada-lovelace"])
        #expect(await refusal { try await list("unique_user_id=bob&cursor=\(cursor)") } == .invalid)
        #expect(await refusal { try await list("unique_user_id=") } == .invalid)
    }

    @Test func aUsersOwnLimitsComeFirst() async throws {
        let bench = try await RuleBench(settings: ["rate_limits": "documented"])
        let user = try await bench.login()
        #expect(try await patch(bench, ["rate_limits": ["sdk_per_second": 3]]).budgets.sdk_this_second == 2)
        #expect(await requests(bench, user, 4) == [true, true, false, false])
        try await patch(bench, ["rate_limits": "off"])
        #expect(await requests(bench, user, 150).someAndAll { $0 })
        #expect(try await patch(bench, ["rate_limits": nil]).rate_limits == nil)
        #expect(await requests(bench, user, 1) == [false])
    }

    @Test func missingLimitsOfAUserAreThoseOfTheNamespace() async throws {
        let bench = try await RuleBench(settings: ["rate_limits": ["sdk_per_second": 7]])
        _ = try await bench.sign()
        func budgets(_ user: UserInfo) -> [Int?] {
            [user.budgets.sdk_this_second, user.budgets.logins_this_minute, user.budgets.logins_this_day]
        }
        let one = try await patch(bench, ["rate_limits": ["logins_per_minute": 2]])
        #expect(budgets(one) == [7, 2, 100])
        let both = try await patch(bench, ["rate_limits": ["sdk_per_second": 3]])
        #expect(both.rate_limits == ["logins_per_minute": 2, "sdk_per_second": 3], "a merge patch")
        let back = try await patch(bench, ["rate_limits": ["sdk_per_second": nil]])
        #expect(back.rate_limits == ["logins_per_minute": 2])
        // New limits also apply to existing sessions.
        let user = try await bench.login()
        _ = try await bench.control(PatchSettings(["rate_limits": ["sdk_per_second": 1]]))
        #expect(await requests(bench, user, 1) == [false])
        _ = try await bench.control(PatchSettings(["rate_limits": "off"]))
        #expect(await requests(bench, user, 1) == [true])
        #expect(budgets(try await bench.control(ByID<ShowUser>(name))) == [nil, 1, nil])
    }
}
