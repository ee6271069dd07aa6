import NIOConcurrencyHelpers
import Storage

/// Seed data by its text. Namespaces hold it as text, and recently used texts are not parsed again.
package final class SeedCache: Sendable {
    private let standard: Seed
    private let seeds = NIOLockedValueBox(RecentValues<String, Seed>(maxCount: 32, maxBytes: 4_000_000))

    /// - Parameter standard: the default of new namespaces, which takes no room.
    init(default standard: Seed) {
        self.standard = standard
    }

    /// The number of cached seeds; for tests.
    package var count: Int { seeds.withLockedValue { $0.count } }

    /// The seed data stored in a namespace.
    package func seed(named name: String, text: String) throws -> Seed {
        let key = name + "\n" + text
        if let known = seeds.withLockedValue({ $0.value(of: key) }) { return known }
        if standard.name == name, standard.text.isIdentical(to: text) { return standard }
        let seed = try Seed.remembered(name: name, text: text, standard.platforms)
        _ = seeds.withLockedValue { $0.insert(seed, for: key, bytes: text.utf8.count) }
        return seed
    }
}
