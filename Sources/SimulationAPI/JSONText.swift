import Foundation

/// Writes JSON in the format of ``WireJSON``: names in the order of their bytes, slashes not escaped. The time is linear
/// in the length.
///
/// `JSONEncoder` takes several times as long, and stores names in dictionaries of `String`. These treat canonically equal
/// names as one name, and their time grows with the square of the number of combining marks in a name. Code that writes
/// an object member by member must list the members in order; tests compare the bytes with the encoder's.
package struct JSONText {
    package private(set) var bytes: [UInt8] = []

    /// The size of most answers, in bytes.
    private static let usualSize = 512

    package init() {}

    /// Writes text that is JSON already, such as punctuation and member names without escapes.
    package mutating func raw(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Writes bytes that are JSON already.
    package mutating func raw(_ json: some Sequence<UInt8>) {
        bytes.append(contentsOf: json)
    }

    package mutating func string(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        text.withBytes { source in
            // Bytes without an escape are copied together.
            var start = 0
            for index in source.indices {
                let byte = source[index]
                guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { continue }
                append(source, start..<index)
                bytes.append(contentsOf: Self.escape(byte).utf8)
                start = index + 1
            }
            append(source, start..<source.count)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    package mutating func number(_ value: Int) {
        number(text: value.description)
    }

    /// Writes a finite number; a whole number without a fraction.
    package mutating func number(_ value: Double) {
        number(text: value.wholeDescription ?? value.description)
    }

    /// Writes the description of a finite number.
    private mutating func number(text: String) {
        text.withBytes { digits in
            let isWhole =
                digits.count > 2 && digits[digits.count - 2] == UInt8(ascii: ".")
                && digits[digits.count - 1] == UInt8(ascii: "0")
            append(digits, 0..<(isWhole ? digits.count - 2 : digits.count))
        }
    }

    package mutating func bool(_ value: Bool) {
        raw(value ? "true" : "false")
    }

    /// Writes an array; `write` writes one element.
    package mutating func array<Elements: Sequence>(
        _ elements: Elements, _ write: (inout JSONText, Elements.Element) -> Void
    ) {
        raw("[")
        var isFirst = true
        for element in elements {
            if !isFirst { raw(",") }
            isFirst = false
            write(&self, element)
        }
        raw("]")
    }

    /// Writes a wire type.
    ///
    /// - Throws: `EncodingError` if the value holds a number that JSON cannot represent.
    package mutating func encode(_ value: some Encodable) throws {
        // Most answers fit, so that the bytes are not moved while they grow.
        if bytes.isEmpty { bytes.reserveCapacity(Self.usualSize) }
        part(try JSONTextEncoder.part(value))
    }

    /// Writes a value of any kind.
    package mutating func value(_ value: JSONValue) {
        switch value {
        case .null: raw("null")
        case .bool(let value): bool(value)
        case .number(let value): number(value)
        case .string(let text): string(text)
        case .array(let elements): array(elements) { $0.value($1) }
        case .object(let members): object(members.sorted) { $0.value($1) }
        }
    }

    /// Writes an object of members in their order; `write` writes one value.
    ///
    /// - Parameter isSpaced: whether a space follows each colon.
    mutating func object<Value>(
        _ members: [(name: String, value: Value)], isSpaced: Bool = false,
        _ write: (inout JSONText, Value) -> Void
    ) {
        raw("{")
        var isFirst = true
        for member in members {
            if !isFirst { raw(",") }
            isFirst = false
            string(member.name)
            raw(":")
            if isSpaced { raw(" ") }
            write(&self, member.value)
        }
        raw("}")
    }

    /// Writes a part of a document that was encoded.
    private mutating func part(_ part: JSONPart) {
        switch part {
        case .value(let value): self.value(value)
        case .number(let text): number(text: text)
        case .object(let members): object(members.sorted) { $0.part($1) }
        case .array(let elements): array(elements.list) { $0.part($1) }
        case .nested(let encoder): self.part(encoder.part)
        }
    }

    private mutating func number(_ number: JSONNumber) {
        if let value = Int(number.text) {
            self.number(value)
        } else if let value = Decimal(string: number.text), !value.isNaN {
            // A decimal is exact to 38 digits. A double is not.
            self.number(text: value.description)
        } else {
            self.number(number.double)
        }
    }

    private mutating func append(_ source: UnsafeRawBufferPointer, _ range: Range<Int>) {
        bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: source[range]))
    }

    private static func escape(_ byte: UInt8) -> String {
        switch byte {
        case UInt8(ascii: "\""): "\\\""
        case UInt8(ascii: "\\"): "\\\\"
        case 0x08: "\\b"
        case 0x09: "\\t"
        case 0x0a: "\\n"
        case 0x0c: "\\f"
        case 0x0d: "\\r"
        case ..<0x10: "\\u000" + String(byte, radix: 16)
        default: "\\u00" + String(byte, radix: 16)
        }
    }
}
