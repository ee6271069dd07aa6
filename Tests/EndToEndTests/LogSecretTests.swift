import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Log lines are stored and shared, so no line may contain a secret, at any level.
@Suite struct LogSecretTests {
    @Test(arguments: ["text", "json"]) func aTokenInAPathIsMaskedInEveryLogLine(format: String) async throws {
        let server = try await SimProcess([
            "--in-memory", "--ready-json", "--log-level", "trace", "--log-format", format,
        ])
        defer { server.stop() }
        let world = TestWorld(base: server.baseURL)
        let token = try await world.login()
        let signed = try #require(try await world.signedRequest().text)
        for secret in [token, signed, TestWorld.apiToken] {
            _ = try await world.send(
                "GET", "/sdk/session/\(secret)", headers: ["X-Request-Id": String(secret.prefix(100))])
            _ = try await world.send("GET", "/ns/\(secret)/sdk/session?token=\(secret)", token: secret)
            _ = try await world.send("DELETE", "/\(secret)/\(secret)", headers: ["X-Sim-Namespace": secret])
            _ = try await world.send("PUT", "/_sim/namespaces/\(secret)", ["seed": .string(secret)])
            _ = try await world.send("POST", "/_sim/snapshots/\(secret)/restore")
            _ = try await world.send("GET", "/%\(String(secret.utf8.first!, radix: 16))\(secret.dropFirst())")
        }
        let raw = try await RawConnection.open(server)
        _ = try await raw.exchange("GET /\(token) HTTP/1.1\r\nHost: \(token).localhost\r\n\(token)\r\n\r\n")
        let half = try await RawConnection.open(server)
        _ = try await half.exchange("GET /\(token) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        _ = try await world.send("GET", "/the-last-one")
        var text = ""
        while !text.contains("the-last-one") { text += server.printed() }
        #expect(text.contains("***"))
        for secret in [token, signed, TestWorld.apiToken] { #expect(!text.contains(secret.dropFirst()), "\(secret)") }
    }
}
