import SimulationAPI
import Testing

// The usual steps of tests about webhooks.
extension PlatformClient {
    @discardableResult package func subscribe(
        _ receiver: WebhookReceiver, version: String = "v2", _ more: JSONObject = [:],
        token: String = apiToken
    ) async throws -> String {
        try await subscribe(url: receiver.url, version: version, more, token: token)
    }

    @discardableResult package func subscribe(
        url: String, version: String = "v2", _ more: JSONObject = [:], token: String = apiToken
    ) async throws -> String {
        let plain: JSONObject = ["url": .string(url), "secret_key": "s3crét"]
        let answer = try await send(
            "POST", "/\(version)/webhooks", .object(plain.merging(more) { $1 }), token: token,
            headers: ["Api-Version": "1.3"])
        try #require(answer.status == 201, "\(answer.json)")
        return try #require(answer["id"].text)
    }

    /// The id of a new item.
    @discardableResult package func generatedItem(_ template: JSONObject = [:]) async throws -> String {
        let answer = try await send("POST", "/_sim/authentications", .object(template))
        return try #require(answer["entrupy_ids.0"].text)
    }

    /// Waits until no attempt is in progress.
    package func settleWebhooks() async throws {
        let answer = try await send("POST", "/_sim/clock/advance", ["by": "0s", "max_wall": "10m"])
        try #require(answer["reached"] == true, "\(answer.json)")
    }

    /// The deliveries, the oldest first.
    package func webhookDeliveries() async throws -> [JSONValue] {
        try await send("GET", "/_sim/webhook-deliveries?limit=100")["deliveries"].items.reversed()
    }
}
