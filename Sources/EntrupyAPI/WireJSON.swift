public import Foundation

/// The one JSON encoder: for answers, webhook bodies and tokens alike.
///
/// Keys are sorted and slashes plain, so that equal values give equal bytes in every process.
public enum WireJSON {
    /// Encodes a wire value.
    public static func encode(_ value: some Encodable) throws -> Data {
        if let value = value as? JSONValue { return value.json }
        let parts = EmbeddedJSON()
        let frame = try EmbeddedJSON.$current.withValue(parts) { try encoder.encode(value) }
        return parts.inserted(into: frame)
    }

    /// The configured encoder, for libraries that want one of their own.
    public static let encoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }()

    /// The deepest nesting that is decoded, as `JSONDecoder` has it.
    private static let deepest = 512

    /// Decodes a wire value, as a client would. The server reads requests with ``StrictJSON`` instead.
    ///
    /// - Throws: an error where a name is longer than 1,000 bytes: the decoder's time grows with the square of its marks.
    public static func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        if type == JSONValue.self, let value = try StrictJSON.parse([UInt8](data), deepest: deepest) as? Value {
            return value
        }
        guard JSONNames.areShort(in: data) else {
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "a name is too long"))
        }
        return try JSONDecoder().decode(type, from: data)
    }
}

/// An optional member that is sent as `null` where it has no value, instead of being left out.
@propertyWrapper
public struct Nullable<Value: Codable & Sendable>: Codable, Sendable {
    /// The value, or nil for `null`.
    public var wrappedValue: Value?

    /// Makes one from its members.
    public init(wrappedValue: Value?) {
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

// What the compiler writes for wire types picks these where they fit. Without them an enumeration or a `Nullable` is encoded by
// an encoder of its own, for ten times as long.
extension KeyedEncodingContainer {
    /// An enumeration of strings, as its string.
    public mutating func encode<Value: RawRepresentable<String> & Encodable>(_ value: Value, forKey key: Key) throws {
        try encode(value.rawValue, forKey: key)
    }

    /// A string or `null`.
    public mutating func encode(_ value: Nullable<String>, forKey key: Key) throws {
        if let value = value.wrappedValue { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
    }

    /// A number or `null`.
    public mutating func encode(_ value: Nullable<Double>, forKey key: Key) throws {
        if let value = value.wrappedValue { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
    }

    /// A value or `null`.
    public mutating func encode<Value>(_ value: Nullable<Value>, forKey key: Key) throws {
        if let value = value.wrappedValue { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
    }
}

extension KeyedDecodingContainer {
    /// A `Nullable` member that is absent reads as nil.
    public func decode<Value>(_ type: Nullable<Value>.Type, forKey key: Key) throws -> Nullable<Value> {
        try decodeIfPresent(type, forKey: key) ?? Nullable(wrappedValue: nil)
    }
}
