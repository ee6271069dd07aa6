import Foundation

/// Writes JSON in the format of ``WireJSON``: names in the order of their bytes, slashes not escaped. The time is linear
/// in the length.
///
/// `JSONEncoder` takes several times as long, and stores names in dictionaries of `String`. These treat canonically equal
/// names as one name, and their time grows with the square of the number of combining marks in a name. Code that writes
/// an object member by member must list the members in order; tests compare the bytes with the encoder's.
package struct JSONText {
    package private(set) var bytes: [UInt8] = []

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
        let source = text.utf8.span
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
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes a string, or `null` for `nil`.
    package mutating func string(orNull text: String?) {
        if let text { string(text) } else { raw("null") }
    }

    package mutating func number(_ value: Int) {
        bytes.append(contentsOf: value.description.utf8)
    }

    /// Writes a finite number; a whole number without a fraction.
    package mutating func number(_ value: Double) {
        let text = value.description
        bytes.append(contentsOf: text.ends(with: ".0") ? text.utf8.dropLast(2) : text.utf8[...])
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

    /// Writes a value of any kind.
    package mutating func value(_ value: JSONValue) {
        switch value {
        case .null: raw("null")
        case .bool(let value): bool(value)
        case .number(let value): number(value)
        case .string(let text): string(text)
        case .array(let elements): array(elements) { $0.value($1) }
        case .object(let members): object(members)
        }
    }

    private mutating func object(_ members: JSONObject) {
        raw("{")
        var isFirst = true
        for member in members.sorted {
            if !isFirst { raw(",") }
            isFirst = false
            string(member.name)
            raw(":")
            value(member.value)
        }
        raw("}")
    }

    private mutating func number(_ number: JSONNumber) {
        if let value = Int(number.text) {
            self.number(value)
        } else if let value = Decimal(string: number.text), !value.isNaN {
            // A decimal is exact to 38 digits. A double is not.
            bytes.append(contentsOf: value.description.utf8)
        } else {
            self.number(number.double)
        }
    }

    private mutating func append(_ source: borrowing Span<UInt8>, _ range: Range<Int>) {
        source.extracting(range).withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
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

extension JSONValue {
    /// The value as JSON. Equal values give the same bytes in every process.
    var json: Data {
        var text = JSONText()
        text.value(self)
        return Data(text.bytes)
    }
}

/// The JSON values within a wire type that is being encoded.
///
/// `JSONEncoder` encodes a placeholder number for each value. Afterwards the value's own text replaces the placeholder.
final class EmbeddedJSON: Sendable {
    /// The values of the current encoding; `nil` outside ``WireJSON``.
    @TaskLocal static var current: EmbeddedJSON?

    /// The number of digits of a placeholder. No other number has as many: integers have at most 19 digits, doubles
    /// 17.
    private static let digits = 38
    private static let base = Decimal(sign: .plus, exponent: digits - 1, significand: 1)

    private let values = LockedValues()

    /// Records a value and returns its placeholder number.
    func placeholder(for value: JSONValue) -> Decimal {
        values.withLock { values in
            values.append(value)
            return Self.base + Decimal(values.count - 1)
        }
    }

    /// Returns the encoded frame with each placeholder replaced by its value.
    func inserted(into frame: Data) -> Data {
        let values = values.withLock { $0 }
        guard !values.isEmpty else { return frame }
        var text = JSONText()
        var rest = [UInt8](frame)[...]
        while let place = Self.nextNumber(in: rest) {
            text.raw(rest[..<place])
            text.value(values[Self.index(rest[place..<place + Self.digits])])
            rest = rest[(place + Self.digits)...]
        }
        text.raw(rest)
        return Data(text.bytes)
    }

    /// The index of the next placeholder outside strings, or `nil` if there is none.
    private static func nextNumber(in frame: ArraySlice<UInt8>) -> Int? {
        var index = frame.startIndex
        var isInString = false
        while index < frame.endIndex {
            switch frame[index] {
            case UInt8(ascii: "\""): isInString.toggle()
            case UInt8(ascii: "\\"): index += 1
            case UInt8(ascii: "1") where !isInString:
                let run = frame[index...].prefix { (0x30...0x39).contains($0) }
                if run.count == digits { return index }
                index += run.count - 1
            default: break
            }
            index += 1
        }
        return nil
    }

    /// The index of a placeholder's value.
    private static func index(_ placeholder: ArraySlice<UInt8>) -> Int {
        placeholder.dropFirst().reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
}

/// A list of values that a lock guards. `Mutex` would need a newer iOS than the libraries for apps support.
private final class LockedValues: @unchecked Sendable {
    private let lock = NSLock()
    private var values: [JSONValue] = []

    func withLock<Result>(_ body: (inout [JSONValue]) -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return body(&values)
    }
}
