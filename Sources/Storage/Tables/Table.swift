/// Sets a column's member of the record at an address to the value in a column of a row. Not generic: the loop over a table's columns
/// is then compiled for all records.
@usableFromInline
typealias ColumnReader = @Sendable (UnsafeMutableRawPointer, borrowing DirectStatement, CInt) throws -> Void

/// Binds a column's member of the record at an address to a place of a statement.
@usableFromInline
typealias ColumnBinder = @Sendable (UnsafeRawPointer, borrowing DirectStatement, CInt) throws -> Void

/// The declaration of a stored record: its table, and for each column the member that it stores and its valid values.
///
/// Reading, writing, the checks of an uploaded database and what rows refer to follow from it. A test compares the
/// declarations with the schema.
package struct Table<Record: Sendable>: Sendable {
    /// A column of a record's table.
    package struct Column: Sendable {
        package let name: String
        /// The type of the member; `nil` if the column is not a member of the record.
        package let type: (any ColumnValue.Type)?
        /// The member; `nil` if the column is not a member of the record.
        let member: (PartialKeyPath<Record> & Sendable)?
        /// Whether the database assigns the value to a new row.
        let isAssigned: Bool
        /// Whether ``Table/update(by:also:)`` writes it.
        let changes: Bool
        let read: ColumnReader
        let bind: ColumnBinder
    }

    package let name: String
    /// A record to read values into.
    let blank: Record
    /// The columns that are members of the record, in the order in which they are read.
    package let columns: [Column]
    /// The valid rows.
    package let domain: TableDomain
    /// The beginning of a statement that reads whole records. Conditions and order follow it.
    package let select: String
    let insert: String
    /// As ``insert``, for a row whose key may exist.
    let replace: String
    /// They bind the columns that a new row gets from its record.
    let inserted: [ColumnBinder]
    private let readers: [ColumnReader]

    /// - Parameters:
    ///   - blank: any record. Every member that a column stores is replaced when a row is read.
    ///   - declare: declares the columns, in any order. A domain that depends on another column depends on the first one.
    package init(
        _ name: String, key: TableDomain.Key = .row, blank: Record, _ declare: (inout TableBuilder<Record>) -> Void
    ) {
        var builder = TableBuilder<Record>(domain: TableDomain(name, key, []))
        declare(&builder)
        self.name = name
        self.blank = blank
        domain = builder.domain
        columns = builder.columns.filter { $0.member != nil }
        let inserted = builder.columns.filter { !$0.isAssigned }
        self.inserted = inserted.map(\.bind)
        readers = columns.map(\.read)
        select = "SELECT \(columns.map(\.name).joined(separator: ", ")) FROM \(name) "
        insert = """
            INSERT INTO \(name) (\(inserted.map(\.name).joined(separator: ", "))) \
            VALUES (\(inserted.map { _ in "?" }.joined(separator: ", ")))
            """
        replace = "INSERT OR REPLACE" + insert.dropFirst("INSERT".count)
    }

    /// The record in the current row of a statement whose first columns are those of the table.
    package func record(_ row: borrowing DirectStatement) throws -> Record {
        var record = blank
        try withUnsafeMutablePointer(to: &record) { record in
            for index in readers.indices { try readers[index](record, row, CInt(index)) }
        }
        return record
    }

    /// The records in all rows of a statement whose first columns are those of the table.
    package func all(_ row: borrowing DirectStatement) throws -> [Record] {
        var records: [Record] = []
        while try row.next() { records.append(try record(row)) }
        return records
    }

    /// Binds members of a record as the first arguments of a statement.
    static func bind(_ record: Record, _ members: [ColumnBinder], to statement: borrowing DirectStatement) throws {
        try withUnsafePointer(to: record) { record in
            for index in members.indices { try members[index](record, statement, CInt(index + 1)) }
        }
    }

    /// A statement that writes the members that can change of the record with a key.
    ///
    /// - Parameter also: assignments in SQL that no member has.
    package func update(by key: PartialKeyPath<Record> & Sendable, also: [String] = []) -> Update<Record> {
        let changing = columns.filter(\.changes)
        guard let key = columns.first(where: { ($0.member as PartialKeyPath<Record>?) == key }) else {
            preconditionFailure("the table \(name) has no column for \(key)")
        }
        let assignments = changing.map { "\($0.name) = ?" } + also
        return Update(
            sql: "UPDATE \(name) SET \(assignments.joined(separator: ", ")) WHERE \(key.name) = ?",
            members: changing.map(\.bind) + [key.bind])
    }
}

