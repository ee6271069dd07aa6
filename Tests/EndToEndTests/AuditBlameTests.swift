import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Clients that look as if they broke a rule of the audit, and do not [D audit].
@Suite struct AuditBlameTests {
    private let user = "audit-user-6"

    private func fault(_ world: TestWorld, _ route: String, _ effect: JSONValue, _ match: JSONObject = [:]) async throws
    {
        let answer = try await world.send(
            "POST", "/_sim/faults",
            [
                "match": .object((["route": .string(route)] as JSONObject).merging(match) { $1 }), "effect": effect,
                "times": 1,
            ])
        try #require(answer.status == 201, "\(answer.json)")
    }

    private func named(_ test: String, _ world: TestWorld) -> TestWorld {
        var world = world
        world.headers = ["X-Sim-Test": test]
        return world
    }

    @Test func anotherTestsRefusalIsNotTheirs() async throws {
        let world = try await TestWorld.withoutLimits()
        try await fault(world, "/v1/health", ["rate_limit": ["retry_after": "10m"]])
        for test in ["a", "b"] {
            _ = try await named(test, world).send(
                "GET", "/v1/health", token: TestWorld.apiToken, headers: ["Api-Version": "1.4"])
        }
        #expect(try await world.findings("retry-too-soon").isEmpty)
    }

