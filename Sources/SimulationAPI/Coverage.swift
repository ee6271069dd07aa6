/// `GET /_sim/coverage`: which documented edges were met, on axes that are never added up [D coverage]. A file of coverage has
/// the same form.
public struct Coverage: Codable, Sendable {
    /// The request that met an edge first.
    public struct First: Codable, Sendable, Hashable {
        public var namespace: String
        /// The id for `GET /_sim/explain/{id}`: `sequence:N`, `control:N`, `due:N`, or that of a request that no job answered.
        public var request: String

        public init(namespace: String, request: String) {
            self.namespace = namespace
            self.request = request
        }
    }

    /// One thing that the platforms document.
    public struct Edge: Codable, Sendable {
        /// Unique in its axis, for instance `POST /sdk/login 429`.
        public var id: String
        /// How often it was met, without a fault.
        public var reached: Int
        /// How often a fault made it happen. That proves nothing, unless only a fault can.
        public var injected: Int
        /// Whether a healthy server does not show it, so that an injected one counts.
        public var fault_only: Bool
        /// The values of `X-Sim-Test` that met it, at most 20.
        public var tests: [String]
        /// The first that counted; null if nothing did.
        @Nullable public var first: First?
        /// A command that meets it; null if it was met.
        @Nullable public var meet_with: String?

        public init(
            id: String, reached: Int = 0, injected: Int = 0, fault_only: Bool = false, tests: [String] = [],
            first: First? = nil, meet_with: String? = nil
        ) {
            self.id = id
            self.reached = reached
            self.injected = injected
            self.fault_only = fault_only
            self.tests = tests
            self._first = Nullable(wrappedValue: first)
            self._meet_with = Nullable(wrappedValue: meet_with)
        }

        /// Whether it was met. An injected one counts if only a fault shows the edge.
        public var isMet: Bool { reached > 0 || (fault_only && injected > 0) }

        /// How often it was met.
        package var count: Int { fault_only ? Self.sum(reached, injected) : reached }
    }

    /// Edges of one kind.
    public struct Axis: Codable, Sendable {
        public var id: String
        public var title: String
        /// The number of edges that were met.
        public var reached: Int
        /// The number of edges.
        public var of: Int
        public var edges: [Edge]

        public init(id: String, title: String, edges: [Edge]) {
            self.id = id
            self.title = title
            reached = edges.count(where: \.isMet)
            of = edges.count
            self.edges = edges
        }
    }

    /// The real time at which counting began, in epoch seconds.
    public var since: Double
    /// Whether counting began when the server was started again, although the namespace, or one of several, is older.
    public var since_restart: Bool
    /// The random ids of the counts that are added up here, by which a merge knows those that it has already. Empty if they are
    /// not known.
    public var sources: [String]
    public var axes: [Axis]

    public init(since: Double, since_restart: Bool = false, sources: [String] = [], axes: [Axis]) {
        self.since = since
        self.since_restart = since_restart
        self.sources = sources
        self.axes = axes
    }

    /// Reads it from JSON, in which all but `since` and `axes` may be absent.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        since = try members.decode(Double.self, forKey: .since)
        guard (0...FileLimits.time).contains(since) else {
            throw DecodingError.dataCorruptedError(forKey: .since, in: members, debugDescription: "not a time")
        }
        since_restart = try members.decodeIfPresent(Bool.self, forKey: .since_restart) ?? false
        sources = try members.decodeIfPresent([String].self, forKey: .sources) ?? []
        axes = try members.decode([Axis].self, forKey: .axes)
    }
}

extension Coverage {
    /// An edge by the names of its axis and of its own.
    public struct Name: Sendable, Hashable, CustomStringConvertible {
        public let axis: String
        public let edge: String

        public init(_ axis: String, _ edge: String) {
            self.axis = axis
            self.edge = edge
        }

        public var description: String { "\(axis): \(edge)" }
    }

    /// The differences from coverage that was saved before.
    public struct Difference: Sendable {
        /// The edges that were met before and are not now.
        public var lost: [Name] = []
        /// The edges that were met before and that this version does not have.
        public var unknown: [Name] = []
        /// The edges that are met now and were not before.
        public var gained: [Name] = []
    }

    /// An edge; `nil` if there is none.
    public func edge(_ axis: String, _ id: String) -> Edge? {
        axes.first { $0.id.isIdentical(to: axis) }?.edges.first { $0.id.isIdentical(to: id) }
    }

    /// Compares with a baseline.
    public func difference(from baseline: Coverage) -> Difference {
        let present = edgesByName
        let before = baseline.edgesByName
        let met = baseline.namedEdges.filter(\.edge.isMet).map(\.name)
        return Difference(
            lost: met.filter { present[$0]?.isMet == false }, unknown: met.filter { present[$0] == nil },
            gained: namedEdges.filter { $0.edge.isMet && before[$0.name]?.isMet != true }.map(\.name))
    }

    /// All edges, in the order of the axes.
    public var namedEdges: [(name: Name, edge: Edge)] {
        axes.flatMap { axis in axis.edges.map { (Name(axis.id, $0.id), $0) } }
    }

    private var edgesByName: [Name: Edge] { Dictionary(namedEdges.map { ($0.name, $0.edge) }) { first, _ in first } }
}
