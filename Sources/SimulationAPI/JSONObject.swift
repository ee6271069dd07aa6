/// The members of a JSON object, keyed by the UTF-8 bytes of their names.
///
/// A dictionary of `String` would treat a composed and a decomposed é as one name. Its time for a name with many
/// combining marks would also grow with the square of their number.
public struct JSONObject: Sendable, Hashable {
    private var members: [TextKey: JSONValue]
}

extension JSONObject {
    /// Creates an object without members.
    public init() { self.init(members: [:]) }

    /// Creates an object from names and values. If a name is repeated, its last value is used.
    public init(_ members: some Sequence<(String, JSONValue)>) {
        self.init()
        for (name, value) in members { self[name] = value }
    }

    /// The value of a member, or `nil` if no member has the name.
    public subscript(name: String) -> JSONValue? {
        get { members[TextKey(name)] }
        set { members[TextKey(name)] = newValue }
    }

    public var count: Int { members.count }

    public var isEmpty: Bool { members.isEmpty }

    /// The names of the members, in no particular order.
    public var keys: Keys { Keys(names: members.keys) }

    /// The values of the members, in no particular order.
    public var values: [JSONValue] { Array(members.values) }

    /// The members in the order of the bytes of their names.
    public var sorted: [(name: String, value: JSONValue)] {
        members.map { (name: $0.key.text, value: $0.value) }
            .sorted { $0.name.precedes($1.name) }
    }

    /// Returns an object of the members that satisfy `isIncluded`.
    public func filter(_ isIncluded: ((key: String, value: JSONValue)) throws -> Bool) rethrows -> JSONObject {
        JSONObject(members: try members.filter { try isIncluded((key: $0.key.text, value: $0.value)) })
    }

    /// Returns the members of both objects. `combine` chooses between two values of one name.
    public func merging(
        _ other: JSONObject, uniquingKeysWith combine: (JSONValue, JSONValue) throws -> JSONValue
    ) rethrows -> JSONObject {
        JSONObject(members: try members.merging(other.members, uniquingKeysWith: combine))
    }

    /// Returns an object with the same names and transformed values.
    public func mapValues(_ transform: (JSONValue) throws -> JSONValue) rethrows -> JSONObject {
        JSONObject(members: try members.mapValues(transform))
    }
}

extension JSONObject {
    /// The names of the members, in no particular order.
    public struct Keys: Sequence {
        fileprivate let names: Dictionary<TextKey, JSONValue>.Keys

        public func makeIterator() -> AnyIterator<String> {
            var names = names.makeIterator()
            return AnyIterator { names.next()?.text }
        }

        /// Returns the names in the order of their bytes.
        public func sorted() -> [String] { names.map(\.text).sortedByBytes() }
    }
}

extension JSONObject: Sequence {
    public func makeIterator() -> AnyIterator<(key: String, value: JSONValue)> {
        var members = members.makeIterator()
        return AnyIterator { members.next().map { (key: $0.key.text, value: $0.value) } }
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self.init(elements)
    }
}

extension JSONObject: Codable {
    public init(from decoder: any Decoder) throws {
        guard let object = try JSONValue(from: decoder).members else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "expected a JSON object"))
        }
        self = object
    }

    public func encode(to encoder: any Encoder) throws {
        try JSONValue.object(self).encode(to: encoder)
    }
}
