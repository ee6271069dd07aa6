import Foundation
import Hashes
import SimulationAPI
import TestSupport
import Testing

/// The forms of webhooks, and how they are chosen.
@Suite struct WebhookFormTests {
    private static let target: JSONObject = ["url": "http://127.0.0.1:9/hooks", "secret_key": "s"]

    private func subscribe(_ world: TestWorld, _ more: JSONObject = [:]) async throws -> Answer {
        try await world.send(
            "POST", "/v2/webhooks", .object(Self.target.merging(more) { $1 }), token: TestWorld.apiToken)
    }

    private func forms(_ answer: Answer) -> [String?] { [answer["format"].text, answer["signature"].text] }

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
        func load(_ yaml: String) async throws -> Answer {
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

    @Test func aScenarioNamesTheFormsOfItsSubscriptions() async throws {
        let world = try await TestWorld.make()
        func start(_ form: String) async throws -> Answer {
            let text = """
                name: forms
                description: A subscription in an earlier form.
                subscriptions:
                  - {url: "http://127.0.0.1:9/hooks", format: event, signature: \(form)}
                """
            let put = try await world.send(
                "PUT", "/_sim/scenarios/forms", bytes: Data(text.utf8), headers: ["Content-Type": "application/yaml"])
            guard put.status < 300 else { return put }
            return try await world.send("POST", "/_sim/scenarios/forms/start", [:])
        }
        let started = try await start("hex")
        #expect(started.status < 300, "\(started.json)")
        let listed = try await world.send("GET", "/_sim/webhooks")["webhooks"]
        #expect(listed.items.map { [$0["format"], $0["signature"]] } == [["event", "hex"]])
        let wrong = try await start("md5")
        #expect(wrong.status == 400 && wrong["error"].text?.contains("sha256-base64") == true, "\(wrong.json)")
    }

    @Test func aChangedFormAppliesToLaterAttemptsAndNotToStoredBodies() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        let receiver = try await WebhookReceiver.open()
        receiver.behave(.answer(500))
        let made = try await subscribe(
            world, ["url": .string(receiver.url), "events": ["session.completed"], "format": "event"])
        _ = try await world.send("POST", "/_sim/authentications")
        try await world.advance("0s")
        _ = try await world.send(
            "PATCH", "/v2/webhooks/\(made["id"].text ?? "")", ["format": "items", "signature": "hex"],
            token: TestWorld.apiToken)
        receiver.behave(.answer(200))
        try await world.advance("1s")
        #expect(Set(receiver.deliveries.map(\.body)).count == 1 && receiver.deliveries.count == 2)
        #expect(receiver.deliveries.map { $0.headers["Entrupy-Signature"].first?.count } == [51, 64])
        let delivery = try await world.send("GET", "/_sim/webhook-deliveries")["deliveries.0"]
        #expect(delivery["format"] == "event")
        #expect(delivery["attempts"].items.map { $0["signature"] } == ["sha256-base64", "hex"])
    }

    @Test(arguments: [["format": "xml"], ["format": 1], ["signature": "sha1"], ["signature": ""]] as [JSONObject])
    func anUnknownFormatOrSignatureIsRefused(wrong: JSONObject) async throws {
        let world = try await TestWorld.make()
        let answer = try await subscribe(world, wrong)
        #expect(answer.status == 400 && answer["details.0.field"].text == wrong.sorted.first?.name)
        #expect(answer["details.0.problem"].text?.hasPrefix("must be one of ") == true)
        #expect(try await world.send("GET", "/_sim/webhooks")["webhooks"] == [])
    }

    // MARK: The command line

    private func verify(
        _ signature: String, _ body: String, _ more: String...
    ) async throws -> (status: Int32, output: String) {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(body.utf8).write(to: file)
        return try await SimProcess.run(
            ["webhooks", "verify", "--secret", "s3crét", "--signature", signature, file.path] + more)
    }

    @Test func theCommandLineChecksASignatureAndShowsTheExpectedOne() async throws {
        let body = #"{"items":[{"entrupy_id":"ABCD2345"}]}"#
        let code = Data(
            HMACSHA256(key: Data("s3crét".utf8)).code(for: Data(body.utf8)))
        let (base64, hex) = (code.base64EncodedString(), code.map { String(format: "%02x", $0) }.joined())
        for (signature, form) in [
            ("SHA256:\(base64)", "sha256-base64"), ("SHA256:\(hex)", "sha256-hex"), (hex, "hex"),
        ] {
            let right = try await verify(signature, body)
            #expect(right.status == 0 && right.output == "right: \(form)\n", "\(right.output)")
            #expect(try await verify(signature, body, "--form", "hex").status == (form == "hex" ? 0 : 1))
        }
        for (signature, sent, hint) in [
            (base64, body, "written exactly"), ("sha256=\(hex)", body, "written exactly"),
            ("SHA256: \(base64)", body, "written exactly"), (hex.uppercased(), body, "written exactly"),
            ("SHA256:\(base64)", body + "\n", "without the line end"),
            ("SHA256:\(base64)", #"{ "items": [{"entrupy_id": "ABCD2345"}] }"#, "decoded and encoded again"),
            ("SHA256:" + Data(repeating: 7, count: 32).base64EncodedString(), body, "does not fit"),
        ] {
            let wrong = try await verify(signature, sent)
            #expect(wrong.status == 1 && wrong.output.contains(hint), "\(signature): \(wrong.output)")
            #expect(wrong.output.contains("sha256-hex"), "\(wrong.output)")
        }
        let shown = try await verify("x", body, "--json").output
        let json = try WireJSON.decode(JSONValue.self, from: Data(shown.utf8))
        #expect(json["valid"] == false && json["expected"].members?["hex"] == .string(hex))
        let nowhere = try await SimProcess.run(["webhooks", "verify", "--secret", "s", "--signature", "x", "/nowhere"])
        #expect(nowhere.status == 64, "\(nowhere.output)")
    }
}
