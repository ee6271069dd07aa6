import Foundation

/// Any JSON value, for the parts of a body that have no fixed shape: an item's unknown metadata, settings, inline seed
/// data.
///
/// Numbers are stored as text, so that up to 38 digits are echoed exactly [D strict-json]. `9.50` is echoed as `9.5`.
///
/// Strings are equal if their UTF-8 bytes are equal. A composed and a decomposed é differ.
public enum JSONValue: Sendable {
    case null
    case bool(Bool)
    case number(JSONNumber)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)
}

extension JSONValue: Hashable {
    public static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.string(let left), .string(let right)): left.isIdentical(to: right)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .number(let number): hasher.combine(number)
        case .string(let text):
            text.withBytes { hasher.combine(bytes: $0) }
        case .array(let elements): hasher.combine(elements)
        case .object(let members): hasher.combine(members)
        }
    }
}

/// A JSON number, as its text. The text is valid RFC 8259 and finite as a `Double`.
public struct JSONNumber: Sendable, Hashable {
    /// The number as it was written, for instance `9.50`.
    public let text: String

    /// Creates a number from text that is known to be a valid JSON number.
    public init(text: String) {
        self.text = text
    }

    public init(_ value: Int) {
        text = String(value)
    }

    /// The maximum length of a number in a request, in bytes.
    package static let maxBytes = 400

    /// Creates a number from the text of a JSON number in a request; `nil` if it is too long, or too large for a
    /// double.
    package init?(finite text: String) {
        guard text.utf8.count <= Self.maxBytes, let double = Double(text), double.isFinite else { return nil }
        self.text = text
    }

    /// Whether a text is written as a JSON number (RFC 8259, section 6), however large. Its time is linear.
    package static func isNumber(_ text: String) -> Bool {
        var rest = Substring(text).utf8
        func take(_ characters: String) -> Bool {
            guard let first = rest.first, characters.utf8.contains(first) else { return false }
            rest.removeFirst()
            return true
        }
        func takeDigits() -> Bool {
            let count = rest.prefix { (0x30...0x39).contains($0) }.count
            rest.removeFirst(count)
            return count > 0
        }
        _ = take("-")
        guard take("0") || takeDigits(), !take(".") || takeDigits() else { return false }
        if take("eE") {
            _ = take("+-")
            guard takeDigits() else { return false }
        }
        return rest.isEmpty
    }

    /// The nearest double.
    public var double: Double { Double(text) ?? 0 }

    /// The value as an integer; `nil` if it has a fraction or an exponent, or is out of range.
    public var integer: Int? { Int(text) }
}

extension JSONValue {
    /// The type's name for error messages.
    public var typeName: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }

    /// The object's members; `nil` if the value is not an object.
    public var members: JSONObject? {
        if case .object(let members) = self { members } else { nil }
    }

    /// The string; `nil` if the value is not a string.
    public var text: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The number; `nil` if the value is not a number.
    public var number: JSONNumber? {
        if case .number(let number) = self { number } else { nil }
    }

    /// The array's elements; `nil` if the value is not an array.
    public var elements: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// Returns this value with a JSON merge patch applied (RFC 7396). Null removes a member, objects are merged,
    /// any other value replaces the old one.
    public func merging(_ patch: JSONValue) -> JSONValue {
        guard case .object(let changes) = patch else { return patch }
        var result = members ?? JSONObject()
        for (key, change) in changes {
            if case .null = change {
                result[key] = nil
            } else {
                result[key] = (result[key] ?? .null).merging(change)
            }
        }
        return .object(result)
    }
}

extension JSONValue: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // Each `try?` asks whether the value is of one type; the last branch throws.
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([String: JSONValue].self) {
            self = .object(JSONObject(value.map { ($0.key, $0.value) }))
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else if let value = try? container.decode(Int.self) {
            self = .number(JSONNumber(value))
        } else if let value = try? container.decode(Decimal.self), !value.isNaN {
            self = .number(JSONNumber(text: value.description))
        } else {
            self = .number(JSONNumber(text: String(try container.decode(Double.self))))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        if let encoder = encoder as? JSONTextEncoder { return encoder.set(.value(self)) }
        if case .object(let members) = self {
            var container = encoder.container(keyedBy: MemberName.self)
            return try members.forEach { try container.encode($0.value, forKey: MemberName(stringValue: $0.key)) }
        }
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let values): try container.encode(values)
        case .object(let members): try container.encode(members)
        case .number(let number):
            if let value = Int(number.text) {
                try container.encode(value)
            } else if let value = Decimal(string: number.text), !value.isNaN {
                // A decimal is exact to 38 digits. A double is not.
                try container.encode(value)
            } else {
                try container.encode(number.double)
            }
        }
    }

    private struct MemberName: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }

        init?(intValue: Int) { nil }
    }
}

// Literals, for requests in tests: `["result": "unknown", "times": 2]`.
extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int) { self = .number(JSONNumber(value)) }
    /// - Precondition: the value is finite; JSON has no other numbers.
    public init(floatLiteral value: Double) { self = .number(JSONNumber(text: "\(value)")) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// If a name is repeated, its last value is used.
    public init(dictionaryLiteral members: (String, JSONValue)...) { self = .object(JSONObject(members)) }
}
