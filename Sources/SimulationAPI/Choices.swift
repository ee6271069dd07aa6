/// `GET /_sim/choices`: the values that rules and actions of a namespace can name, for forms and completion [D choices].
public struct Choices: Codable, Sendable {
    /// The platform's routes, as globs that fault rules can match.
    public var routes: [Route]
    /// The lists of values, by name: `results`, `brands`, `webhook_events` and so on.
    public var lists: [String: [Choice]]

    public init(routes: [Route], lists: [String: [Choice]]) {
        self.routes = routes
        self.lists = lists
    }

    /// A route of the platform.
    public struct Route: Codable, Sendable {
        public var method: String
        /// The path, with `*` for its parameters.
        public var path: String

        public init(method: String, path: String) {
            self.method = method
            self.path = path
        }
    }
}

/// A value that a rule or an action can name.
public struct Choice: Codable, Sendable {
    public var id: String
    /// The name for people.
    public var name: String

    public init(id: String, name: String) {
        self.id = id
        self.name = name
    }

    /// A value that is its own name.
    public init(_ id: String) {
        self.init(id: id, name: id)
    }
}
