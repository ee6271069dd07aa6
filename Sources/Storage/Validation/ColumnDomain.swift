import Foundation
import GRDBSQLite

/// The valid values of a column in an uploaded database.
package struct ColumnDomain: Sendable {
    /// Checks a value's bytes. Returns the requirement that they violate; `nil` if they are valid.
    package typealias Check = @Sendable (UnsafeRawBufferPointer) -> String?

    fileprivate enum Values: Sendable {
        case integer(ClosedRange<Int64>)
        case real(ClosedRange<Double>)
        case word([[UInt8]])
        case text(ClosedRange<Int>, Check?)
        case blob(ClosedRange<Int>, Check?)
        case unread
        case choice([[UInt8]: ColumnDomain])
        case named(String)
    }

    fileprivate var values: Values
    fileprivate var allowsNull = false
    /// The requirement for a value, for an error message.
    fileprivate var expectation: String
    /// Whether error messages must hide the value.
    private(set) var isSecret = false

    package static func integer(_ range: ClosedRange<Int64>, _ expectation: String? = nil) -> ColumnDomain {
        ColumnDomain(
            values: .integer(range),
            expectation: expectation ?? "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
    }

    package static func real(_ range: ClosedRange<Double>) -> ColumnDomain {
        ColumnDomain(
            values: .real(range), expectation: "must be a number from \(range.lowerBound) to \(range.upperBound)")
    }

    /// A text that equals one of `words`, compared by bytes.
    package static func word(_ words: [String]) -> ColumnDomain {
        ColumnDomain(
            values: .word(words.map { Array($0.utf8) }), expectation: "must be one of \(words.joined(separator: ", "))")
    }

    /// The text of one of a type's ids or states.
    package static func word<Word: StoredWord & CaseIterable>(_ type: Word.Type) -> ColumnDomain {
        word(Word.allCases.map { $0.rawValue })
    }

    /// UTF-8 without U+0000.
    ///
    /// - Parameter bytes: the allowed length in bytes.
    package static func text(_ bytes: ClosedRange<Int>, _ check: Check? = nil) -> ColumnDomain {
        ColumnDomain(
            values: .text(bytes, check),
            expectation: "must be a text of \(bytes.lowerBound) to \(bytes.upperBound) bytes in UTF-8 without U+0000")
    }

    /// - Parameter bytes: the allowed number of bytes.
    package static func blob(_ bytes: ClosedRange<Int>, _ check: Check? = nil) -> ColumnDomain {
        ColumnDomain(
            values: .blob(bytes, check),
            expectation: "must be a blob of \(bytes.lowerBound) to \(bytes.upperBound) bytes")
    }

    /// A blob or null that is never read from an uploaded database.
    package static let unread = ColumnDomain(values: .unread, expectation: "must be a blob or null")

    /// The domain for the key in the row's first column.
    package static func choice(_ domains: [String: ColumnDomain]) -> ColumnDomain {
        ColumnDomain(
            values: .choice(Dictionary(uniqueKeysWithValues: domains.map { (Array($0.key.utf8), $0.value) })),
            expectation: "must have a key that is known")
    }

    /// A domain that the platforms or seed data decide: see ``TableDomain/resolved(_:)``.
    package static func named(_ name: String) -> ColumnDomain {
        ColumnDomain(values: .named(name), expectation: "")
    }

    /// A domain of ids that the engine or a platform generates, of one kind.
    package static func id(_ kind: String) -> ColumnDomain { .named("id \(kind)") }

    /// A JSON object.
    package static let object = named("object")

    /// This domain with each ``named(_:)`` one replaced by the domain of that name.
    func resolved(_ names: [String: ColumnDomain]) -> ColumnDomain {
        switch values {
        case .named(let name):
            guard var domain = names[name] else { preconditionFailure("no domain is named \(name)") }
            if allowsNull { domain = domain.orNull }
            return isSecret ? domain.secret : domain
        case .choice(let domains):
            var domain = self
            domain.values = .choice(domains.mapValues { $0.resolved(names) })
            return domain
        default: return self
        }
    }

    /// This domain, which also allows null.
    package var orNull: ColumnDomain {
        var domain = self
        domain.allowsNull = true
        domain.expectation += ", or null"
        return domain
    }

    /// This domain, with values hidden in error messages.
    package var secret: ColumnDomain {
        var domain = self
        domain.isSecret = true
        return domain
    }
}

extension ColumnDomain {
    /// The SQL expression to select for a column. For an unread column it is the type alone.
    func selection(_ column: String) -> String {
        if case .unread = values { "typeof(\(column))" } else { column }
    }

    /// The problem of a row's value; `nil` if it is valid.
    func problem(_ row: borrowing DirectStatement, _ column: CInt) -> String? {
        if case .unread = values {
            let type = row.text(column)
            return type == "blob" || type == "null" ? nil : "\(expectation), its type is \(type)"
        }
        if case .choice(let domains) = values {
            guard let domain = row.withBytes(0, { domains[Array($0)] }) ?? nil else { return expectation }
            return domain.problem(row, column)
        }
        switch row.type(column) {
        case SQLITE_NULL: return allowsNull ? nil : "\(expectation), got null"
        case SQLITE_INTEGER:
            let value = row.integer(column)
            if case .integer(let range) = values, range.contains(value) { return nil }
            return "\(expectation), got \(isSecret ? "a number" : String(value))"
        case SQLITE_FLOAT:
            let value = row.real(column)
            if case .real(let range) = values, range.contains(value) { return nil }
            return "\(expectation), got the number \(value)"
        case SQLITE_TEXT: return row.withBytes(column, textProblem) ?? nil
        default: return row.withBytes(column, blobProblem) ?? nil
        }
    }

    private func textProblem(_ bytes: UnsafeRawBufferPointer) -> String? {
        switch values {
        case .word(let words):
            if words.contains(where: { $0.elementsEqual(bytes) }) { return nil }
        case .text(let lengths, let check):
            if lengths.contains(bytes.count), Self.isText(bytes) {
                return check?(bytes).map { "\($0), got \(shown(bytes))" }
            }
        default: break
        }
        return "\(expectation), got \(shown(bytes))"
    }

    private func blobProblem(_ bytes: UnsafeRawBufferPointer) -> String? {
        if case .blob(let lengths, let check) = values, lengths.contains(bytes.count) { return check?(bytes) }
        return "\(expectation), got a blob of \(bytes.count) bytes"
    }

    /// A text value for an error message: quoted if it is short and not secret.
    private func shown(_ bytes: UnsafeRawBufferPointer) -> String {
        guard !isSecret, bytes.count <= 60, Self.isText(bytes) else { return "a text of \(bytes.count) bytes" }
        return "\"\(String(decoding: bytes, as: UTF8.self))\""
    }

    /// Whether bytes are UTF-8 without U+0000.
    static func isText(_ bytes: UnsafeRawBufferPointer) -> Bool {
        // Most texts are ASCII, so eight bytes are checked at a time.
        var index = 0
        while index + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            // Stops at a byte over 0x7f or a zero byte. The test for a zero byte is exact, because no byte is over
            // 0x7f.
            guard word & 0x8080_8080_8080_8080 == 0, (word &- 0x0101_0101_0101_0101) & 0x8080_8080_8080_8080 == 0 else {
                break
            }
            index += 8
        }
        let rest = UnsafeRawBufferPointer(rebasing: bytes[index...])
        return !rest.contains(0) && String(validating: rest, as: UTF8.self) != nil
    }
}
