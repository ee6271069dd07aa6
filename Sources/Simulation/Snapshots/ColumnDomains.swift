import Foundation
import SimulationAPI
import Storage

// The domains that columns of several tables share.

extension ColumnDomain {
    /// A moment on a namespace's clock.
    package static let time = integer(
        0...Instant.end.microseconds, "must be microseconds since 1970, up to the end of the year 9999")
    /// A count, far below the largest integer.
    package static let count = integer(0...1_000_000_000_000_000)
    package static let flag = integer(0...1, "must be 0 or 1")
    /// The row id of another row.
    package static let row = integer(Transaction.rowIDs)
    package static let sha256 = ColumnDomain.form("64 hexadecimal digits in lower case") { bytes in
        bytes.count == 64 && bytes.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
    /// An id of seed data.
    package static let identifier = ColumnDomain.form("an id of 1 to 64 of a-z, 0-9 and _") { bytes in
        (1...64).contains(bytes.count)
            && bytes.allSatisfy { (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5f }
    }
    /// Free text, up to the longest that this program stores.
    package static let prose = text(0...40_000)
    /// An email address or a person's name.
    package static let name = text(1...254)
    /// The maximum size of a JSON document, in bytes.
    private static let maxDocument = 4_000_000

    /// A text of a given form.
    private static func form(
        _ expectation: String, _ fits: @escaping @Sendable (UnsafeRawBufferPointer) -> Bool
    ) -> ColumnDomain {
        text(1...1000) { fits($0) ? nil : "must be \(expectation)" }
    }

    /// An id or token of the form that ``SeededGenerator`` generates, of one of some kinds.
    package static func id(_ kinds: IDKind...) -> ColumnDomain {
        let forms = kinds.flatMap { kind in
            [kind.length, kind.olderLength].compactMap(\.self).map { IDForm(kind, length: $0) }
        }
        return form("an id of \(forms.map(\.expectation).joined(separator: " or "))") { bytes in
            forms.contains { $0.fits(bytes) }
        }
    }

    /// The form of the ids of a kind.
    private struct IDForm {
        private let prefix: [UInt8]
        private let count: Int
        private let letters: ClosedRange<UInt8>

        init(_ kind: IDKind, length: Int) {
            prefix = Array(kind.prefix.utf8)
            count = prefix.count + length
            letters = kind.isUppercase ? 0x41...0x5a : 0x61...0x7a
        }

        var expectation: String {
            let beginning = prefix.isEmpty ? "" : " that begins with \(String(decoding: prefix, as: UTF8.self))"
            return "\(count) characters\(beginning)"
        }

        func fits(_ bytes: UnsafeRawBufferPointer) -> Bool {
            bytes.count == count && bytes.starts(with: prefix)
                && bytes.dropFirst(prefix.count).allSatisfy { letters.contains($0) || (0x32...0x37).contains($0) }
        }
    }

    /// A text that a rule of the platform checks.
    ///
    /// - Parameter problem: returns the problem with a text, as "must be …"; `nil` if it is valid.
    package static func text(
        _ bytes: ClosedRange<Int>, reading problem: @escaping @Sendable (String) -> String?
    ) -> ColumnDomain {
        text(bytes) { problem(String(decoding: $0, as: UTF8.self)) }
    }

    /// A whole number in decimal digits.
    package static func decimal(_ range: ClosedRange<Int64>) -> ColumnDomain {
        text(1...20) { text in
            Int64(text).map { range.contains($0) && String($0) == text } == true
                ? nil : "must be a whole number from \(range.lowerBound) to \(range.upperBound), in digits"
        }
    }

    /// A JSON object that ``StoredJSON`` can read.
    ///
    /// - Parameter check: throws if the object is not valid.
    package static func object(_ check: (@Sendable (JSONValue) throws -> Void)? = nil) -> ColumnDomain {
        text(2...maxDocument) { jsonProblem($0, check) }
    }

    /// A JSON object as bytes.
    package static let encodedObject = blob(2...maxDocument) { jsonProblem($0, nil) }

    private static func jsonProblem(
        _ bytes: UnsafeRawBufferPointer, _ check: (@Sendable (JSONValue) throws -> Void)?
    ) -> String? {
        guard let value = try? WireJSON.decode(JSONValue.self, from: Data(bytes)), value.members != nil,
            value.isNested(atMost: maxDepth)
        else { return "must be a JSON object, nested at most \(maxDepth) deep" }
        do {
            try check?(value)
            return nil
        } catch {
            return "cannot be read: \(error)"
        }
    }

    /// The maximum nesting of a document. It allows for a request's body inside an event's data.
    private static let maxDepth = 70
}

extension JSONValue {
    /// Whether arrays and objects are nested no deeper than a limit.
    fileprivate func isNested(atMost limit: Int) -> Bool {
        switch self {
        case .object(let members): limit > 0 && members.values.allSatisfy { $0.isNested(atMost: limit - 1) }
        case .array(let elements): limit > 0 && elements.allSatisfy { $0.isNested(atMost: limit - 1) }
        default: true
        }
    }
}
