import Foundation
import SimulationAPI
import Storage

// The domains that depend on the engine.

extension ColumnDomain {
    /// The maximum size of a JSON document, in bytes.
    private static let maxDocument = 4_000_000

    /// An id or token of the form that ``SeededGenerator`` generates.
    package static func id(_ kind: IDKind) -> ColumnDomain {
        let prefix = Array(kind.prefix.utf8)
        let counts = [kind.length, kind.futureLength].compactMap(\.self).map { prefix.count + $0 }
        let characters = Set(kind.alphabet.characters)
        let beginning = prefix.isEmpty ? "" : " that begins with \(kind.prefix)"
        let forms = counts.map { "\($0) characters\(beginning)" }
        return form("an id of \(forms.joined(separator: " or "))") { bytes in
            counts.contains(bytes.count) && bytes.starts(with: prefix)
                && bytes.dropFirst(prefix.count).allSatisfy(characters.contains)
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
