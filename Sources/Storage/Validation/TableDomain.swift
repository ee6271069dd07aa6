/// What the rows of a table of an uploaded world may be.
package struct TableDomain: Sendable {
    /// What tells one row from another.
    package enum Key: Sendable {
        /// SQLite's row id, which must be from 1 on and leave room for more.
        case row
        /// Columns of the primary key, of a table without row ids.
        case columns([String])
    }

    /// A column whose values name rows of another table.
    struct Reference: Sendable {
        let column: String
        let table: String
        let key: String
        let condition: String
    }

    /// Something that holds of a whole row.
    struct Rule: Sendable {
        let column: String
        let violation: String
        let problem: String
    }

    package let name: String
    let key: Key
    package let columns: [(name: String, domain: ColumnDomain)]
    private(set) var references: [Reference] = []
    private(set) var rules: [Rule] = []

    /// - Parameter columns: each with its domain; a domain that follows from another column follows from the first.
    package init(_ name: String, _ key: Key = .row, _ columns: [(name: String, domain: ColumnDomain)]) {
        self.name = name
        self.key = key
        self.columns = columns
    }

    /// The same, where each value of a column names a row of a table.
    ///
    /// - Parameter condition: SQL over `r`, the row: which rows are meant.
    package func referring(
        _ column: String, to table: String, _ key: String, where condition: String = "1"
    ) -> TableDomain {
        var domain = self
        domain.references.append(Reference(column: column, table: table, key: key, condition: condition))
        return domain
    }

    /// The same, where no row may violate a rule.
    ///
    /// - Parameters:
    ///   - violation: SQL over `r`, the row, which is true for a wrong one.
    ///   - problem: what the column must be.
    package func refusing(_ column: String, where violation: String, _ problem: String) -> TableDomain {
        var domain = self
        domain.rules.append(Rule(column: column, violation: violation, problem: problem))
        return domain
    }
}

/// A row of an uploaded world that this program never writes: where it is, and what would be right.
package struct InvalidRow: Error, Sendable, CustomStringConvertible {
    package let table: String
    /// Its row id, or its key.
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
