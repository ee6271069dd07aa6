import Foundation
import SimulationAPI
import TestSupport
import Testing

/// `GET /_sim/audit`: each rule with a client that breaks it and one that does not [D audit].
@Suite struct AuditTests {
    /// A name of a user that no other test logs in.
    private let user = "audit-user-1"

    private func login(_ world: TestWorld, _ signed: JSONValue) async throws -> Answer {
        try await world.send("POST", "/sdk/login", ["signed_authorization_request": signed])
    }

    /// Logs in until the limit is reached.
    private func reachLoginLimit(_ world: TestWorld) async throws -> Answer {
        for _ in 0..<5 { _ = try await world.login(user) }
        let refused = try await login(world, try await world.signedRequest(user))
        try #require(refused.status == 429)
        return refused
    }

    // MARK: Retries

    @Test func aRetryThatComesTooSoonIsFound() async throws {
        let world = try await TestWorld.make()
        _ = try await reachLoginLimit(world)
        let refused = try await world.lastRequest()
        _ = try await login(world, try await world.signedRequest(user))
        let finding = try #require(try await world.findings("retry-too-soon").first)
        #expect(finding.level == .error)
        #expect(finding.requests.map(\.sequence) == [refused, try await world.lastRequest()])
        #expect(finding.text.hasPrefix("POST /sdk/login of DemoOrg-\(user) came again "))
        #expect(finding.text.hasSuffix("after it was refused with 429 and Retry-After: 60"))
    }

