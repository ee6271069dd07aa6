import SimulationAPI
import Storage

/// A filter for the requests of a journal. All given parts must match.
package struct JournalQuery: Sendable {
    package var route: Glob?
    /// In upper case.
    package var method: String?
    package var status: StatusPattern?
    /// `nil` if the caller does not say. An answer then counts whether or not it was delivered, unless ``isDeliveryImplied``.
    package var delivery: Delivery?
    /// Whether the requests are counted to judge a client. Then only delivered answers count if a status is given, and no request that a
    /// person sent again from the journal does.
    package var isJudgement = false
    package var username: String?
    /// The first moment that matches, and the first one after it that does not.
    package var since: Instant?
    package var before: Instant?
    package var test: String?
    /// The numbers in the journal between which an entry must lie; neither of them matches.
    package var sequences: (after: Int64, before: Int64) = (0, .max)
    /// The id of the trace; `nil` if that does not matter.
    package var trace: String?
    /// The words that an entry shows; `nil` if that does not matter. ``matches(_:)`` leaves it to its caller, which knows the secrets.
    package var text: JournalText?

    /// A status, or a class of them such as `4xx`.
    package struct StatusPattern: Sendable {
        package let text: String

        /// Parses a status or a class; `nil` if the text is neither.
        package init?(_ text: String) {
            let bytes = Array(text.utf8)
            guard bytes.count == 3, (0x31...0x35).contains(bytes[0]) else { return nil }
            let isClass = bytes[1] | 0x20 == UInt8(ascii: "x") && bytes[2] | 0x20 == UInt8(ascii: "x")
            guard isClass || bytes.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            self.text = text.lowercased()
        }

        /// The problem of a text that is not a status.
        package static let expectation = "must be a status such as 404, or a class such as 4xx"

        /// - Parameter status: `nil` if the request was lost, which matches no pattern.
        package func matches(_ status: Int?) -> Bool {
            status.map { text.hasSuffix("xx") ? $0 / 100 == Int(text.prefix(1)) : $0 == Int(text) } ?? false
        }
    }

    /// Whether the answers that a query counts reached their clients.
    package enum Delivery: String, CaseIterable, Sendable {
        case delivered = "true"
        case undelivered = "false"
        case any
    }

    /// Whether ``delivered`` is true because a status is asked for: a client that lost an answer has no status.
    private var isDeliveryImplied: Bool { isJudgement && delivery == nil && status != nil }

    /// Whether the answer reached the client; `nil` if that does not matter.
    package var delivered: Bool? {
        switch delivery {
        case .delivered: true
        case .undelivered: false
        case .any: nil
        case nil: isDeliveryImplied ? true : nil
        }
    }

    /// The differences between an entry and the query; empty if the entry matches.
    package func differences(_ entry: JournalEntry, _ secrets: Secrets) -> [String] {
        var found: [String] = []
        compare(entry) { found.append($0(secrets)) }
        return found
    }

    /// Calls `differs` for each part of the query that an entry does not match, with a function that says so.
    private func compare(_ entry: JournalEntry, _ differs: (_ text: (Secrets) -> String) -> Void) {
        if let route, !route.matches(RoutePath.plain(entry.path)) {
            differs { "route is \($0.masked(text: entry.path)), not \(route.pattern)" }
        }
        if let method, !method.isIdentical(to: entry.method) {
            differs { _ in "method is \(entry.method), not \(method)" }
        }
        if let status, !status.matches(entry.status) {
            let lost = "null (the request was lost)"
            differs { _ in "status is \(entry.status.map(String.init) ?? lost), not \(status.text)" }
        }
        if let delivered, delivered != entry.isDelivered { differs { deliveryDifference(entry, $0) } }
        if let username, !(entry.outcome.username?.isIdentical(to: username) ?? false) {
            differs { "username is \(entry.outcome.username.map($0.masked(text:)) ?? "unknown"), not \(username)" }
        }
        if let since, entry.at < since { differs { _ in "was at \(entry.at.display), before \(since.display)" } }
        if let before, entry.at >= before {
            differs { _ in "was at \(entry.at.display), not before \(before.display)" }
        }
        if let test, !(entry.test?.isIdentical(to: test) ?? false) {
            differs { "test is \(entry.test.map($0.masked(text:)) ?? "unnamed"), not \(test)" }
        }
        if isJudgement, entry.isResent { differs { _ in "was sent again from the journal, not by the client" } }
        if entry.sequence <= sequences.after || entry.sequence >= sequences.before {
            differs { _ in "is number \(entry.sequence) of the journal" }
        }
    }

    private func deliveryDifference(_ entry: JournalEntry, _ secrets: Secrets) -> String {
        guard !entry.isDelivered else { return "was delivered" }
        let loss = JournaledRequest(entry, withMessages: false, secrets).lossText ?? ""
        return "was not delivered: \(loss)" + (isDeliveryImplied ? "; \"delivered\": \"any\" counts it too" : "")
    }

    /// The number of parts of the query that an entry does not match. Creates no texts, since a journal has thousands
    /// of entries.
    private func differenceCount(_ entry: JournalEntry) -> Int {
        var count = 0
        compare(entry) { _ in count += 1 }
        if let trace, !(entry.outcome.trace?.id.isIdentical(to: trace) ?? false) { count += 1 }
        return count
    }

    /// The number of bytes that the route and the entry's path have in common at the beginning. Of two entries that
    /// do not match, the one with more is nearer.
    private func likeness(_ entry: JournalEntry) -> Int {
        guard let route else { return 0 }
        return zip(route.pattern.utf8, RoutePath.plain(entry.path).utf8).prefix { $0 == $1 }.count
    }

    /// The indices of the entries that come closest without matching, nearest first; the newest first among equals.
    ///
    /// - Parameter obstacle: the number of obstacles besides the query's parts, and by how much they are missed, for the entry at an
    ///   index. They count less than a part that does not match.
    package func nearestMisses(
        in journal: JournalSnapshot, limit: Int, obstacle: (Int) -> (count: Int, distance: Int64) = { _ in (0, 0) }
    ) -> [Int] {
        alike(in: journal) { obstacle($0).count > 0 }.reversed()
            .map { index in
                let entry = journal[index]
                let other = obstacle(index)
                let count = 2 * differenceCount(entry) + other.count
                return (index: index, order: (count, other.distance, -likeness(entry), -index))
            }
            .filter { $0.order.0 > 0 }
            .sorted { $0.order < $1.order }
            .prefix(limit).map(\.index)
    }

    /// The indices among which near misses are looked for: the requests of the route and method. If there are none, those of the
    /// route; if that has none either, all.
    ///
    /// - Parameter isHindered: whether the entry at an index misses for another reason than the query's parts.
    private func alike(in journal: JournalSnapshot, where isHindered: (Int) -> Bool) -> [Int] {
        guard let route else { return Array(journal.indices) }
        let ofRoute = journal.indices.filter { route.matches(RoutePath.plain(journal[$0].path)) }
        guard !ofRoute.isEmpty else { return Array(journal.indices) }
        let unmatched = ofRoute.filter { isHindered($0) || !matches(journal[$0]) }
        let ofMethod = unmatched.filter { index in method.map { $0.isIdentical(to: journal[index].method) } ?? true }
        return ofMethod.isEmpty ? unmatched : ofMethod
    }

    /// Whether some of the forgotten requests may have matched.
    package func covers(_ forgotten: Forgotten) -> Bool {
        sequences.after < forgotten.sequence && since.map { $0 <= forgotten.at } ?? true
    }

    /// Whether an entry matches all parts but ``text``.
    package func matches(_ entry: JournalEntry) -> Bool { differenceCount(entry) == 0 }
}
