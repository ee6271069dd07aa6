import SimulationAPI

/// A search of a journal's snapshot, newest entry first.
package struct RequestSearch: Sendable {
    private let journal: JournalSnapshot
    private let query: JournalQuery
    private let limit: Int
    private var secrets: EntrySecrets
    /// Makes the cursor of the page that follows an entry.
    private let seal: @Sendable (JournalEntry) -> String
    /// The place of the next entry to look at: those before it are left.
    private var index: Int
    private var page: [JournalEntry] = []

    /// A piece ends after this many entries, or so many bytes of entries. It takes a few milliseconds, masking aside.
    private static let pieceEntries = 500
    private static let pieceBytes = 1 << 20

    init(
        _ journal: JournalSnapshot, _ query: JournalQuery, before: Int64, limit: Int, secrets: KnownSecrets,
        seal: @escaping @Sendable (JournalEntry) -> String
    ) {
        self.journal = journal
        self.query = query
        self.limit = limit
        self.seal = seal
        self.secrets = EntrySecrets(secrets)
        index = before == .max ? journal.endIndex : journal.firstPlace { $0.sequence >= before }
    }

    /// Whether the page is full, or all entries were looked at.
    package var isOver: Bool { page.count > limit || index == journal.startIndex }

    /// Looks at the next entries.
    package mutating func advance() {
        let end = Swift.max(journal.startIndex, index - Self.pieceEntries)
        var bytes = 0
        while !isOver, index > end, bytes < Self.pieceBytes {
            index -= 1
            let entry = journal[index]
            guard query.matches(entry) else { continue }
            if let text = query.text {
                bytes += entry.bytes
                guard text.isFound(in: entry, { secrets.of(entry) }) else { continue }
            }
            page.append(entry)
        }
    }

    /// The found requests, after a look at all entries that are left.
    package mutating func list() -> RequestList {
        while !isOver { advance() }
        return RequestList(
            requests: page.prefix(limit).map { JournaledRequest($0, withMessages: false, secrets.of($0)) },
            next_cursor: page.count > limit ? seal(page[limit - 1]) : nil)
    }
}

/// The secrets to mask in entries of a journal, one after another. Uses those of the entry before again while they are the same.
package struct EntrySecrets: Sendable {
    private let present: KnownSecrets
    private var known: KnownSecrets
    private var secrets: Secrets

    /// - Parameter present: the namespace's current secrets.
    package init(_ present: KnownSecrets) {
        (self.present, known, secrets) = (present, present, Secrets(present))
    }

    /// The secrets to mask in an entry.
    package mutating func of(_ entry: JournalEntry) -> Secrets {
        if entry.outcome.secrets != known {
            known = entry.outcome.secrets
            secrets = Secrets(entry, present)
        }
        return secrets.of(entry)
    }
}

extension RandomAccessCollection where Index == Int {
    /// The first place whose element, and those of all later places, satisfy a condition; found in logarithmic time.
    package func firstPlace(where condition: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if condition(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
