import GRDB

/// A rule of the control API: an outcome for items, or a fault for requests.
package struct RuleRecord: Sendable, Hashable {
    /// The list that a rule is in. The database has it as text.
    package enum Kind: String, Sendable, CaseIterable {
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

extension Transaction {
    package func insertRule(_ rule: RuleRecord) throws {
        try run(
            "INSERT INTO rules (id, kind, document, created_at, seen, hits) VALUES (?, ?, ?, ?, ?, ?)",
            [rule.id, rule.kind.rawValue, rule.document, rule.createdAt, rule.seen, rule.hits])
    }

    /// All rules of a kind, oldest first.
    package func rules(_ kind: RuleRecord.Kind) throws -> [RuleRecord] {
        try all(
            "SELECT id, document, created_at, seen, hits FROM rules WHERE kind = ? ORDER BY position", [kind.rawValue]
        ) {
            RuleRecord(
                id: $0[0], kind: kind, document: $0[1], createdAt: $0[2], seen: StoredCount.clamped($0[3]),
                hits: StoredCount.clamped($0[4]))
        }
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
