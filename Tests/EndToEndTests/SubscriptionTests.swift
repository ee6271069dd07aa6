import Foundation
import NIOCore
import Outgoing
import SimulationAPI
import TestSupport
import Testing

/// Subscriptions by the control API, and the commands `webhooks add`, `remove` and `listen`.
@Suite struct SubscriptionTests {
    private func item(_ world: TestWorld) async throws -> String {
        let made = try await world.send("POST", "/_sim/authentications", ["count": 1, "template": [:]])
        return try #require(made["entrupy_ids.0"].text)
    }

    private func trigger(_ world: TestWorld, _ item: String, _ event: String = "session.updated") async throws {
        let sent = try await world.send(
            "POST", "/_sim/webhooks/trigger", ["event": .string(event), "entrupy_id": .string(item)])
        #expect(sent.status == 202)
        _ = try await world.send("POST", "/_sim/settle", ["within": "10m"])
    }

    private func run(_ world: TestWorld, _ arguments: String...) async throws -> (status: Int32, output: String) {
        try await SimProcess.run(["webhooks"] + arguments + ["--url", world.base])
    }

    private func ids(_ world: TestWorld) async throws -> [String] {
        try await world.send("GET", "/_sim/webhooks")["webhooks"].items.compactMap { $0["id"].text }
    }

    // MARK: Routes

    @Test func aSubscriptionIsMadeChangedAndDeleted() async throws {
        let world = try await TestWorld.make()
        let receiver = try await WebhookReceiver.open()
        let made = try await world.send("POST", "/_sim/webhooks", ["url": .string(receiver.url), "secret_key": "one"])
        try #require(made.status == 201, "\(made.json)")
        #expect(made["organization"] == "DemoOrg" && made["version"] == "v2" && made["status"] == "active")
        #expect(made["secret_key"] == .null && made["events"].items.count == 4)
        #expect(try await world.send("GET", "/_sim/webhooks")["webhooks"].items == [made.json])
        let item = try await item(world)
        try await trigger(world, item)
        let id = try #require(made["id"].text)
        let patched = try await world.send(
            "PATCH", "/_sim/webhooks/\(id)", ["secret_key": "two", "events": ["session.updated"]])
        #expect(patched.status == 200 && patched["events"] == ["session.updated"] && patched["id"] == made["id"])
        try await trigger(world, item)
        for (delivery, secret) in zip(receiver.deliveries, ["one", "two"]) {
            let checked = try await world.send(
                "POST", "/_sim/webhooks/check-signature",
                [
                    "secret": .string(secret), "signature": .string(delivery.headers["Entrupy-Signature"].first ?? ""),
                    "body": .string(String(decoding: delivery.body, as: UTF8.self)),
                ])
            #expect(checked["valid"] == true, "\(secret)")
        }
        #expect(receiver.deliveries.count == 2)
        let deleted = try await world.send("DELETE", "/_sim/webhooks/\(id)")
        #expect(deleted.status == 204 && deleted.body.isEmpty)
        #expect(try await world.send("DELETE", "/_sim/webhooks/\(id)").status == 404)
        #expect(try await ids(world).isEmpty)
    }

    @Test func anotherOrganizationIsNamedAndTheRouteAlwaysCreates() async throws {
        let world = try await TestWorld.make()
        let body: JSONValue = [
            "organization": "OtherOrg", "url": "http://127.0.0.1:9/hooks", "secret_key": "s", "username": "OtherOrg-a",
            "format": "event", "signature": "hex",
        ]
        let (first, second) = (
            try await world.send("POST", "/_sim/webhooks", body), try await world.send("POST", "/_sim/webhooks", body)
        )
        #expect(first.status == 201 && second.status == 201 && first["id"] != second["id"])
        #expect(first["organization"] == "OtherOrg" && first["format"] == "event" && first["signature"] == "hex")
        let own = try await world.send("GET", "/v2/webhooks", token: "other-api-token")
        #expect(own["webhooks"].items.count == 2)
        #expect(try await world.send("GET", "/v2/webhooks", token: TestWorld.apiToken)["webhooks"].items.isEmpty)
        #expect(try await world.send("GET", "/_sim/choices")["lists.organizations.1.id"] == "OtherOrg")
        // Neither journaled nor limited, and no other namespace's.
        #expect(try await world.send("GET", "/_sim/requests?route=/_sim/*")["requests"].items.isEmpty)
        let other = try await TestWorld.make()
        let id = try #require(first["id"].text)
        for method in ["DELETE", "PATCH"] {
            let answer = try await other.send(
                method, "/_sim/webhooks/\(id)", method == "PATCH" ? ["secret_key": "x"] : nil)
            #expect(answer.status == 404 && answer["error"].text?.contains(id) == true, "\(answer.json)")
        }
        #expect(try await ids(world).count == 2)
    }

