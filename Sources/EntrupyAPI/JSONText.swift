import Foundation
import Synchronization

/// Writes JSON values in the format of ``WireJSON``: names in the order of their bytes, slashes not escaped. The time
/// is linear in their length.
///
/// `JSONEncoder` stores names in dictionaries of `String`. These treat canonically equal names as one name, and their
/// time grows with the square of the number of combining marks in a name.
struct JSONText {
    private(set) var bytes: [UInt8] = []

    mutating func append(_ value: JSONValue) {
        switch value {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .bool(let value): bytes.append(contentsOf: (value ? "true" : "false").utf8)
        case .number(let number): append(number)
        case .string(let text): append(text)
        case .array(let elements): append(elements)
        case .object(let members): append(members)
        }
    }

    private mutating func append(_ elements: [JSONValue]) {
        bytes.append(UInt8(ascii: "["))
        for (index, element) in elements.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            append(element)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    private mutating func append(_ members: JSONObject) {
        bytes.append(UInt8(ascii: "{"))
        for (index, member) in members.sorted.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            append(member.name)
            bytes.append(UInt8(ascii: ":"))
            append(member.value)
        }
        bytes.append(UInt8(ascii: "}"))
    }

    private mutating func append(_ number: JSONNumber) {
        if let value = Int(number.text) {
            bytes.append(contentsOf: String(value).utf8)
        } else if let value = Decimal(string: number.text), !value.isNaN {
            // A decimal is exact to 38 digits. A double is not.
            bytes.append(contentsOf: value.description.utf8)
        } else {
            let text = number.double.description
            bytes.append(contentsOf: text.ends(with: ".0") ? text.utf8.dropLast(2) : text.utf8[...])
        }
    }

    private mutating func append(_ text: String) {
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
        text.append(self)
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

    private let values = Mutex<[JSONValue]>([])

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
            text.append(rest[..<place])
            text.append(values[Self.index(rest[place..<place + Self.digits])])
            rest = rest[(place + Self.digits)...]
        }
        text.append(rest)
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

extension JSONText {
    /// Appends bytes that are already JSON.
    fileprivate mutating func append(_ json: ArraySlice<UInt8>) {
        bytes.append(contentsOf: json)
    }
}
