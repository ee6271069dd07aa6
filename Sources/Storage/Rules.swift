/// A rule of the control API: an outcome for items, or a fault for requests.
package struct RuleRecord: Sendable, Hashable {
    /// The list that a rule is in. The database has it as text.
    package enum Kind: String, StoredWord, CaseIterable {
        case outcome, fault
    }

    package var id: String
    package var kind: Kind
    /// The rule as it was given, a JSON object.
    package var document: String
    package var createdAt: Instant
    /// The number of matches.
    package var seen: Int
    /// The number of times the rule was applied.
    package var hits: Int

    package init(id: String, kind: Kind, document: String, createdAt: Instant, seen: Int = 0, hits: Int = 0) {
        self.id = id
        self.kind = kind
        self.document = document
        self.createdAt = createdAt
        self.seen = seen
        self.hits = hits
    }
}

extension RuleRecord: StoredRecord {
    package static let table = Table(
        "rules", key: .counted, blank: RuleRecord(id: "", kind: .outcome, document: "", createdAt: .epoch)
    ) {
        // First, because the form of the document depends on it.
        $0.column("kind", \.kind, .word(Kind.self))
        $0.column("position", .row)
        $0.column("id", \.id, .choice([Kind.fault.rawValue: .id("fault"), Kind.outcome.rawValue: .id("outcome")]))
        $0.column(
            "document", \.document,
            .choice([Kind.fault.rawValue: .named("fault"), Kind.outcome.rawValue: .named("outcome")]))
        $0.column("created_at", \.createdAt, .time)
        $0.column("seen", \.seen, .count)
        $0.column("hits", \.hits, .count)
    }
}

extension Transaction {
    /// All rules of a kind, oldest first.
    package func rules(_ kind: RuleRecord.Kind) throws -> [RuleRecord] {
        try records("WHERE kind = ? ORDER BY position", [kind])
    }

    /// Writes how often a rule has matched and was applied.
    package func countRule(id: String, seen: Int, hits: Int) throws {
        try run("UPDATE rules SET seen = ?, hits = ? WHERE id = ?", [seen, hits, id])
    }

    package func deleteRule(id: String) throws {
        try run("DELETE FROM rules WHERE id = ?", [id])
    }

    package func deleteRules(_ kind: RuleRecord.Kind) throws {
        try run("DELETE FROM rules WHERE kind = ?", [kind.rawValue])
    }
}