    /// The journal keeps no pictures, so these are compared by their path and length.
    @Test func anUploadThatComesAgainTooSoonIsFound() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login(user)
        let (capture, regions) = try await world.startCapture(session)
        _ = try await world.send(
            "POST", "/_sim/faults",
            [
                "effect": ["status": 503, "headers": ["Retry-After": "600"]], "match": ["method": "PUT"], "times": 2,
            ])
        for region in [regions[0], regions[1]] {
            #expect(try await world.upload(capture, region, session).status == 503)
        }
        #expect(try await world.findings("retry-too-soon").isEmpty, "another region's picture is no retry")
        // Image routes ignore the media type: curl sends a form's.
        let again = try await world.send(
            "PUT", "/sdk/captures/\(capture)/images/\(regions[0])", bytes: TestWorld.picture, token: session,
            headers: ["Content-Type": "application/x-www-form-urlencoded"])
        #expect(again.status == 200)
        let report = try await world.audit("?rule=retry-too-soon")
        #expect(report.findings.count == 1 && report.rules.first?.not_judged == nil, "\(report)")
        #expect(report.findings.first?.requests.count == 2)
    }

    /// Without a type, the beginning of the picture is kept.
    @Test func anUploadWithoutATypeThatComesAgainTooSoonIsFound() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off", "journal": ["body_bytes": 10]])
        let session = try await world.login(user)
        let (capture, regions) = try await world.startCapture(session)
        _ = try await world.send(
            "POST", "/_sim/faults",
            [
                "effect": ["status": 503, "headers": ["Retry-After": "600"]], "match": ["method": "PUT"], "times": 1,
            ])
        for status in [503, 200] {
            let answer = try await world.send(
                "PUT", "/sdk/captures/\(capture)/images/\(regions[0])", bytes: TestWorld.picture, token: session)
            #expect(answer.status == status)
        }
        let report = try await world.audit("?rule=retry-too-soon")
        #expect(report.findings.count == 1 && report.rules.first?.not_judged == nil, "\(report)")
    }

    @Test func aRetryAfterTheTimeIsNoMisuseAlsoIfATestMovedTheClock() async throws {
        let world = try await TestWorld.make()
        _ = try await reachLoginLimit(world)
        try await world.advance("60s")
        _ = try await world.login(user)
        #expect(try await world.findings("retry-too-soon").isEmpty)
    }

    @Test func aRetryOneSecondTooEarlyIsFound() async throws {
        let world = try await TestWorld.make()
        _ = try await reachLoginLimit(world)
        try await world.advance("59s")
        _ = try await login(world, try await world.signedRequest(user))
        #expect(try await world.findings("retry-too-soon").count == 1)
    }

    @Test func anotherUsersRequestIsNoRetry() async throws {
        let world = try await TestWorld.make()
        _ = try await reachLoginLimit(world)
        _ = try await world.login("audit-user-2")
        #expect(try await world.findings("retry-too-soon").isEmpty)
    }

    /// Refuses the next request of a route for the moment.
    private func refuseOnce(
        _ world: TestWorld, _ route: String, _ effect: JSONValue = ["rate_limit": ["retry_after": "10m"]]
    )
        async throws
    {
        let answer = try await world.send(
            "POST", "/_sim/faults", ["match": ["route": .string(route)], "effect": effect, "times": 1])
        try #require(answer.status == 201, "\(answer.json)")
    }

    @Test func aRequestThatIsNeverTriedAgainIsFound() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login(user)
        try await refuseOnce(world, "/sdk/session")
        #expect(try await world.send("GET", "/sdk/session", token: session).status == 429)
        let refused = try await world.lastRequest()
        #expect(try await world.findings("no-retry").isEmpty, "the client may still try it again")
        _ = try await world.send("GET", "/sdk/config?config_type=production", token: session)
        let due = try await world.audit("?rule=no-retry")
        #expect(due.findings.isEmpty && due.rules.first?.not_judged?.contains("may still have been due") == true)
        try await world.advance("21m")
        _ = try await world.send("GET", "/sdk/config?config_type=production", token: session)
        let finding = try #require(try await world.findings("no-retry").first)
        #expect(finding.requests.map(\.sequence) == [refused])
        _ = try await world.send("GET", "/sdk/session", token: session)
        #expect(try await world.findings("no-retry").isEmpty)
    }

    @Test func aRefusalThatWasLostIsNoRefusal() async throws {
        let world = try await TestWorld.make()
        for _ in 0..<5 { _ = try await world.login(user) }
        try await refuseOnce(world, "/sdk/login", ["drop_connection": true])
        _ = try? await login(world, try await world.signedRequest(user))
        let lost = try await world.send("GET", "/_sim/requests?delivered=false")
        #expect(lost["requests.0.status"] == 429)
        #expect(try await login(world, try await world.signedRequest(user)).status == 429)
        let report = try await world.audit("?rule=retry-too-soon")
        #expect(report.findings.isEmpty)
        #expect(report.rules.first?.looked_at == 1)
    }

    @Test func aPostIsNotAskedToBeRepeated() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login(user)
        try await refuseOnce(world, "/sdk/search")
        _ = try await world.send("POST", "/sdk/search", [:], token: session)
        _ = try await world.send("GET", "/sdk/session", token: session)
        #expect(try await world.findings("no-retry").isEmpty)
    }

    // MARK: Tokens and sessions

    @Test func aSignedRequestThatLogsInTwiceIsFound() async throws {
        let world = try await TestWorld.withoutLimits()
        let signed = try await world.signedRequest(user)
        #expect(try await login(world, signed).status == 200)
        #expect(try await login(world, signed).status == 403)
        let finding = try #require(try await world.findings("signed-request-reused").first)
        #expect(finding.requests.count == 2 && finding.count == 1)
        #expect(!finding.text.contains(try #require(signed.text)))
    }

    @Test func aSignedRequestIsSentAgainIfTheAnswerWasLost() async throws {
        let world = try await TestWorld.withoutLimits()
        let signed = try await world.signedRequest(user)
        try await refuseOnce(world, "/sdk/login", ["drop_connection": true])
        _ = try? await login(world, signed)
        _ = try await login(world, signed)
        #expect(try await world.findings("signed-request-reused").isEmpty)
    }

    @Test func aSessionThatIsUsedAfterCleanupIsFound() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login(user)
        _ = try await world.send("GET", "/sdk/session", token: session)
        #expect(try await world.send("POST", "/sdk/logout", token: session).status == 204)
        #expect(try await world.findings("session-after-cleanup").isEmpty)
        let other = try await world.login(user)
        _ = try await world.send("GET", "/sdk/session", token: other)
        #expect(try await world.findings("session-after-cleanup").isEmpty)
        _ = try await world.send("GET", "/sdk/session", token: session)
        #expect(try await world.findings("session-after-cleanup").map(\.count) == [1])
    }

    @Test func aTokenInAURLIsFoundAndMasked() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login(user)
        _ = try await world.send("GET", "/sdk/session", token: session)
        #expect(try await world.findings("token-in-url").isEmpty)
        _ = try await world.send("GET", "/sdk/session?token=\(session)")
        _ = try await world.send("GET", "/v2/authentications/\(TestWorld.apiToken)", token: TestWorld.apiToken)
        let findings = try await world.findings("token-in-url")
        #expect(findings.count == 2)
        #expect(findings.first?.text.contains("?token=***") == true)
        #expect(!findings.contains { $0.text.contains(session) || $0.text.contains(TestWorld.apiToken) })
    }

    @Test func aTokenThatIsTheIDOfARequestIsMasked() async throws {
        let world = try await TestWorld.withoutLimits()
        _ = try await world.send(
            "GET", "/v1/health", token: TestWorld.apiToken,
            headers: ["Api-Version": "1.0", "X-Request-Id": TestWorld.apiToken])
        let answer = try await world.send("GET", "/_sim/audit")
        #expect(answer["findings.0.requests.0.id"] == "***")
        #expect(!answer.text.contains(TestWorld.apiToken))
    }

    @Test func aThirdLoginBesideLivingSessionsIsFound() async throws {
        // Its clock is behind real time, so that the tokens look expired.
        let behind = try await TestWorld.withoutLimits()
        for _ in 0..<3 { _ = try await behind.login(user) }
        let report = try await behind.audit("?rule=login-each-time")
        #expect(report.findings.isEmpty)
        #expect(report.rules.first?.not_judged?.contains("clock is behind real time") == true)
        let world = try await TestWorld.ahead()
        _ = try await world.login(user)
        _ = try await world.login(user)
        #expect(try await world.findings("login-each-time").isEmpty)
        _ = try await world.login(user)
        let finding = try #require(try await world.findings("login-each-time").first)
        #expect(finding.text.hasPrefix("login 3 of DemoOrg-\(user) while 2 sessions"))
    }

    @Test func loginsAfterALogoutAnExpiryOrInAnotherTestAreNoMisuse() async throws {
        let world = try await TestWorld.ahead()
        for _ in 0..<3 {
            let session = try await world.login(user)
            _ = try await world.send("POST", "/sdk/logout", token: session)
        }
        for _ in 0..<3 {
            _ = try await world.login("audit-user-2")
            try await world.advance("25h")
        }
        for number in 0..<3 {
            var test = world
            test.headers = ["X-Sim-Test": "test \(number)"]
            _ = try await test.login("audit-user-3")
        }
        #expect(try await world.findings("login-each-time").isEmpty)
    }

    // MARK: Bodies, parameters and versions

    @Test func aMisspeltMemberIsFound() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login(user)
        let nike: JSONValue = ["brand": "Nike", "style_name": "Air", "custmer_item_id": "sku-1"]
        _ = try await world.startCapture(session, item: nike)
        _ = try await world.send("GET", "/sdk/captures?statu=started", token: session)
        let findings = try await world.findings("unread-member")
        #expect(
            findings.map(\.text).contains {
                $0.hasSuffix("sent the member item.custmer_item_id, which is not read; customer_item_id is")
            }, "\(findings)")
        #expect(
            findings.map(\.text).contains { $0.hasSuffix("has the parameter statu, which is not read; status is") })
        #expect(findings.count == 2)
    }

    /// The names that are found in an item without size, code and customer's id.
    private func namesFound(_ item: JSONValue) async throws -> [String] {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login(user)
        let shoe: JSONValue = ["brand": "Nike", "style_name": "Air"]
        _ = try await world.startCapture(session, item: shoe.merging(item))
        return try await world.findings("unread-member").map { finding in
            String(finding.text.split(separator: "sent the member item.").last?.prefix { $0 != "," } ?? "")
        }
    }

    @Test func membersOfACustomersOwnAreNoMisuse() async throws {
        let own: JSONValue = [
            "warehouse": "12", "customer_item_ids": "a", "sku": "b", "store_code": "c", "style_note": "d",
            "upn": "e", "uk_size": "8", "storeCode": "f",
        ]
        #expect(try await namesFound(own).isEmpty)
        #expect(try await namesFound(["customer_item_id": "a", "customerItemId": "a"]).isEmpty)
    }

    @Test func camelCaseAndShortNamesAreFound() async throws {
        let found = try await namesFound(["customerItemId": "a", "ucp": "1", "us_sise": "9", "styleCode": "x"])
        #expect(found.sorted() == ["customerItemId", "styleCode", "ucp", "us_sise"])
    }

    /// Four letters apart, so only as the same words in another form.
    @Test func aLongNameInCamelCaseIsFoundInABodyWithoutOwnMembers() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login(user)
        let item = try await world.submit(session)
        try await world.advance("1h")
        let body: JSONValue = ["flag": true, "flagReasonId": "wrong_photos"]
        #expect(try await world.send("PUT", "/sdk/results/\(item)/flag", body, token: session).status == 200)
        let finding = try #require(try await world.findings("unread-member").first)
        #expect(finding.text.contains("sent the member flagReasonId, which is not read"), "\(finding.text)")
    }

    @Test(arguments: ["next_cursor", "nextCursor", "pageCursor", "paginationLimit", "page", "offset"])
    func anotherAPIsNameInASearchIsFound(_ name: String) async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login(user)
        _ = try await world.send("POST", "/sdk/search", ["limit": 1, "cursor": []], token: session)
        #expect(try await world.findings("unread-member").isEmpty)
        _ = try await world.send("POST", "/sdk/search", [name: 1], token: session)
        let finding = try #require(try await world.findings("unread-member").first)
        #expect(finding.text.contains("sent the member \(name), which is not read; "))
    }

    @Test func aParentBesideAnIDInAComparisonIsFound() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login(user)
        var ids: [String] = []
        for _ in 0..<2 {
            let capture = try await world.send(
                "POST", "/sdk/captures", ["item": TestWorld.nike, "activity": "fingerprint_register"], token: session)
            let id = try #require(capture["capture_id"].text)
            for step in capture["steps"].items { _ = try await world.upload(id, step["region_id"].text ?? "", session) }
            let submitted = try await world.send("POST", "/sdk/captures/\(id)/submit", token: session)
            ids.append(try #require(submitted["entrupy_id"].text))
            try await world.advance("1h")
        }
        func compare(_ item: JSONObject, _ more: JSONObject) async throws {
            let item = item.merging(["capture_workflow": "fingerprint_compare"]) { $1 }
            let body = more.merging(["item": .object(item)]) { $1 }
            let answer = try await world.send("POST", "/sdk/captures", .object(body), token: session)
            #expect(answer.status == 201, "\(answer.json)")
        }
        try await compare(["entrupy_id": .string(ids[0])], [:])
        try await compare([:], ["fingerprint_parent": .string(ids[1])])
        #expect(try await world.findings("unread-member").isEmpty)
        try await compare(["entrupy_id": .string(ids[0])], ["fingerprint_parent": .string(ids[1])])
        let finding = try #require(try await world.findings("unread-member").first)
        #expect(finding.text.hasSuffix("sent the member fingerprint_parent, which is not read beside item.entrupy_id"))
    }

    @Test func anOldVersionIsFound() async throws {
        let world = try await TestWorld.withoutLimits()
        for version in ["1.4", "1.3"] {
            _ = try await world.send(
                "GET", "/v1/health", token: TestWorld.apiToken, headers: ["Api-Version": version])
        }
        #expect(try await world.findings("deprecated-version").isEmpty)
        _ = try await world.send("GET", "/v1/health", token: TestWorld.apiToken, headers: ["Api-Version": "1.0"])
        #expect(try await world.findings("deprecated-version").first?.text == "GET /v1/health asks for version 1.0")
    }

    // MARK: The report

    @Test func occurrencesOfOneTestAndRouteAreOneFinding() async throws {
        let world = try await TestWorld.withoutLimits()
        var first = world
        first.headers = ["X-Sim-Test": "first"]
        for _ in 0..<12 {
            _ = try await first.send("GET", "/v1/health", token: TestWorld.apiToken, headers: ["Api-Version": "1.0"])
        }
        _ = try await world.send("GET", "/v1/health", token: TestWorld.apiToken, headers: ["Api-Version": "1.0"])
        let findings = try await world.findings("deprecated-version")
        #expect(findings.map(\.count) == [12, 1])
        #expect(findings.map(\.test) == ["first", nil])
        #expect(findings.first?.requests.count == 10)
    }

    @Test func aReportHasAllRulesErrorsFirst() async throws {
        let world = try await TestWorld.make()
        let report = try await world.audit()
        #expect(report.rules.count == 18)
        let levels = report.rules.map(\.level)
        #expect(levels == levels.filter { $0 == .error } + levels.filter { $0 == .warning })
        #expect(report.rules.someAndAll { $0.looked_at == 0 && $0.not_judged == nil })
        #expect(try await world.audit("?level=error").rules.count == 4)
    }

    @Test func aRequestThatAPersonSendsAgainIsNotJudged() async throws {
        let world = try await TestWorld.withoutLimits()
        _ = try await login(world, try await world.signedRequest(user))
        let answer = try await world.send(
            "POST", "/_sim/requests/sequence:\(try await world.lastRequest())/resend", [:])
        #expect(answer["status"] == 403, "\(answer.json)")
        let report = try await world.audit("?rule=signed-request-reused")
        #expect(report.findings.isEmpty && report.rules.first?.looked_at == 1)
    }

    @Test func anUnknownRuleIsRefusedWithTheList() async throws {
        let world = try await TestWorld.make()
        let answer = try await world.send("GET", "/_sim/audit?rule=retry-to-soon")
        #expect(answer.status == 400)
        #expect(answer.text.contains("retry-too-soon, token-in-url"))
    }

    @Test func aNamespaceIsJudgedAlone() async throws {
        let (world, other) = (try await TestWorld.withoutLimits(), try await TestWorld.withoutLimits())
        _ = try await world.send("GET", "/v1/health", token: TestWorld.apiToken, headers: ["Api-Version": "1.0"])
        #expect(try await other.audit().rules.someAndAll { $0.looked_at == 0 })
    }

    @Test func aClientThatKeepsToTheRulesIsBlamedForNothing() async throws {
        let world = try await TestWorld.make()
        let receiver = try await WebhookReceiver.open()
        let session = try await world.login(user)
        try await world.subscribe(receiver)
        let id = try await world.submit(session)
        _ = try await world.result(id, session)
        try await world.advance("5s")
        _ = try await world.result(id, session)
        let flag = try await world.send("GET", "/sdk/results/\(id)/flag", token: session)
        #expect(flag["is_flaggable"] == true)
        _ = try await world.send("PUT", "/sdk/results/\(id)/flag", ["flag": true], token: session)
        _ = try await world.send("POST", "/sdk/search", ["limit": 1], token: session)
        _ = try await world.send("GET", "/v2/authentications/\(id)", token: TestWorld.apiToken)
        try await world.settleWebhooks()
        _ = try await world.send("POST", "/sdk/logout", token: session)
        let report = try await world.audit()
        #expect(report.findings.isEmpty)
        #expect(report.rules.filter { $0.looked_at > 0 }.count > 12, "\(report.rules)")
        try await receiver.close()
    }
}
