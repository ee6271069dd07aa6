import Foundation
import SimulationAPI
import TestSupport
import Testing

@Suite struct SessionTests {
    private func login(_ world: TestWorld, _ signed: JSONValue, bundle: JSONValue = nil) async throws -> Answer {
        try await world.send(
            "POST", "/sdk/login", ["signed_authorization_request": signed, "bundle_id": bundle])
    }

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

    @Test func aSignedRequestIsGoodForOneLogin() async throws {
        let world = try await TestWorld.make()
        let signed = try await world.signedRequest()
        #expect(try await login(world, signed).status == 200)
        let again = try await login(world, signed)
        #expect(again.status == 403)
        #expect(again["sdk_error"] == "ErrorCodeForbiddenError")
    }

    @Test func aSignedRequestExpiresAfterExactlyAnHour() async throws {
        let world = try await TestWorld.make()
        let first = try await world.signedRequest()
        let second = try await world.signedRequest()
        try await world.advance("3599.999999s")
        #expect(try await login(world, first).status == 200)
        try await world.advance("0.000001s")
        #expect(try await login(world, second).status == 401)
    }

    @Test func settingsDecideHowLongSessionsAndSignedRequestsLive() async throws {
        let world = try await TestWorld.make(settings: ["session_lifetime": "10m", "signed_request_lifetime": "1m"])
        let token = try await world.login()
        let (first, second) = (try await world.signedRequest(), try await world.signedRequest())
        let session = try await world.send("GET", "/sdk/session", token: token)
        #expect(session["expiration_time"].double == TestWorld.epoch + 600)
        #expect(session["soft_expiration_time"] == session["created_at"], "not before the session began")
        try await world.advance("59.999999s")
        #expect(try await login(world, first).status == 200)
        try await world.advance("0.000001s")
        #expect(try await login(world, second).status == 401)
        try await world.advance("539.999999s")
        #expect(try await world.send("GET", "/sdk/session", token: token).status == 200)
        try await world.advance("0.000001s")
        #expect(try await world.send("GET", "/sdk/session", token: token).status == 401)
    }

    @Test func aTamperedSignedRequestIs401() async throws {
        let world = try await TestWorld.make()
        let other = try await TestWorld.make()
        let signed = try #require(try await world.signedRequest().text)
        let parts = signed.split(separator: ".").map(String.init)
        try #require(parts.count == 3)
        let swapped = parts[2].first == "A" ? "B" : "A"
        for bad in [
            "example-sdk-authorization-request", "a.b.c", "..", parts[0] + "." + parts[1] + ".",
            parts[0] + "." + parts[1] + "." + swapped + parts[2].dropFirst(), signed + "=", signed + "A",
            parts[0] + "." + parts[0] + "." + parts[2],
        ] {
            #expect(try await login(world, .string(bad)).status == 401, "\(bad)")
        }
        // Another namespace with the same seed has the same key, but did not issue this signed request.
        #expect(try await login(other, .string(signed)).status == 401)
        #expect(try await login(world, .string(signed)).status == 200)
    }

    @Test func bundlesMustBeRegisteredAndMatch() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        func signed(_ bundle: String) async throws -> JSONValue {
            let request = Data("{\"bundle_id\":\"\(bundle)\",\"nonce\":\"1\"}".utf8).base64EncodedString()
                .replacingOccurrences(of: "=", with: "")
            return try await world.authorize(
                "example-user-id", ["sdk_authorization_request": .string(request)])["signed_authorization_request"]
        }
        let good = try await signed("com.example.demo")
        #expect(try await login(world, good, bundle: "com.example.other").status == 403)
        #expect(try await login(world, good, bundle: "com.example.demo").status == 200)
        let again = try await signed("com.example.demo")
        let session = try await login(world, again)
        #expect(session.status == 200)
        #expect(
            try await world.send("GET", "/sdk/session", token: session["token"].text)["bundle_id"] == "com.example.demo"
        )
        #expect(try await login(world, signed("com.example.other")).status == 403)
        #expect(try await login(world, world.signedRequest(), bundle: "com.unknown").status == 403)
        let named = try await login(world, world.signedRequest(), bundle: "com.example.demo")
        #expect(named.status == 200)
        let shown = try await world.send("GET", "/sdk/session", token: named["token"].text)
        #expect(shown["bundle_id"] == "com.example.demo", "named by the login alone")
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

    @Test func aSessionExpiresAtExactlyItsEnd() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        try await world.advance("86399.999999s")
        #expect(try await world.send("GET", "/sdk/session", token: token).status == 200)
        try await world.advance("0.000001s")
        let answer = try await world.send("GET", "/sdk/session", token: token)
        #expect(answer.status == 401)
        #expect(answer["error"].text?.contains("expired") == true)
    }

    @Test func tokensOfAnotherKindOrNamespaceAre401() async throws {
        let world = try await TestWorld.make()
        let other = try await TestWorld.make(seed: "empty")
        let token = try await other.login("a-user-elsewhere")
        for wrong in [TestWorld.apiToken, "nope", "\u{212a}"] {
            #expect(try await world.send("GET", "/sdk/session", token: wrong).status == 401)
        }
        _ = token
        let elsewhere = TestWorld(base: SimProcess.shared.baseURL)
        #expect(try await elsewhere.send("GET", "/sdk/session", token: token).status == 401)
    }
}

