import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Webhooks to the server itself. One that calls the control API would cause the next, endlessly.
@Suite struct OwnAddressTests {
    private func port(_ server: SimProcess) throws -> Int {
        try #require(server.baseURL.split(separator: ":").last.flatMap { Int($0) })
    }

    private func subscribe(_ world: TestWorld, _ url: String) async throws -> Answer {
        try await world.send(
            "POST", "/v2/webhooks", ["url": .string(url), "secret_key": "s"], token: TestWorld.apiToken)
    }

    /// The spellings of an address are in `WebhookTargetTests`.
    @Test func aSubscriptionToTheServerItselfIsRefused() async throws {
        let world = try await TestWorld.withoutLimits()
        let port = try port(.shared)
        for host in ["127.0.0.1", "2130706433", "[::1]", "0", "LOCALHOST.", "a.localhost"] {
            let answer = try await subscribe(world, "http://\(host):\(port)/_sim/webhooks/trigger")
            #expect(answer.status == 400, "\(host)")
            #expect(answer["details.0.problem"].text?.contains("this server itself") == true, "\(host): \(answer.json)")
        }
        let good = try await world.subscribe(url: "http://127.0.0.1:9/")
        let moved = try await world.send(
            "PATCH", "/v2/webhooks/\(good)", ["url": .string(world.base)], token: TestWorld.apiToken)
        #expect(moved.status == 400 && moved["details.0.field"] == "url")
        let scenario = "name: own\ndescription: x\nsubscriptions:\n  - {url: \"\(world.base)/x\"}\n"
        let kept = try await world.send("PUT", "/_sim/scenarios/own", yaml: scenario)
        #expect(kept.status == 400 && kept.text.contains("this server itself"))
    }

    @Test func metadataAddressesAreNoTargetsAndOtherLinkLocalOnesAreNotLocal() async throws {
        let server = try await SimProcess(["--in-memory", "--webhook-targets", "any"])
        defer { server.stop() }
        let (local, any) = (try await TestWorld.make(), TestWorld(base: server.baseURL))
        for host in ["[fd00:ec2::254]", "[fd20:ce::254]", "[::ffff:169.254.169.254]", "169.254.0.1"] {
            let isMetadata = host != "169.254.0.1"
            let answer = try await subscribe(local, "http://\(host)/latest/meta-data")
            #expect(answer.status == 400)
            let problem = answer["details.0.problem"].text ?? ""
            #expect(problem.contains(isMetadata ? "metadata service" : "--webhook-targets any"), "\(answer.json)")
            #expect(try await subscribe(any, "http://\(host)/latest").status == (isMetadata ? 400 : 201), "\(host)")
        }
        #expect(
            try await subscribe(any, server.baseURL + "/_sim/reset").status == 400, "itself it refuses with any too")
    }

    /// The first webhook error in a server that listens on the port that its subscription names.
    private func attempt(_ url: (_ port: Int) -> String, _ arguments: [String] = []) async throws -> String {
        try await Process.withDirectory { directory in
            // The first server finds a free port. The subscription is made in the second, which then restarts on that port.
            let other = try await SimProcess(["--in-memory"])
            let port = try port(other)
            var server = try await SimProcess(["--data-dir", directory])
            let subscribed = try await subscribe(TestWorld(base: server.baseURL), url(port))
            try #require(subscribed.status == 201, "\(subscribed.json)")
            server.stop()
            other.stop()
            server = try await SimProcess(["--data-dir", directory, "--port", "\(port)"] + arguments)
            defer { server.stop() }
            let root = TestWorld(base: server.baseURL)
            _ = try await root.send("POST", "/_sim/clock/freeze")
            _ = try await root.send("POST", "/_sim/authentications", [:])
            try await root.advance("0s")
            let deliveries = try await root.send("GET", "/_sim/webhook-deliveries")["deliveries"].items
            // The item's first delivery; the others wait for it.
            #expect(deliveries.last?["status"] == "retrying", "\(deliveries)")
            let requests = try await root.send("GET", "/_sim/requests")["requests"].items
            #expect(!requests.contains { $0["path"] == "/hooks" }, "nothing was sent")
            return deliveries.last?["attempts.0.error"].text ?? ""
        }
    }

    @Test(arguments: ["127.0.0.1", "localhost"])
    func aWebhookToTheServersOwnAddressFailsAtTheAttempt(host: String) async throws {
        let error = try await attempt { "http://\(host):\($0)/hooks" }
        #expect(error == "\(host) is this server itself; it sends no webhooks to itself")
    }

    /// This machine's name, `nil` if it does not resolve to one of its addresses.
    private static let ownName: String? = {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count) == 0 else { return nil }
        let text = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(text, nil, nil, &found) == 0 else { return nil }
        freeaddrinfo(found)
        return text
    }()

    @Test(.enabled(if: ownName != nil, "this machine's name has no address"), arguments: ["local", "any"])
    func aNameOfTheServerIsRecognizedAtTheAttempt(targets: String) async throws {
        let name = try #require(Self.ownName)
        let error = try await attempt(
            { "http://\(name):\($0)/hooks" }, ["--host", "0.0.0.0", "--control-open", "--webhook-targets", targets])
        #expect(
            error.hasPrefix("\(name) is ") && error.hasSuffix("this server itself; it sends no webhooks to itself"),
            "\(error)")
    }

    @Test func aReplayUsesTheRecordedAddress() async throws {
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let file = directory + "/run.recording"
            let server = try await SimProcess(["--in-memory", "--record", file, "--public-url", "http://sim.test"])
            let root = TestWorld(base: server.baseURL)
            #expect(try await subscribe(root, server.baseURL + "/_sim/reset").status == 400)
            #expect(try await subscribe(root, "http://sim.test/_sim/reset").status == 400)
            server.kill()
            let run = try await SimProcess.run(["replay", file, "--json"])
            let report = try WireJSON.decode(JSONValue.self, from: Data(run.output.utf8))
            #expect(run.status == 0 && report["difference"] == .null && report["requests"] == 2, "\(report)")
        }
    }
}
