import AppComponents
import Entrupy
import Simulation

extension Platforms {
    /// The platforms that this server simulates, in the order in which their tables were released.
    package static let simulated = Platforms(
        [EntrupyPlatform(), AppComponentsPlatform()], standardSeed: EntrupyPlatform.standardSeed,
        shippedScenarios: EntrupyPlatform.shippedScenarios.merging(AppComponentsPlatform.shippedScenarios) { first, _ in
            first
        })
}

/// The names of fault effects, for the command line, which may have no server to ask.
package enum SimulatedEffects {
    package static let ofRequests = Platforms.simulated.faultEffects.map(\.name).sorted().joined(separator: ", ")
    package static let ofWebhooks = WebhookEffect.all.map(\.name).joined(separator: ", ")

    /// Those of requests that prove something.
    package static func proving(_ proof: RequestEffect.Proof) -> Set<String> {
        Set(Platforms.simulated.faultEffects.filter { $0.proves.contains(proof) }.map(\.name))
    }
}

extension Seed {
    /// The default seed of namespaces: users, but no items.
    package static func standard() throws -> Seed { try Platforms.simulated.standardSeed() }

    /// The built-in seed of a name, `standard` or `empty`; `nil` if there is none.
    package static func named(_ name: String) throws -> Seed? { try Platforms.simulated.seed(named: name) }

    /// Reads and checks seed data for the platforms that this server simulates.
    ///
    /// - Throws: ``SeedError``.
    package init(name: String, yaml: String) throws {
        try self.init(name: name, yaml: yaml, .simulated)
    }
}
