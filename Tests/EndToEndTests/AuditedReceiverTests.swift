import Foundation
import SimulationAPI
import TestSupport
import Testing

/// The rules of an audit about receivers, and an audit of older bundles [D audit]. `AuditedRunTests` has the other rules.
@Suite struct AuditedReceiverTests {
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

    @Test func receiversThatRefuseRedirectOrTakeLongAreFound() async throws {
        let refusing = try #require(try await delivered("refused-webhook", .answer(401)).first)
        #expect(refusing.text.contains("answered 401 to a delivery that was rightly signed"))
        let redirecting = try #require(try await delivered("redirecting-receiver", .redirect).first)
        #expect(redirecting.text.contains("answered 307, a redirect"))
        let slow = try #require(
            try await delivered("slow-receiver", .hang, settings: ["webhooks": ["timeout": "1s"]]).first)
        #expect(slow.text.contains("had not answered after 1"), "\(slow.text)")
        for rule in ["refused-webhook", "redirecting-receiver", "slow-receiver"] {
            let right = try await delivered(rule, .answer(200), settings: ["webhooks": ["timeout": "300s"]])
            #expect(right.isEmpty, "\(rule)")
        }
        #expect(try await delivered("refused-webhook", .answer(401), fault: ["wrong_signature": true]).isEmpty)
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
        let item = try await world.generatedItem()
        try await world.settleWebhooks()
        let finding = try #require(try await world.findings("refused-webhook").first)
        #expect(finding.text.contains("/hooks?token=***&a=*** answered 401"), "\(finding.text)")
        // So is it in everything else that is kept and shown to others. A scenario needs a request.
        _ = try await world.send("GET", "/sdk/session")
        let chain = try await world.send("GET", "/_sim/explain/\(item)")
        #expect(chain.text.contains("?token=***") && !chain.text.contains("s3cr3tQ9xyz"), "\(chain.text)")
        try await withBundle(try await world.send("GET", "/_sim/bundle").body) { bundle in
            for command in [["scenario", "from", bundle, "-o", "-"], ["report", bundle, "-o", "-"]] {
                let run = try await SimProcess.run(command)
                #expect(run.status == 0 && run.output.contains("/hooks"), "\(command): \(run.output.prefix(500))")
                #expect(!run.output.contains("s3cr3tQ9xyz"), "\(command)")
            }
        }
        try await receiver.close()
    }

    /// Secrets of such bundles are all `***`.
    @Test func aBundleWithoutDigestsIsNotJudgedByItsMasks() async throws {
        let world = try await TestWorld.withoutLimits()
        for _ in 0..<3 {
            let session = try await world.login("audit-user-6")
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
        try await withBundle(archive.bytes) { file in
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

    private func withBundle(_ bytes: Data, _ body: (String) async throws -> Void) async throws {
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            try bytes.write(to: URL(fileURLWithPath: directory + "/a.tar"))
            try await body(directory + "/a.tar")
        }
    }
}
