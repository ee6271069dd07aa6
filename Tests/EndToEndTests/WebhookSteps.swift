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
}
