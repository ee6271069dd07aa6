import Simulation
import SimulationAPI

/// All documented edges of a server, by number. Made once: the platforms' data, the answers of the description, and what the
/// engine knows itself [D coverage].
package struct EdgeTable: Sendable {
    /// The axis of the answers.
    package static let answers = "answers"
    /// The axis of the errors of Entrupy's SDK, whose names answers have.
    package static let sdkErrors = "sdk_errors"

    /// The axes. The numbers of an axis's edges follow each other.
    let axes: [(id: String, title: String, edges: Range<Int>)]
    let edges: [DocumentedEdge]
    private let numbers: [Coverage.Name: Int]
    /// The events that meet an edge, by their kind.
    let patterns: [String: [(event: EventPattern, edge: Int)]]
    /// The kinds of events that keep an earlier one from counting.
    let endings: Set<String>
    /// The command that meets each edge, for a shell with the environment of `entrupy-sim run`. Most servers are not asked for them.
    let commands: Lazily<[String]>
    /// The edges that only a request to no namespace meets. They are the server's alone.
    let ofServer: Lazily<Set<Int>>

    /// - Parameters:
    ///   - axes: in the order in which they are shown.
    ///   - commands: reads the command that meets each edge.
    package init(_ axes: [DocumentedAxis], commands: @escaping @Sendable () -> [Coverage.Name: String]) {
        var (edges, numbers): ([DocumentedEdge], [Coverage.Name: Int]) = ([], [:])
        var patterns: [String: [(event: EventPattern, edge: Int)]] = [:]
        self.axes = axes.map { axis in
            let start = edges.count
            for edge in axis.edges {
                let number = edges.count
                precondition(
                    numbers.updateValue(number, forKey: Coverage.Name(axis.id, edge.id)) == nil,
                    "\(edge.id) is there twice")
                for event in edge.events {
                    patterns[event.kind, default: []].append((event, number))
                }
                edges.append(edge)
            }
            return (axis.id, axis.title, start..<edges.count)
        }
        self.edges = edges
        self.numbers = numbers
        self.patterns = patterns
        let ofEdges = Lazily {
            let commands = commands()
            return axes.flatMap { axis in axis.edges.map { commands[Coverage.Name(axis.id, $0.id)] ?? "" } }
        }
        self.commands = ofEdges
        ofServer = Lazily { Set(ofEdges.value.indices.filter { Self.isOutsideNamespaces(ofEdges.value[$0]) }) }
        endings = Set(edges.flatMap { $0.events.flatMap(\.unlessFollowed) })
    }

    /// Whether a command's request reaches no namespace: that does not exist, or the host is a foreign one.
    private static func isOutsideNamespaces(_ command: String) -> Bool {
        command.contains("/ns/no-such-namespace") || command.contains("'Host: elsewhere.example'")
    }

    /// The number of an edge; `nil` if it is not documented.
    package func number(_ name: Coverage.Name) -> Int? { numbers[name] }

    /// An edge that was not met.
    func unmet(_ number: Int) -> Coverage.Edge {
        Coverage.Edge(id: edges[number].id, fault_only: edges[number].isFaultOnly)
    }

    /// The axes of webhooks and shipped scenarios.
    package static func ofEngine(_ platforms: Platforms) -> [DocumentedAxis] {
        let webhooks = platforms.webhookEvents.flatMap { event in
            ["delivered", "failed", "cancelled"].map { DocumentedEdge("\(event) \($0)", on: [pattern(event, $0)]) }
        }
        let scenarios = platforms.shippedScenarios.keys.sorted().map { DocumentedEdge($0) }
        return [
            DocumentedAxis(DocumentedAxis.webhooks, "Webhooks, and how their delivery ended", webhooks),
            DocumentedAxis(DocumentedAxis.scenarios, "Shipped scenarios that were verified", scenarios),
        ]
    }

    /// The event that says that the delivery of a webhook has ended so.
    private static func pattern(_ event: String, _ end: String) -> EventPattern {
        end == "cancelled"
            ? EventPattern(.webhookCancelled, [("event", event)])
            : EventPattern(.webhookAttempted, [("event", event), ("delivery", end)])
    }
}
