import EntrupyAPI
import Foundation
import Platform

// What the command line needs of the platform, so that it sees Server alone.

/// How much of what was acknowledged a power cut may take.
package typealias ServerDurability = Platform.Durability

/// Seed data by file or name.
package enum SeedFile {
    /// The built-in seed of a name (`standard`, `empty`), or a file's.
    ///
    /// - Throws: `SeedError` with file, line and what was expected; an error that names a file that cannot be read.
    package static func load(_ nameOrPath: String) throws -> Platform.Seed {
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
    package static func tokens(_ seed: Platform.Seed) -> [String: [String]] { seed.apiTokens }
}

/// Why a server does not start.
package enum StartProblem {
    /// Whether it was given a file or a setting that is wrong, rather than finding something in its way.
    package static func isWrongInput(_ error: any Error) -> Bool {
        switch error {
        case is SeedError, is SeedFileUnreadable, PlatformError.invalid: true
        default: false
        }
    }
}

/// A seed file that cannot be read.
struct SeedFileUnreadable: Error, CustomStringConvertible {
    let path: String

    var description: String {
        "the seed file \(path) cannot be read; expected a YAML or JSON file in UTF-8, or \"standard\" or \"empty\""
    }
}

/// The list of our own decisions, for people.
package enum FidelityReport {
    /// The text of `docs/fidelity.md`.
    package static var markdown: String { Platform.Fidelity.markdown }
}
