extension CoverageEdge {
    /// Whether it was met. An injected one counts if only a fault shows the edge.
    public var isMet: Bool { reached > 0 || (fault_only && injected > 0) }

    /// How often it was met.
    package var count: Int { fault_only ? Self.sum(reached, injected) : reached }
}

extension Coverage {
    public typealias Edge = CoverageEdge
    public typealias First = CoverageEdge.First

    /// Reads it from JSON, in which all but `since` and `axes` may be absent.
    public init(from decoder: any Decoder) throws {
        enum Key: CodingKey {
            case since, since_restart, sources, axes
        }
        let members = try decoder.container(keyedBy: Key.self)
        let since = try members.decode(Double.self, forKey: .since)
        guard (0...FileLimits.time).contains(since) else {
            throw DecodingError.dataCorruptedError(forKey: .since, in: members, debugDescription: "not a time")
        }
        self.init(
            since: since, since_restart: try members.decodeIfPresent(Bool.self, forKey: .since_restart) ?? false,
            sources: try members.decodeIfPresent([String].self, forKey: .sources) ?? [],
            axes: try members.decode([Axis].self, forKey: .axes))
    }

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
