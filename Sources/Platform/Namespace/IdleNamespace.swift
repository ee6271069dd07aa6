import EntrupyAPI
import Foundation
import Storage

/// What is known of a world whose database is closed: enough to list it, to wake it when something falls due, and to delete it.
///
/// A server with thousands of namespaces starts without opening them: it reads these, each from a note beside the database.
struct IdleNamespace: Codable, Sendable {
    let randomSeed: Int
    let seed: String
    let counts: NamespaceCounts
    let databaseBytes: Int
    /// In microseconds.
    let ttl: Int64?
    /// The moment a clock stands at, or nil: then it runs, moved by `offset`.
    let frozenAt: Int64?
    let offset: Int64
    let last: Int64
    /// When something falls due next.
    let nextDue: Int64?
    /// Whether attempts were under way that are made again at the next start.
    let hasInterruptedDeliveries: Bool
    /// The pictures it refers to.
    let images: [String]

    /// Larger worlds are opened at the start: counting their rows takes long, and their pictures are many.
    private static let maxBytes = 64_000_000
    private static let maxImages = 1_000

    /// - Returns: nil if the world is too large.
    init?(_ state: NamespaceState, _ transaction: Transaction) throws {
        databaseBytes = try transaction.databaseBytes()
        guard databaseBytes <= Self.maxBytes else { return nil }
        images = try transaction.imageHashes()
        guard images.count <= Self.maxImages else { return nil }
        let rows = try transaction.counts()
        counts = NamespaceCounts(
            users: rows.users, sessions: rows.sessions, captures: rows.captures, authentications: rows.items,
            events: rows.events)
        randomSeed = state.generator.randomSeed
        seed = state.seed.name
        ttl = state.ttl?.microseconds
        switch state.clock.mode {
        case .running(let offset): (frozenAt, self.offset) = (nil, offset)
        case .frozen(let moment): (frozenAt, offset) = (moment.microseconds, 0)
        }
        last = state.clock.last.microseconds
        nextDue = state.nextDue?.microseconds
        hasInterruptedDeliveries = try !transaction.interruptedDeliveries().isEmpty
    }

    private var clock: Clock {
        let mode = frozenAt.map { Clock.Mode.frozen(Instant(microseconds: $0)) } ?? .running(offset: offset)
        return Clock(mode: mode, last: Instant(microseconds: last))
    }

    var timeToLive: Span? { ttl.map(Span.init(microseconds:)) }

    /// When it has something to do by itself, in real time; nil if nothing is due, or its clock stands.
    var wakeTime: Instant? { nextDue.flatMap { clock.realTime(of: Instant(microseconds: $0)) } }

    var imageHashes: Set<ImageHash> { Set(images.compactMap { ImageHash($0) }) }

    /// The world as the control API lists it.
    func info(name: String, url: String, real: Instant) -> NamespaceInfo {
        var clock = clock
        let now = clock.now(real: real)
        return NamespaceInfo(
            name: name, url: url, random_seed: randomSeed, seed: seed, clock: ClockState(clock, now), counts: counts,
            database_bytes: databaseBytes, ttl: ttl.map { Double($0) / 1e6 })
    }
}
