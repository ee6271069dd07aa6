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
        /// The form used in bundles: `{"requests": […]}`, each with its messages.
        case requests
    }

    private struct State {
        var index = 0
        var hasEntries = false
        var isOver = false
        var secrets: Secrets
        /// The secrets that the previous entry was masked with.
        var known: [String]
    }

    private let entries: JournalSnapshot
    private let query: JournalQuery
    private let format: Format
    /// The base URL of the namespace.
    private let url: String
    /// The namespace's current secrets.
    private let present: [String]
    private let state: NIOLockedValueBox<State>

    /// A piece ends at this many bytes or after this many entries are checked. Checking that many takes a fraction of
    /// a millisecond.
    private static let pieceBytes = 65_536
    private static let pieceEntries = 500

    /// - Parameter secrets: the namespace's current secrets.
    package init(
        _ entries: JournalSnapshot, matching query: JournalQuery, as format: Format, url: String, secrets: [String]
    ) {
        present = secrets
        state = NIOLockedValueBox(State(secrets: Secrets(known: secrets), known: secrets))
        self.entries = entries
        self.query = query
        self.format = format
        self.url = url
    }

    /// The next piece, at most a few hundred kilobytes; `nil` at the end. Takes a few milliseconds.
    package func next() -> [UInt8]? {
        state.withLockedValue { state in
            guard !state.isOver else { return nil }
            var text = JSONText()
            if state.index == 0 { begin(&text) }
            let limit = min(state.index + Self.pieceEntries, entries.count)
            while state.index < limit, text.bytes.count < Self.pieceBytes {
                let entry = entries[state.index]
                state.index += 1
                guard query.matches(entry) else { continue }
                if state.hasEntries { text.raw(",") }
                state.hasEntries = true
                write(entry, &text, secrets(of: entry, &state))
            }
            if state.index == entries.count {
                end(&text)
                state.isOver = true
            }
            return text.bytes
        }
    }

    private func begin(_ text: inout JSONText) {
        switch format {
        case .har: text.raw(#"{"log":{"creator":{"name":"entrupy-sim","version":"1"},"entries":["#)
        case .requests: text.raw(#"{"requests":["#)
        }
    }

    private func end(_ text: inout JSONText) {
        switch format {
        case .har: text.raw(#"],"version":"1.2"}}"#)
        case .requests: text.raw("]}")
        }
    }

    private func write(_ entry: JournalEntry, _ text: inout JSONText, _ secrets: Secrets) {
        switch format {
        case .har: text.archiveEntry(entry, url, secrets)
        case .requests: text.journaledRequest(entry, secrets)
        }
    }

    /// The secrets to mask in an entry. Reuses those of the previous entry while they are the same.
    private func secrets(of entry: JournalEntry, _ state: inout State) -> Secrets {
        if entry.outcome.secrets != state.known {
            state.known = entry.outcome.secrets
            state.secrets = Secrets(entry, present)
        }
        return state.secrets
    }
}

extension JSONText {
    /// ``SimulationAPI/JournaledRequest``, with its messages.
    package mutating func journaledRequest(_ entry: JournalEntry, _ secrets: Secrets) {
        let request = JournaledRequest(entry, withMessages: false, secrets)
        raw(#"{"at":"#)
        number(request.at)
        raw(#","changes":"#)
        if let changes = request.changes {
            raw(#"{"after":"#)
            number(Int(changes.after))
            raw(#","through":"#)
            number(Int(changes.through))
            raw("}")
        } else {
            raw("null")
        }
        raw(#","decided_by":{"fault":"#)
        string(orNull: request.decided_by.fault)
        raw(#","limits":"#)
        array(request.decided_by.limits) { $0.string($1) }
        raw(#","outcome":"#)
        string(orNull: request.decided_by.outcome)
        raw(#"},"duration_ms":"#)
        number(request.duration_ms)
        raw(#","id":"#)
        string(request.id)
        raw(#","method":"#)
        string(request.method)
        raw(#","path":"#)
        string(request.path)
        raw(#","query":"#)
        string(orNull: request.query)
        raw(#","request":"#)
        journaledMessage(entry.request, secrets)
        raw(#","response":"#)
        journaledMessage(entry.response, secrets)
        if let sequence = request.sequence {
            raw(#","sequence":"#)
            number(Int(sequence))
        }
        raw(#","status":"#)
        number(request.status)
        raw(#","test":"#)
        string(orNull: request.test)
        raw(#","username":"#)
        string(orNull: request.username)
        raw("}")
    }

    private mutating func journaledMessage(_ message: JournalEntry.Message, _ secrets: Secrets) {
        raw(#"{"body":"#)
        string(orNull: Self.body(message, secrets))
        raw(#","bytes":"#)
        number(message.length)
        raw(#","headers":"#)
        array(message.headers.pairs) { text, header in
            text.raw("[")
            text.string(secrets.masked(text: header.name))
            text.raw(",")
            text.string(secrets.masked(header: header.name, header.value))
            text.raw("]")
        }
        raw(#","truncated":"#)
        bool(message.kept < message.length)
        raw("}")
    }

    /// ``SimulationAPI/HTTPArchive/Entry``.
    ///
    /// - Parameter url: the base URL of the namespace.
    package mutating func archiveEntry(_ entry: JournalEntry, _ url: String, _ secrets: Secrets) {
        raw(#"{"cache":{},"request":"#)
        archivedRequest(entry, url, secrets)
        raw(#","response":"#)
        archivedResponse(entry, secrets)
        raw(#","startedDateTime":"#)
        string(entry.at.display)
        raw(#","time":"#)
        number(entry.milliseconds)
        raw(#","timings":{"receive":0,"send":0,"wait":"#)
        number(entry.milliseconds)
        raw("}}")
    }

    private mutating func archivedRequest(_ entry: JournalEntry, _ url: String, _ secrets: Secrets) {
        let query = secrets.masked(query: String(entry.query.dropFirst()))
        let headers = Self.headers(entry.request, secrets)
        raw(#"{"bodySize":"#)
        number(entry.request.length)
        raw(#","cookies":[],"headers":"#)
        pairs(headers)
        raw(#","headersSize":-1,"httpVersion":"HTTP/1.1","method":"#)
        string(entry.method)
        if entry.request.kept > 0, let body = Self.body(entry.request, secrets) {
            raw(#","postData":{"mimeType":"#)
            string(Self.mediaType(headers))
            raw(#","text":"#)
            string(body)
            raw("}")
        }
        raw(#","queryString":"#)
        pairs(Self.parameters(query))
        raw(#","url":"#)
        string(url + secrets.masked(text: entry.path) + (query.isEmpty ? "" : "?\(query)"))
        raw("}")
    }

    private mutating func archivedResponse(_ entry: JournalEntry, _ secrets: Secrets) {
        let headers = Self.headers(entry.response, secrets)
        raw(#"{"bodySize":"#)
        number(entry.response.length)
        raw(#","content":{"mimeType":"#)
        string(Self.mediaType(headers))
        raw(#","size":"#)
        number(entry.response.length)
        if let body = Self.body(entry.response, secrets) {
            raw(#","text":"#)
            string(body)
        }
        raw(#"},"cookies":[],"headers":"#)
        pairs(headers)
        raw(#","headersSize":-1,"httpVersion":"HTTP/1.1","redirectURL":"","status":"#)
        number(entry.status)
        raw(#","statusText":""}"#)
    }

    private mutating func pairs(_ pairs: [(name: String, value: String)]) {
        array(pairs) { text, pair in
            text.raw(#"{"name":"#)
            text.string(pair.name)
            text.raw(#","value":"#)
            text.string(pair.value)
            text.raw("}")
        }
    }

    private static func headers(
        _ message: JournalEntry.Message, _ secrets: Secrets
    ) -> [(name: String, value: String)] {
        message.headers.pairs.map { (secrets.masked(text: $0.name), secrets.masked(header: $0.name, $0.value)) }
    }

    private static func body(_ message: JournalEntry.Message, _ secrets: Secrets) -> String? {
        secrets.masked(body: message.body.data, isCut: message.kept < message.length)
    }

    private static func mediaType(_ headers: [(name: String, value: String)]) -> String {
        headers.first { $0.name.lowercased() == "content-type" }?.value ?? ""
    }

    /// The parameters of a query, decoded.
    private static func parameters(_ query: String) -> [(name: String, value: String)] {
        query.utf8.split(separator: UInt8(ascii: "&")).map { pair in
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
                .map { String(Substring($0)) }
                .map { $0.removingPercentEncoding ?? $0 }
            return (parts[0], parts.count > 1 ? parts[1] : "")
        }
    }
}
