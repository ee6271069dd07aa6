import Foundation
import NIOCore
import NIOHTTP1
import Outgoing
import SimulationAPI
import TestSupport
import Testing

/// IPv6, compressed answers and web pages of other origins.
@Suite struct ClientNetworkTests {
    @Test func aServerListensOnIPv6() async throws {
        let server = try SimProcess(["--in-memory", "--host", "::1"])
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

    // MARK: Compression

    /// Answers without and with gzip. The client decodes the second.
    private func answers(
        _ world: TestWorld, _ path: String, accepting coding: String, token: String? = nil
    ) async throws -> (plain: Answer, response: (status: Int, headers: HTTPHeaders, body: Data), body: Data) {
        let plain = try await world.send("GET", path, token: token)
        var request = try OutgoingRequest(.GET, world.base + path)
        if let token { request.headers.add(name: "Authorization", value: "Token \(token)") }
        request.headers.add(name: "Accept-Encoding", value: coding)
        let response = try await OutgoingClient.patient.whole(request)
        return (plain, response, response.body)
    }

    @Test(arguments: ["gzip", "br, gzip;q=0.5", "x-gzip", "*"])
    func longTextIsCompressedOnRequest(coding: String) async throws {
        let world = try await TestWorld.make()
        let (plain, response, body) = try await answers(world, "/_sim/export", accepting: coding)
        #expect(plain.body.count > 1_024 && plain.headers["Content-Encoding"].isEmpty)
        #expect(response.headers["Content-Encoding"] == ["gzip"])
        #expect(response.headers["Vary"].contains("Accept-Encoding"))
        #expect(response.headers["Content-Length"] == ["\(body.count)"] && body.count < plain.body.count / 2)
        #expect(try body.decompressed() == plain.body)
    }

    @Test(arguments: ["identity", "gzip;q=0", "br", "gzip;q=0.0, *"])
    func textIsPlainUnlessGzipIsAccepted(coding: String) async throws {
        let world = try await TestWorld.make()
        let (plain, response, body) = try await answers(world, "/_sim/export", accepting: coding)
        #expect(response.headers["Content-Encoding"].isEmpty && body == plain.body)
    }

    @Test func shortAnswersAndFaultsAreNotCompressed() async throws {
        let world = try await TestWorld.make()
        let short = try await answers(world, "/_sim/clock", accepting: "gzip")
        #expect(short.response.headers["Content-Encoding"].isEmpty)
        let session = try await world.login()
        let path = "/sdk/config?config_type=production"
        let config = try await answers(world, path, accepting: "gzip", token: session)
        #expect(config.response.headers["Content-Encoding"] == ["gzip"])
        _ = try await world.send(
            "POST", "/_sim/faults", ["match": ["route": "/sdk/config"], "effect": ["malformed_json": true], "times": 2])
        let broken = try await answers(world, path, accepting: "gzip", token: session)
        #expect(broken.response.headers["Content-Encoding"].isEmpty && broken.body.first == UInt8(ascii: "{"))
        // The journal has the text.
        let id = try #require(config.response.headers.first(name: "X-Request-Id"))
        let entry = try await world.send("GET", "/_sim/requests/\(id)")
        #expect(entry["response.body"].text?.hasPrefix("{") == true)
    }

    /// Some clients take a body that grows more than 25 times for an attack.
    @Test func textThatShrinksToNearlyNothingIsPlain() async throws {
        let world = try await TestWorld.make()
        let name = String(repeating: "a", count: 20_000)
        let answer = try await answers(world, "/_sim/authentications?\(name)=1", accepting: "gzip")
        #expect(answer.plain.status == 400 && answer.plain.body.count > 20_000)
        #expect(answer.response.headers["Content-Encoding"].isEmpty)
    }

    // MARK: Web pages

    @Test func pagesOfAllowedOriginsUseThePlatform() async throws {
        let server = try SimProcess(["--in-memory", "--cors", "http://localhost:3000, https://app.example.com"])
        let world = TestWorld(base: server.baseURL)
        let preflight = try await ask(
            server, .OPTIONS, "/sdk/login",
            [
                "Origin": "http://localhost:3000", "Access-Control-Request-Method": "POST",
                "Access-Control-Request-Headers": "content-type, authorization",
            ])
        #expect(preflight.status == 204)
        #expect(preflight.headers["Access-Control-Allow-Origin"] == ["http://localhost:3000"])
        #expect(preflight.headers["Access-Control-Allow-Headers"] == ["content-type, authorization"])
        #expect(preflight.headers["Access-Control-Allow-Methods"].first?.contains("PUT") == true)
        let answer = try await ask(server, .GET, "/sdk/session", ["Origin": "https://app.example.com"])
        #expect(answer.status == 401)
        #expect(answer.headers["Access-Control-Allow-Origin"] == ["https://app.example.com"])
        #expect(answer.headers["Vary"].contains("Origin"))
        let stranger = try await ask(server, .GET, "/sdk/session", ["Origin": "https://evil.example.com"])
        #expect(stranger.headers["Access-Control-Allow-Origin"].isEmpty)
        // The control API stays closed, and preflights are not requests of a client.
        let control = try await ask(
            server, .OPTIONS, "/_sim/reset",
            ["Origin": "http://localhost:3000", "Access-Control-Request-Method": "POST"])
        #expect(control.headers["Access-Control-Allow-Origin"].isEmpty)
        let reset = try await ask(server, .POST, "/_sim/reset", ["Origin": "http://localhost:3000"])
        #expect(reset.status == 403)
        #expect(try await world.send("GET", "/_sim/requests")["requests"].items.count == 2)
        server.stop()
    }

    @Test func withoutTheOptionPagesOfOtherOriginsAreNotAllowed() async throws {
        let answer = try await ask(.shared, .GET, "/sdk/session", ["Origin": "http://localhost:3000"])
        #expect(answer.headers["Access-Control-Allow-Origin"].isEmpty)
    }

    private func ask(
        _ server: SimProcess, _ method: HTTPMethod, _ path: String, _ headers: HTTPHeaders
    ) async throws -> (status: Int, headers: HTTPHeaders, body: Data) {
        var request = try OutgoingRequest(method, server.baseURL + path)
        request.headers = headers
        return try await OutgoingClient.patient.whole(request)
    }
}