    @Test(
        arguments: [
            (["organization": "nobody"], "organization"), (["organization": 3], "organization"),
            (["url": .null], "url"),
            (["url": "ftp://x"], "url"), (["secret_key": ""], "secret_key"), (["events": []], "events"),
            (["events": ["done"]], "events[0]"), (["format": "xml"], "format"), (["secret": "s"], "secret"),
        ] as [(JSONObject, String)])
    func aWrongSubscriptionIsRefused(change: JSONObject, field: String) async throws {
        let world = try await TestWorld.make()
        let good: JSONObject = ["url": "http://127.0.0.1:9/hooks", "secret_key": "s"]
        let answer = try await world.send("POST", "/_sim/webhooks", .object(good.merging(change) { $1 }))
        #expect(answer.status == 400 && answer["details.0.field"].text == field, "\(answer.json)")
        if field == "organization", change["organization"] == "nobody" {
            #expect(answer["error"].text?.contains("DemoOrg, OtherOrg") == true)
        }
        #expect(try await ids(world).isEmpty)
    }

    // MARK: add and remove

    @Test func anEqualSubscriptionIsFoundAgainAndGetsTheSecret() async throws {
        let world = try await TestWorld.make()
        let receiver = try await WebhookReceiver.open()
        let first = try await run(world, "add", receiver.url, "--secret", "one")
        try #require(first.status == 0 && first.output.hasPrefix("wh_"), "\(first.output)")
        let id = String(first.output.dropLast())
        // The same, said in other words.
        let again = try await run(
            world, "add", receiver.url, "--secret", "two", "--json", "--organization", "DemoOrg", "--format", "items",
            "--events", "certificate.transfer,support.message", "--events", "session.updated, session.completed")
        let json = try WireJSON.decode(JSONValue.self, from: Data(again.output.utf8))
        #expect(again.status == 0 && json["existing"] == true && json["id"].text == id, "\(again.output)")
        #expect(try await ids(world) == [id])
        try await trigger(world, try await item(world))
        let delivery = try #require(receiver.deliveries.first)
        let signature = try #require(delivery.headers["Entrupy-Signature"].first)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("body-\(UUID()).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try delivery.body.write(to: file)
        let check = ["webhooks", "verify", "--secret", "two", "--signature", signature, file.path]
        #expect(try await SimProcess.run(check).status == 0)
        // Each of these is another one.
        for option in [
            ["--events", "session.updated"], ["--username", "DemoOrg-a"], ["--organization", "OtherOrg"],
            ["--format", "event"], ["--signature", "hex"],
        ] {
            let other = try await SimProcess.run(
                ["webhooks", "add", receiver.url, "--secret", "s", "--json", "--url", world.base] + option)
            let made = try WireJSON.decode(JSONValue.self, from: Data(other.output.utf8))
            #expect(other.status == 0 && made["existing"] == false && made["id"].text != id, "\(other.output)")
        }
        #expect(try await ids(world).count == 6)
        let removed = try await SimProcess.run(["webhooks", "remove"] + ids(world) + ["--url", world.base])
        #expect(removed.status == 0 && removed.output == "removed\n")
        #expect(try await ids(world).isEmpty)
        let gone = try await run(world, "remove", id)
        #expect(gone.status == 1 && gone.output.contains("has no webhook"), "\(gone.output)")
    }

