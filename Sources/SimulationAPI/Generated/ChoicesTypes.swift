// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

/// `GET /_sim/choices` [D choices].
public struct Choices: Codable, Sendable {
    /// The platform's routes, as globs that fault rules can match.
    public var routes: [Route]
    /// The lists of values, by name: `results`, `brands`, `webhook_events` and so on.
    public var lists: [String: [Choice]]

    /// The platform's routes, as globs that fault rules can match.
    public struct Route: Codable, Sendable {
        public var method: String
        /// The path, with `*` for its parameters.
        public var path: String

        public init(method: String, path: String) {
            self.method = method
            self.path = path
        }
    }

    public init(routes: [Route], lists: [String: [Choice]]) {
        self.routes = routes
        self.lists = lists
    }
}

/// The lists of values, by name: `results`, `brands`, `webhook_events` and so on.
public struct Choice: Codable, Sendable {
    public var id: String
    /// The name for people.
    public var name: String
    /// A sentence on an effect of faults. Other values have none.
    public var about: String?

    public init(id: String, name: String, about: String? = nil) {
        self.id = id
        self.name = name
        self.about = about
    }
}
