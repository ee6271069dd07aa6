public import Foundation

/// The JSON format of all answers, webhook bodies and tokens.
///
/// Keys are sorted and slashes are not escaped, so that equal values give equal bytes in every process.
public enum WireJSON {
    /// Encodes a wire type. Foundation's types are encoded as they encode themselves: no wire type has a `Date`, `URL`,
    /// `Data` or `Decimal`, for which `JSONEncoder` has forms of its own.
    ///
    /// - Throws: `EncodingError` if the value holds a number that JSON cannot represent, such as infinity.
    public static func encode(_ value: some Encodable) throws -> Data {
        var text = JSONText()
        try text.encode(value)
        return Data(text.bytes)
    }

    /// The configured encoder, for libraries that need a `JSONEncoder`.
    public static let encoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }()

    /// The maximum nesting in decoded text, the same as that of `JSONDecoder`.
    private static let maxDepth = 512

    /// Decodes a wire value on the client's side. The server reads requests with ``StrictJSON`` instead.
    ///
    /// - Throws: an error if a name is longer than 1,000 bytes. The decoder's time grows with the square of the number
    ///   of combining marks in a name.
    public static func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        if type == JSONValue.self, let value = try StrictJSON.parse([UInt8](data), maxDepth: maxDepth) as? Value {
            return value
        }
        guard JSONNames.areShort(in: data) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "a member name is longer than 1,000 bytes"))
        }
        return try JSONDecoder().decode(type, from: data)
    }
}

/// An optional member that is sent as `null`, and not left out, if it has no value.
@propertyWrapper
public struct Nullable<Value: Codable & Sendable>: Codable, Sendable {
    /// The value, or `nil` for `null`.
    public var wrappedValue: Value?

    @inlinable public init(wrappedValue: Value?) {
        self.wrappedValue = wrappedValue
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        wrappedValue = container.decodeNil() ? nil : try container.decode(Value.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue {
            try container.encode(wrappedValue)
        } else {
            try container.encodeNil()
        }
    }
}

extension Nullable: Equatable where Value: Equatable {}

extension KeyedDecodingContainer {
    /// Decodes a member; `nil` if the member is absent.
    @inlinable public func decode<Value>(_ type: Nullable<Value>.Type, forKey key: Key) throws -> Nullable<Value> {
        try decodeIfPresent(type, forKey: key) ?? Nullable(wrappedValue: nil)
    }
}
