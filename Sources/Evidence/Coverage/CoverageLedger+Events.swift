import Simulation
import SimulationAPI

// What the event log tells.
extension CoverageLedger: EvidenceReader {
    package func wants(_ kind: EventKind) -> Bool {
        table.patterns[kind.name] != nil || table.endings.contains(kind.name)
    }

    package func committed(_ events: [NotedEvent], _ state: NamespaceState) {
        begin(state)
        guard !events.isEmpty, !state.environment.sequencer.isReplaying else { return }
        let resent = resentRequests(in: state.name)
        for (index, event) in events.enumerated() where !event.isResent {
            let edges = edges(of: event, followedBy: events[(index + 1)...])
            // What support does to an item counts if a client made the item.
            guard !edges.isEmpty, event.isOfClient || event.request != nil else { continue }
            if !resent.isEmpty, let request = event.request, resent.contains(request) { continue }
            count(edges.map(\.edge), sighting(event, isInjected: edges[0].isInjected, state), state.generation)
        }
    }

    /// The edges that an event meets, and whether a fault made it happen.
    private func edges(
        of event: NotedEvent, followedBy later: ArraySlice<NotedEvent>
    ) -> [(edge: Int, isInjected: Bool)] {
        guard let patterns = table.patterns[event.kind] else { return [] }
        // Data that cannot be read meets no edge. The log's own is always JSON.
        let members =
            patterns.contains { !$0.event.members.isEmpty } ? (try? StoredJSON.decode(event.data))?.members : [:]
        return patterns.compactMap { pattern in
            let isMet = pattern.event.members.allSatisfy { name, value in
                guard let text = members?[name]?.text else { return value == nil }
                return value.map { text.isIdentical(to: $0) } ?? false
            }
            let isReplaced = later.contains { next in
                next.subject.isIdentical(to: event.subject) && pattern.event.unlessFollowed.contains(next.kind)
            }
            return isMet && !isReplaced ? (pattern.edge, members?["fault"]?.text != nil) : nil
        }
    }

    private func sighting(_ event: NotedEvent, isInjected: Bool, _ state: NamespaceState) -> Sighting {
        let name = event.root?.id ?? event.cause?.id ?? event.subject
        // Only later work has no metadata of its own, and its request is in the journal by then.
        let test =
            if let metadata = event.metadata {
                metadata.header("X-Sim-Test").first
            } else {
                event.request.flatMap { state.environment.journals.entry(sequence: $0, of: state.name)?.test }
            }
        return Sighting(
            isInjected: isInjected, test: test, namespace: state.name, request: .id(name), secrets: state.secrets)
    }
}