@Suite struct LoginLimitTests {
    private func tryLogin(_ world: TestWorld, _ user: String = "example-user-id") async throws -> Answer {
        try await world.send(
            "POST", "/sdk/login", ["signed_authorization_request": world.signedRequest(user)])
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
        #expect(refused.headers["Retry-After"] == ["55"])
        try await world.advance("54.999999s")
        let late = try await world.send("POST", "/sdk/login", body)
        #expect(late.status == 429)
        #expect(late.headers["Retry-After"] == ["1"])
        try await world.advance("0.000001s")
        // The refused logins did not consume the signed request.
        #expect(try await world.send("POST", "/sdk/login", body).status == 200)
    }

    @Test func aRetrySucceedsAfterRetryAfterAndNotASecondEarlier() async throws {
        let world = try await TestWorld.make()
        for _ in 0..<5 { #expect(try await tryLogin(world).status == 200) }
        try await world.advance("30.25s")
        let refused = try await tryLogin(world)
        // 29.75 s remain. Rounded up, because a retry after 29 s would be too early.
        #expect(refused.headers["Retry-After"] == ["30"])
        try await world.advance("29s")
        #expect(try await tryLogin(world).headers["Retry-After"] == ["1"])
        try await world.advance("1s")
        #expect(try await tryLogin(world).status == 200)
    }

    @Test func retryAfterIsTheLongestWaitOfTheExceededLimits() async throws {
        let world = try await TestWorld.make(
            settings: ["rate_limits": ["logins_per_minute": 1, "logins_per_day": 2]])
        #expect(try await tryLogin(world).status == 200)
        try await world.advance("60s")
        #expect(try await tryLogin(world).status == 200)
        try await world.advance("1s")
        let day = try await tryLogin(world)
        #expect(day.status == 429 && day.headers["Retry-After"] == [String(86400 - 61)])
        // 30 s after the first login left the day's window, where the second one now has 30 s left.
        try await world.advance("86369s")
        #expect(try await tryLogin(world).status == 200)
        try await world.advance("1s")
        let minute = try await tryLogin(world)
        #expect(minute.status == 429 && minute.headers["Retry-After"] == ["59"])
    }

    @Test func aRefusedLoginCountsAsARequestAndTheLimitComesBeforeTheRefusal() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": ["sdk_per_second": 2]])
        let body: JSONValue = ["signed_authorization_request": try await world.signedRequest()]
        for status in [200, 403, 429] {
            #expect(try await world.send("POST", "/sdk/login", body).status == status)
        }
    }

    @Test func failedLoginsDoNotCount() async throws {
        let world = try await TestWorld.make()
        let used = try await world.signedRequest()
        #expect(try await world.send("POST", "/sdk/login", ["signed_authorization_request": used]).status == 200)
        for _ in 0..<10 {
            #expect(try await world.send("POST", "/sdk/login", ["signed_authorization_request": used]).status == 403)
        }
        for _ in 0..<4 { #expect(try await tryLogin(world).status == 200) }
        #expect(try await tryLogin(world).status == 429)
    }

    @Test func aHundredADayIsTheOtherLimit() async throws {
        let world = try await TestWorld.make()
        for _ in 0..<100 {
            #expect(try await tryLogin(world).status == 200)
            try await world.advance("60s")
        }
        let refused = try await tryLogin(world)
        #expect(refused.status == 429)
        #expect(refused.headers["Retry-After"] == [String(86400 - 6000)])
        try await world.advance("80400s")
        #expect(try await tryLogin(world).status == 200)
        #expect(try await tryLogin(world).status == 429)
    }

    @Test func theTestUserHasNoLoginLimitAndOthersHaveTheirOwn() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": ["api_per_second": 1000]])
        for _ in 0..<12 { #expect(try await tryLogin(world, "sim-test-user").status == 200) }
        for _ in 0..<5 { #expect(try await tryLogin(world, "first-user").status == 200) }
        #expect(try await tryLogin(world, "first-user").status == 429)
        #expect(try await tryLogin(world, "second-user").status == 200)
    }

    @Test func limitsCanBeSwitchedOff() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        for _ in 0..<12 { #expect(try await tryLogin(world).status == 200) }
    }

    @Test func aUserHasAHundredRequestsASecond() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        // The login, whose signature was valid, was the first request.
        for _ in 0..<99 { #expect(try await world.send("GET", "/sdk/session", token: token).status == 200) }
        let refused = try await world.send("GET", "/sdk/session", token: token)
        #expect(refused.status == 429)
        #expect(refused.headers["Retry-After"] == ["1"])
        try await world.advance("1s")
        #expect(try await world.send("GET", "/sdk/session", token: token).status == 200)
    }
}

extension TestWorld {
    fileprivate func authorize(_ user: String, _ more: JSONObject) async throws -> Answer {
        try await authorize(user, token: Self.apiToken, more)
    }
}
