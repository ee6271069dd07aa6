/// The valid rows of a table in an uploaded database.
package struct TableDomain: Sendable {
    /// The identity of a row.
    package enum Key: Sendable {
        /// SQLite's row id, at least 1 and small enough to leave room for more rows.
        case row
        /// SQLite's row id from a counter, so that the id of a deleted row is not used again.
        case counted
        /// The columns of the primary key, for a table without row ids.
        case columns([String])
    }

    /// A column whose values refer to rows of another table.
    struct Reference: Sendable {
        let column: String
        let table: String
        let key: String
        let condition: String
    }

    /// A condition that every row must meet.
    struct Rule: Sendable {
        let column: String
        let violation: String
        let problem: String
    }

    package let name: String
    package let key: Key
    /// The column that holds each generated id of a kind once, and the kind's name; `nil` if none does.
    package internal(set) var identity: (column: String, kind: String)?
    package internal(set) var columns: [(name: String, domain: ColumnDomain)]
    private(set) var references: [Reference] = []
    private(set) var rules: [Rule] = []

    /// - Parameter columns: each column with its domain. A domain that depends on another column depends on the first
    ///   one.
    package init(
        _ name: String, _ key: Key = .row, _ columns: [(name: String, domain: ColumnDomain)],
        identity: (column: String, kind: String)? = nil
    ) {
        self.identity = identity
        self.name = name
        self.key = key
        self.columns = columns
    }

    var hasRowIDs: Bool { if case .columns = key { false } else { true } }

    /// This domain with the domains of columns that stand there by name.
    ///
    /// - Parameter names: a domain for each ``ColumnDomain/named(_:)``; a name that is missing is a programming error.
    package func resolved(_ names: [String: ColumnDomain]) -> TableDomain {
        var domain = self
        domain.columns = columns.map { ($0.name, $0.domain.resolved(names)) }
        return domain
    }

    /// This domain, in which each value of a column refers to a row of a table.
    ///
    /// - Parameter condition: selects the rows that must refer to one; SQL over `r`, the row.
    package func references(
        _ column: String, to table: String, _ key: String, where condition: String = "1"
    ) -> TableDomain {
        var domain = self
        domain.references.append(Reference(column: column, table: table, key: key, condition: condition))
        return domain
    }

    /// This domain, in which no row may violate a rule.
    ///
    /// - Parameters:
    ///   - violation: SQL over `r`, the row, which is true for an invalid row.
    ///   - problem: the requirement that the column violates.
    package func check(_ column: String, where violation: String, _ problem: String) -> TableDomain {
        var domain = self
        domain.rules.append(Rule(column: column, violation: violation, problem: problem))
        return domain
    }
}

/// A row of an uploaded database that this program never writes: its place, and the requirement it violates.
package struct InvalidRow: Error, Sendable, CustomStringConvertible {
    package let table: String
    /// The row id, or the key.
    package let row: String
    package let column: String
    package let problem: String

    package init(table: String, row: String, column: String, problem: String) {
        self.table = table
        self.row = row
        self.column = column
        self.problem = problem
    }

    package var description: String { "table \(table), row \(row), column \(column): \(problem)" }
}
