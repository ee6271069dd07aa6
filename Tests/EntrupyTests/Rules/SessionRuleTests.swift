import EntrupyAPI
import Foundation
import SimulationAPI
import Storage
import TestSupport
import Testing

@testable import Entrupy
@testable import Simulation

/// Signed requests, logins, sessions and the limits of requests [S].
@Suite struct SessionRuleTests {
    private func sign(_ bench: RuleBench, _ name: String = "bench-user") async throws -> String {
        try await bench.sign(name)
    }

    private func login(_ bench: RuleBench, _ signed: String) async throws -> Completed<LoginResponse> {
        try await bench.tryLogin(["signed_authorization_request": .string(signed)])
    }

    private func failure<Output>(_ completed: Completed<Output>) -> PlatformError? { completed.failure }

    private func show(_ bench: RuleBench, _ user: Credential) async -> PlatformError.Kind? {
        await refusal { try await bench.user(ShowSession(), user) }
    }

    // MARK: Signed requests

    @Test func aSignedRequestIsGoodForOneLogin() async throws {
        let bench = try await RuleBench()
        let signed = try await sign(bench)
        #expect(failure(try await login(bench, signed)) == nil)
        #expect(failure(try await login(bench, signed))?.kind == .forbidden)
        #expect(failure(try await login(bench, try await sign(bench))) == nil)
    }

    /// After an hour, unless the settings say otherwise [S].
    @Test(arguments: [(nil, "3599.999999s"), ("10m", "599.999999s")])
    func aSignedRequestExpiresExactlyAtItsEnd(lifetime: String?, before: String) async throws {
        let bench = try await RuleBench(
            settings: .object(lifetime.map { ["signed_request_lifetime": .string($0)] } ?? [:]))
        let (early, late) = (try await sign(bench), try await sign(bench))
        await bench.wait(before)
        #expect(failure(try await login(bench, early)) == nil)
        await bench.wait("0.000001s")
        #expect(failure(try await login(bench, late))?.kind == .unauthorized)
    }

    /// A signed request of another namespace is one, too, although its key is the same: it was not issued here.
    @Test func whatIsNoSignedRequestIsRefused() async throws {
        let (bench, other) = (try await RuleBench(), try await RuleBench())
        let signed = try await sign(bench)
        let parts = signed.split(separator: ".").map(String.init)
        try #require(parts.count == 3)
        for bad in [
            "example-sdk-authorization-request", "a.b.c", "..", parts[0] + "." + parts[1] + ".", signed + "=",
            signed + "A", parts[0] + "." + parts[0] + "." + parts[2],
        ] {
            #expect(failure(try await login(bench, bad))?.kind == .unauthorized, "\(bad)")
        }
        #expect(failure(try await login(other, signed))?.kind == .unauthorized)
        #expect(failure(try await login(bench, signed)) == nil)
    }

    @Test func bundlesMustBeRegisteredAndMatch() async throws {
        let bench = try await RuleBench()
        func login(_ signed: String, _ bundle: JSONValue = nil) async throws -> Completed<LoginResponse> {
            try await bench.tryLogin(["signed_authorization_request": .string(signed), "bundle_id": bundle])
        }
        func shown(_ login: Completed<LoginResponse>) async throws -> String? {
            try await bench.user(ShowSession(), .token(try login.result.get().token)).bundle_id
        }
        let good = try await bench.sign(bundle: "com.example.demo")
        let other = try await login(good, "com.example.other").failure
        #expect(other?.kind == .forbidden)
        #expect(other?.details.first?.problem == "differs from the signed request's")
        #expect(try await login(good, "com.example.demo").failure == nil)
        let unnamed = try await login(try await bench.sign(bundle: "com.example.demo"))
        #expect(try await shown(unnamed) == "com.example.demo")
        #expect(try await login(try await bench.sign(bundle: "com.example.other")).failure?.kind == .forbidden)
        #expect(try await login(try await sign(bench), "com.unknown").failure?.kind == .forbidden)
        let named = try await login(try await sign(bench), "com.example.demo")
        #expect(try await shown(named) == "com.example.demo", "named by the login alone")
    }

