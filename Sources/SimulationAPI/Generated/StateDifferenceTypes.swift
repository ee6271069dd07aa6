// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

/// `GET /_sim/diff` [D diff].
public struct StateDifference: Codable, Sendable {
    /// Whether no object differs.
    public var equal: Bool
    /// The objects that differ.
    public var objects: [ObjectDifference]
    /// The names of members that are not compared by value: of ids, tokens and times only whether there is one.
    public var ignored: [String]
    /// Whether there are more objects that differ.
    public var truncated: Bool

    public init(objects: [ObjectDifference], ignored: [String], truncated: Bool) {
        self.equal = objects.isEmpty && !truncated
        self.objects = objects
        self.ignored = ignored
        self.truncated = truncated
    }
}

/// An object of one of the states, or of both.
public struct ObjectDifference: Codable, Sendable {
    /// For instance `item`, `capture`, `user`, `session`, `delivery`, `message`, `setting`.
    public var kind: String
    /// The members that tell the object apart, with secrets masked. `nth` is its place among equals, from the second one on.
    /// Another object is its key, or the only member of that.
    public var key: JSONObject
    /// Whether the second state alone has it, or the first one, or both.
    public var change: Change
    /// The members that differ; of an object that one state has alone, those that are compared and not null.
    public var members: [Member]

    /// The members that differ; of an object that one state has alone, those that are compared and not null.
    public struct Member: Codable, Sendable {
        /// For instance `result`, or `item.brand` for a member of an object.
        public var name: String
        /// The value in the first state, with secrets masked; null if it has none.
        @Nullable public var from: JSONValue?
        /// The value in the second state, as the first.
        @Nullable public var to: JSONValue?

        public init(name: String, from: JSONValue?, to: JSONValue?) {
            self.name = name
            _from = Nullable(wrappedValue: from)
            _to = Nullable(wrappedValue: to)
        }
    }

    public init(kind: String, key: JSONObject, change: Change, members: [Member]) {
        self.kind = kind
        self.key = key
        self.change = change
        self.members = members
    }
}
