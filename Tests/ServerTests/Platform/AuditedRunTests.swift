import Foundation
import SimulationAPI
import TestSupport
import Testing

/// `GET /_sim/audit`: clients that break a rule, and clients that only look so [D audit]. `AuditRuleTests` has made-up journals.
@Suite struct AuditedRunTests {
    private static let user = "audit-user"
    private static let owner: JSONObject = ["username": .string("DemoOrg-\(user)")]

    private func started(_ settings: JSONValue = ["rate_limits": "off"]) async throws -> (TestWorld, session: String) {
        let world = try await TestWorld.make(settings: settings)
        return (world, try await world.login(Self.user))
    }

    /// Submits an item, and lets a minute pass.
    private func submit(_ world: TestWorld, _ session: String, _ sku: String, brand: String = "Nike") async throws
        -> String
    {
        let item: JSONValue = ["brand": .string(brand), "style_name": "Air", "customer_item_id": .string(sku)]
        let id = try await world.submit(session, item: item)
        try await world.advance("1m")
        return id
    }

    private func generated(_ world: TestWorld, _ more: JSONObject) async throws -> String {
        try await world.generatedItem(Self.owner.merging(more) { $1 })
    }

    private func flag(_ world: TestWorld, _ id: String, _ session: String, _ body: JSONValue = ["flag": true])
        async throws
        -> Int
    {
        try await world.send("PUT", "/sdk/results/\(id)/flag", body, token: session).status
    }

    // MARK: Retries and lists

    @Test func anotherTestsRefusalIsNotTheirs() async throws {
        let world = try await TestWorld.withoutLimits()
        try await world.fault("/v1/health", ["rate_limit": ["retry_after": "10m"]], times: 1)
        for test in ["a", "b"] {
            _ = try await world.send(
                "GET", "/v1/health", token: TestWorld.apiToken, headers: ["Api-Version": "1.4", "X-Sim-Test": test])
        }
        #expect(try await world.findings("retry-too-soon").isEmpty)
    }

    /// Only a refusal makes it matter whether another request repeats it.
    @Test func bodiesThatWereNotKeptWholeAreNotCompared() async throws {
        let (world, session) = try await started(["rate_limits": "off", "journal": ["body_bytes": 10]])
        func search(_ limit: Int) async throws -> AuditReport {
            _ = try await world.send("POST", "/sdk/search", ["limit": .number(JSONNumber(limit))], token: session)
            return try await world.audit("?rule=retry-too-soon")
        }
        #expect(try await search(10).rules.first?.not_judged == nil)
        try await world.fault("/sdk/search", ["rate_limit": ["retry_after": "10m"]], times: 1)
        _ = try await search(10)
        let report = try await search(20)
        #expect(report.findings.isEmpty)
        #expect(report.rules.first?.not_judged?.contains("not kept whole") == true, "\(report.rules)")
    }

    @Test func anotherPictureIsARetry() async throws {
        let (world, session) = try await started()
        let capture = try await world.startCapture(session)
        try await world.fault("/sdk/captures/**", ["status": 503], times: 1)
        #expect(try await world.upload(capture.id, capture.regions[0], session).status == 503)
        _ = try await world.upload(capture.id, capture.regions[0], session, TestWorld.picture + Data([0]))
        #expect(try await world.findings("no-retry").isEmpty)
    }

    @Test func asterisksAreNoTokenAndSizesOfOtherCountriesNoMistakes() async throws {
        let (world, session) = try await started()
        _ = try await world.send("GET", "/v2/lookup/authentications/shop***9", token: TestWorld.apiToken)
        _ = try await world.startCapture(
            session,
            item: [
                "brand": "Nike", "style_name": "Air", "eu_size": "42", "uk_size": "8", "upn": "1", "upc2": "2",
                "materials": "leather", "style_code_2": "x",
            ])
        #expect(try await world.findings("token-in-url").isEmpty)
        #expect(try await world.findings("unread-member").isEmpty)
    }