    @Test func bodiesThatWereNotKeptWholeAreNotCompared() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off", "journal": ["body_bytes": 10]])
        let session = try await world.login(user)
        try await fault(world, "/sdk/search", ["rate_limit": ["retry_after": "10m"]])
        for limit in [10, 20] {
            _ = try await world.send("POST", "/sdk/search", ["limit": .number(JSONNumber(limit))], token: session)
        }
        let report = try await world.audit("?rule=retry-too-soon")
        #expect(report.findings.isEmpty)
        #expect(report.rules.first?.not_judged?.contains("not kept whole") == true, "\(report.rules)")
    }

    /// Only a refusal makes it matter whether another request repeats it.
    @Test func bodiesThatWereNotKeptWholeAreNoProblemWithoutARefusal() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off", "journal": ["body_bytes": 10]])
        let session = try await world.login(user)
        _ = try await world.send("POST", "/sdk/search", ["limit": 10], token: session)
        #expect(try await world.audit("?rule=retry-too-soon").rules.first?.not_judged == nil)
    }

    @Test func asterisksAreNoToken() async throws {
        let world = try await TestWorld.withoutLimits()
        _ = try await world.send("GET", "/v2/lookup/authentications/shop***9", token: TestWorld.apiToken)
        #expect(try await world.findings("token-in-url").isEmpty)
    }

    @Test func anAnswerThatHasChangedMayBeAskedForAtOnce() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off", "result": ["delay": "1h"]])
        let session = try await world.login(user)
        let id = try await world.submit(session)
        _ = try await world.result(id, session)
        _ = try await world.send("PATCH", "/_sim/authentications/\(id)", ["result": "authentic"])
        _ = try await world.result(id, session)
        #expect(try await world.findings("polling-too-tight").isEmpty)
    }

    @Test func sessionsThatSupportEndedAreNone() async throws {
        let world = try await TestWorld.ahead()
        for _ in 0..<4 {
            _ = try await world.login(user)
            _ = try await world.send("DELETE", "/_sim/sessions?username=DemoOrg-\(user)")
        }
        #expect(try await world.findings("login-each-time").isEmpty)
    }

    @Test func sessionsThatEndWith403AreNone() async throws {
        let world = try await TestWorld.ahead(
            settings: ["rate_limits": "off", "sdk": ["ended_session_status": 403]])
        for _ in 0..<4 {
            let session = try await world.login(user)
            try await fault(world, "/sdk/session", ["expire_session": true])
            #expect(try await world.send("GET", "/sdk/session", token: session).status == 403)
        }
        #expect(try await world.findings("login-each-time").isEmpty)
    }

    @Test func anItemThatATestMadeIsNoSubmission() async throws {
        let world = try await TestWorld.withoutLimits()
        // Events are looked at from the first submission of a client on.
        _ = try await world.submit(try await world.login(user))
        for _ in 0..<2 {
            _ = try await world.generatedItem([
                "result": "authentic", "customer_item_id": "sku-7", "username": .string("DemoOrg-\(user)"),
            ])
        }
        #expect(try await world.findings("resubmitted-instead-of-flagged").isEmpty)
    }

    @Test func sizesOfOtherCountriesAreNoMistakes() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login(user)
        _ = try await world.startCapture(
            session,
            item: [
                "brand": "Nike", "style_name": "Air", "eu_size": "42", "uk_size": "8", "upn": "1", "upc2": "2",
                "materials": "leather", "style_code_2": "x",
            ])
        #expect(try await world.findings("unread-member").isEmpty)
    }

    @Test func aResultThatCouldNotBeDisputedThenIsNoReason() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login(user)
        func submit() async throws -> String {
            let id = try await world.submit(
                session, item: ["brand": "Nobody", "style_name": "x", "customer_item_id": "sku-9"])
            try await world.advance("1m")
            return id
        }
        let first = try await submit()
        _ = try await submit()
        _ = try await world.send("PATCH", "/_sim/authentications/\(first)", ["result": "authentic"])
        #expect(try await world.findings("resubmitted-instead-of-flagged").isEmpty)
    }

    @Test func aResubmissionWhileNothingCouldBeDisputedIsNoReason() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login(user)
        _ = try await world.send("PATCH", "/_sim/settings", ["flagging": ["sdk": false]])
        for _ in 0..<2 {
            _ = try await world.submit(session, item: TestWorld.nike.merging(["customer_item_id": "sku-8"]))
            try await world.advance("1m")
        }
        _ = try await world.send("PATCH", "/_sim/settings", ["flagging": ["sdk": true]])
        #expect(try await world.findings("resubmitted-instead-of-flagged").isEmpty)
    }

    @Test func aFlagThatIsRefusedForItsReasonNeedsNoLook() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login(user)
        let id = try await world.generatedItem(["username": .string("DemoOrg-\(user)"), "result": "authentic"])
        let wrong = try await world.send(
            "PUT", "/sdk/results/\(id)/flag", ["flag": true, "flag_reason_id": "nobody"], token: session)
        let clear = try await world.send("PUT", "/sdk/results/\(id)/flag", ["flag": false], token: session)
        #expect(wrong.status == 400 && clear.status == 409)
        try await fault(world, "/sdk/results/*", ["drop_connection": true])
        _ = try? await world.send("PUT", "/sdk/results/\(id)/flag", ["flag": true], token: session)
        #expect(try await world.send("PUT", "/sdk/results/\(id)/flag", ["flag": true], token: session).status == 409)
        #expect(try await world.findings("flag-without-check").isEmpty)
    }

    @Test func aCaptureWhoseStartWasLostIsNotLeftAlone() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login(user)
        try await fault(world, "/sdk/captures", ["drop_connection": true])
        _ = try? await world.send("POST", "/sdk/captures", ["item": TestWorld.nike], token: session)
        try await world.advance("3h")
        let report = try await world.audit("?rule=capture-abandoned")
        #expect(report.rules.first?.looked_at == 1 && report.findings.isEmpty)
    }

    @Test func anUploadAfterAnUnreadableAnswerIsNoRepetition() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login(user)
        let capture = try await world.startCapture(session)
        try await fault(world, "/sdk/captures/**", ["malformed_json": true])
        for _ in 0..<2 { _ = try await world.upload(capture.id, capture.regions[0], session) }
        #expect(try await world.findings("upload-repeated").isEmpty)
    }

    @Test func anotherPictureIsARetry() async throws {
        let world = try await TestWorld.withoutLimits()
        let session = try await world.login(user)
        let capture = try await world.startCapture(session)
        try await fault(world, "/sdk/captures/**", ["status": 503])
        #expect(try await world.upload(capture.id, capture.regions[0], session).status == 503)
        _ = try await world.upload(capture.id, capture.regions[0], session, TestWorld.picture + Data([0]))
        #expect(try await world.findings("no-retry").isEmpty)
    }

    @Test func whatTheJournalHasForgottenIsSaid() async throws {
        let world = try await TestWorld.make(settings: ["journal": ["entries": 2]])
        for _ in 0..<3 { _ = try await world.send("GET", "/sdk/session") }
        let rules = try await world.audit().rules
        let silent = rules.filter { $0.not_judged == nil }.map(\.id)
        #expect(
            silent == [
                "slow-receiver", "refused-webhook", "redirecting-receiver", "capture-abandoned", "retake-unanswered",
                "resubmitted-instead-of-flagged",
            ])
    }

    @Test func aReceiversQueryIsMasked() async throws {
        let world = try await TestWorld.withoutLimits()
        let receiver = try await WebhookReceiver.open()
        receiver.behave(.answer(401))
        // Not by the partner API, whose request is in the journal with its body.
        let made = try await world.send(
            "POST", "/_sim/webhooks",
            ["url": .string(receiver.url + "?token=s3cr3tQ9xyz&a=b"), "secret_key": "a-long-secret"])
        try #require(made.status == 201)
        _ = try await world.generatedItem()
        try await world.settleWebhooks()
        let finding = try #require(try await world.findings("refused-webhook").first)
        #expect(finding.text.contains("/hooks?token=***&a=*** answered 401"), "\(finding.text)")
        // So is it in everything else that is kept and shown to others. A scenario needs a request.
        _ = try await world.send("GET", "/sdk/session")
        let item = try #require(try await world.send("GET", "/_sim/authentications")["authentications.0.id"].text)
        let chain = try await world.send("GET", "/_sim/explain/\(item)")
        #expect(chain.text.contains("?token=***") && !chain.text.contains("s3cr3tQ9xyz"), "\(chain.text)")
        let bundle = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).tar").path
        defer { try? FileManager.default.removeItem(atPath: bundle) }
        try await world.send("GET", "/_sim/bundle").body.write(to: URL(fileURLWithPath: bundle))
        for command in [["scenario", "from", bundle, "-o", "-"], ["report", bundle, "-o", "-"]] {
            let run = try await SimProcess.run(command)
            #expect(run.status == 0 && run.output.contains("/hooks"), "\(command): \(run.output.prefix(500))")
            #expect(!run.output.contains("s3cr3tQ9xyz"), "\(command)")
        }
        try await receiver.close()
    }

    /// Secrets of such bundles are all `***`.
    @Test func aBundleWithoutDigestsIsNotJudgedByItsMasks() async throws {
        let world = try await TestWorld.withoutLimits()
        for _ in 0..<3 {
            let session = try await world.login(user)
            _ = try await world.send("GET", "/sdk/session", token: session)
            _ = try await world.send("POST", "/sdk/logout", token: session)
        }
        var archive = try TarFile(try await world.send("GET", "/_sim/bundle").body)
        let index = try #require(archive.entries.firstIndex { $0.name == "journal.json" })
        let journal = try WireJSON.decode(JSONValue.self, from: archive.entries[index].bytes)
        let requests = journal["requests"].items.map { request in
            JSONValue.object((request.members ?? [:]).filter { $0.key != "digests" })
        }
        archive.entries[index].bytes = try WireJSON.encode(["requests": .array(requests)] as JSONValue)
        let bytes = archive.bytes
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let file = directory + "/old.tar"
            try bytes.write(to: URL(fileURLWithPath: file))
            let run = try await SimProcess.run(["audit", file, "--json"])
            #expect(run.status == 0, "\(run.output)")
            let report = try WireJSON.decode(AuditReport.self, from: Data(run.output.utf8))
            #expect(report.findings.isEmpty)
            for rule in ["signed-request-reused", "session-after-cleanup", "login-each-time"] {
                let reason = report.rules.first { $0.id == rule }?.not_judged ?? ""
                #expect(reason.contains("written by version 0.2.0 or older"), "\(rule): \(reason)")
            }
        }
    }
}
