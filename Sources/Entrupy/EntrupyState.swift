import Crypto
import EntrupyStorage
import Simulation
import Storage

/// Entrupy's part of a namespace's state in memory.
final class EntrupyState: PlatformState {
    let platform: EntrupyPlatform
    private(set) var seed: EntrupySeed
    private(set) var settings: EntrupySettings
    /// The key for signed authorization requests.
    let signingKey: SymmetricKey
    /// A cache of live sessions, by token.
    var sessions: [String: SDKUser] = [:]
    /// Encoded capture steps of the seed's catalogue, filled on demand.
    var encodedSteps = EncodedSteps()
    /// Encoded categories of configurations, filled on demand.
    var encodedCategories = EncodedCategories()

    /// The key of renderings in memory. It changes when a transaction is lost, because its revisions then never
    /// existed.
    let renderingsID: Int
    /// Renderings made by the jobs of this batch. A job of its own stores them.
    private var freshRenderings: [FreshRendering] = []
    private var knownRenderingKey: Int64?

    /// The maximum number of renderings that wait to be stored; further ones are dropped.
    private static let maxFreshRenderings = 200

    init(_ platform: EntrupyPlatform, _ state: NamespaceState) {
        self.platform = platform
        seed = state.seed.part(EntrupySeed.self)
        settings = state.settings.part(EntrupySettings.self)
        signingKey = state.generator.key(for: "signed authorization requests")
        renderingsID = platform.nextRenderingsID()
    }

    func configurationChanged(_ state: NamespaceState) {
        seed = state.seed.part(EntrupySeed.self)
        settings = state.settings.part(EntrupySettings.self)
        knownRenderingKey = nil
        encodedSteps = EncodedSteps()
        encodedCategories = EncodedCategories()
        // Cached sessions carry the old limits.
        sessions = [:]
    }

    func takeCommitWork() -> (@Sendable (Transaction) throws -> Void)? {
        guard !freshRenderings.isEmpty else { return nil }
        defer { freshRenderings = [] }
        return { [freshRenderings] transaction in
            for rendering in freshRenderings { try transaction.store(rendering) }
        }
    }

    /// The key that a stored rendering must have to be valid.
    func renderingKey(_ state: NamespaceState) -> Int64 {
        if let knownRenderingKey { return knownRenderingKey }
        let key = Renderings.key(of: state, settings)
        knownRenderingKey = key
        return key
    }

    /// Queues a rendering to be stored soon.
    func cache(_ rendering: FreshRendering) {
        if freshRenderings.count < Self.maxFreshRenderings { freshRenderings.append(rendering) }
    }
}

extension JobContext {
    /// Entrupy's part of the namespace's state.
    var entrupy: EntrupyState { state.part(EntrupyState.self) }
    var catalogue: Catalogue { entrupy.seed.catalogue }
    /// The key that a stored rendering must have to be valid.
    var renderingKey: Int64 { entrupy.renderingKey(state) }
}
