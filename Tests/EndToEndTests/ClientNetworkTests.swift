import Foundation
import SimulationAPI
import TestSupport
import Testing

/// IPv6, compressed answers and web pages of other origins.
@Suite struct ClientNetworkTests {
    @Test func aServerListensOnIPv6() async throws {
        let server = try await SimProcess(["--in-memory", "--host", "::1"])
        #expect(server.baseURL.hasPrefix("http://[::1]:"))
        let world = try await TestWorld.make(in: server)
        let session = try await world.login()
        let item = try await world.submit(session)
        // Absolute URLs lead to the same server.
        let shown = try await world.send("GET", "/_sim/authentications/\(item)")
        #expect(shown.status == 200)
        let info = try await TestWorld(base: server.baseURL).send("GET", "/_sim/info")
        #expect(info["url"].text == server.baseURL)
        server.stop()
    }

    /// The answer to a client that takes gzip, as it is sent.
    private func compressed(_ world: TestWorld, _ path: String, _ headers: [String: String] = [:]) async throws
        -> Answer
    {
        try await world.sendUnchecked("GET", path, headers: headers.merging(["Accept-Encoding": "gzip"]) { $1 })
    }

    @Test func aLongTextIsCompressedAndNeitherAShortOneNorAFault() async throws {
        let world = try await TestWorld.make()
        let plain = try await world.send("GET", "/_sim/export")
        #expect(plain.body.count > 1_024 && plain.headers["Content-Encoding"].isEmpty)
        let long = try await compressed(world, "/_sim/export")
        #expect(long.headers["Content-Encoding"] == ["gzip"] && long.headers["Vary"].contains("Accept-Encoding"))
        #expect(long.headers["Content-Length"] == ["\(long.body.count)"] && long.body.count < plain.body.count / 2)
        #expect(try long.body.decompressed() == plain.body)
        #expect(try await compressed(world, "/_sim/clock").headers["Content-Encoding"].isEmpty)
        let session = ["Authorization": "Token \(try await world.login())"]
        let config = try await compressed(world, "/sdk/config?config_type=production", session)
        #expect(config.headers["Content-Encoding"] == ["gzip"])
        _ = try await world.send(
            "POST", "/_sim/faults", ["match": ["route": "/sdk/config"], "effect": ["malformed_json": true], "times": 1])
        let broken = try await compressed(world, "/sdk/config?config_type=production", session)
        #expect(broken.headers["Content-Encoding"].isEmpty && broken.body.first == UInt8(ascii: "{"))
        // The journal has the text.
        let entry = try await world.send("GET", "/_sim/requests/\(config.headers.first(name: "X-Request-Id") ?? "")")
        #expect(entry["response.body"].text?.hasPrefix("{") == true)
    }

    @Test func aRecordingOfCompressedAnswersIsReplayed() async throws {
        let folder = try TestFolder()
        defer { folder.remove() }
        let server = try await SimProcess(["--in-memory", "--record", folder.file("run.recording")])
        let world = try await TestWorld.make(in: server, settings: ["future": ["members": true, "order": true]])
        let session = ["Authorization": "Token \(try await world.login())"]
        #expect(try await compressed(world, "/sdk/config", session).headers["Content-Encoding"] == ["gzip"])
        server.stop()
        let run = try await SimProcess.run(["replay", folder.file("run.recording"), "--json"])
        #expect(run.status == 0, "\(run.output)")
    }

    @Test func pagesOfAllowedOriginsUseThePlatform() async throws {
        let server = try await SimProcess(["--in-memory", "--cors", "http://localhost:3000, https://app.example.com"])
        defer { server.stop() }
        let world = TestWorld(base: server.baseURL)
        func allowed(_ method: String, _ path: String, _ origin: String) async throws -> Answer {
            let more = method == "OPTIONS" ? ["Access-Control-Request-Method": "POST"] : [:]
            return try await world.sendUnchecked(
                method, path,
                headers: ["Origin": origin, "Access-Control-Request-Headers": "content-type"].merging(more) { $1 })
        }
        let preflight = try await allowed("OPTIONS", "/sdk/login", "http://localhost:3000")
        #expect(preflight.status == 204 && preflight.headers["Access-Control-Allow-Headers"] == ["content-type"])
        #expect(preflight.headers["Access-Control-Allow-Origin"] == ["http://localhost:3000"])
        #expect(preflight.headers["Access-Control-Allow-Methods"].first?.contains("PUT") == true)
        let answer = try await allowed("GET", "/sdk/session", "https://app.example.com")
        #expect(answer.status == 401 && answer.headers["Vary"].contains("Origin"))
        #expect(answer.headers["Access-Control-Allow-Origin"] == ["https://app.example.com"])
        // The control API stays closed, and preflights are not requests of a client.
        for (method, path, origin) in [
            ("GET", "/sdk/session", "https://evil.example.com"), ("OPTIONS", "/_sim/reset", "http://localhost:3000"),
        ] {
            let refused = try await allowed(method, path, origin)
            #expect(refused.headers["Access-Control-Allow-Origin"].isEmpty, "\(path)")
        }
        #expect(try await allowed("POST", "/_sim/reset", "http://localhost:3000").status == 403)
        #expect(try await world.send("GET", "/_sim/requests")["requests"].items.count == 2)
        let plain = try await TestWorld(base: SimProcess.shared.baseURL).send(
            "GET", "/sdk/session", headers: ["Origin": "http://localhost:3000"])
        #expect(plain.headers["Access-Control-Allow-Origin"].isEmpty, "without the option")
    }

    @Test func aReplayHasTheRecordedAddresses() async throws {
        let folder = try TestFolder()
        defer { folder.remove() }
        let file = folder.file("run.recording")
        let server = try await SimProcess(["--in-memory", "--record", file])
        let world = try await TestWorld.make(in: server)
        let session = try await world.login()
        let id = try await world.submit(session)
        try await world.advance("1m")
        for host in ["entrupy-sim:8642", "localhost:1"] {
            let asked = try await world.send("GET", "/sdk/results/\(id)", token: session, headers: ["Host": host])
            #expect(asked["images.item_photo"].text?.hasPrefix("http://\(host)/ns/") == true, "\(asked.json)")
        }
        server.kill()
        let run = try await SimProcess.run(["replay", file, "--json"])
        let report = try WireJSON.decode(JSONValue.self, from: Data(run.output.utf8))
        #expect(run.status == 0 && report["difference"] == .null, "\(report)")
    }
}