    @Test(arguments: [
        ["add", "http://127.0.0.1:9/x"], ["add", "--secret", "s"], ["add", "nonsense", "--secret", "s"],
        ["add", "http://127.0.0.1:9/x", "--secret", ""],
        ["add", "http://127.0.0.1:9/x", "--secret", "s", "--events", ""],
        ["add", "http://127.0.0.1:9/x", "--secret", "s", "--events", "session.completed,"],
        ["add", "http://127.0.0.1:9/x", "--secret", "s", "--events", "done"],
        ["add", "http://127.0.0.1:9/x", "--secret", "s", "--format", "xml"], ["remove"],
        ["listen", "--listen-url", "ftp://x"], ["listen", "--port", "65536"], ["listen", "--events", "done"],
        ["listen", "--organization", "nobody"],
    ])
    func wrongUsageIs64(arguments: [String]) async throws {
        let world = try await TestWorld.make()
        let wrong = try await SimProcess.run(["webhooks"] + arguments + ["--url", world.base])
        #expect(wrong.status == 64 && wrong.output.contains("error: "), "\(wrong.output)")
        #expect(try await ids(world).isEmpty)
    }

    // MARK: listen

    private func listening(_ world: TestWorld, _ options: String...) async throws -> RunningProgram {
        let program = try RunningProgram(["webhooks", "listen", "--url", world.base] + options)
        let start = program.errorLine()
        try #require(start.contains("sends its webhooks to http://127.0.0.1:"), "\(start)")
        return program
    }

    @Test(arguments: [SIGTERM, SIGINT]) func deliveriesArePrintedUntilASignal(number: Int32) async throws {
        let world = try await TestWorld.make()
        let program = try await listening(world)
        #expect(try await ids(world).count == 1)
        let item = try await item(world)
        try await trigger(world, item)
        #expect(program.line() == "session.updated       \(item)  authentic  200")
        _ = try await world.send(
            "POST", "/_sim/faults", ["match": ["webhook": "*"], "effect": ["wrong_signature": true], "times": 1])
        try await trigger(world, item, "certificate.transfer")
        #expect(program.line() == "certificate.transfer  \(item)  authentic  401 wrong signature")
        kill(program.process.processIdentifier, number)
        let end = await program.finish()
        #expect(end.status == 0 && end.errors.contains("unsubscribed, after 2 webhooks"), "\(end.errors)")
        #expect(try await ids(world).isEmpty)
    }

    @Test func withJSONEachDeliveryIsAnObject() async throws {
        let world = try await TestWorld.make()
        let program = try await listening(world, "--json", "--format", "event", "--events", "session.completed")
        let item = try await item(world)
        try await trigger(world, item)
        try await trigger(world, item, "session.completed")
        let line = try WireJSON.decode(JSONValue.self, from: Data(program.line().utf8))
        #expect(line["event"] == "session.completed" && line["entrupy_id"].text == item && line["status"] == 200)
        #expect(line["result"] == "authentic" && line["signature_valid"] == true && line["event_id"].text != nil)
        #expect(line["body.data.entrupy_id"].text == item, "\(line)")
        kill(program.process.processIdentifier, SIGTERM)
        let end = await program.finish()
        #expect(end.status == 0 && end.output.isEmpty, "only the chosen event was sent")
    }

    @Test func aDomainIsVerified() async throws {
        let world = try await TestWorld.make(settings: ["webhooks": ["domain_verification": true]])
        let program = try await listening(world)
        _ = try await world.send("POST", "/_sim/settle", ["within": "10m"])
        #expect(try await world.send("GET", "/_sim/webhooks")["webhooks.0.status"] == "active")
        let item = try await item(world)
        try await trigger(world, item)
        #expect(program.line().contains("\(item)  authentic  200"))
        kill(program.process.processIdentifier, SIGTERM)
        #expect(await program.finish().status == 0)
    }

    @Test func aStoppedServerEndsIt() async throws {
        for isKilled in [false, true] {
            let server = try SimProcess(["--in-memory"])
            let program = try await listening(TestWorld(base: server.baseURL))
            if isKilled { server.kill() } else { server.stop() }
            let end = await program.finish()
            #expect(end.status == 69 && end.errors.hasPrefix("error: the server at \(server.baseURL) stopped"))
            #expect(end.errors.contains("entrupy-sim webhooks remove wh_"), "\(end.errors)")
        }
    }

