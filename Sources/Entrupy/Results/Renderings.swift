import EntrupyStorage
import Foundation
import Hashes
import NIOConcurrencyHelpers
import NIOCore
import NIOFoundationCompat
import Simulation
import SimulationAPI

/// JSON that is already encoded.
package struct EncodedJSON: Sendable {
    package let bytes: ByteBuffer
}

/// The JSON that users see of items, encoded once for each revision of an item.
///
/// The English rendering with the server's own address is stored in the item's row. The first read makes it, and a separate job stores it, so that
/// reads never write. Other languages and addresses are cached in memory.
///
/// A rendering reads no clock: its keys have no time. What changes with time alone is added when it is asked for, in ``sdk(_:)``.
///
/// One value of this type renders all items of an answer: what they have in common is looked up once.
struct Renderings {
    private let job: JobContext
    /// The address with which URLs begin; `nil` if it is the server's own.
    private let address: AskedAddress?

    init(_ job: JobContext) {
        self.job = job
        address = job.followedAddress
    }

    /// The version of the rendering code, part of the key. Increase it when rendering changes, so that stored
    /// renderings of an older program are not used.
    private static let version = 4

    /// A hash of everything but the item's revision that a rendering depends on: addresses, texts and flagging
    /// settings.
    static func key(of state: NamespaceState, _ settings: EntrupySettings) -> Int64 {
        let parts =
            [
                String(version), state.environment.address.url(ofNamespace: state.name), state.seed.templateKey,
                String(settings.sparseItems), settings.certificates.url ?? "",
                String(settings.sdkFlagging), settings.flagEligible.map(\.rawValue).joined(separator: ","),
            ] + (state.renderingSalt.isEmpty ? [] : [state.renderingSalt])
        let digest = SHA256.hash(data: Data(parts.joined(separator: "\n").utf8))
        return digest.prefix(8).reduce(Int64(0)) { $0 << 8 | Int64($1) }
    }

    /// An item as its user sees it now, in the caller's language.
    func sdk(_ item: FoundItem) throws -> ByteBuffer {
        try FlagWindow.shown(rendered(item), item.entrupyID, job)
    }

    private func rendered(_ item: FoundItem) throws -> ByteBuffer {
        if job.language == .english, address == nil {
            if let bytes = item.rendering { return bytes }
            let bytes = try make(item, .sdk)
            job.entrupy.cache(bytes, of: item, key: job.renderingKey)
            return bytes
        }
        return try cached(item, .sdk)
    }

    /// An item as the partner API shows it, in the caller's language.
    func partner(_ item: FoundItem, _ version: PartnerVersion, _ parts: PartnerParts) throws -> ByteBuffer {
        switch version {
        case .v1(let minor): try cached(item, .v1(minor: minor))
        case .v2: try cached(item, .v2(parts))
        }
    }

    /// A rendering that is made once and cached in memory.
    private func cached(_ item: FoundItem, _ form: Form) throws -> ByteBuffer {
        let entrupy = job.entrupy
        let key = RenderingCache.Key(
            state: entrupy.renderingsID, position: item.position, revision: item.revision,
            settings: entrupy.renderingKey(job.state), form: form, language: job.language,
            address: address)
        let cache = entrupy.platform.renderings
        if let bytes = cache[key] { return bytes }
        let bytes = try make(item, form)
        cache[key] = bytes
        return bytes
    }

    private func make(_ found: FoundItem, _ form: Form) throws -> ByteBuffer {
        guard let item = try job.transaction.item(entrupyID: found.entrupyID) else {
            throw PlatformError.bug("item \(found.entrupyID) is gone")
        }
        return switch form {
        case .sdk: ByteBuffer(data: try WireJSON.encode(ResultRendering(job).render(item)))
        case .v1(let minor): ByteBuffer(data: try WireJSON.encode(PartnerRendering(item, job).v1(minor: minor)))
        case .v2(let parts): try Self.v2(item, parts, job)
        }
    }

    /// An item as `/v2` shows it, with the members that the settings want [P, D sparse-items].
    static func v2(_ item: ItemRecord, _ parts: PartnerParts, _ job: JobContext) throws -> ByteBuffer {
        let rendering = try PartnerRendering(item, job)
        return job.entrupy.settings.sparseItems
            ? ByteBuffer(bytes: try rendering.sparseV2(parts).bytes())
            : ByteBuffer(data: try WireJSON.encode(rendering.v2(parts)))
    }

    /// The forms in which an item is shown.
    enum Form: Hashable {
        case sdk
        case v1(minor: Int)
        case v2(PartnerParts)
    }
}

/// A cache of renderings in memory, limited in bytes. Thread-safe.
///
/// The cache has two generations. A rendering that is read moves to the young one. When the young generation is full,
/// it becomes the old one, and the renderings in the previous old generation are dropped.
final class RenderingCache: Sendable {
    struct Key: Hashable {
        let state: Int
        let position: Int64
        let revision: Int64
        let settings: Int64
        let form: Renderings.Form
        let language: Language
        let address: AskedAddress?

        /// Leaves out the form, the language and the address, of which one revision has few: a page asks for 25 keys.
        func hash(into hasher: inout Hasher) {
            hasher.combine(Int64(state) ^ settings)
            hasher.combine(position)
            hasher.combine(revision)
        }
    }

    private struct State {
        var young: [Key: ByteBuffer] = [:]
        var old: [Key: ByteBuffer] = [:]
        var youngBytes = 0
    }

    private let state = NIOLockedValueBox(State())
    private let generationBytes: Int

    /// - Parameter bytes: the cache's capacity.
    init(bytes: Int) {
        generationBytes = bytes / 2
    }

    subscript(key: Key) -> ByteBuffer? {
        get {
            state.withLockedValue { state in
                if let bytes = state.young[key] { return bytes }
                guard let bytes = state.old[key] else { return nil }
                insert(bytes, key, &state)
                return bytes
            }
        }
        set {
            guard let newValue else { return }
            state.withLockedValue { insert(newValue, key, &$0) }
        }
    }

    /// The number of cached renderings; for tests.
    var count: Int {
        state.withLockedValue { $0.young.count + $0.old.count }
    }

    private func insert(_ bytes: ByteBuffer, _ key: Key, _ state: inout State) {
        state.old[key] = nil
        state.young[key] = bytes
        // The allocated memory counts, which is more than the bytes in use.
        state.youngBytes += bytes.storageCapacity
        if state.youngBytes > generationBytes {
            state.old = state.young
            state.young = [:]
            state.youngBytes = 0
        }
    }
}
