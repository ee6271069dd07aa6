import Entrupy
import Foundation
import NIOCore
import Simulation

// The parts of Simulation and Entrupy that the command line needs. It imports neither of them.

/// The guarantee for acknowledged writes when the power fails.
package typealias ServerDurability = Simulation.Durability

/// The target of a webhook, read from its URL.
package typealias ServerWebhookTarget = Simulation.WebhookTarget

/// A document in YAML or JSON, as scenarios and seed data are read.
package typealias ServerDocument = Simulation.SourceDocument

/// A pattern with `*` and `?`, as rules have it.
package typealias ServerGlob = Simulation.Glob

/// The look-up of names as the sender of webhooks makes it.
package enum ServerResolver {
    /// The addresses of a host name, at least one.
    ///
    /// - Throws: an error if there are none, or the name servers do not answer in time.
    package static func addresses(of host: String, within timeout: TimeAmount) async throws -> [String] {
        let resolver = Resolver()
        defer { resolver.stop() }
        return try await resolver.addresses(of: host, within: timeout, for: "").addresses
    }
}

/// The comparison of a webhook's signature with the right one.
package typealias WebhookSignatureCheck = Entrupy.SignatureCheck

/// Loads seed data by file or name.
package enum SeedFile {
    /// Loads the built-in seed with this name (`standard`, `empty`), or a seed file.
    ///
    /// - Throws: `SeedError` with the file, the line and what was expected; ``SeedFileUnreadable`` with the path if
    ///   the file cannot be read.
    package static func load(_ nameOrPath: String) throws -> Simulation.Seed {
        if let seed = try Seed.named(nameOrPath) { return seed }
        let text: String
        do {
            text = try String(contentsOf: URL(fileURLWithPath: nameOrPath), encoding: .utf8)
        } catch {
            throw SeedFileUnreadable(path: nameOrPath)
        }
        return try Seed(name: URL(fileURLWithPath: nameOrPath).lastPathComponent, yaml: text)
    }

    /// The API tokens of a seed, by organization.
    package static func tokens(_ seed: Simulation.Seed) -> [String: [String]] { seed.apiTokens }
}

/// Classifies errors that keep a server from starting.
package enum StartProblem {
    /// Whether the cause is a wrong file or setting, not the environment.
    package static func isWrongInput(_ error: any Error) -> Bool {
        switch error {
        case is SeedError, is SeedFileUnreadable: true
        case let error as PlatformError: error.kind == .invalid
        default: false
        }
    }
}

/// The error for a seed file that cannot be read.
struct SeedFileUnreadable: Error, CustomStringConvertible {
    let path: String

    var description: String {
        "the seed file \(path) cannot be read; expected a YAML or JSON file in UTF-8, or \"standard\" or \"empty\""
    }
}
