import Foundation
import SimulationAPI
import Storage

/// A summary of a namespace whose database is closed: enough to list it, to open it when something falls due, and to
/// delete it.
///
/// Stored as a note beside each database. A server with thousands of namespaces reads these notes at its start and
/// opens no database.
package struct IdleNamespace: Codable, Sendable {
    package let randomSeed: Int
    package let seed: String
    package let counts: NamespaceCounts
    package let databaseBytes: Int
    /// In microseconds; `nil` if the namespace has no time to live.
    package let ttl: Int64?
    /// The time the clock is frozen at, in microseconds. `nil` if it runs; it then shows real time plus `offset`.
    package let frozenAt: Int64?
    package let offset: Int64
    package let last: Int64
    /// The next due time, in microseconds; `nil` if nothing is scheduled.
    package let nextDue: Int64?
    /// Whether webhook attempts were in flight. They are made again at the next start.
    package let hasInterruptedDeliveries: Bool
    /// Hashes of the images that the namespace refers to.
    package let images: [String]

    /// Namespaces above these limits get no note and are opened at the start: counting their rows takes long, and
    /// they have many images.
    private static let maxBytes = 64_000_000
    private static let maxImages = 1_000

    /// - Returns: `nil` if the namespace is above the limits.
    package init?(_ state: NamespaceState, _ transaction: Transaction) throws {
        databaseBytes = try transaction.databaseBytes()
        guard databaseBytes <= Self.maxBytes else { return nil }
        images = try transaction.imageHashes()
        guard images.count <= Self.maxImages else { return nil }
        counts = try transaction.namespaceCounts()
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

    package var timeToLive: Span? { ttl.map(Span.init(microseconds:)) }

    /// The real time at which scheduled work falls due; `nil` if there is none, or if the clock is frozen.
    package var wakeTime: Instant? { nextDue.flatMap { clock.realTime(of: Instant(microseconds: $0)) } }

    package var imageHashes: Set<ImageHash> { Set(images.compactMap { ImageHash($0) }) }

    /// The namespace's entry in the control API's list.
    package func info(name: String, url: String, real: Instant) -> NamespaceInfo {
        var clock = clock
        let now = clock.now(real: real)
        return NamespaceInfo(
            name: name, url: url, random_seed: randomSeed, seed: seed, clock: ClockState(clock, now), counts: counts,
            database_bytes: databaseBytes, ttl: ttl.map { Double($0) / 1e6 })
    }
}
