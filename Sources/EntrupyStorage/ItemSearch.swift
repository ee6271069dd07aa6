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
        case entrupyID = "entrupy_id"
        case activity
        case formFactor = "form_factor"
        /// Compared by row id.
        case user = "user_id"

        /// All fields, by their columns.
        fileprivate static let inOrder = allCases.sorted { $0.rawValue < $1.rawValue }
    }

    /// The owner of the items.
    package enum Scope: Sendable {
        /// Items of these users; not empty.
        case users([Int64])
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
    /// The conditions, which must all hold: at most one for each field, and one that excludes, in the order of the fields.
    package let terms: [Term]
    /// Inclusive bounds of the time of submission; `nil` if there is no bound.
    package var from: Instant?
    package var to: Instant?
    package var after: Position?

    package init(scope: Scope, terms: [Term], from: Instant?, to: Instant?, after: Position?) {
        self.scope = scope
        self.terms = Self.merged(terms)
        self.from = from
        self.to = to
        self.after = after
    }

    /// Equal conditions in one order, whatever their number and order were, so that searches that mean the same have the same SQL.
    private static func merged(_ terms: [Term]) -> [Term] {
        guard terms.count > 1 else { return terms }
        let sorted = terms.sorted { $0.field.rawValue < $1.field.rawValue }
        // Nearly all searches have one value for each of a few fields.
        let isMerged = zip(sorted, sorted.dropFirst()).allSatisfy { $0.field != $1.field }
        if isMerged, sorted.allSatisfy({ $0.values.count == 1 }) { return sorted }
        return Field.inOrder.flatMap { field -> [Term] in
            let (excluding, including) = (terms.filter { $0.field == field && $0.isExcluded }, common(field, in: terms))
            let excluded = distinct(excluding.flatMap(\.values))
            return (including.map { [Term(field, $0)] } ?? [])
                + (excluded.isEmpty ? [] : [Term(field, excluded, isExcluded: true)])
        }
    }

    /// The values that all terms of a field allow, in order and without duplicates; `nil` if no term includes the field.
    private static func common(_ field: Field, in terms: [Term]) -> [String]? {
        let including = terms.filter { $0.field == field && !$0.isExcluded }
        guard let first = including.first else { return nil }
        if including.count == 1, first.values.count == 1 { return first.values }
        let others = including.dropFirst().map { Set($0.values.map { Array($0.utf8) }) }
        return distinct(first.values).filter { value in others.allSatisfy { $0.contains(Array(value.utf8)) } }
    }

    private static func distinct(_ values: [String]) -> [String] {
        var seen: Set<[UInt8]> = []
        return values.filter { seen.insert(Array($0.utf8)).inserted }
    }
}

extension ItemSearch.Term {
    /// The condition in SQL, to follow others. An item without the field has none of the excluded values.
    func condition(column: String) -> String {
        let list = ItemSearch.marks(values.count)
        return isExcluded ? " AND (\(column) IS NULL OR \(column) NOT IN (\(list)))" : " AND \(column) IN (\(list))"
    }

    /// The arguments of the condition. Users are compared by row id.
    var arguments: [any ColumnValue] {
        guard field == .user else { return values }
        return values.map { Int64($0) as Int64? }
    }
}

extension ItemSearch {
    /// Places for the values of a list in SQL.
    fileprivate static func marks(_ count: Int) -> String {
        Array(repeating: "?", count: count).joined(separator: ", ")
    }

    /// An SQL statement and its arguments.
    struct Statement {
        var sql: String
        var arguments: [any ColumnValue]
        /// Whether other searches are likely to have the same SQL text. Of these a few are cached.
        var isCommon: Bool
    }

    /// The statements that find a page, in order. Behind a cursor, the first finds items submitted at the cursor's
    /// own moment, the next earlier items. Each walks one index in the order of the page, so none sorts.
    func statements(key: Int64?) -> [Statement] {
        guard canMatch else { return [] }
        guard let after else { return [statement(key, within(nil))] }
        let earlier = statement(key, within(after.submittedAt))
        let isInside = from.map { $0 <= after.submittedAt } ?? true && to.map { after.submittedAt <= $0 } ?? true
        guard isInside else { return [earlier] }
        let sameMoment: [any ColumnValue] = [after.submittedAt, after.entrupyID]
        return [statement(key, (" AND submitted_at = ? AND entrupy_id > ?", sameMoment)), earlier]
    }

    /// The statement that counts all items of the search, whatever its page; `nil` if no item can match.
    func count() -> Statement? {
        guard canMatch else { return nil }
        let (owner, bound) = (owner, within(nil))
        let conditions = terms.map { $0.condition(column: $0.field.rawValue) }.joined()
        let owners: [any ColumnValue] = owner.values
        return Statement(
            sql: "SELECT COUNT(*) FROM items WHERE \(owner.column) IN (\(Self.marks(owner.values.count)))"
                + bound.sql + conditions,
            arguments: owners + bound.arguments + terms.flatMap(\.arguments),
            isCommon: owner.values.count == 1 && areShort)
    }

