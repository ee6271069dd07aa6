import Foundation
import Hashes
import SimulationAPI
import TestSupport
import Testing

/// `entrupy-sim webhooks probe`, against real receivers.
@Suite struct ProbeTests {
    private let secret = "whsec_probe_1234567890"

    /// The results against a receiver that decides by the signature and the body.
    private func probe(
        _ options: String..., takes: @escaping @Sendable (_ signature: String?, _ body: Data) -> Bool
    ) async throws -> (status: Int32, results: [JSONValue]) {
        let receiver = try await WebhookReceiver.open()
        receiver.behave(.decide { takes($0.headers["Entrupy-Signature"].first, $0.body) ? 200 : 401 })
        let run = try await SimProcess.run(
            ["webhooks", "probe", receiver.url, "--secret", secret, "--json"] + options)
        try await receiver.close()
        let json = try WireJSON.decode(JSONValue.self, from: Data(run.output.utf8))
        return (run.status, json["deliveries"].items)
    }

    private func isRight(_ signature: String?, _ body: Data) -> Bool {
        let code = HMACSHA256(key: Data(secret.utf8)).code(for: body)
        return signature == "SHA256:" + Data(code).base64EncodedString()
    }

    @Test func aCarefulReceiverPasses() async throws {
        let probe = try await probe { self.isRight($0, $1) }
        #expect(probe.status == 0)
        #expect(probe.results.map { $0["ok"] }.someAndAll { $0 == true })
        #expect(probe.results.count { $0["taken"] == true } == 2)
        #expect(
            Set(probe.results.compactMap { $0["delivery"].text }) == [
                "right", "repeated", "unsigned", "wrong secret", "changed body",
            ])
    }

    @Test func aReceiverThatChecksNothingFails() async throws {
        let probe = try await probe { _, _ in true }
        #expect(probe.status == 1)
        let wrong = probe.results.filter { $0["ok"] == false }.compactMap { $0["delivery"].text }
        #expect(wrong == ["unsigned"] + Array(repeating: ["wrong secret", "changed body"], count: 3).flatMap { $0 })
    }

    @Test func aReceiverThatRefusesRightDeliveriesFails() async throws {
        let probe = try await probe { _, _ in false }
        #expect(probe.status == 1)
        #expect(probe.results.filter { $0["ok"] == false }.compactMap { $0["delivery"].text } == ["right", "repeated"])
    }

    /// A path that takes nothing refuses nothing.
    @Test(arguments: [404, 405]) func aPathWithoutAReceiverIsNamed(status: Int) async throws {
        let receiver = try await WebhookReceiver.open()
        receiver.behave(.decide { _ in status })
        let run = try await SimProcess.run(["webhooks", "probe", receiver.url, "--secret", secret])
        try await receiver.close()
        #expect(run.status == 1 && !run.output.contains("ok: refused"), "\(run.output)")
        #expect(run.output.contains("WRONG: no receiver at this path"), "\(run.output)")
    }

    /// An answer from 500 is no refusal of a delivery that must be refused.
    @Test func aReceiverThatFailsRefusesNothing() async throws {
        let receiver = try await WebhookReceiver.open()
        receiver.behave(.decide { _ in 500 })
        let run = try await SimProcess.run(["webhooks", "probe", receiver.url, "--secret", secret])
        try await receiver.close()
        #expect(run.status == 1 && !run.output.contains("ok: refused"), "\(run.output)")
        #expect(run.output.contains("note: the receiver failed with 500: seen"), "\(run.output)")
        // One that fails where it must refuse is not careful either.
        let other = try await WebhookReceiver.open()
        other.behave(.decide { self.isRight($0.headers["Entrupy-Signature"].first, $0.body) ? 200 : 500 })
        let failing = try await SimProcess.run(["webhooks", "probe", other.url, "--secret", secret])
        try await other.close()
        #expect(failing.status == 1, "\(failing.output)")
    }

    @Test func anItemOfAServerIsSent() async throws {
        let world = try await TestWorld.make()
        let made = try await world.send(
            "POST", "/_sim/authentications", ["username": "OtherOrg-probe-user", "customer_item_id": "mine"])
        let id = try #require(made["entrupy_ids.0"].text)
        let receiver = try await WebhookReceiver.open()
        receiver.behave(.decide { self.isRight($0.headers["Entrupy-Signature"].first, $0.body) ? 200 : 401 })
        let arguments = ["webhooks", "probe", receiver.url, "--secret", secret, "--item"]
        let run = try await SimProcess.run(arguments + [id], environment: ["ENTRUPY_SIM_URL": world.base])
        #expect(run.status == 0 && receiver.deliveries.first?.item["entrupy_id"].text == id, "\(run.output)")
        let wrong = try await SimProcess.run(arguments + ["NOSUCHID"], environment: ["ENTRUPY_SIM_URL": world.base])
        #expect(wrong.status == 1 && wrong.output.contains("there is no item \"NOSUCHID\""), "\(wrong.output)")
        try await receiver.close()
    }

    @Test func anotherFormCanBeTheRightOne() async throws {
        let hex: @Sendable (String?, Data) -> Bool = { signature, body in
            let code = HMACSHA256(key: Data(self.secret.utf8)).code(for: body)
            return signature == code.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
        #expect(try await probe(takes: hex).status == 1)
        #expect(try await probe("--signature", "hex", takes: hex).status == 0)
    }

    @Test func aReceiverThatIsNotThereFails() async throws {
        let run = try await SimProcess.run(
            ["webhooks", "probe", "http://127.0.0.1:1/hooks", "--secret", secret, "--timeout", "2s"])
        #expect(run.status == 1 && run.output.contains("connection refused"), "\(run.output)")
        #expect(run.output.split(separator: "\n").count == 2, "the others are not tried: \(run.output)")
        let wrong = try await SimProcess.run(["webhooks", "probe", "ftp://x", "--secret", secret])
        #expect(wrong.status == 64 && wrong.output.contains("must be an http or https URL"), "\(wrong.output)")
    }
}
