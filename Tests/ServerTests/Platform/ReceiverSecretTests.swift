import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Secrets in the URLs of webhooks' receivers, wherever what happened is read.
@Suite struct ReceiverSecretTests {
    private static let secrets = ["t0ken-of-a-query", "user-of-a-url", "p4ssword-of-a-url", "fragment-of-a-url"]
    private static let url =
        "http://user-of-a-url:p4ssword-of-a-url@127.0.0.1:1/hooks?key=t0ken-of-a-query&other=t0ken-of-a-query#fragment-of-a-url"

    @Test func theURLOfAReceiverIsMaskedWhereverARequestIsRead() async throws {
        let world = try await TestWorld.make()
        let plain = "http://127.0.0.1:1/hooks?key=t0ken-of-a-query&t0ken-of-a-query"
        let body: JSONObject = [
            "url": .string(plain), "secret_key": "a-secret-key-of-16", "events": ["session.completed"],
        ]
        let made = try await world.send("POST", "/v2/webhooks", .object(body), token: TestWorld.apiToken)
        #expect(made.status < 300, "\(made.text)")
        // One that is refused is in the journal too.
        var refused = body
        refused["url"] = .string(Self.url)
        _ = try await world.send("POST", "/v2/webhooks", .object(refused), token: TestWorld.apiToken)
        _ = try await world.send("GET", "/v2/webhooks", token: TestWorld.apiToken)
        let requests = try await world.send("GET", "/_sim/requests?limit=10")
        var texts = [requests.text, try await world.send("GET", "/_sim/requests.har").text]
        for request in requests["requests"].elements ?? [] {
            guard let id = request["id"].text else { continue }
            texts.append(try await world.send("GET", "/_sim/requests/\(id)").text)
            texts.append(try await world.send("GET", "/_sim/explain/\(id)").text)
        }
        let shown = texts.joined(separator: "\n")
        #expect(shown.contains("key=***"), "the names of the query stay")
        for secret in Self.secrets { #expect(!shown.contains(secret), "\(secret)") }
    }
}
