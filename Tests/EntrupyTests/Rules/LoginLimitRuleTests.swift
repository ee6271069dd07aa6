import EntrupyAPI
import SimulationAPI
import Storage
import TestSupport
import Testing

@testable import Entrupy
@testable import Simulation

/// Five logins a minute and a hundred a day for each user, and a hundred requests a second [S].
@Suite struct LoginLimitRuleTests {
    /// Logs in; answers the refusal, `nil` if there is none.
    private func refused(_ bench: RuleBench, _ name: String = "bench-user") async throws -> PlatformError? {
        try await bench.tryLogin(["signed_authorization_request": .string(try await bench.sign(name))]).failure
    }

    /// - Parameter limits: the limits of logins; those that are not named do not hold.
    private func makeBench(_ limits: JSONObject = ["logins_per_minute": 5, "logins_per_day": 100]) async throws
        -> RuleBench
    {
        let high: JSONObject = ["sdk_per_second": 1_000_000, "api_per_second": 1_000_000]
        return try await RuleBench(settings: ["rate_limits": .object(high.merging(limits) { $1 })])
    }

    @Test func aRetrySucceedsAfterRetryAfterAndNotASecondEarlier() async throws {
        let bench = try await makeBench()
        for _ in 0..<5 { #expect(try await refused(bench) == nil) }
        await bench.wait("30.25s")
        // 29.75 s remain. Rounded up, because a retry after 29 s would be too early.
        #expect(try await refused(bench)?.retryAfter == 30)
        await bench.wait("29s")
        #expect(try await refused(bench)?.retryAfter == 1)
        await bench.wait("1s")
        #expect(try await refused(bench) == nil)
    }

    @Test func retryAfterIsTheLongestWaitOfTheExceededLimits() async throws {
        let bench = try await makeBench(["logins_per_minute": 1, "logins_per_day": 2])
        #expect(try await refused(bench) == nil)
        await bench.wait("60s")
        #expect(try await refused(bench) == nil)
        await bench.wait("1s")
        #expect(try await refused(bench)?.retryAfter == 86400 - 61)
        // 30 s after the first login left the day's window, where the second one now has 30 s left.
        await bench.wait("86369s")
        #expect(try await refused(bench) == nil)
        await bench.wait("1s")
        #expect(try await refused(bench)?.retryAfter == 59)
    }

    @Test func aRefusedLoginCountsAsARequestAndTheLimitComesBeforeTheRefusal() async throws {
        let bench = try await makeBench(["sdk_per_second": 2])
        let body: JSONValue = ["signed_authorization_request": .string(try await bench.sign())]
        for kind in [nil, PlatformError.Kind.forbidden, .rateLimited] {
            #expect(try await bench.tryLogin(body).failure?.kind == kind)
        }
    }

    @Test func failedLoginsDoNotCount() async throws {
        let bench = try await makeBench()
        let used: JSONValue = ["signed_authorization_request": .string(try await bench.sign())]
        #expect(try await bench.tryLogin(used).failure == nil)
        for _ in 0..<10 { #expect(try await bench.tryLogin(used).failure?.kind == .forbidden) }
        for _ in 0..<4 { #expect(try await refused(bench) == nil) }
        #expect(try await refused(bench)?.kind == .rateLimited)
    }

    @Test func aHundredADayIsTheOtherLimit() async throws {
        let bench = try await makeBench()
        for _ in 0..<100 {
            #expect(try await refused(bench) == nil)
            await bench.wait("60s")
        }
        #expect(try await refused(bench)?.retryAfter == 86400 - 6000)
        await bench.wait("80400s")
        #expect(try await refused(bench) == nil)
        #expect(try await refused(bench)?.kind == .rateLimited)
    }

    @Test func eachUserHasLimitsOfItsOwnAndTestUsersNone() async throws {
        let bench = try await makeBench()
        for _ in 0..<12 { #expect(try await refused(bench, "sim-test-user") == nil) }
        for _ in 0..<5 { #expect(try await refused(bench, "first-user") == nil) }
        #expect(try await refused(bench, "first-user")?.kind == .rateLimited)
        #expect(try await refused(bench, "second-user") == nil)
    }

    @Test func limitsCanBeSwitchedOff() async throws {
        let bench = try await RuleBench(settings: ["rate_limits": "off"])
        for _ in 0..<12 { #expect(try await refused(bench) == nil) }
    }

    @Test func aUserHasAHundredRequestsASecond() async throws {
        let bench = try await RuleBench(settings: ["rate_limits": "documented"])
        let user = try await bench.login()
        func show() async -> PlatformError? { await refusalError { try await bench.user(ShowSession(), user) } }
        // The login, whose signature was valid, was the first request.
        for _ in 0..<99 { #expect(await show() == nil) }
        let refused = await show()
        #expect(refused?.kind == .rateLimited)
        #expect(refused?.retryAfter == 1)
        await bench.wait("1s")
        #expect(await show() == nil)
    }
}
