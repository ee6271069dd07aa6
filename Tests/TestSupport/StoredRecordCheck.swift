import Storage

/// The columns of a record's table that a row loses or mixes up when it is read and written again. Empty if there are
/// none.
///
/// The row has a value of its own in every column, so that no two columns can be mistaken for each other.
///
/// - Parameter words: values of columns that accept few.
package func lostColumns<Record: StoredRecord>(
    _ type: Record.Type, in database: NamespaceDatabase, words: [String: String] = [:]
) throws -> [String] {
    let table = Record.table
    let members = Dictionary(uniqueKeysWithValues: table.columns.map { ($0.name, $0.type) })
    return try database.transaction { transaction in
        let columns = try transaction.read("SELECT name, type FROM pragma_table_info(?)", [table.name]) { row in
            var columns: [(name: String, type: String)] = []
            while try row.next() { columns.append((row.text(0), row.text(1))) }
            return columns
        }
        let values = columns.enumerated().map { index, column in
            if let word = words[column.name] { return "'\(word)'" }
            if members[column.name] is Bool.Type { return "1" }
            return column.type == "TEXT" ? "'v\(index)'" : column.type == "BLOB" ? "x'\(index + 10)'" : "\(index + 10)"
        }
        // Without constraints, so that any value is stored.
        try transaction.run("ALTER TABLE \(table.name) RENAME TO declared")
        let declaration = columns.map { "\($0.name) \($0.type)" }.joined(separator: ", ")
        try transaction.run("CREATE TABLE \(table.name) (\(declaration))")
        try transaction.run("INSERT INTO \(table.name) VALUES (\(values.joined(separator: ", ")))")
        guard let record: Record = try transaction.record("", []) else { return ["no row"] }
        try transaction.insert(record)
        return try transaction.read("SELECT * FROM \(table.name) ORDER BY rowid", []) { row in
            var rows: [[String]] = []
            while try row.next() { rows.append(columns.indices.map { row.text(CInt($0)) }) }
            return columns.indices.filter { members[columns[$0].name] != nil && rows[0][$0] != rows[1][$0] }
                .map { "\(columns[$0].name): \(rows[0][$0]) became \(rows[1][$0])" }
        }
    }
}
