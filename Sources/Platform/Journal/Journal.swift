import DequeModule
import Foundation
import NIOConcurrencyHelpers
import Storage

/// What the headers of a message are kept in. Small values that share what carried the message: no copy is made for the journal.
package protocol JournalHeaders: Sendable {
    /// Name and value, in the order they came.
    var pairs: [(name: String, value: String)] { get }
}

/// What a message's body is kept in.
package protocol JournalBody: Sendable {
    /// As much as is kept.
    var data: Data { get }
}

/// One request and what was answered. Headers and bodies are read out of what carried them only when somebody looks.
package struct JournalEntry: Sendable {
    /// The headers of a message, or its body.
    package struct Message: Sendable {
        let headers: any JournalHeaders
        /// As much of the body as is kept.
        let body: any JournalBody
        /// How long the body is in all, in bytes.
        let length: Int
        /// How much of it is kept.
        let kept: Int

        package init(
            length: Int, kept: Int, headers: any JournalHeaders, body: any JournalBody
        ) {
            self.headers = headers
            self.body = body
            self.length = length
            self.kept = kept
        }
    }

    /// Its place in the journal; assigned there.
    var sequence: Int64 = 0
    let requestID: String
    /// By the namespace's clock.
    let at: Instant
    let method: String
    let path: String
    /// With its `?`; empty where there is none.
    let query: String
    let status: Int
    /// In real time.
    let milliseconds: Double
    let known: RequestTrace.Known
    let request: Message
    let response: Message

    /// About what an entry takes besides its bodies, in bytes: two sets of headers, and itself.
    private static let overhead = 1500

    package init(
        requestID: String, at: Instant, method: String, path: String, query: String, status: Int, milliseconds: Double,
        known: RequestTrace.Known, request: Message, response: Message
    ) {
        self.requestID = requestID
        self.at = at
        self.method = method
        self.path = path
        self.query = query
        self.status = status
        self.milliseconds = milliseconds
        self.known = known
        self.request = request
        self.response = response
    }

    var bytes: Int { Self.overhead + path.utf8.count + query.utf8.count + request.kept + response.kept }
}

/// An entry as a ring keeps it: behind a reference, so that a snapshot of ten thousand is copied in a fraction of a millisecond
/// when the ring goes on.
private final class JournaledEntry: Sendable {
    let entry: JournalEntry

    init(_ entry: JournalEntry) {
        self.entry = entry
    }
}

/// A journal as it was at one moment, oldest first.
struct JournalSnapshot: RandomAccessCollection, Sendable {
    fileprivate let entries: Deque<JournaledEntry>

    var startIndex: Int { entries.startIndex }
    var endIndex: Int { entries.endIndex }

    subscript(position: Int) -> JournalEntry { entries[position].entry }
}

/// The journals of all namespaces: every request and answer, in memory, the oldest forgotten first [D].
///
/// Bounded by entries and bytes for each namespace, and by bytes for the server; where the server's bound is reached, the
/// largest journal gives way.
package final class Journals: Sendable {
    /// What all journals hold at most, in bytes [D].
    static let maxBytes = 64 << 20

    private struct Ring {
        var entries: Deque<JournaledEntry> = []
        var bytes = 0
        var next: Int64 = 1
        /// When the last that was forgotten for want of room was asked.
        var forgotten: Instant?

        mutating func dropFirst() -> Int {
            guard let first = entries.popFirst()?.entry else { return 0 }
            bytes -= first.bytes
            forgotten = first.at
            return first.bytes
        }
    }

    private struct State {
        var rings: [String: Ring] = [:]
        var bytes = 0
    }

    private let maxBytes: Int
    private let state = NIOLockedValueBox(State())

    init(maxBytes: Int = Journals.maxBytes) {
        self.maxBytes = maxBytes
    }

    /// Keeps a request.
    func append(_ entry: JournalEntry, to namespace: String, _ settings: Settings.Journal) {
        state.withLockedValue { state in
            var ring = state.rings[namespace] ?? Ring()
            // The ring is held by one owner alone while it changes.
            state.rings[namespace] = nil
            var entry = entry
            entry.sequence = ring.next
            ring.next += 1
            ring.entries.append(JournaledEntry(entry))
            ring.bytes += entry.bytes
            state.bytes += entry.bytes
            while ring.entries.count > settings.entries || ring.bytes > settings.bytes, !ring.entries.isEmpty {
                state.bytes -= ring.dropFirst()
            }
            state.rings[namespace] = ring
            if state.bytes > maxBytes { Self.giveWay(&state, maxBytes) }
        }
    }

    /// Drops an eighth of the largest journal, so that it is not looked for at every request.
    private static func giveWay(_ state: inout State, _ maxBytes: Int) {
        while state.bytes > maxBytes, let largest = state.rings.max(by: { $0.value.bytes < $1.value.bytes })?.key {
            var freed = 0
            let wanted = max(state.bytes - maxBytes, state.rings[largest]!.bytes / 8)
            while freed < wanted, !state.rings[largest]!.entries.isEmpty { freed += state.rings[largest]!.dropFirst() }
            state.bytes -= freed
            if freed == 0 { return }
        }
    }

    /// The entries of a namespace's journal, oldest first. Cheap: entries do not change, so references to them are enough.
    func entries(of namespace: String) -> JournalSnapshot {
        JournalSnapshot(entries: state.withLockedValue { $0.rings[namespace]?.entries ?? [] })
    }

    /// When the last request was asked that the journal has forgotten for want of room since it was last cleared.
    func forgotten(of namespace: String) -> Instant? {
        state.withLockedValue { $0.rings[namespace]?.forgotten }
    }

    /// Forgets what a namespace's journal holds. Places go on being counted.
    func clear(_ namespace: String) {
        state.withLockedValue { state in
            guard let ring = state.rings[namespace] else { return }
            state.bytes -= ring.bytes
            state.rings[namespace] = Ring(next: ring.next)
        }
    }

    /// Forgets a namespace.
    func forget(_ namespace: String) {
        state.withLockedValue { state in state.bytes -= state.rings.removeValue(forKey: namespace)?.bytes ?? 0 }
    }

    /// What all journals hold, in bytes.
    var bytes: Int { state.withLockedValue { $0.bytes } }
}
