import GRDB

/// A search for items: whose, which, from when to when, and where the page begins.
///
/// Pages are found by keyset: order is by submission, newest first, then by id, and neither ever changes.
package struct ItemSearch: Sendable {
    /// What a term looks at.
    package enum Field: String, Sendable, CaseIterable {
        case brand = "brand_id"
        case result = "result_id"
        case flag = "flag_id"
        case category
        case customerItemID = "customer_item_id"
        /// Its values are row ids.
        case user = "user_id"
    }

    /// Whose items are looked through.
    package enum Scope: Sendable {
        /// Of these users, at least one.
        case users([Int64])
        /// Of all users of an organization.
        case organization(Int64)
    }

    /// A field that has one of some values; or, excluded, none of them.
    package struct Term: Sendable {
        let field: Field
        let values: [String]
        let isExcluded: Bool

        package init(_ field: Field, _ values: [String], isExcluded: Bool = false) {
            self.field = field
            self.values = values
            self.isExcluded = isExcluded
        }
    }

    /// Where a page begins: behind this item.
    package struct Position: Sendable, Hashable {
        package let submittedAt: Instant
        package let entrupyID: String

        package init(submittedAt: Instant, entrupyID: String) {
            self.submittedAt = submittedAt
            self.entrupyID = entrupyID
        }
    }

    package var scope: Scope
    /// All of them must hold.
    package var terms: [Term]
    /// Inclusive bounds of the submission; nil: none.
    package var from: Instant?
    package var to: Instant?
    package var after: Position?

    package init(scope: Scope, terms: [Term], from: Instant?, to: Instant?, after: Position?) {
        self.scope = scope
        self.terms = terms
        self.from = from
        self.to = to
        self.after = after
    }
}

extension ItemSearch {
    /// One statement and what it is given.
    struct Statement {
        var sql: String
        var arguments: StatementArguments
        /// Whether other searches are likely to have the same text.
        var isCommon: Bool
    }

    /// The statements that find a page, in order: those of the cursor's own moment first, then the earlier ones. Each
    /// walks one index in the order of the page, so none sorts.
    func statements(key: Int64?) -> [Statement] {
        // Terms that contradict each other leave nothing to look for.
        guard !owner.values.isEmpty, Field.allCases.allSatisfy({ allowed($0)?.isEmpty != true }) else { return [] }
        guard let after else { return [statement(key, within(nil))] }
        let isInside = from.map { $0 <= after.submittedAt } ?? true && to.map { after.submittedAt <= $0 } ?? true
        let sameMoment = statement(
            key, (" AND submitted_at = ? AND entrupy_id > ?", [after.submittedAt, after.entrupyID]))
        return (isInside ? [sameMoment] : []) + [statement(key, within(after.submittedAt))]
    }

    /// The bounds of the submission, as one range of an index.
    private func within(_ before: Instant?) -> (sql: String, arguments: StatementArguments) {
        var sql = ""
        var arguments: StatementArguments = []
        if let from {
            sql += " AND submitted_at >= ?"
            arguments += [from]
        }
        if let before, to.map({ before <= $0 }) ?? true {
            sql += " AND submitted_at < ?"
            arguments += [before]
        } else if let to {
            sql += " AND submitted_at <= ?"
            arguments += [to]
        }
        return (sql, arguments)
    }

    /// The most index ranges that one statement merges; beyond that a broader index is walked and filtered.
    private static let maxRanges = 100
    /// The most variables of a statement; SQLite takes 32,766.
    private static let maxVariables = 20_000

    private func statement(
        _ key: Int64?, _ bound: (sql: String, arguments: StatementArguments)
    ) -> Statement {
        let ranges = ranges()
        var rest = ""
        var restArguments: StatementArguments = []
        for term in terms where !ranges.fields.contains(term.field) || term.isExcluded {
            let marks = Array(repeating: "?", count: term.values.count).joined(separator: ", ")
            // The plus keeps the planner on the index that is in the order of the page.
            let column = "+\(term.field.rawValue)"
            // An item without the field has none of the values.
            rest +=
                term.isExcluded
                ? " AND (\(column) IS NULL OR \(column) NOT IN (\(marks)))" : " AND \(column) IN (\(marks))"
            restArguments +=
                term.field == .user
                ? StatementArguments(term.values.map { Int64($0) }) : StatementArguments(term.values)
        }
        let equals = ranges.fields.map { " AND \($0.rawValue) = ?" }.joined()
        let one = """
            SELECT \(FoundItem.columns) FROM items INDEXED BY \(ranges.index)
            WHERE \(owner.column) = ?\(equals)\(bound.sql)\(rest)
            """
        var arguments: StatementArguments = []
        for owner in owner.values {
            for values in ranges.values {
                arguments += [key, owner]
                arguments += StatementArguments(values)
                arguments += bound.arguments
                arguments += restArguments
            }
        }
        let count = owner.values.count * ranges.values.count
        let sql =
            Array(repeating: one, count: count).joined(separator: "\nUNION ALL\n")
            + "\nORDER BY submitted_at DESC, entrupy_id LIMIT ?"
        return Statement(
            sql: sql, arguments: arguments,
            isCommon: count <= 4 && terms.allSatisfy { $0.values.count <= 4 })
    }

    /// The indexes of whoever's items they are, narrow ones first.
    private static let indexes: [(suffix: String, fields: [Field])] = [
        ("_and_customer_item_id", [.customerItemID]), ("_brand_and_result", [.brand, .result]),
        ("_and_flag", [.flag]), ("_and_brand", [.brand]), ("_and_result", [.result]), ("_and_category", [.category]),
    ]

    /// The index to walk: its fields, and each combination of their values that the terms allow.
    private func ranges() -> (index: String, fields: [Field], values: [[String]]) {
        let base = "items_by_\(owner.index)"
        for index in Self.indexes {
            let values = index.fields.map { allowed($0) }
            guard values.allSatisfy({ $0 != nil }) else { continue }
            let combinations = values.compactMap(\.self).reduce([[]]) { combinations, values in
                combinations.flatMap { combination in values.map { combination + [$0] } }
            }
            let count = combinations.count * owner.values.count
            guard count <= Self.maxRanges,
                count * (terms.map(\.values.count).reduce(1, +)) <= Self.maxVariables
            else { continue }
            return (base + index.suffix, index.fields, combinations)
        }
        return (base, [], [[]])
    }

    /// The column that says whose items they are, what the indexes call it, and its values.
    private var owner: (column: String, index: String, values: [Int64]) {
        switch scope {
        case .users(let ids): ("user_id", "user", ids)
        case .organization(let id): ("organization_id", "organization", [id])
        }
    }

    /// The values the terms leave to a field, in order and each once; nil where no term includes the field.
    private func allowed(_ field: Field) -> [String]? {
        let including = terms.filter { $0.field == field && !$0.isExcluded }
        guard let first = including.first else { return nil }
        if including.count == 1, first.values.count == 1 { return first.values }
        var seen: Set<[UInt8]> = []
        return first.values.filter { value in
            including.allSatisfy { $0.values.contains { $0.utf8.elementsEqual(value.utf8) } }
                && seen.insert(Array(value.utf8)).inserted
        }
    }
}
