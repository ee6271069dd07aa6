import GRDB
import Storage

/// A search for items: their owner, the filters, the range of dates, and the beginning of the page.
///
/// Pages are found by keyset [D search-order]. The order is by time of submission, newest first, then by id. Neither
/// ever changes.
package struct ItemSearch: Sendable {
    /// The field that a term compares.
    package enum Field: String, Sendable, CaseIterable {
        case brand = "brand_id"
        case result = "result_id"
        case flag = "flag_id"
        case category
        case customerItemID = "customer_item_id"
        case activity
        /// Compared by row id.
        case user = "user_id"
    }

    /// The owner of the items.
    package enum Scope: Sendable {
        /// Items of these users; not empty.
        case users([Int64])
        /// Items of all users of an organization.
        case organization(Int64)
        /// Items of all users of these organizations; not empty.
        case organizations([Int64])
    }

    /// A field must have one of some values, or none of them if excluded.
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

    /// The item after which a page begins.
    package struct Position: Sendable, Hashable {
        package let submittedAt: Instant
        package let entrupyID: String

        package init(submittedAt: Instant, entrupyID: String) {
            self.submittedAt = submittedAt
            self.entrupyID = entrupyID
        }
    }

    package var scope: Scope
    /// The conditions, which must all hold.
    package var terms: [Term]
    /// Inclusive bounds of the time of submission; `nil` if there is no bound.
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
    /// An SQL statement and its arguments.
    struct Statement {
        var sql: String
        var arguments: StatementArguments
        /// Whether other searches are likely to have the same SQL text.
        var isCommon: Bool
    }

    /// The statements that find a page, in order. Behind a cursor, the first finds items submitted at the cursor's
    /// own moment, the next earlier items. Each walks one index in the order of the page, so none sorts.
    func statements(key: Int64?) -> [Statement] {
        // If terms contradict each other, no item can match.
        guard !owner.values.isEmpty, Field.allCases.allSatisfy({ allowed($0)?.isEmpty != true }) else { return [] }
        guard let after else { return [statement(key, within(nil))] }
        let isInside = from.map { $0 <= after.submittedAt } ?? true && to.map { after.submittedAt <= $0 } ?? true
        let sameMoment = statement(
            key, (" AND submitted_at = ? AND entrupy_id > ?", [after.submittedAt, after.entrupyID]))
        return (isInside ? [sameMoment] : []) + [statement(key, within(after.submittedAt))]
    }

    /// The statement that counts all items of the search, whatever its page; `nil` if no item can match.
    func count() -> (sql: String, arguments: StatementArguments)? {
        guard !owner.values.isEmpty, Field.allCases.allSatisfy({ allowed($0)?.isEmpty != true }) else { return nil }
        func marks(_ count: Int) -> String { Array(repeating: "?", count: count).joined(separator: ", ") }
        var sql = "SELECT COUNT(*) FROM items WHERE \(owner.column) IN (\(marks(owner.values.count)))"
        var arguments = StatementArguments(owner.values)
        let bound = within(nil)
        sql += bound.sql
        arguments += bound.arguments
        for term in terms {
            let column = term.field.rawValue
            sql +=
                term.isExcluded
                ? " AND (\(column) IS NULL OR \(column) NOT IN (\(marks(term.values.count))))"
                : " AND \(column) IN (\(marks(term.values.count)))"
            arguments +=
                term.field == .user
                ? StatementArguments(term.values.map { Int64($0) }) : StatementArguments(term.values)
        }
        return (sql, arguments)
    }

    /// The bounds of the time of submission, as one range of an index.
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

    /// The maximum number of index ranges that a statement merges. For more ranges a broader index is walked and
    /// filtered.
    private static let maxRanges = 100
    /// The maximum number of variables of a statement; SQLite allows 32,766.
    private static let maxVariables = 20_000

    private func statement(
        _ key: Int64?, _ bound: (sql: String, arguments: StatementArguments)
    ) -> Statement {
        let ranges = ranges()
        var rest = ""
        var restArguments: StatementArguments = []
        for term in terms where !ranges.fields.contains(term.field) || term.isExcluded {
            let marks = Array(repeating: "?", count: term.values.count).joined(separator: ", ")
            // The plus makes the planner stay on the index that is in the order of the page.
            let column = "+\(term.field.rawValue)"
            // An item without the field has none of the excluded values.
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

    /// The indexes for each kind of owner, narrow ones first.
    private static let indexes: [(suffix: String, fields: [Field])] = [
        ("_and_customer_item_id", [.customerItemID]), ("_brand_and_result", [.brand, .result]),
        ("_and_flag", [.flag]), ("_and_brand", [.brand]), ("_and_result", [.result]), ("_and_category", [.category]),
    ]

    /// The index to walk: its name, its fields, and each combination of their values that the terms allow.
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

    /// The column of the items' owner, its name in the indexes, and its values.
    private var owner: (column: String, index: String, values: [Int64]) {
        switch scope {
        case .users(let ids): ("user_id", "user", ids)
        case .organization(let id): ("organization_id", "organization", [id])
        case .organizations(let ids): ("organization_id", "organization", ids)
        }
    }

    /// The values that the terms allow for a field, in order and without duplicates; `nil` if no term includes the
    /// field.
    private func allowed(_ field: Field) -> [String]? {
        let including = terms.filter { $0.field == field && !$0.isExcluded }
        guard let first = including.first else { return nil }
        if including.count == 1, first.values.count == 1 { return first.values }
        let others = including.dropFirst().map { Set($0.values.map { Array($0.utf8) }) }
        var seen: Set<[UInt8]> = []
        return first.values.filter { value in
            let bytes = Array(value.utf8)
            return others.allSatisfy { $0.contains(bytes) } && seen.insert(bytes).inserted
        }
    }
}
