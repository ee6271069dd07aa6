import SimulationAPI

/// Things of one kind that a platform documents, as data: each is an edge that tests can meet [D coverage].
package struct DocumentedAxis: Sendable {
    /// Unique among the axes of a server.
    package let id: String
    /// Its name for people.
    package let title: String
    package let edges: [DocumentedEdge]

    package init(_ id: String, _ title: String, _ edges: [DocumentedEdge]) {
        self.id = id
        self.title = title
        self.edges = edges
    }
}

/// One documented thing: an answer, a state, an error, a limit.
package struct DocumentedEdge: Sendable {
    /// Unique in its axis.
    package let id: String
    /// The events of the log that meet it; empty if it shows in answers alone.
    package let events: [EventPattern]
    /// Whether a healthy server does not show it, so that an injected one counts.
    package let isFaultOnly: Bool

    package init(_ id: String, on events: [EventPattern] = [], isFaultOnly: Bool = false) {
        self.id = id
        self.events = events
        self.isFaultOnly = isFaultOnly
    }
}

/// A pattern for events of the log.
package struct EventPattern: Sendable {
    /// The kind of the event.
    package let kind: String
    /// Members of the event's data, and the texts that they must have; `nil` where the member must be absent.
    package let members: [(name: String, value: String?)]
    /// Kinds of events of the same subject that must not follow at once, in the same batch of jobs.
    package let unlessFollowed: [String]

    package init(_ kind: EventKind, _ members: [(name: String, value: String?)] = [], unlessFollowed: [EventKind] = [])
    {
        self.kind = kind.name
        self.members = members
        self.unlessFollowed = unlessFollowed.map(\.name)
    }
}

extension DocumentedAxis {
    /// The ids of the axes that the engine counts by itself. A platform gives the edges of ``limits``.
    package static let limits = "limits"
    package static let webhooks = "webhooks"
    package static let scenarios = "scenarios"
}
