import Logging
import Testing
import Yams

@testable import Entrupy
@testable import Server
@testable import Simulation

/// The router and the OpenAPI description have the same routes.
@Suite struct RouteTests {
    @Test func routerAndDescriptionAgree() async throws {
        let server = try SimServer(
            ServerConfiguration(
                version: "test",
                namespaces: NamespacesConfiguration(
                    dataDirectory: nil, durability: .process, seed: .standard(), randomSeed: 1, settings: .object([:]),
                    autoCreates: false)),
            logger: Logger(label: "test"))
        // The framework adds a HEAD route for every GET route.
        let routes = Set(
            server.routes().operations.map { "\($0.method.rawValue) \($0.path)" }.filter {
                !$0.hasPrefix("HEAD")
            })
        let described = Set(
            try Description.tree()["paths"]!.members.flatMap { path, item in
                item.members.map { "\($0.key.uppercased()) \(path)" }
            })
        #expect(routes.sorted() == described.sorted())
        #expect(routes.count > 30)
    }
}
