import SimulationAPI
import Testing

// The usual steps of tests about webhooks.
extension TestWorld {
    static func withoutLimits(in server: SimProcess = .shared) async throws -> TestWorld {
        try await make(in: server, settings: ["rate_limits": "off"])
    }

    /// A namespace whose clock is ahead of real time: to no client a token looks expired before it is.
    static func ahead(settings: JSONValue = ["rate_limits": "off"]) async throws -> TestWorld {
        let world = try await make(settings: settings)
        try #require(
            try await world.send("POST", "/_sim/clock/freeze", ["at": "2100-01-05T09:00:00Z"]).status == 200)
        return world
    }

    @discardableResult func subscribe(
        _ receiver: WebhookReceiver, version: String = "v2", _ more: JSONObject = [:],
        token: String = TestWorld.apiToken
    ) async throws -> String {
        try await subscribe(url: receiver.url, version: version, more, token: token)
    }

    /// Waits until no attempt is in progress.
    func settleWebhooks() async throws {
        let answer = try await send("POST", "/_sim/clock/advance", ["by": "0s", "max_wall": "10m"])
        try #require(answer["reached"] == true, "\(answer.json)")
    }

    /// The deliveries, the oldest first.
    func webhookDeliveries() async throws -> [JSONValue] {
        try await send("GET", "/_sim/webhook-deliveries?limit=100")["deliveries"].items.reversed()
    }
}