    @Test func aDeletedSubscriptionOrNamespaceEndsIt() async throws {
        let world = try await TestWorld.make()
        let first = try await listening(world)
        let id = try #require(try await ids(world).first)
        _ = try await world.send("DELETE", "/_sim/webhooks/\(id)")
        let end = await first.finish()
        #expect(end.status == 1 && end.errors.hasPrefix("error: the subscription \(id) was deleted"), "\(end.errors)")
        let second = try await listening(world)
        let name = String(world.base.split(separator: "/").last ?? "")
        _ = try await TestWorld(base: SimProcess.shared.baseURL).send("DELETE", "/_sim/namespaces/\(name)")
        let gone = await second.finish()
        #expect(gone.status == 1 && gone.errors.hasPrefix("error: the namespace \(name) was deleted"), "\(gone.errors)")
    }

    @Test func aResetIsSurvived() async throws {
        let world = try await TestWorld.make()
        let program = try await listening(world)
        _ = try await world.send("POST", "/_sim/reset")
        #expect(program.errorLine() == "the namespace was reset or restored")
        #expect(program.errorLine().contains("sends its webhooks to"))
        #expect(try await ids(world).count == 1)
        let item = try await item(world)
        try await trigger(world, item)
        #expect(program.line().contains("\(item)  authentic  200"))
        kill(program.process.processIdentifier, SIGTERM)
        #expect(await program.finish().status == 0)
        #expect(try await ids(world).isEmpty)
    }

    @Test func aLostReaderEndsItAndUnsubscribes() async throws {
        let world = try await TestWorld.make()
        let program = try await listening(world)
        try program.output.fileHandleForReading.close()
        try await trigger(world, try await item(world))
        #expect(await program.end() == 128 + SIGPIPE)
        #expect(try await ids(world).isEmpty)
    }

    @Test func aRemoteServerIsToldTheGivenURL() async throws {
        let world = try await TestWorld.make()
        let free = try await WebhookReceiver.open()
        let url = free.url.replacingOccurrences(of: "/hooks", with: "/a%20b?x=1")
        let port = try #require(URL(string: free.url)?.port)
        let taken = try await run(world, "listen", "--listen-url", free.url)
        #expect(
            taken.status == 1 && taken.output.contains("port \(port) of 127.0.0.1 cannot be listened on"),
            "\(taken.output)")
        #expect(try await ids(world).isEmpty)
        try await free.close()
        #expect(try await run(world, "listen", "--listen-url", url).status == 64, "a query is not part of it")
        let program = try await listening(world, "--listen-url", "http://127.0.0.1:\(port)/a%20b")
        let item = try await item(world)
        try await trigger(world, item)
        #expect(program.line().contains("\(item)  authentic  200"))
        kill(program.process.processIdentifier, SIGTERM)
        #expect(await program.finish().status == 0)
    }

    @Test func hostileRequestsAreShownAsTheyAre() async throws {
        let world = try await TestWorld.make()
        let program = try await listening(world)
        let target = try #require(try await world.send("GET", "/_sim/webhooks")["webhooks.0.url"].text)
        let origin = String(target.dropLast("/webhooks".count))
        let listener = RawTarget(base: origin)
        #expect(try await listener.post("/webhooks", #"{"items": [{"entrupy_id": "\u001b[2J\n200"}]}"#) == 401)
        #expect(program.line() == #"-                     \x1b[2J\x0a200  -  401 wrong signature"#)
        #expect(try await listener.post("/webhooks", "no JSON") == 401)
        #expect(program.line() == "-                     -  -  401 wrong signature")
        #expect(try await listener.post("/elsewhere", "{}") == 404)
        kill(program.process.processIdentifier, SIGTERM)
        let end = await program.finish()
        #expect(end.status == 0 && end.output.isEmpty, "\(end.text)")
    }

    /// Requests to something that is not the simulator, so its description does not matter.
    private struct RawTarget {
        let base: String

        func post(_ path: String, _ body: String) async throws -> Int {
            var request = try OutgoingRequest(.POST, base + path)
            request.body = .bytes(ByteBuffer(string: body))
            return try await OutgoingClient.patient.whole(request).status
        }
    }
}