    @Test func whatTheJournalHasForgottenIsSaid() async throws {
        let world = try await TestWorld.make(settings: ["journal": ["entries": 2]])
        for _ in 0..<3 { _ = try await world.send("GET", "/sdk/session") }
        #expect(
            try await world.audit().rules.filter { $0.not_judged == nil }.map(\.id) == [
                "slow-receiver", "refused-webhook", "redirecting-receiver", "capture-abandoned", "retake-unanswered",
                "resubmitted-instead-of-flagged",
            ])
    }

    @Test func aPageThatIsFetchedAgainIsFound() async throws {
        let (world, session) = try await started()
        for number in 0..<3 { _ = try await generated(world, ["customer_item_id": .string("sku-\(number)")]) }
        let first = try await world.send("POST", "/sdk/search", ["limit": 1], token: session)
        let page: JSONValue = ["limit": 1, "cursor": first["next_cursor"]]
        for _ in 0..<5 {
            _ = try await world.send("POST", "/sdk/search", page, token: session)
            _ = try await generated(world, [:])
        }
        #expect(try await world.findings("page-fetched-twice").isEmpty, "something was written between")
        for _ in 0..<5 { _ = try await world.send("POST", "/sdk/search", page, token: session) }
        let finding = try #require(try await world.findings("page-fetched-twice").first)
        #expect(finding.text.hasSuffix("and nothing was written between"))
    }

    // MARK: Logins

    @Test func sessionsThatSupportOrAFaultEndedAreNone() async throws {
        let world = try await TestWorld.ahead(settings: ["rate_limits": "off", "sdk": ["ended_session_status": 403]])
        for _ in 0..<4 {
            _ = try await world.login(Self.user)
            _ = try await world.send("DELETE", "/_sim/sessions?username=DemoOrg-\(Self.user)")
        }
        for _ in 0..<4 {
            let session = try await world.login("another-user")
            try await world.fault("/sdk/session", ["expire_session": true], times: 1)
            #expect(try await world.send("GET", "/sdk/session", token: session).status == 403)
        }
        #expect(try await world.findings("login-each-time").isEmpty)
    }

    // MARK: Results and flags

    /// A second of real time may pass between two polls on a busy machine.
    private func poll(_ world: TestWorld, _ id: String, _ session: String, every span: String? = nil) async throws {
        for _ in 0..<10 {
            _ = try await world.result(id, session)
            if let span { try await world.advance(span) }
        }
    }

    @Test func pollingMoreOftenThanEverySecondIsFound() async throws {
        let (world, session) = try await started(["rate_limits": "off", "result": ["delay": "1h"]])
        let changed = try await world.submit(session)
        _ = try await world.result(changed, session)
        _ = try await world.send("PATCH", "/_sim/authentications/\(changed)", ["result": "authentic"])
        _ = try await world.result(changed, session)
        #expect(try await world.findings("polling-too-tight").isEmpty, "the answer has changed")
        let id = try await world.submit(session)
        try await poll(world, id, session, every: "1s")
        try await world.advance("1h")
        try await poll(world, id, session)
        #expect(try await world.findings("polling-too-tight").isEmpty, "it had a result")
        let next = try await world.submit(session)
        try await poll(world, next, session)
        let finding = try #require(try await world.findings("polling-too-tight").first)
        #expect(finding.text.hasPrefix("GET /sdk/results/\(next) of DemoOrg-\(Self.user) came again after "))
        #expect(finding.count > 1 && finding.level == .warning)
    }

    @Test func aFlagThatWasReadAsPossibleIsNoMisuse() async throws {
        let (world, session) = try await started()
        let id = try await world.submit(session)
        try await world.advance("1h")
        let read = try await world.send("GET", "/sdk/results/\(id)/flag", token: session)
        #expect(read["is_flaggable"] == true)
        // Another device's answer says otherwise.
        _ = try await world.send("PATCH", "/_sim/settings", ["flagging": ["sdk": false]])
        _ = try await world.result(id, try await world.login(Self.user))
        #expect(try await flag(world, id, session) == 403)
        #expect(try await world.findings("flag-without-check").isEmpty)
    }

    @Test func aFlagThatIsRefusedForItsReasonNeedsNoLook() async throws {
        let (world, session) = try await started()
        let id = try await generated(world, ["result": "authentic"])
        #expect(try await flag(world, id, session, ["flag": true, "flag_reason_id": "nobody"]) == 400)
        #expect(try await flag(world, id, session, ["flag": false]) == 409)
        try await world.fault("/sdk/results/*", ["drop_connection": true], times: 1)
        _ = try await flag(world, id, session)
        #expect(try await flag(world, id, session) == 409)
        #expect(try await world.findings("flag-without-check").isEmpty)
    }

    /// The answer to a submission says it of an item without a result.
    @Test func aRefusedFlagThatWasReadAsImpossibleIsFound() async throws {
        let (world, session) = try await started()
        let (read, unread) = (
            try await submit(world, session, "sim-invalid-1"), try await submit(world, session, "sim-invalid-2")
        )
        _ = try await world.send("GET", "/sdk/results/\(read)/flag", token: session)
        for id in [read, unread] { #expect(try await flag(world, id, session) == 400) }
        let findings = try await world.findings("flag-without-check")
        #expect(findings.map(\.count) == [2])
        #expect(findings.first?.text.hasSuffix("and the client had read is_flaggable: false of \(read)") == true)
    }

    @Test func aRefusedFlagWithoutALookAtTheItemIsFound() async throws {
        let (world, session) = try await started()
        let id = try await generated(world, ["result": "invalid"])
        #expect(try await flag(world, id, session) == 400)
        let finding = try #require(try await world.findings("flag-without-check").first)
        #expect(finding.text.hasSuffix("was refused with 400, and the client never read is_flaggable of \(id)"))
    }

    @Test func aFlagIsNotJudgedWhereTheJournalHasForgotten() async throws {
        let (world, session) = try await started(["rate_limits": "off", "journal": ["entries": 3]])
        let id = try await generated(world, ["result": "invalid"])
        _ = try await world.send("GET", "/sdk/results/\(id)/flag", token: session)
        for _ in 0..<3 { _ = try await world.send("GET", "/sdk/session", token: session) }
        _ = try await flag(world, id, session)
        let report = try await world.audit("?rule=flag-without-check")
        #expect(report.findings.isEmpty)
        #expect(report.rules.first?.not_judged?.contains("the journal has forgotten requests") == true)
    }

    // MARK: Captures and submissions

    @Test func aCaptureThatTimesOutIsFoundAndOneThatEndedOrWasLostIsNot() async throws {
        let (world, session) = try await started()
        let cancelled = try await world.startCapture(session).id
        _ = try await world.send("POST", "/sdk/captures/\(cancelled)/cancel", token: session)
        try await world.fault("/sdk/captures", ["drop_connection": true], times: 1)
        _ = try await world.send("POST", "/sdk/captures", ["item": TestWorld.nike], token: session)
        let left = try await world.startCapture(session).id
        let started = try await world.lastRequest()
        try await world.advance("3h")
        let report = try await world.audit("?rule=capture-abandoned")
        #expect(report.rules.first?.looked_at == 3 && report.findings.count == 1)
        let finding = try #require(report.findings.first)
        #expect(finding.text.hasPrefix("capture \(left) of DemoOrg-\(Self.user) was left alone"))
        #expect(finding.count == 1 && finding.requests.map(\.sequence) == [started])
    }

    @Test func theSameBytesForARegionAreFound() async throws {
        let (world, session) = try await started()
        let capture = try await world.startCapture(session)
        for region in capture.regions { _ = try await world.upload(capture.id, region, session) }
        #expect(try await world.findings("upload-repeated").isEmpty, "each region has its own image")
        for effect in ["drop_connection", "malformed_json"] {
            let other = try await world.startCapture(session)
            try await world.fault("/sdk/captures/**", [effect: true], times: 1)
            for _ in 0..<2 { _ = try await world.upload(other.id, other.regions[0], session) }
            #expect(try await world.findings("upload-repeated").isEmpty, "\(effect): the first answer was lost")
        }
        _ = try await world.upload(capture.id, capture.regions[0], session)
        #expect(try await world.findings("upload-repeated").map(\.count) == [1])
    }

    @Test func aSubmissionInsteadOfAFlagIsFound() async throws {
        let (world, session) = try await started()
        for _ in 0..<2 { _ = try await submit(world, session, "sim-unknown") }
        let flagged = try await submit(world, session, "sku-1")
        #expect(try await flag(world, flagged, session) == 200)
        _ = try await submit(world, session, "sku-1")
        for _ in 0..<2 { _ = try await generated(world, ["result": "authentic", "customer_item_id": "sku-7"]) }
        #expect(try await world.findings("resubmitted-instead-of-flagged").isEmpty)
        let first = try await submit(world, session, "sku-2")
        // Which results can be flagged counts then, and not at the time of the audit.
        let again = try await submit(world, session, "sku-2")
        _ = try await world.send("PATCH", "/_sim/settings", ["flagging": ["sdk": false]])
        let finding = try #require(try await world.findings("resubmitted-instead-of-flagged").first)
        #expect(
            finding.text
                == "sku-2 of DemoOrg-\(Self.user) was submitted again as \(again), although \(first) has a result that can be flagged"
        )
    }

    @Test func aResultThatCouldNotBeDisputedThenIsNoReason() async throws {
        let (world, session) = try await started()
        let first = try await submit(world, session, "sku-9", brand: "Nobody")
        _ = try await submit(world, session, "sku-9", brand: "Nobody")
        _ = try await world.send("PATCH", "/_sim/authentications/\(first)", ["result": "authentic"])
        _ = try await world.send("PATCH", "/_sim/settings", ["flagging": ["sdk": false]])
        for _ in 0..<2 { _ = try await submit(world, session, "sku-8") }
        _ = try await world.send("PATCH", "/_sim/settings", ["flagging": ["sdk": true]])
        #expect(try await world.findings("resubmitted-instead-of-flagged").isEmpty)
    }

    @Test func aRetakeThatIsNotAnsweredForADayIsFound() async throws {
        let (world, session) = try await started(["rate_limits": "off", "result": ["delay": "30d"]])
        let id = try await world.submit(session)
        #expect(try await world.send("POST", "/_sim/authentications/\(id)/retake", [:]).status == 200)
        try await world.advance("23h59m")
        #expect(try await world.findings("retake-unanswered").isEmpty)
        try await world.advance("1m")
        let finding = try #require(try await world.findings("retake-unanswered").first)
        #expect(
            finding.text.contains("not answered (after 24h, at most 24h)") || finding.text.contains("1d"),
            "\(finding.text)")
    }
}
