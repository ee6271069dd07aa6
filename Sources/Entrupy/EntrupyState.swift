import EntrupyAPI
import EntrupyStorage
import Hashes
import NIOCore
import NIOFoundationCompat
import Simulation
import SimulationAPI
import Storage

/// Entrupy's part of a namespace's state in memory.
final class EntrupyState: PlatformState {
    let platform: EntrupyPlatform
    private(set) var seed: EntrupySeed
    private(set) var settings: EntrupySettings
    let signingKey: HMACSHA256
    /// A cache of live sessions, by token, of at most ``maxSessions``.
    private(set) var sessions: [String: SDKUser] = [:]
    static let maxSessions = 10_000
    /// Parts of answers that follow from the seed's catalogue alone, as JSON. Filled on demand.
    private var encodedParts: [EncodedPart: ByteBuffer] = [:]

    /// The key of renderings in memory. It changes when a transaction is lost, because its revisions then never
    /// existed.
    let renderingsID: Int
    /// Renderings made by the jobs of this batch. A job of its own stores them.
    private var freshRenderings: [(bytes: ByteBuffer, item: FoundItem, key: Int64)] = []
    private var knownRenderingKey: Int64?

    /// The maximum number of renderings that wait to be stored; further ones are dropped.
    private static let maxFreshRenderings = 200

    init(_ platform: EntrupyPlatform, _ state: NamespaceState) {
        self.platform = platform
        seed = state.seed.entrupy
        settings = state.settings.part(EntrupySettings.self)
        signingKey = state.generator.key(for: "signed authorization requests")
        renderingsID = platform.nextRenderingsID()
    }

    /// Caches a live session. A full cache begins anew: sessions that are used come back with their next request.
    func keep(_ user: SDKUser, token: String) {
        if sessions.count >= Self.maxSessions { sessions = [:] }
        sessions[token] = user
    }

    func forgetSession(token: String) { sessions[token] = nil }

    func forgetSessions() { sessions = [:] }

    func configurationChanged(_ state: NamespaceState) {
        seed = state.seed.entrupy
        settings = state.settings.part(EntrupySettings.self)
        knownRenderingKey = nil
        encodedParts = [:]
        // Cached sessions carry the old limits.
        forgetSessions()
    }

    func takeCommitWork() -> (@Sendable (Transaction) throws -> Void)? {
        guard !freshRenderings.isEmpty else { return nil }
        defer { freshRenderings = [] }
        return { [freshRenderings] transaction in
            for (bytes, item, key) in freshRenderings { try transaction.store(bytes, of: item, key: key) }
        }
    }

    /// The key that a stored rendering must have to be valid.
    func renderingKey(_ state: NamespaceState) -> Int64 {
        if let knownRenderingKey { return knownRenderingKey }
        let key = Renderings.key(of: state, settings)
        knownRenderingKey = key
        return key
    }

    /// A part of answers that follows from the catalogue alone, encoded once.
    func encoded(_ part: EncodedPart, _ make: () throws -> some Encodable) throws -> ByteBuffer {
        if let known = encodedParts[part] { return known }
        let encoded = ByteBuffer(data: try WireJSON.encode(make()))
        encodedParts[part] = encoded
        return encoded
    }

    /// Queues a rendering to be stored soon.
    func cache(_ bytes: ByteBuffer, of item: FoundItem, key: Int64) {
        if freshRenderings.count < Self.maxFreshRenderings { freshRenderings.append((bytes, item, key)) }
    }
}

/// The parts of answers that follow from the catalogue alone.
enum EncodedPart: Hashable {
    /// The steps of captures without images, which are no retakes.
    case steps(category: String, ConfigType, Language)
    /// The categories of configurations.
    case categories(ConfigType, Language)
}

extension JobContext {
    var entrupy: EntrupyState { state.part(EntrupyState.self) }
    var catalogue: Catalogue { entrupy.seed.catalogue }
    var renderingKey: Int64 { entrupy.renderingKey(state) }
}
