import Foundation
import NIOConcurrencyHelpers
import SimulationAPI

/// An export of a journal: a snapshot that is rendered in pieces as it is read.
///
/// The namespace's mailbox does none of this work, however many entries there are.
package final class JournalExport: Sendable {
    /// The form of the export.
    package enum Format: Sendable {
        /// An HTTP archive.
        case har
        /// The form used in bundles: `{"requests": […]}`, each with its messages, and `forgotten` where the journal has forgotten some.
        case requests

        /// The texts before and after the entries.
        fileprivate var frame: (start: StaticString, end: StaticString) {
            switch self {
            case .har:
                (#"{"log":{"creator":{"name":"entrupy-sim","version":"1"},"entries":["#, #"],"version":"1.2"}}"#)
            case .requests: (#"{"requests":["#, "]}")
            }
        }
    }

    private struct State {
        var index = 0
        var hasEntries = false
        var isOver = false
        var secrets: EntrySecrets
    }

    private let entries: JournalSnapshot
    private let query: JournalQuery
    private let format: Format
    private let url: String
    private let secretMembers: Set<String>
    private let forgotten: Forgotten?
    private let state: NIOLockedValueBox<State>

    /// A piece ends at this many bytes or after this many entries are checked. Checking that many takes a fraction of
    /// a millisecond.
    private static let pieceBytes = 65_536
    private static let pieceEntries = 500

    /// - Parameters:
    ///   - url: the base URL of the namespace.
    ///   - secrets: the namespace's current secrets.
    ///   - secretMembers: the names of the members whose digests are exported.
    ///   - forgotten: what the journal has forgotten.
    package init(
        _ entries: JournalSnapshot, matching query: JournalQuery, as format: Format, url: String,
        secrets: KnownSecrets, secretMembers: Set<String>, forgotten: Forgotten?
    ) {
        self.secretMembers = secretMembers
        self.forgotten = forgotten
        state = NIOLockedValueBox(State(secrets: EntrySecrets(secrets)))
        self.entries = entries
        self.query = query
        self.format = format
        self.url = url
    }

    /// The next piece, at most a few hundred kilobytes; `nil` at the end. Takes a few milliseconds.
    package func next() throws -> [UInt8]? {
        try state.withLockedValue { state in
            guard !state.isOver else { return nil }
            var text = JSONText()
            if state.index == 0 { text.raw(format.frame.start) }
            let limit = min(state.index + Self.pieceEntries, entries.count)
            while state.index < limit, text.bytes.count < Self.pieceBytes {
                let entry = entries[state.index]
                state.index += 1
                guard query.matches(entry) else { continue }
                if let words = query.text, !words.isFound(in: entry, { state.secrets.of(entry) }) { continue }
                if state.hasEntries { text.raw(",") }
                state.hasEntries = true
                try write(entry, &text, state.secrets.of(entry))
            }
            if state.index == entries.count {
                if case .requests = format, let forgotten {
                    text.raw(#"],"forgotten":"#)
                    try text.encode(BundledJournal.Limit(forgotten))
                    text.raw("}")
                } else {
                    text.raw(format.frame.end)
                }
                state.isOver = true
            }
            return text.bytes
        }
    }

    private func write(_ entry: JournalEntry, _ text: inout JSONText, _ secrets: Secrets) throws {
        switch format {
        case .har: try text.encode(ArchivedEntry(entry, of: url, secrets))
        case .requests:
            var request = JournaledRequest(entry, withMessages: true, secrets)
            request.connection = entry.connection
            request.moved = Double(entry.outcome.moved.microseconds) / 1e6
            request.resent = entry.isResent ? true : nil
            request.digests = entry.digests(secretMembers, secrets)
            try text.encode(request)
        }
    }
}
