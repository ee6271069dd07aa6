import Foundation

/// Writes JSON member by member, in the form of ``WireJSON``: sorted keys, unescaped slashes.
///
/// Used for values that are rendered thousands of times in a row. `JSONEncoder` takes several times as long. The code
/// that writes a value must list its members in order; tests compare the bytes with the encoder's.
struct JSONText {
    private(set) var bytes: [UInt8] = []

    /// Writes punctuation and member names, which need no escapes.
    mutating func raw(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    mutating func string(_ text: String) {
        var text = text
        bytes.append(UInt8(ascii: "\""))
        text.withUTF8 { source in
            var copied = 0
            for index in source.indices where Self.needsEscape(source[index]) {
                bytes.append(contentsOf: source[copied..<index])
                escape(source[index])
                copied = index + 1
            }
            bytes.append(contentsOf: source[copied...])
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes a string, or `null` for `nil`.
    mutating func string(orNull text: String?) {
        if let text { string(text) } else { raw("null") }
    }

    mutating func number(_ value: Int) {
        bytes.append(contentsOf: value.description.utf8)
    }

    /// Writes a finite number; a whole number without a fraction.
    mutating func number(_ value: Double) {
        let text = value.description
        bytes.append(contentsOf: text.hasSuffix(".0") ? text.utf8.dropLast(2) : text.utf8[...])
    }

    mutating func bool(_ value: Bool) {
        raw(value ? "true" : "false")
    }

    /// Writes an array; `write` writes one element.
    mutating func array<Elements: Sequence>(
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

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private mutating func escape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): raw(#"\""#)
        case UInt8(ascii: "\\"): raw(#"\\"#)
        case 0x08: raw(#"\b"#)
        case 0x09: raw(#"\t"#)
        case 0x0a: raw(#"\n"#)
        case 0x0c: raw(#"\f"#)
        case 0x0d: raw(#"\r"#)
        default:
            raw(#"\u00"#)
            bytes.append(UInt8(ascii: byte < 0x10 ? "0" : "1"))
            let digit = byte & 0x0f
            bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
    }
}