    /// Whether an item can match: none can if terms contradict each other.
    private var canMatch: Bool {
        !owner.values.isEmpty && Field.allCases.allSatisfy { allowed($0)?.isEmpty != true }
    }

    /// Whether other searches are likely to have the same fields, and lists of the same lengths.
    private var areShort: Bool { terms.count <= 3 && terms.allSatisfy { $0.values.count <= 4 } }

    /// The bounds of the time of submission, as one range of an index.
    private func within(_ before: Instant?) -> (sql: String, arguments: [any ColumnValue]) {
        var sql = ""
        var arguments: [any ColumnValue] = []
        if let from {
            sql += " AND submitted_at >= ?"
            arguments.append(from)
        }
        if let before, to.map({ before <= $0 }) ?? true {
            sql += " AND submitted_at < ?"
            arguments.append(before)
        } else if let to {
            sql += " AND submitted_at <= ?"
            arguments.append(to)
        }
        return (sql, arguments)
    }

    /// The maximum number of index ranges that a statement merges. For more ranges a broader index is walked and
    /// filtered.
    private static let maxRanges = 100
    /// The maximum number of variables of a statement; SQLite allows 32,766.
    private static let maxVariables = 20_000

    private func statement(_ key: Int64?, _ bound: (sql: String, arguments: [any ColumnValue])) -> Statement {
        let (owner, ranges) = (owner, ranges())
        var rest = ""
        var restArguments: [any ColumnValue] = []
        for term in terms where !ranges.fields.contains(term.field) || term.isExcluded {
            // The plus makes the planner stay on the index that is in the order of the page.
            rest += term.condition(column: "+\(term.field.rawValue)")
            restArguments += term.arguments
        }
        var equals = ""
        for field in ranges.fields { equals += " AND \(field.rawValue) = ?" }
        let one = """
            SELECT \(FoundItem.columns) FROM items\(ranges.index.map { " INDEXED BY \($0)" } ?? "")
            WHERE \(ranges.index == nil ? "+" : "")\(owner.column) = ?\(equals)\(bound.sql)\(rest)
            """
        var arguments: [any ColumnValue] = []
        for owner in owner.values {
            for values in ranges.values {
                arguments.append(key)
                arguments.append(owner)
                for value in values { arguments.append(value) }
                arguments += bound.arguments
                arguments += restArguments
            }
        }
        let count = owner.values.count * ranges.values.count
        let all = count == 1 ? one : Array(repeating: one, count: count).joined(separator: "\nUNION ALL\n")
        return Statement(
            sql: all + "\nORDER BY submitted_at DESC, entrupy_id LIMIT ?", arguments: arguments,
            isCommon: count <= 4 && areShort)
    }

    /// The indexes for each kind of owner, narrow ones first.
    private static let indexes: [(suffix: String, fields: [Field])] = [
        ("_and_customer_item_id", [.customerItemID]), ("_brand_and_result", [.brand, .result]),
        ("_and_flag", [.flag]), ("_and_brand", [.brand]), ("_and_result", [.result]), ("_and_category", [.category]),
    ]

    /// The index to walk: its name, its fields, and each combination of their values that the terms allow. The name is `nil` for
    /// the ids of items, whose index SQLite has made: the planner takes it if it cannot use the owner's.
    private func ranges() -> (index: String?, fields: [Field], values: [[String]]) {
        let owner = owner
        // Closures instead of key paths here: a key path is looked up each time.
        let variables = terms.reduce(1) { $0 + $1.values.count }
        if let ids = allowed(.entrupyID), ids.count * owner.values.count <= Self.maxRanges,
            ids.count * owner.values.count * variables <= Self.maxVariables
        {
            return (nil, [.entrupyID], ids.map { [$0] })
        }
        index: for index in Self.indexes {
            var combinations: [[String]] = [[]]
            for field in index.fields {
                guard let values = allowed(field) else { continue index }
                combinations = combinations.flatMap { combination in values.map { combination + [$0] } }
            }
            let count = combinations.count * owner.values.count
            guard count <= Self.maxRanges, count * variables <= Self.maxVariables else { continue }
            return ("items_by_\(owner.index)\(index.suffix)", index.fields, combinations)
        }
        return ("items_by_\(owner.index)", [], [[]])
    }

    /// The column of the items' owner, its name in the indexes, and its values.
    private var owner: (column: String, index: String, values: [Int64]) {
        switch scope {
        case .users(let ids): ("user_id", "user", ids)
        case .organizations(let ids): ("organization_id", "organization", ids)
        }
    }

    /// The values that the terms allow for a field, in order and without duplicates; `nil` if no term includes the
    /// field.
    private func allowed(_ field: Field) -> [String]? { Self.common(field, in: terms) }
}