/// A statement that writes some members of a record: see ``Table/update(by:also:)``.
package struct Update<Record: Sendable>: Sendable {
    let sql: String
    /// They bind the arguments, in the order of the statement.
    let members: [ColumnBinder]
}

/// The columns of a ``Table`` while it is declared.
package struct TableBuilder<Record: Sendable> {
    fileprivate var columns: [Table<Record>.Column] = []
    fileprivate var domain: TableDomain

    /// Declares a column that stores a member.
    ///
    /// - Parameters:
    ///   - isAssigned: whether the database assigns the value to a new row.
    ///   - changes: whether ``Table/update(by:also:)`` writes it.
    ///   - reference: the table and column that hold each of its values, as `table.column`.
    // Inlined, so that the closures are compiled for the record and the value, also in other modules.
    @inlinable @inline(__always) package mutating func column<Value: ColumnValue>(
        _ name: String, _ member: WritableKeyPath<Record, Value> & Sendable, _ domain: ColumnDomain,
        isAssigned: Bool = false, changes: Bool = false, refersTo reference: String? = nil
    ) {
        // A member that is stored has a place in the record. Following its key path took a thousand instructions.
        guard let place = MemoryLayout<Record>.offset(of: member) else {
            preconditionFailure("the column \(name) is not a stored member of \(Record.self)")
        }
        add(
            name, Value.self, member, domain, isAssigned: isAssigned, changes: changes, refersTo: reference,
            read: { record, row, index in
                let member = record.advanced(by: place).assumingMemoryBound(to: Value.self)
                member.pointee = try Value(row, index)
            },
            bind: { record, statement, index in
                let member = record.advanced(by: place).assumingMemoryBound(to: Value.self)
                try member.pointee.bind(to: statement, at: index)
            })
    }

    /// Declares the column that holds each generated id of a kind once.
    package mutating func identity(
        _ name: String, _ member: WritableKeyPath<Record, String> & Sendable, _ kind: String, isSecret: Bool = false
    ) {
        column(name, member, isSecret ? .id(kind).secret : .id(kind))
        domain.identity = (name, kind)
    }

    /// Declares a column that is not a member of the record.
    ///
    /// - Parameter value: its value in a new row; `nil` if the database assigns it.
    package mutating func column(
        _ name: String, _ domain: ColumnDomain, value: (any ColumnValue)? = nil, refersTo reference: String? = nil
    ) {
        add(
            name, nil, nil, domain, isAssigned: value == nil, changes: false, refersTo: reference, read: { _, _, _ in },
            bind: { try value?.bind(to: $1, at: $2) })
    }

    @usableFromInline mutating func add(
        _ name: String, _ type: (any ColumnValue.Type)?, _ member: (PartialKeyPath<Record> & Sendable)?,
        _ domain: ColumnDomain, isAssigned: Bool, changes: Bool, refersTo reference: String?,
        read: @escaping ColumnReader, bind: @escaping ColumnBinder
    ) {
        columns.append(
            .init(
                name: name, type: type, member: member, isAssigned: isAssigned, changes: changes, read: read, bind: bind
            ))
        self.domain.columns.append((name, domain))
        guard let parts = reference?.split(separator: ".").map(String.init) else { return }
        self.domain = self.domain.references(name, to: parts[0], parts[1])
    }

    /// Declares which rows of another table some values refer to: see ``TableDomain/references(_:to:_:where:)``.
    package mutating func references(_ column: String, to table: String, _ key: String, where condition: String) {
        domain = domain.references(column, to: table, key, where: condition)
    }

    /// Declares a rule for rows: see ``TableDomain/check(_:where:_:)``.
    package mutating func check(_ column: String, where violation: String, _ problem: String) {
        domain = domain.check(column, where: violation, problem)
    }
}
