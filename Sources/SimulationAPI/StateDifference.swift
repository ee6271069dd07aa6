/// `GET /_sim/diff`: the objects in which two states differ [D diff].
public struct StateDifference: Codable, Sendable {
    /// Whether no object differs.
    public var equal: Bool
    /// The objects that differ, at most 10,000.
    public var objects: [Object]
    /// The names of the members that are not compared by their values, but at most by whether there is one: ids, tokens and times.
    public var ignored: [String]
    /// Whether there are more.
    public var truncated: Bool

    public init(objects: [Object], ignored: [String], truncated: Bool) {
        equal = objects.isEmpty && !truncated
        self.objects = objects
        self.ignored = ignored
        self.truncated = truncated
    }

    /// An object of one of the states, or of both.
    public struct Object: Codable, Sendable {
        /// The kind, for instance `item`.
        public var kind: String
        /// The members that tell it apart from others, with secrets masked; `nth` is its place among equals, from the second one on.
        public var key: JSONObject
        public var change: Change
        /// The members that differ, in the order of their kind.
        public var members: [Member]

        public init(kind: String, key: JSONObject, change: Change, members: [Member]) {
            self.kind = kind
            self.key = key
            self.change = change
            self.members = members
        }
    }

    public enum Change: String, Codable, Sendable, CaseIterable {
        case added, removed, changed
    }

    /// A member that differs. A value that is not there is null.
    public struct Member: Codable, Sendable {
        public var name: String
        @Nullable public var from: JSONValue?
        @Nullable public var to: JSONValue?

        public init(name: String, from: JSONValue?, to: JSONValue?) {
            self.name = name
            self._from = Nullable(wrappedValue: from == .null ? nil : from)
            self._to = Nullable(wrappedValue: to == .null ? nil : to)
        }
    }
}