    @Test func aChangedSignatureIsRefused() async throws {
        let bench = try await RuleBench()
        let signed = try await sign(bench)
        // The last character of a signature of 32 bytes has two bits that no byte needs: another spelling is a change too.
        let last = try #require(signed.last)
        for other in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_" where other != last {
            #expect(failure(try await login(bench, String(signed.dropLast()) + String(other)))?.kind == .unauthorized)
        }
        #expect(failure(try await login(bench, signed)) == nil)
    }

    @Test func theEmailFirstSetStays() async throws {
        let bench = try await RuleBench()
        _ = try await sign(bench)
        func authorize(_ email: String?, first: String? = nil) async throws -> [String] {
            try await bench.partner(
                AuthorizeUser(
                    AuthorizeUserRequest(
                        sdk_authorization_request: "r", unique_user_id: "bench-user", email: email, first_name: first))
            ).conflict?.details.map(\.field) ?? []
        }
        #expect(try await authorize("other@example.com", first: "Eve") == ["email"])
        #expect(try await authorize(nil, first: "Ann") == [])
        #expect(try await authorize("bench-user@example.com", first: "Bob") == ["first_name"])
        let user = try await bench.control(ByID<ShowUser>("DemoOrg-bench-user"))
        #expect(user.email == "bench-user@example.com" && user.first_name == "Ann")
    }

    // MARK: Sessions

    @Test func aSessionExpiresExactlyAtItsEnd() async throws {
        let bench = try await RuleBench(settings: ["session_lifetime": "2h"])
        let user = try await bench.login()
        await bench.wait("7199.999999s")
        #expect(await show(bench, user) == nil)
        await bench.wait("0.000001s")
        let error = await refusalError { try await bench.user(ShowSession(), user) }
        #expect(error?.kind == .unauthorized)
        #expect(error?.message.contains("expired") == true)
    }

    @Test func theSoftExpiryIsHalfAnHourBeforeTheEndButNotBeforeTheLogin() async throws {
        for (lifetime, soft, end) in [("2h", 5400.0, 7200.0), ("10m", 0, 600)] {
            let bench = try await RuleBench(settings: ["session_lifetime": .string(lifetime)])
            let answer = try await login(bench, try await sign(bench)).result.get()
            #expect(answer.soft_expiration_time == RuleBench.morning.epoch + soft)
            #expect(answer.expiration_time == RuleBench.morning.epoch + end)
            let session = try await bench.user(ShowSession(), .token(answer.token))
            #expect(session.expiration_time == answer.expiration_time)
        }
    }

    @Test func aLogoutEndsItsOwnSessionOnly() async throws {
        let bench = try await RuleBench()
        let (one, other) = (try await bench.login(), try await bench.login())
        try await bench.user(Logout(), one)
        #expect(await show(bench, one) == .unauthorized)
        #expect(await show(bench, other) == nil)
    }

    @Test func onlyTheNamedSessionsAreRevoked() async throws {
        let bench = try await RuleBench()
        let (one, other) = (try await bench.login(), try await bench.login("other-user"))
        try await bench.control(RevokeSessions(username: "DemoOrg-bench-user"))
        #expect(await show(bench, one) == .unauthorized)
        #expect(await show(bench, other) == nil)
        #expect(await refusal { try await bench.control(RevokeSessions(id: "ses_none")) } == .notFound)
        try await bench.control(RevokeSessions())
        #expect(await show(bench, other) == .unauthorized)
    }

    @Test func theTokensOfAnAppAndOfAnOrganizationAreNotInterchangeable() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        #expect(await show(bench, RuleBench.partner) == .unauthorized)
        #expect(await refusal { try await bench.partner(CheckHealth(), user) } == .unauthorized)
        #expect(await refusal { try await bench.partner(CheckHealth()) } == nil)
    }

    // MARK: Limits of logins

    private static func limits(_ limits: JSONValue) -> JSONValue { ["rate_limits": limits] }

    @Test func loginsLeaveTheirWindowsAtExactlyAMinuteAndADay() async throws {
        let bench = try await RuleBench(settings: Self.limits(["logins_per_minute": 1, "logins_per_day": 2]))
        func tryLogin() async throws -> [String] {
            try await login(bench, try await sign(bench)).outcome?.limits ?? []
        }
        #expect(try await tryLogin() == [])
        await bench.wait("59.999999s")
        #expect(try await tryLogin() == ["logins_per_minute"])
        await bench.wait("0.000001s")
        #expect(try await tryLogin() == [])
        await bench.wait("86339.999999s")
        #expect(try await tryLogin() == ["logins_per_day"])
        await bench.wait("0.000001s")
        #expect(try await tryLogin() == [])
    }

    @Test func loginsThatNoLimitCountsAreForgotten() async throws {
        let bench = try await RuleBench()
        func stored() async throws -> [Instant] {
            let start = Instant(microseconds: 0)
            return try await bench.job { job in
                let user = try Users.find("DemoOrg-bench-user", job)
                return try job.transaction.logins(userID: user.id, after: start)
            }
        }
        for _ in 0..<3 { _ = try await bench.login() }
        _ = try await bench.login("other-user")
        await bench.wait("12h")
        _ = try await bench.login()
        #expect(try await stored().count == 4)
        await bench.wait("12h")
        _ = try await bench.login()
        #expect(
            try await stored() == [Span("12h")!, Span("24h")!].map { RuleBench.morning + $0 },
            "those of exactly a day ago have left every window")
        let kept = try await bench.job { job in
            try job.transaction.usersLoggedIn(after: Instant(microseconds: 0)).map(\.count)
        }
        #expect(kept == [2, 1], "another user's logins are left to that user's next one")
    }

    /// The order in which the documents list them, in the error's details and in the journal.
    @Test func exceededLimitsAreNamedInTheirOrder() async throws {
        let bench = try await RuleBench(
            settings: Self.limits(["sdk_per_second": 1, "logins_per_minute": 1, "logins_per_day": 1]))
        #expect(failure(try await login(bench, try await sign(bench))) == nil)
        let refused = try await login(bench, try await sign(bench))
        let names = ["sdk_per_second", "logins_per_minute", "logins_per_day"]
        #expect(refused.outcome?.limits == names)
        let error = try #require(failure(refused))
        #expect(error.kind == .rateLimited && error.details.map(\.field) == names.map { "rate_limits.\($0)" })
        // The longest wait counts.
        guard case .retryAfter(86_400) = error.payload else {
            Issue.record("retry after \(String(describing: error.payload))")
            return
        }
        let parts = error.message.split(separator: "; ").map { $0.suffix(25) }
        #expect(parts.count == 3 && parts[0].contains("second") && parts[1].contains("minute"), "\(error.message)")
    }

    @Test func aRefusedLoginLeavesTheSignedRequestUsable() async throws {
        let bench = try await RuleBench(settings: Self.limits(["logins_per_minute": 1]))
        _ = try await bench.login()
        let signed = try await sign(bench)
        #expect(failure(try await login(bench, signed))?.kind == .rateLimited)
        await bench.wait("1m")
        #expect(failure(try await login(bench, signed)) == nil)
    }

    @Test func testUsersHaveNoLimitsOfLogins() async throws {
        let bench = try await RuleBench(settings: Self.limits(["logins_per_minute": 1, "logins_per_day": 1]))
        for _ in 0..<3 { #expect(failure(try await login(bench, try await sign(bench, "sim-test-user"))) == nil) }
    }

    // MARK: Limits of requests

    @Test func aUsersRequestsAreCountedForEachUserAndNotForEachSession() async throws {
        let bench = try await RuleBench()
        let (one, again) = (try await bench.login(), try await bench.login())
        let other = try await bench.login("other-user")
        _ = try await bench.control(PatchSettings(Self.limits(["sdk_per_second": 2])))
        await bench.wait("1s")
        #expect(await show(bench, one) == nil)
        #expect(await show(bench, again) == nil)
        #expect(await show(bench, one) == .rateLimited)
        #expect(await show(bench, other) == nil)
        await bench.wait("0.999999s")
        #expect(await show(bench, again) == .rateLimited, "refused requests do not count")
        await bench.wait("0.000001s")
        #expect(await show(bench, one) == nil)
    }

    @Test func anOrganizationsRequestsAreCountedForEachToken() async throws {
        let bench = try await RuleBench(settings: Self.limits(["api_per_second": 1]))
        func ask(_ token: Credential) async -> PlatformError.Kind? {
            await refusal { try await bench.partner(CheckHealth(), token) }
        }
        #expect(await ask(RuleBench.partner) == nil)
        #expect(await ask(RuleBench.partner) == .rateLimited)
        #expect(await ask(RuleBench.otherPartner) == nil)
        await bench.wait("1s")
        #expect(await ask(RuleBench.partner) == nil)
    }
}

extension RuleBench {
    /// A signed request of a user, with which the app logs in.
    ///
    /// - Parameter bundle: the app that the SDK's request names; `nil` if it names none.
    func sign(_ name: String = "bench-user", bundle: String? = nil) async throws -> String {
        let request = bundle.map {
            Data("{\"bundle_id\":\"\($0)\",\"nonce\":\"1\"}".utf8).base64EncodedString()
                .replacingOccurrences(of: "=", with: "")
        }
        return try await partner(
            AuthorizeUser(
                AuthorizeUserRequest(
                    sdk_authorization_request: request ?? "r", unique_user_id: name, email: "\(name)@example.com"))
        ).signed.signed_authorization_request
    }

    /// A login with what decided it.
    func tryLogin(_ body: JSONValue) async throws -> Completed<LoginResponse> {
        let login = try Login(sent(body))
        var head = RequestHead()
        head.metadata = RequestMetadata(method: "POST", path: "/sdk/login", credential: .missing) { _ in [] }
        return await namespace.answer(.success(login), .missing, head)
    }
}

extension Completed {
    /// The error; `nil` if the request succeeded.
    var failure: PlatformError? { if case .failure(let error) = result { error } else { nil } }
}
