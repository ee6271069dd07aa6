import GRDB
import GRDBSQLite

extension Transaction {
    /// The row ids allowed in an uploaded database. They are as large as those of any namespace, and far from the end
    /// of their range.
    package static let rowIDs: ClosedRange<Int64> = 1...1_000_000_000_000_000

    /// Checks every row of some tables, and stops at the first invalid one. Blocks for a time proportional to the
    /// number of rows.
    ///
    /// - Throws: ``StorageError/invalidRow(_:)``; ``StorageError/foreign(_:)`` if the file is damaged.
    package func validate(_ tables: [TableDomain]) throws {
        do {
            for table in tables { try validateRows(of: table) }
            // Rows are compared only after each has been checked alone.
            for table in tables { try validateRelations(of: table) }
        } catch let error as DatabaseError {
            throw StorageError.foreign("world.sqlite is damaged: \(error.message ?? "\(error.resultCode)")")
        } catch StorageError.unavailable(let reason), StorageError.refused(let reason) {
            throw StorageError.foreign("world.sqlite is damaged: \(reason)")
        }
    }

    private func validateRows(of table: TableDomain) throws {
        var selected = table.columns.map { $0.domain.selection($0.name) }
        let rowID = CInt(selected.count)
        if table.hasRowIDs { selected.append("rowid") }
        let rows = try DirectStatement(
            database, database.makeStatement(sql: "SELECT \(selected.joined(separator: ", ")) FROM \(table.name)"))
        var number = 0
        while try rows.next() {
            number += 1
            let id = table.hasRowIDs ? rows.integer(rowID) : nil
            if let id, !Self.rowIDs.contains(id) {
                let problem = "must be a whole number from \(Self.rowIDs.lowerBound) to \(Self.rowIDs.upperBound)"
                throw StorageError.invalidRow(
                    InvalidRow(table: table.name, row: String(id), column: "rowid", problem: problem))
            }
            for (index, column) in table.columns.enumerated() {
                guard let problem = column.domain.problem(rows, CInt(index)) else { continue }
                let row = id.map { String($0) } ?? Self.name(number, table, rows)
                throw StorageError.invalidRow(
                    InvalidRow(table: table.name, row: row, column: column.name, problem: problem))
            }
        }
    }

    /// The name of a row without an id: its key, or its place in the order of keys if the key is secret.
    private static func name(_ number: Int, _ table: TableDomain, _ row: borrowing DirectStatement) -> String {
        guard case .columns(let key) = table.key else { return String(number) }
        var parts: [String] = []
        for (index, column) in table.columns.enumerated() where key.contains(column.name) {
            guard !column.domain.isSecret else { return "\(number) in the order of \(key.joined(separator: ", "))" }
            parts.append(String(row.text(CInt(index)).prefix(60)))
        }
        return parts.joined(separator: " ")
    }

    private func validateRelations(of table: TableDomain) throws {
        for reference in table.references {
            try refuse(
                table, reference.column,
                where: """
                    r.\(reference.column) IS NOT NULL AND (\(reference.condition)) AND NOT EXISTS
                    (SELECT 1 FROM \(reference.table) t WHERE t.\(reference.key) = r.\(reference.column))
                    """, "must be the \(reference.key) of a row of \(reference.table)")
        }
        for rule in table.rules { try refuse(table, rule.column, where: rule.violation, rule.problem) }
    }

    private func refuse(_ table: TableDomain, _ column: String, where violation: String, _ problem: String) throws {
        var selected = ["rowid"]
        if case .columns(let key) = table.key {
            let isSecret = table.columns.contains { key.contains($0.name) && $0.domain.isSecret }
            // A secret key is not shown, and its place in the order is not known here.
            selected = isSecret ? ["'(its key is a secret)'"] : key.map { "r.\($0)" }
        }
        let sql = "SELECT \(selected.joined(separator: " || ' ' || ")) FROM \(table.name) r WHERE \(violation) LIMIT 1"
        let rows = try DirectStatement(database, database.makeStatement(sql: sql))
        guard try rows.next() else { return }
        throw StorageError.invalidRow(
            InvalidRow(table: table.name, row: rows.text(0), column: column, problem: problem))
    }
}

extension Transaction {
    /// The number of rows of a table.
    package func count(_ table: String) throws -> Int64 {
        try first("SELECT COUNT(*) FROM \(table)") { try $0[0] } ?? 0
    }

    /// Whether any row of a column has one of `texts`.
    package func hasAny(of texts: [String], in table: String, _ column: String) throws -> Bool {
        try texts.contains { try first("SELECT 1 FROM \(table) WHERE \(column) = ?", [$0]) { _ in true } ?? false }
    }
}
