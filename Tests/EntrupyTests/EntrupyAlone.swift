import Simulation

@testable import Entrupy

// These tests run a server's namespaces with Entrupy alone.

extension Platforms {
    static let simulated = Platforms(
        [EntrupyPlatform()], standardSeed: EntrupyPlatform.standardSeed,
        shippedScenarios: EntrupyPlatform.shippedScenarios)
}

extension Seed {
    static func standard() throws -> Seed { try Platforms.simulated.standardSeed() }

    static func named(_ name: String) throws -> Seed? { try Platforms.simulated.seed(named: name) }

    init(name: String, yaml: String) throws {
        try self.init(name: name, yaml: yaml, .simulated)
    }
}
