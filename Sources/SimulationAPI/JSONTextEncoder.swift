/// Encodes a wire type as ``JSONText``.
///
/// A type lists its members in any order. They are collected, and written in the order of their bytes. `JSONEncoder`
/// cannot do this for names that are canonically equal, and has no way to write JSON that is there already.
///
/// There is no coding path: the only error, for a number that JSON cannot represent, names the number.
struct JSONTextEncoder: Encoder {
    /// The encoded value, once there is one.
    private final class Slot {
        var part: JSONPart?
    }

    private let slot = Slot()
    /// Whether an optional member without a value is null, and not left out.
    fileprivate let showsAbsent: Bool

    /// The encoded value. A type that encodes nothing is an object without members, as with `JSONEncoder`.
    var part: JSONPart { slot.part ?? .object(JSONMembers()) }

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// Returns a value as a part of a document.
    ///
    /// - Throws: `EncodingError` if the value holds a number that is not finite.
    static func part<Value: Encodable>(_ value: Value, showsAbsent: Bool = false) throws -> JSONPart {
        if Value.self == String.self, let text = value as? String { return .value(.string(text)) }
        // The order of a dictionary is another one in each process.
        if Value.self == [String: String].self, let texts = value as? [String: String] {
            return .value(.object(JSONObject(texts.map { ($0, .string($1)) })))
        }
        let encoder = JSONTextEncoder(showsAbsent: showsAbsent)
        try value.encode(to: encoder)
        return encoder.part
    }

    func set(_ part: JSONPart) {
        slot.part = part
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(JSONMembersContainer(members: members(), showsAbsent: showsAbsent))
    }

    /// The members of the encoded value. A type may encode its own beside those of another one.
    private func members() -> JSONMembers {
        if case .object(let members) = slot.part { return members }
        let members = JSONMembers()
        if case .value(.object(let object)) = slot.part {
            for (name, value) in object.sorted { members.append(name, .value(value)) }
        }
        set(.object(members))
        return members
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if case .array(let elements) = slot.part { return elements }
        let elements = JSONElements(showsAbsent: showsAbsent)
        set(.array(elements))
        return elements
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension JSONTextEncoder: SingleValueEncodingContainer {
    func encodeNil() { set(.value(.null)) }
    func encode(_ value: Bool) { set(.value(.bool(value))) }
    func encode(_ value: String) { set(.value(.string(value))) }
    func encode(_ value: some Encodable & BinaryInteger) { set(.integer(value)) }
    func encode(_ value: some Encodable & JSONFraction) throws { set(try .fraction(value)) }
    func encode(_ value: some Encodable) throws { set(try Self.part(value, showsAbsent: showsAbsent)) }
}

/// A value of a document that is being encoded.
enum JSONPart {
    case value(JSONValue)
    /// A finite number, as its description.
    case number(String)
    case object(JSONMembers)
    case array(JSONElements)
    /// A value that is complete when the whole document is.
    case nested(JSONTextEncoder)

    static func integer(_ value: some BinaryInteger) -> JSONPart {
        .number(String(value))
    }

    /// - Throws: `EncodingError` if the number is not finite.
    static func fraction(_ value: some JSONFraction) throws -> JSONPart {
        guard value.isFinite else {
            throw EncodingError.invalidValue(
                value, .init(codingPath: [], debugDescription: "JSON has no number \(value)"))
        }
        return .number(value.wholeDescription ?? value.description)
    }
}

/// A number that may have a fraction.
protocol JSONFraction: BinaryFloatingPoint, CustomStringConvertible {
    /// Below it, a whole number is described by all its digits.
    static var wholeLimit: Self { get }
}

extension Double: JSONFraction { static var wholeLimit: Double { 0x1p53 } }
extension Float: JSONFraction { static var wholeLimit: Float { 0x1p24 } }

extension JSONFraction {
    /// The digits of a whole number; `nil` for others. Most numbers are whole, such as times in seconds, and the digits of an integer
    /// are found faster than the shortest description of a fraction.
    var wholeDescription: String? {
        guard sign == .plus, self < Self.wholeLimit, rounded(.towardZero) == self else { return nil }
        return String(Int(self))
    }
}

final class JSONMembers {
    private var list: [(name: String, value: JSONPart)] = []

    init() { list.reserveCapacity(8) }

    /// The members in the order in which they were listed. Of those with one name the last is used, in the place of the first.
    var listed: [(name: String, value: JSONPart)] {
        var (listed, places): ([(name: String, value: JSONPart)], [TextKey: Int]) = ([], [:])
        for member in list {
            let key = TextKey(member.name)
            if let place = places[key] {
                listed[place] = member
            } else {
                places[key] = listed.count
                listed.append(member)
            }
        }
        return listed
    }

    func append(_ name: String, _ part: JSONPart) {
        list.append((name, part))
    }

    /// The members in the order of the bytes of their names. Of those with one name the last is used, as with
    /// `JSONEncoder`.
    var sorted: [(name: String, value: JSONPart)] {
        // The sort is stable.
        list.sort { $0.name.precedes($1.name) }
        var index = 1
        while index < list.count {
            if list[index].name.isIdentical(to: list[index - 1].name) { list.remove(at: index - 1) } else { index += 1 }
        }
        return list
    }
}

private struct JSONMembersContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let members: JSONMembers
    let showsAbsent: Bool

    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) { append(.value(.null), key) }
    func encode(_ value: Bool, forKey key: Key) { append(.value(.bool(value)), key) }
    func encode(_ value: String, forKey key: Key) { append(.value(.string(value)), key) }
    func encode(_ value: some Encodable & BinaryInteger, forKey key: Key) { append(.integer(value), key) }
    func encode(_ value: some Encodable & JSONFraction, forKey key: Key) throws {
        append(try .fraction(value), key)
    }
    func encode(_ value: some Encodable, forKey key: Key) throws {
        append(try JSONTextEncoder.part(value, showsAbsent: showsAbsent), key)
    }

