import DequeModule
import Foundation
import NIOConcurrencyHelpers
import SimulationAPI
import Storage

/// The headers of a journaled message. Implementations are small values that share the original message's storage, so
/// the journal makes no copy.
package protocol JournalHeaders: Sendable {
    /// Names and values, in the received order.
    var pairs: [(name: String, value: String)] { get }

    /// The approximate size in memory.
    var bytes: Int { get }
}

extension JournalHeaders {
    package var bytes: Int {
        pairs.reduce(0) { $0 + JournalEntry.Message.fieldOverhead + $1.name.utf8.count + $1.value.utf8.count }
    }
}

/// The body of a journaled message.
package protocol JournalBody: Sendable {
    /// The kept part of the body.
    var data: Data { get }

    /// The memory that it holds, in bytes; 0 if that is just the body.
    var memory: Int { get }
}

extension JournalBody {
    package var memory: Int { 0 }
}

/// A request and its answer. Headers and bodies are extracted from the original message only when they are read.
package struct JournalEntry: Sendable {
    /// The headers and body of a message.
    package struct Message: Sendable {
        package let headers: any JournalHeaders
        /// The kept part of the body.
        package let body: any JournalBody
        /// The full length of the body, in bytes.
        package let length: Int
        /// The length of the kept part, in bytes.
        package let kept: Int

        /// The approximate size in memory.
        package let bytes: Int
        /// The size of a header field beside its name and value.
        package static let fieldOverhead = 40

        package init(
            length: Int, kept: Int, headers: any JournalHeaders, body: any JournalBody
        ) {
            bytes = max(kept, body.memory) + headers.bytes
            self.headers = headers
            self.body = body
            self.length = length
            self.kept = kept
        }
    }

    /// Its number in the journal, which its job was given; 0 for an entry of an old bundle, which gets one from the journal.
    package var sequence: Int64
    package let requestID: String
    package let method: String
    package let path: String
    /// With its `?`; empty if there is none.
    package let query: String
    /// The status of the answer; `nil` if the request was lost before it was handled.
    package let status: Int?
    /// Whether the whole answer left the server, as far as is known yet.
    package fileprivate(set) var isDelivered: Bool
    /// The duration, in real time.
    package let milliseconds: Double
    package let outcome: RequestOutcome
    package let request: Message
    package let response: Message
    /// The real times; `nil` if they are not known.
    package var times: RequestTimes?
    /// A number that the requests of one connection have in common; `nil` if it is not known.
    package var connection: Int?
    /// Whether the request can be sent again: its body arrived whole.
    package var hasArrived = true
    /// Whether the kept body differs from the bytes that were sent, which were compressed.
    package var isDecoded = false
    /// Whether it is a request of the journal that was sent again, and so none of a client.
    package var isResent = false
    /// Whether it came with a bundle, in which secrets are masked.
    package var isMasked = false
    /// The digests that came with the entry of a bundle; `nil` if they can be made from the entry, or the bundle has none.
    package var storedDigests: RequestDigests?

    /// The approximate size, in bytes.
    package let bytes: Int
    /// The approximate size of an entry without its texts and messages, in bytes.
    private static let overhead = 700

    package init(
        requestID: String, method: String, path: String, query: String, status: Int?, isDelivered: Bool = true,
        milliseconds: Double, outcome: RequestOutcome, request: Message, response: Message
    ) {
        sequence = outcome.sequence
        self.requestID = requestID
        self.method = method
        self.path = path
        self.query = query
        self.status = status
        self.isDelivered = isDelivered
        self.milliseconds = milliseconds
        self.outcome = outcome
        self.request = request
        self.response = response
        let texts = requestID.utf8.count + method.utf8.count + path.utf8.count + query.utf8.count
        let noted =
            (outcome.username?.utf8.count ?? 0) + (outcome.because?.utf8.count ?? 0)
            + (outcome.state == nil ? 0 : 200)
        let facts = outcome.facts.reduce(0) { $0 + 100 + $1.text.utf8.count + ($1.otherwise?.utf8.count ?? 0) }
        bytes =
            Self.overhead + texts + noted + facts + (outcome.fault?.bytes ?? 0) + request.bytes + response.bytes
    }

    /// The time of its job, by the namespace's clock.
    package var at: Instant { outcome.at }

    /// The caller's name of its test: the header `X-Sim-Test`.
    package var test: String? { request.value(of: "x-sim-test") }
}

/// An entry of a journal, held by reference: for the server to tell later what became of its answer. Copying a snapshot of 10,000
/// entries takes a fraction of a millisecond.
package final class JournaledEntry: Sendable {
    package let entry: JournalEntry

    init(_ entry: JournalEntry) {
        self.entry = entry
    }
}

/// A snapshot of a journal, oldest entry first.
package struct JournalSnapshot: RandomAccessCollection, Sendable {
    fileprivate let entries: Deque<JournaledEntry>

    package var startIndex: Int { entries.startIndex }
    package var endIndex: Int { entries.endIndex }

    package subscript(position: Int) -> JournalEntry { entries[position].entry }
}

