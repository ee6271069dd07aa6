import Foundation
import NIOCore
import Outgoing
import SimulationAPI
import TestSupport
import Testing

/// The commands `webhooks add`, `remove`, `verify` and `listen`. Wrong options are in `UsageTests`.
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

    private func ids(_ world: TestWorld) async throws -> [String] {
        try await world.send("GET", "/_sim/webhooks")["webhooks"].items.compactMap { $0["id"].text }
    }

    // MARK: add and remove

    @Test func anEqualSubscriptionIsFoundAgainAndGetsTheSecret() async throws {
        let world = try await TestWorld.make()
        let receiver = try await WebhookReceiver.open()
        let first = try await world.output("webhooks", "add", receiver.url, "--secret", "one")
        try #require(first.hasPrefix("wh_"), "\(first)")
        let id = String(first.dropLast())
        // The same, said in other words.
        let again = try await world.json(
            "webhooks", "add", receiver.url, "--secret", "two", "--organization", "DemoOrg", "--format", "items",
            "--events", "certificate.transfer,support.message", "--events", "session.updated, session.completed")
        #expect(again["existing"] == true && again["id"].text == id, "\(again)")
        #expect(try await ids(world) == [id])
        try await trigger(world, try await item(world))
        let folder = try TestFolder()
        defer { folder.remove() }
        let delivery = try #require(receiver.deliveries.last)
        let body = try folder.write(String(decoding: delivery.body, as: UTF8.self), to: "body.json")
        let signature = try #require(delivery.headers["Entrupy-Signature"].first)
        for (secret, status, text) in [("two", 0, "right: sha256-base64\n"), ("one", 1, "wrong: it does not fit")]
            as [(String, Int32, String)]
        {
            let words = ["webhooks", "verify", "--secret", secret, "--signature", signature, body]
            let checked = try await SimProcess.run(words)
            #expect(checked.status == status && checked.output.hasPrefix(text), "\(checked.output)")
            let json = try await SimProcess.run(words + ["--json"]).output
            #expect(json.contains("\"valid\":\(status == 0)") && json.contains("\"sha256-hex\":"), "\(json)")
        }
        // Each of these is another one.
        for option in [
            ["--events", "session.updated"], ["--username", "DemoOrg-a"], ["--organization", "OtherOrg"],
            ["--format", "event"], ["--signature", "hex"],
        ] {
            let other = try await world.run(["webhooks", "add", receiver.url, "--secret", "s", "--json"] + option)
            #expect(other.status == 0 && other.output.contains("\"existing\":false"), "\(other.output)")
        }
        #expect(try await ids(world).count == 6)
        let removed = try await world.run(["webhooks", "remove"] + ids(world))
        #expect(removed.status == 0 && removed.output == "removed\n")
        #expect(try await ids(world).isEmpty)
        let gone = try await world.run("webhooks", "remove", id)
        #expect(gone.status == 1 && gone.output.contains("has no webhook"), "\(gone.output)")
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
            let server = try await SimProcess(["--in-memory"])
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
        let taken = try await world.run("webhooks", "listen", "--listen-url", free.url)
        #expect(
            taken.status == 1 && taken.output.contains("port \(port) of 127.0.0.1 cannot be listened on"),
            "\(taken.output)")
        #expect(try await ids(world).isEmpty)
        try await free.close()
        #expect(
            try await world.run("webhooks", "listen", "--listen-url", url).status == 64, "a query is not part of it")
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
