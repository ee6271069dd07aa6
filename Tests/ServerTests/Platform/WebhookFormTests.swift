import Foundation
import SimulationAPI
import TestSupport
import Testing

/// The forms of webhooks, and how they are chosen.
@Suite struct WebhookFormTests {
    private static let target: JSONObject = ["url": "http://127.0.0.1:9/hooks", "secret_key": "s"]

    private func subscribe(_ world: TestWorld, _ more: JSONObject = [:]) async throws -> TestWorld.Answer {
        try await world.send(
            "POST", "/v2/webhooks", .object(Self.target.merging(more) { $1 }), token: TestWorld.apiToken)
    }

    private func forms(_ answer: TestWorld.Answer) -> [String?] { [answer["format"].text, answer["signature"].text] }

    @Test func aSubscriptionHasTheFormsOfThePlatformUnlessItNamesOthers() async throws {
        let world = try await TestWorld.make()
        let usual = try await subscribe(world)
        #expect(forms(usual) == ["items", "sha256-base64"])
        #expect(usual["status"] == "active" && usual["verification"] == .null && usual["version"] == "v2")
        #expect(forms(try await subscribe(world, ["format": "event", "signature": "hex"])) == ["event", "hex"])
        let path = "/v2/webhooks/\(usual["id"].text ?? "")"
        let changed = try await world.send(
            "PATCH", path, ["signature": "sha256-hex"], token: TestWorld.apiToken)
        #expect(forms(changed) == ["items", "sha256-hex"])
        let listed = try await world.send("GET", "/_sim/webhooks")["webhooks"].items
        #expect(listed.map { $0["signature"] } == ["sha256-hex", "hex"] && listed.last?["format"] == "event")
    }

    @Test(arguments: ["1.3", "1.4"]) func aSubscriptionOfV1ShowsItsMinorVersion(version: String) async throws {
        let world = try await TestWorld.make()
        let answer = try await world.send(
            "POST", "/v1/webhooks", .object(Self.target), token: TestWorld.apiToken,
            headers: ["Api-Version": version])
        #expect(answer["version"].text == version)
    }

    @Test func v1HasWebhooksFromVersion13On() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        for (method, path) in [
            ("POST", ""), ("GET", ""), ("GET", "/x"), ("PATCH", "/x"), ("DELETE", "/x"), ("POST", "/x/verify"),
        ] {
            let answer = try await world.send(
                method, "/v1/webhooks\(path)", token: TestWorld.apiToken, headers: ["Api-Version": "1.2"])
            #expect(answer.status == 400 && answer["details.0.field"] == "Api-Version", "\(method) \(path)")
        }
        let list = try await world.send(
            "GET", "/v1/webhooks", token: TestWorld.apiToken, headers: ["Api-Version": "1.3"])
        #expect(list.status == 200)
    }

    @Test func settingsDecideForLaterSubscriptions() async throws {
        let world = try await TestWorld.make()
        let settings = try await world.send("GET", "/_sim/settings")["webhooks"]
        #expect(settings["format"] == "items" && settings["signature"] == "sha256-base64")
        #expect(settings["domain_verification"] == false)
        let before = try await subscribe(world)
        let patch: JSONValue = ["webhooks": ["format": "event", "signature": "hex"]]
        #expect(try await world.send("PATCH", "/_sim/settings", patch).status == 200)
        #expect(forms(try await subscribe(world)) == ["event", "hex"])
        let first = try await world.send(
            "GET", "/v2/webhooks/\(before["id"].text ?? "")", token: TestWorld.apiToken)
        #expect(forms(first) == ["items", "sha256-base64"])
        for wrong: JSONValue in [
            ["format": "xml"], ["signature": "sha1"], ["domain_verification": "yes"], ["forms": "items"],
        ] {
            let answer = try await world.send("PATCH", "/_sim/settings", ["webhooks": wrong])
            #expect(answer.status == 400 && !answer["details"].items.isEmpty, "\(wrong)")
        }
    }

    @Test func seedDataDecidesForANamespace() async throws {
        let world = try await TestWorld.make()
        func load(_ yaml: String) async throws -> TestWorld.Answer {
            try await world.send(
                "POST", "/_sim/seed", bytes: Data(yaml.utf8), headers: ["Content-Type": "application/yaml"])
        }
        func export() async throws -> String {
            String(decoding: try await world.send("GET", "/_sim/export").body, as: UTF8.self)
        }
        #expect(try await !export().contains("webhooks:"), "the built-in seed leaves the forms to the platform")
        let loaded = try await load("webhooks: {format: event, signature: hex}\n")
        try #require(loaded.status == 200, "\(loaded.json)")
        #expect(forms(try await subscribe(world)) == ["event", "hex"])
        let settings = try await world.send("GET", "/_sim/settings")["webhooks"]
        #expect(settings["format"] == "event" && settings["domain_verification"] == false)
        let text = try await export()
        #expect(text.contains("webhooks:"))
        let copy = try await TestWorld.make()
        let copied = try await copy.send(
            "POST", "/_sim/seed", bytes: Data(text.utf8), headers: ["Content-Type": "application/yaml"])
        #expect(copied.status == 200)
        #expect(forms(try await subscribe(copy)) == ["event", "hex"])
        for (yaml, accepted) in [
            ("{format: xml}", "items, event"), ("{signature: sha1}", "sha256-base64, sha256-hex, hex"),
            ("{domain_verification: 1}", "true or false"), ("{secret: x}", "format, signature, domain_verification"),
        ] {
            let wrong = try await load("webhooks: \(yaml)\n")
            #expect(wrong.status == 400 && wrong["error"].text?.contains(accepted) == true, "\(wrong.json)")
        }
    }
}