    func encodeIfPresent(_ value: Bool?, forKey key: Key) { append(value.map { .value(.bool($0)) }, key) }
    func encodeIfPresent(_ value: String?, forKey key: Key) { append(value.map { .value(.string($0)) }, key) }
    func encodeIfPresent(_ value: (some Encodable & BinaryInteger)?, forKey key: Key) {
        append(value.map { .integer($0) }, key)
    }
    func encodeIfPresent(_ value: (some Encodable & JSONFraction)?, forKey key: Key) throws {
        append(try value.map { try .fraction($0) }, key)
    }
    func encodeIfPresent(_ value: (some Encodable)?, forKey key: Key) throws {
        append(try value.map { try JSONTextEncoder.part($0, showsAbsent: showsAbsent) }, key)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        nestedEncoder(key.stringValue).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        nestedEncoder(key.stringValue).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { nestedEncoder("super") }
    func superEncoder(forKey key: Key) -> any Encoder { nestedEncoder(key.stringValue) }

    private func nestedEncoder(_ name: String) -> JSONTextEncoder {
        let encoder = JSONTextEncoder(showsAbsent: showsAbsent)
        members.append(name, .nested(encoder))
        return encoder
    }

    private func append(_ part: JSONPart, _ key: Key) {
        members.append(key.stringValue, part)
    }

    private func append(_ part: JSONPart?, _ key: Key) {
        if let part { append(part, key) } else if showsAbsent { encodeNil(forKey: key) }
    }
}

final class JSONElements: UnkeyedEncodingContainer {
    private(set) var list: [JSONPart] = []
    private let showsAbsent: Bool

    init(showsAbsent: Bool) {
        self.showsAbsent = showsAbsent
    }

    var codingPath: [any CodingKey] { [] }
    var count: Int { list.count }

    func encodeNil() { list.append(.value(.null)) }
    func encode(_ value: Bool) { list.append(.value(.bool(value))) }
    func encode(_ value: String) { list.append(.value(.string(value))) }
    func encode(_ value: some Encodable & BinaryInteger) { list.append(.integer(value)) }
    func encode(_ value: some Encodable & JSONFraction) throws { list.append(try .fraction(value)) }
    func encode(_ value: some Encodable) throws {
        list.append(try JSONTextEncoder.part(value, showsAbsent: showsAbsent))
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        nestedEncoder().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nestedEncoder().unkeyedContainer() }
    func superEncoder() -> any Encoder { nestedEncoder() }

    private func nestedEncoder() -> JSONTextEncoder {
        let encoder = JSONTextEncoder(showsAbsent: showsAbsent)
        list.append(.nested(encoder))
        return encoder
    }
}

extension JSONPart {
    fileprivate var value: JSONValue {
        switch self {
        case .value(let value): value
        case .number(let text): .number(JSONNumber(text: text))
        case .object(let members): .object(JSONObject(members.sorted.map { ($0.name, $0.value.value) }))
        case .array(let elements): .array(elements.list.map(\.value))
        case .nested(let encoder): encoder.part.value
        }
    }
}

extension JSONValue {
    /// The JSON of a value, in which an optional member without a value is null.
    ///
    /// - Throws: `EncodingError` if the value holds a number that JSON cannot represent, such as infinity.
    package init(withAbsentMembersOf value: some Encodable) throws {
        self = try JSONTextEncoder.part(value, showsAbsent: true).value
    }
}