/// How far a journal has forgotten the requests of its namespace.
package struct Forgotten: Sendable {
    /// The time on the namespace's clock that the forgotten requests do not exceed.
    package let at: Instant
    /// The number of the last one, from 1.
    package let sequence: Int64
}

/// The journals of all namespaces: every request and answer, in memory. The oldest are dropped first [D journal].
///
/// Each namespace has limits on entries and bytes, and the server has a limit on bytes. If the server's limit is
/// reached, the largest journal evicts its oldest entries.
package final class Journals: Sendable {
    /// The maximum size of all journals together, in bytes [D journal].
    package static let maxBytes = 64 << 20

    private struct Ring {
        var entries: Deque<JournaledEntry> = []
        var bytes = 0
        /// The entries that were dropped for lack of space, cleared, or not kept at all; `nil` if there are none.
        var forgotten: Forgotten?
        /// Hashes of the names of the tests that sent them, but for those of earlier processes; `nil` if they are too many. A name may have
        /// as many bytes as a header.
        var forgottenTests: Set<Int>? = []
        /// Whether the namespace is of an earlier process, and nobody has looked yet how many requests it had by then.
        var isOfEarlierProcess = false

        /// The index of the entry with a number; `nil` if there is none. Takes logarithmic time.
        func index(of sequence: Int64) -> Int? {
            let place = entries.firstPlace { $0.entry.sequence >= sequence }
            return place < entries.count && entries[place].entry.sequence == sequence ? place : nil
        }

        /// Adds an entry, and drops the oldest ones that are more than the settings allow.
        ///
        /// - Returns: the added entry, `nil` if none is kept, and by how many bytes the ring has grown.
        mutating func append(
            _ entry: JournalEntry, _ settings: Settings.Journal
        ) -> (added: JournaledEntry?, growth: Int) {
            guard settings.entries > 0 else {
                forget(entry)
                return (nil, 0)
            }
            let before = bytes
            var entry = entry
            if entry.sequence < 1 { entry.sequence = (entries.last?.entry.sequence ?? 0) + 1 }
            let journaled = JournaledEntry(entry)
            // A request that was answered later than its successors, such as one that waited, has a smaller number.
            let place = (entries.lastIndex { $0.entry.sequence < entry.sequence } ?? -1) + 1
            entries.insert(journaled, at: place)
            bytes += entry.bytes
            while entries.count > settings.entries || bytes > settings.bytes, !entries.isEmpty { _ = dropFirst() }
            return (journaled, bytes - before)
        }

        mutating func dropFirst() -> Int {
            guard let first = entries.popFirst()?.entry else { return 0 }
            bytes -= first.bytes
            forget(first)
            return first.bytes
        }

        /// The maximum number of tests that are remembered. More may have been forgotten then.
        private static let maxTests = 1000

        mutating func forgetTests(of entries: some Sequence<JournalEntry>) {
            for case let test? in entries.lazy.map(\.test) { forgottenTests?.insert(TextKey(test).hashValue) }
            if forgottenTests?.count ?? 0 > Self.maxTests { forgottenTests = nil }
        }

        /// Entries can end in another order than that of their numbers.
        private mutating func forget(_ entry: JournalEntry) {
            forgetTests(of: CollectionOfOne(entry))
            forgotten = Forgotten(
                at: max(entry.at, forgotten?.at ?? entry.at), sequence: max(entry.sequence, forgotten?.sequence ?? 1))
        }
    }

    private struct State {
        var rings: [String: Ring] = [:]
        var bytes = 0
    }

    private let maxBytes: Int
    private let state = NIOLockedValueBox(State())

    package init(maxBytes: Int = Journals.maxBytes) {
        self.maxBytes = maxBytes
    }

    /// Adds a request to a namespace's journal.
    ///
    /// - Parameter isCurrent: whether the request belongs to the namespace's current state. Called while the journals
    ///   are locked, so that a deleted namespace gets no new journal.
    /// - Returns: the added entry; `nil` if it was not added.
    @discardableResult
    package func append(
        _ entry: JournalEntry, to namespace: String, _ settings: Settings.Journal, if isCurrent: () -> Bool = { true }
    ) -> JournaledEntry? {
        state.withLockedValue { state in
            guard isCurrent() else { return nil }
            let (journaled, change) = state.rings[namespace, default: Ring()].append(entry, settings)
            state.bytes += change
            guard let journaled else { return nil }
            if state.bytes > maxBytes { Self.evict(&state, maxBytes) }
            return journaled
        }
    }

    /// Notes that the answer of the entry with a number did not reach its client.
    ///
    /// - Parameter expected: the entry that is meant; `nil` for any. A namespace of the same name may have entries of the same numbers.
    /// - Returns: the entry as it is now; `nil` if the journal has dropped it, or knew that already.
    package func markUndelivered(
        sequence: Int64, in namespace: String, if expected: JournaledEntry? = nil
    ) -> JournalEntry? {
        state.withLockedValue { state in
            guard let index = state.rings[namespace]?.index(of: sequence),
                let known = state.rings[namespace]?.entries[index],
                expected.map({ known === $0 }) ?? true, known.entry.isDelivered
            else { return nil }
            var entry = known.entry
            entry.isDelivered = false
            // A new object: snapshots that were taken stay as they are.
            state.rings[namespace]?.entries[index] = JournaledEntry(entry)
            return entry
        }
    }

    /// Drops at least an eighth of the largest journal, so that the search for it is not repeated for every request.
    private static func evict(_ state: inout State, _ maxBytes: Int) {
        while state.bytes > maxBytes, let largest = state.rings.max(by: { $0.value.bytes < $1.value.bytes })?.key {
            var freed = 0
            let wanted = max(state.bytes - maxBytes, state.rings[largest]!.bytes / 8)
            while freed < wanted, !state.rings[largest]!.entries.isEmpty { freed += state.rings[largest]!.dropFirst() }
            state.bytes -= freed
            if freed == 0 { return }
        }
    }

    /// The entries of a namespace's journal, oldest first. Cheap: entries are immutable, so only references are
    /// copied.
    package func entries(of namespace: String) -> JournalSnapshot {
        JournalSnapshot(entries: state.withLockedValue { $0.rings[namespace]?.entries ?? [] })
    }

    /// The requests that a namespace has had since it was made or reset and that its journal does not have: they were dropped for lack of
    /// space, cleared, not kept, made before a restore or in an earlier process; `nil` if there are none.
    ///
    /// - Parameter test: the test whose requests count; `nil` for those of all.
    package func forgotten(of namespace: String, test: String? = nil) -> Forgotten? {
        state.withLockedValue { state in
            guard let ring = state.rings[namespace],
                test.map({ ring.forgottenTests?.contains(TextKey($0).hashValue) ?? true }) ?? true
            else {
                return nil
            }
            return ring.forgotten
        }
    }

    /// The entry with a number; `nil` if the journal has dropped it or does not have it yet. Takes logarithmic time.
    package func entry(sequence: Int64, of namespace: String) -> JournalEntry? {
        state.withLockedValue { state in
            guard let ring = state.rings[namespace], let index = ring.index(of: sequence) else { return nil }
            return ring.entries[index].entry
        }
    }

    /// Removes all entries of a namespace's journal.
    ///
    /// - Parameter forgotten: the requests that the namespace has had; `nil` if it begins anew.
    package func clear(_ namespace: String, forgetting forgotten: Forgotten? = nil) {
        state.withLockedValue { state in
            let ring = state.rings[namespace]
            state.bytes -= ring?.bytes ?? 0
            var cleared = Ring()
            if let forgotten, forgotten.sequence > 0 {
                cleared.forgotten = Forgotten(
                    at: max(forgotten.at, ring?.forgotten?.at ?? forgotten.at), sequence: forgotten.sequence)
                cleared.forgottenTests = ring.map(\.forgottenTests) ?? []
                cleared.forgetTests(of: (ring?.entries ?? []).lazy.map(\.entry))
            }
            state.rings[namespace] = cleared
        }
    }

    /// Begins the journal of a bundle's namespace, which had forgotten requests of tests that are not known.
    package func begin(_ namespace: String, after forgotten: Forgotten?) {
        state.withLockedValue { state in
            state.bytes -= state.rings[namespace]?.bytes ?? 0
            state.rings[namespace] = Ring(forgotten: forgotten, forgottenTests: forgotten == nil ? [] : nil)
        }
    }

    /// Notes that a namespace is of an earlier process, whose journal is gone.
    package func continueEarlier(_ namespace: String) {
        state.withLockedValue { $0.rings[namespace] = Ring(isOfEarlierProcess: true) }
    }

    /// Notes how many requests a namespace of an earlier process has had. Does nothing for others, nor a second time.
    ///
    /// - Parameters:
    ///   - last: the number of the last one; 0 if there was none.
    ///   - moment: the time on the namespace's clock.
    /// - Returns: whether it is one of an earlier process, and the first time.
    package func opened(_ namespace: String, after last: Int64, at moment: Instant) -> Bool {
        state.withLockedValue { state in
            guard state.rings[namespace]?.isOfEarlierProcess == true else { return false }
            state.rings[namespace] = Ring(forgotten: last > 0 ? Forgotten(at: moment, sequence: last) : nil)
            return true
        }
    }

    /// Removes a namespace's journal.
    package func forget(_ namespace: String) {
        state.withLockedValue { state in state.bytes -= state.rings.removeValue(forKey: namespace)?.bytes ?? 0 }
    }

    /// The size of all journals, in bytes.
    package var bytes: Int { state.withLockedValue { $0.bytes } }
}
