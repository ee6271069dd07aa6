// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

/// Which documented edges were met, on axes that are never added up. A file of coverage has the same form [D coverage].
public struct Coverage: Codable, Sendable {
    /// The real time at which counting began, in epoch seconds.
    public var since: Double
    /// Whether counting began when the server was started again, although the namespace, or one of several, is older.
    public var since_restart: Bool
    /// The random ids of the counts that are added up here. A namespace's begins with that of its server and a slash. `coverage
    /// merge` adds the same counts up once.
    public var sources: [String]
    public var axes: [Axis]

    public struct Axis: Codable, Sendable {
        /// `answers`, `sdk_errors`, `results`, `captures`, `flags`, `limits`, `components`, `webhooks` or `scenarios`.
        public var id: String
        public var title: String
        /// The number of edges that were met.
        public var reached: Int
        /// The number of edges.
        public var of: Int
        public var edges: [CoverageEdge]

        public init(id: String, title: String, edges: [CoverageEdge]) {
            self.id = id
            self.title = title
            self.reached = edges.count(where: \.isMet)
            self.of = edges.count
            self.edges = edges
        }
    }

    public init(since: Double, since_restart: Bool = false, sources: [String] = [], axes: [Axis]) {
        self.since = since
        self.since_restart = since_restart
        self.sources = sources
        self.axes = axes
    }
}

/// One thing that the platforms document.
public struct CoverageEdge: Codable, Sendable {
    /// Unique in its axis, for instance `POST /sdk/login 429` or `started -> timed_out`.
    public var id: String
    /// How often it was met, without a fault.
    public var reached: Int
    /// How often a fault made it happen.
    public var injected: Int
    /// Whether a healthy server does not show it, so that an injected one counts.
    public var fault_only: Bool
    /// Values of `X-Sim-Test` that met it, with secrets masked; the first 20.
    public var tests: [String]
    /// The first that counted; null if nothing did.
    @Nullable public var first: First?
    /// A command that meets it, for a shell with the environment of `entrupy-sim run`; null if it was met.
    @Nullable public var meet_with: String?

    /// The first that counted; null if nothing did [D coverage].
    public struct First: Codable, Sendable, Hashable {
        public var namespace: String
        /// For `GET /_sim/explain/{id}` in that namespace: `sequence:12` is a request, `control:3` a call of the control API. Of an
        /// answer that no job of a namespace decided, its request id.
        public var request: String

        public init(namespace: String, request: String) {
            self.namespace = namespace
            self.request = request
        }
    }

    public init(
        id: String, reached: Int = 0, injected: Int = 0, fault_only: Bool = false, tests: [String] = [],
        first: First? = nil, meet_with: String? = nil
    ) {
        self.id = id
        self.reached = reached
        self.injected = injected
        self.fault_only = fault_only
        self.tests = tests
        _first = Nullable(wrappedValue: first)
        _meet_with = Nullable(wrappedValue: meet_with)
    }
}
