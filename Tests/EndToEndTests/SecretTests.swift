import Foundation
import Outgoing
import SimulationAPI
import TestSupport
import Testing

/// Secrets are masked everywhere, under any name.
@Suite struct SecretTests {
    private static let controlToken = "ctl-token-zq81"
    private static let webhookSecret = #"wh"sec\ret/é-77"#
    private static let plainSecret = "whsecret-plain-4417"

    /// The secrets in all spellings, none of which may be shown.
    private func secrets(_ session: String) -> [String] {
        [
            TestWorld.apiToken, "demo%2Dapi-token", #"demo\u002dapi"#, "other-api-token", session, Self.controlToken,
            Self.plainSecret, #"wh\"sec\\ret/é-77"#, Self.webhookSecret,
        ]
    }

    private func check(_ text: String, _ place: String, _ session: String) {
        for secret in secrets(session) { #expect(!text.contains(secret), "\(secret) is shown by \(place)") }
    }

    @Test func noSecretIsShownUnderAnyName() async throws {
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let server = try await SimProcess(["--in-memory", "--control-token", Self.controlToken])
            defer { server.stop() }
            var world = TestWorld(base: server.baseURL)
            world.headers = ["X-Sim-Control-Token": Self.controlToken]
            _ = try await world.send("POST", "/_sim/clock/freeze")
            _ = try await world.send("PATCH", "/_sim/settings", ["rate_limits": "off"])
            let receiver = try await WebhookReceiver.open()
            for secret in [Self.webhookSecret, Self.plainSecret] {
                // The request that makes the subscription contains its secret twice.
                let subscription: JSONValue = [
                    "url": .string("\(receiver.url)?key=\(Self.plainSecret)"), "secret_key": .string(secret),
                ]
                #expect(
                    try await world.send("POST", "/v2/webhooks", subscription, token: TestWorld.apiToken).status == 201)
            }
            let session = try await world.login()
            for secret in secrets(session) { try await spread(secret, session, world) }
            _ = try await world.send("POST", "/_sim/settle", ["within": "10m"])
            #expect(receiver.deliveries.count > 4)

            for path in [
                "/_sim/requests?limit=1000", "/_sim/requests?format=har", "/_sim/webhook-deliveries?limit=100",
                "/_sim/stats",
                "/_sim/due",
            ] {
                check(String(decoding: try await world.send("GET", path).body, as: UTF8.self), path, session)
            }
            for request in try await world.send("GET", "/_sim/requests?limit=1000")["requests"].items {
                let id = try #require(request["id"].text?.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
                let shown = try await world.send("GET", "/_sim/requests/\(id)")
                check(String(decoding: shown.body, as: UTF8.self), "request \(id)", session)
            }
            let misses = try await world.send(
                "POST", "/_sim/requests/verify", ["match": ["test": "x", "username": "x"]])
            #expect(misses.status == 409)
            check(String(decoding: misses.body, as: UTF8.self), "verify", session)
            check(try await stream(world), "events", session)

            let archive = try TarFile(try await world.send("GET", "/_sim/bundle").body)
            for entry in archive.entries where ["journal.json", "journal.har", "events.ndjson"].contains(entry.name) {
                #expect(!entry.bytes.isEmpty)
                check(String(decoding: entry.bytes, as: UTF8.self), entry.name, session)
            }
        }
    }

    /// Sends a secret in every part of a request that can hold text.
    private func spread(_ secret: String, _ session: String, _ world: TestWorld) async throws {
        let escaped = secret.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        // A header can only hold ASCII.
        let isASCII = secret.utf8.allSatisfy { $0 < 0x80 }
        let headers =
            isASCII
            ? [
                "X-Note": "is \(secret)", "X-Sim-Test": secret, "X-Request-Id": secret,
                "Referer": "http://x/?t=\(escaped)",
            ] : ["Referer": "http://x/?t=\(escaped)"]
        _ = try? await world.send(
            "GET", "/sdk/results/x\(escaped)y?a=b\(escaped)&\(escaped)=c", token: session, headers: headers)
        _ = try? await world.send(
            "GET", "/v2/lookup/authentications/\(escaped)",
            headers: isASCII ? ["Authorization": "\(secret) x"] : [:])
        let item: JSONValue = [
            "brand": "Nike", "style_name": "Air", "customer_item_id": .string("id \(secret)"), "note": .string(secret),
        ]
        _ = try await world.send("POST", "/sdk/captures", ["item": item], token: session)
        var escapedItem = String(decoding: try WireJSON.encode(JSONValue.object(["item": item])), as: UTF8.self)
        escapedItem = escapedItem.replacing("-", with: #"\u002d"#)
        _ = try await world.send(
            "POST", "/sdk/captures", bytes: Data(escapedItem.utf8), token: session,
            headers: ["Content-Type": "application/json"])
        // A truncated body and one that is not JSON.
        _ = try await world.send(
            "POST", "/sdk/search", bytes: Data(escapedItem.dropLast(2).utf8), token: session,
            headers: ["Content-Type": "application/json"])
        // Puts the secret into deliveries and the event log.
        _ = try await world.send("POST", "/_sim/authentications", ["customer_item_id": .string(secret)])
        _ = try await world.send(
            "POST", "/_sim/faults",
            [
                "match": ["route": "/nowhere", "header": ["X-A": .string(secret)]],
                "effect": ["status": 500, "body": .string(secret)],
            ])
    }

    /// The event stream from its beginning.
    private func stream(_ world: TestWorld) async throws -> String {
        var request = try OutgoingRequest(.GET, "\(world.base)/_sim/events?since=0")
        for (name, value) in world.headers { request.headers.add(name: name, value: value) }
        return try await OutgoingClient.patient.exchange(request) { response in
            var text = ""
            var hasSent = false
            for try await part in response.body {
                text += String(buffer: part)
                if text.contains("event: open"), !hasSent {
                    hasSent = true
                    let note: JSONValue = ["match": ["username": .string(TestWorld.apiToken)], "result": "unknown"]
                    _ = try await world.send("POST", "/_sim/outcomes", note)
                    _ = try await world.send("GET", "/v2/health?x=\(Self.plainSecret)")
                    _ = try await world.send(
                        "POST", "/_sim/outcomes", ["match": ["username": "the last"], "result": "unknown"])
                }
                if text.contains("the last"), text.contains("/v2/health") { break }
            }
            return text
        }
    }
}
