import Foundation
import SimulationAPI
import TestSupport
import Testing

/// The rules of an audit about captures, items, lists and receivers [D audit].
@Suite struct AuditedItemTests {
    private let user = "audit-user-4"

    // MARK: Results and flags

    /// The polls of a result that takes an hour. A second of real time may pass between two of them on a busy machine.
    private func poll(_ world: TestWorld, _ id: String, _ session: String, then: () async throws -> Void = {})
        async throws
    {
        for _ in 0..<10 {
            _ = try await world.result(id, session)
            try await then()
        }
    }

    @Test func pollingMoreOftenThanEverySecondIsFound() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off", "result": ["delay": "1h"]])
        let session = try await world.login(user)
        let id = try await world.submit(session)
        try await poll(world, id, session)
        let finding = try #require(try await world.findings("polling-too-tight").first)
        #expect(finding.text.hasPrefix("GET /sdk/results/\(id) of DemoOrg-\(user) came again after "))
        #expect(finding.count > 1 && finding.level == .warning)
    }

    @Test func pollingEverySecondOrAfterTheResultIsNoMisuse() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off", "result": ["delay": "1h"]])
        let session = try await world.login(user)
        let id = try await world.submit(session)
        try await poll(world, id, session) { try await world.advance("1s") }
        try await world.advance("1h")
        try await poll(world, id, session)
        #expect(try await world.findings("polling-too-tight").isEmpty)
    }

    /// Switched off results cannot be flagged.
    private func unflaggable(_ world: TestWorld, _ session: String, _ sku: String) async throws -> String {
        let id = try await world.submit(session, item: TestWorld.nike.merging(["customer_item_id": .string(sku)]))
        try await world.advance("1h")
        return id
    }

    private func flag(_ world: TestWorld, _ id: String, _ session: String) async throws -> Int {
        try await world.send("PUT", "/sdk/results/\(id)/flag", ["flag": true], token: session).status
    }

    @Test func aFlagThatWasReadAsPossibleIsNoMisuse() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login(user)
        let id = try await world.submit(session)
        try await world.advance("1h")
        let read = try await world.send("GET", "/sdk/results/\(id)/flag", token: session)
        #expect(read["is_flaggable"] == true)
        // Another device's answer says otherwise.
        _ = try await world.send("PATCH", "/_sim/settings", ["flagging": ["sdk": false]])
        _ = try await world.result(id, try await world.login(user))
        #expect(try await flag(world, id, session) == 403)
        #expect(try await world.findings("flag-without-check").isEmpty)
    }

    /// The answer to a submission says it of an item without a result.
    @Test func aRefusedFlagThatWasReadAsImpossibleIsFound() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login(user)
        let (read, unread) = (
            try await unflaggable(world, session, "sim-invalid-1"),
            try await unflaggable(world, session, "sim-invalid-2")
        )
        _ = try await world.send("GET", "/sdk/results/\(read)/flag", token: session)
        for id in [read, unread] { #expect(try await flag(world, id, session) == 400) }
        let findings = try await world.findings("flag-without-check")
        #expect(findings.map(\.count) == [2])
        #expect(findings.first?.text.hasSuffix("and the client had read is_flaggable: false of \(read)") == true)
    }

    @Test func aRefusedFlagWithoutALookAtTheItemIsFound() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login(user)
        let generated = try await world.generatedItem([
            "username": .string("DemoOrg-\(user)"), "result": "invalid",
        ])
        let answer = try await world.send("PUT", "/sdk/results/\(generated)/flag", ["flag": true], token: session)
        #expect(answer.status == 400)
        let finding = try #require(try await world.findings("flag-without-check").first)
        #expect(finding.text.hasSuffix("was refused with 400, and the client never read is_flaggable of \(generated)"))
    }

    @Test func aFlagIsNotJudgedWhereTheJournalHasForgotten() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off", "journal": ["entries": 3]])
        let session = try await world.login(user)
        let id = try await world.generatedItem([
            "username": .string("DemoOrg-\(user)"), "result": "invalid",
        ])
        _ = try await world.send("GET", "/sdk/results/\(id)/flag", token: session)
        for _ in 0..<3 { _ = try await world.send("GET", "/sdk/session", token: session) }
        _ = try await world.send("PUT", "/sdk/results/\(id)/flag", ["flag": true], token: session)
        let report = try await world.audit("?rule=flag-without-check")
        #expect(report.findings.isEmpty)
        #expect(report.rules.first?.not_judged?.contains("the journal has forgotten requests") == true)
    }

    // MARK: Captures

    @Test func aCaptureThatTimesOutIsFoundAndACancelledOneIsNot() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login(user)
        let cancelled = try await world.startCapture(session).id
        _ = try await world.send("POST", "/sdk/captures/\(cancelled)/cancel", token: session)
        let left = try await world.startCapture(session).id
        let started = try await world.lastRequest()
        try await world.advance("2h")
        let report = try await world.audit("?rule=capture-abandoned")
        #expect(report.rules.first?.looked_at == 2)
        let finding = try #require(report.findings.first)
        #expect(finding.text.hasPrefix("capture \(left) of DemoOrg-\(user) was left alone"))
        #expect(finding.count == 1 && finding.requests.map(\.sequence) == [started])
    }

    @Test func theSameBytesForARegionAreFound() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login(user)
        let capture = try await world.startCapture(session)
        for region in capture.regions { _ = try await world.upload(capture.id, region, session) }
        #expect(try await world.findings("upload-repeated").isEmpty, "each region has its own image")
        _ = try await world.send(
            "POST", "/_sim/faults",
            ["match": ["route": "/sdk/captures/**"], "effect": ["drop_connection": true], "times": 1])
        let other = try await world.startCapture(session)
        _ = try? await world.upload(other.id, other.regions[0], session)
        _ = try await world.upload(other.id, other.regions[0], session)
        #expect(try await world.findings("upload-repeated").isEmpty, "the first answer may have been lost")
        _ = try await world.upload(other.id, other.regions[0], session)
        #expect(try await world.findings("upload-repeated").map(\.count) == [1])
    }

    @Test func aSubmissionInsteadOfAFlagIsFound() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login(user)
        func submit(_ sku: String) async throws -> String {
            let id = try await world.submit(session, item: TestWorld.nike.merging(["customer_item_id": .string(sku)]))
            try await world.advance("1m")
            return id
        }
        for sku in ["sim-unknown", "sim-unknown"] { _ = try await submit(sku) }
        let flagged = try await submit("sku-1")
        _ = try await world.send("PUT", "/sdk/results/\(flagged)/flag", ["flag": true], token: session)
        _ = try await submit("sku-1")
        #expect(try await world.findings("resubmitted-instead-of-flagged").isEmpty)
        let first = try await submit("sku-2")
        // Which results can be flagged counts then, and not at the time of the audit.
        let again = try await submit("sku-2")
        _ = try await world.send("PATCH", "/_sim/settings", ["flagging": ["sdk": false]])
        let finding = try #require(try await world.findings("resubmitted-instead-of-flagged").first)
        #expect(
            finding.text
                == "sku-2 of DemoOrg-\(user) was submitted again as \(again), although \(first) has a result that can be flagged"
        )
    }

    @Test func aRetakeThatIsNotAnsweredForADayIsFound() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off", "result": ["delay": "30d"]])
        let session = try await world.login(user)
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

    // MARK: Pages

    @Test func aPageThatIsFetchedAgainIsFound() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login(user)
        for number in 0..<3 {
            _ = try await world.generatedItem([
                "username": .string("DemoOrg-\(user)"), "customer_item_id": .string("sku-\(number)"),
            ])
        }
        let first = try await world.send("POST", "/sdk/search", ["limit": 1], token: session)
        let page: JSONValue = ["limit": 1, "cursor": first["next_cursor"]]
        for _ in 0..<5 {
            _ = try await world.send("POST", "/sdk/search", page, token: session)
            _ = try await world.generatedItem(["username": .string("DemoOrg-\(user)")])
        }
        #expect(try await world.findings("page-fetched-twice").isEmpty, "something was written between")
        for _ in 0..<5 { _ = try await world.send("POST", "/sdk/search", page, token: session) }
        let finding = try #require(try await world.findings("page-fetched-twice").first)
        #expect(finding.text.hasSuffix("and nothing was written between"))
    }

    // MARK: Receivers

    /// The findings of a rule after one delivery to a receiver.
    private func delivered(
        _ rule: String, _ behaviour: WebhookReceiver.Behaviour, fault: JSONValue? = nil, settings: JSONValue = [:]
    ) async throws -> [AuditReport.Finding] {
        let world = try await TestWorld.make(settings: settings)
        let receiver = try await WebhookReceiver.open()
        receiver.behave(behaviour)
        try await world.subscribe(receiver)
        if let fault { _ = try await world.send("POST", "/_sim/faults", ["match": ["webhook": "*"], "effect": fault]) }
        _ = try await world.generatedItem()
        try await world.settleWebhooks()
        let findings = try await world.findings(rule)
        try await receiver.close()
        return findings
    }

    @Test func aReceiverThatRefusesARightDeliveryIsFound() async throws {
        let finding = try #require(try await delivered("refused-webhook", .answer(401)).first)
        #expect(finding.text.contains("answered 401 to a delivery that was rightly signed"))
        #expect(try await delivered("refused-webhook", .answer(200)).isEmpty)
        let faulty = try await delivered("refused-webhook", .answer(401), fault: ["wrong_signature": true])
        #expect(faulty.isEmpty)
    }

    @Test func aReceiverThatRedirectsIsFound() async throws {
        let finding = try #require(try await delivered("redirecting-receiver", .redirect).first)
        #expect(finding.text.contains("answered 307, a redirect"))
        #expect(try await delivered("redirecting-receiver", .answer(200)).isEmpty)
    }

    @Test func aReceiverThatTakesLongIsFound() async throws {
        let finding = try #require(
            try await delivered("slow-receiver", .hang, settings: ["webhooks": ["timeout": "1s"]]).first)
        #expect(finding.text.contains("had not answered after 1"), "\(finding.text)")
        let others = try await delivered("slow-receiver", .answer(200), settings: ["webhooks": ["timeout": "300s"]])
        #expect(others.isEmpty)
    }
}
