import Foundation
import NIOConcurrencyHelpers
import Simulation
import SimulationAPI

/// Counts which documented edges were met: for the server, over namespaces that come and go, and for each namespace that lives
/// [D coverage].
///
/// Everything is in memory and bounded: edges are fixed in number, each names at most 20 tests.
package final class CoverageLedger: Sendable {
    /// An answer that was counted, to be taken back if it does not arrive.
    package struct CountedAnswer: Sendable {
        fileprivate let edges: [Int]
        fileprivate let sighting: Sighting
        fileprivate let namespace: String?
    }

    private struct OfNamespace {
        /// The state that the counts belong to.
        var generation: Int
        var counts: EdgeCounts
        /// Requests that were sent again from the journal, the newest; what follows from them later does not count.
        var resent: Set<Int64> = []
    }

    private struct State {
        var server: EdgeCounts
        var namespaces: [String: OfNamespace] = [:]
        /// Edges of a file that this version does not have. They are kept for the version that has them.
        var others: [(name: Coverage.Name, edge: Coverage.Edge)] = []
        var changes = Changes()
    }

    /// The numbers of changes to the server's counts.
    package struct Changes: Sendable, Equatable {
        package fileprivate(set) var all = 0
        /// Those that changed more than a number: an edge was newly met, or by another test, or one was taken back.
        package fileprivate(set) var new = 0

        package init() {}
    }

    package let table: EdgeTable
    private let newID: @Sendable () -> String
    private let realTime: @Sendable () -> Double
    private let state: NIOLockedValueBox<State>

    /// The maximum number of edges that are kept for other versions.
    package static let maxOthers = 1000
    /// The maximum number of requests of a namespace that are known to be sent again.
    private static let maxResent = 10_000

    /// - Parameters:
    ///   - newID: a random id for counts, which no other server has.
    ///   - realTime: the real time in epoch seconds.
    package init(
        _ table: EdgeTable, newID: @escaping @Sendable () -> String, realTime: @escaping @Sendable () -> Double
    ) {
        self.table = table
        self.newID = newID
        self.realTime = realTime
        state = NIOLockedValueBox(State(server: EdgeCounts(since: realTime(), sources: [newID()])))
    }

    /// Counts of a namespace that begin now. Their id begins with that of the server's counts, which have them too.
    private func newCounts(within server: EdgeCounts, isSinceRestart: Bool = false) -> EdgeCounts {
        let id = (server.sources.first.map { "\($0)/" } ?? "") + newID()
        return EdgeCounts(since: realTime(), isSinceRestart: isSinceRestart, sources: [id])
    }

    // MARK: Answers

    /// Counts an answer that is in the journal.
    ///
    /// - Parameters:
    ///   - test: the value of `X-Sim-Test`; `nil` if there is none.
    ///   - edge: the number of the answer's status; `nil` if it is not documented.
    ///   - names: what the answer tells beside its status.
    /// - Returns: for ``takeBack(_:)``; `nil` if nothing was counted.
    package func count(
        _ entry: JournalEntry, test: String?, edge: Int?, _ names: [Coverage.Name], in namespace: Namespace
    ) -> CountedAnswer? {
        var edges = [edge].compactMap(\.self) + names.compactMap { table.number($0) }
        edges += entry.outcome.limits.compactMap { table.number(Coverage.Name(DocumentedAxis.limits, $0)) }
        guard !edges.isEmpty, entry.isDelivered else { return nil }
        let sighting = Sighting(
            isInjected: entry.outcome.fault.map(\.decidesAnswer) ?? false, test: test, namespace: namespace.name,
            request: .sequence(entry.sequence), secrets: entry.outcome.secrets)
        let generation = namespace.isCurrent(entry.outcome) ? entry.outcome.generation : nil
        count(edges, sighting, generation)
        return CountedAnswer(edges: edges, sighting: sighting, namespace: generation == nil ? nil : namespace.name)
    }

    /// Counts an answer that no job of a namespace decided, such as the refusal of a host.
    ///
    /// - Parameters:
    ///   - edge: see ``count(_:test:edge:_:in:)``.
    ///   - namespace: the name that the request names, which need not exist.
    ///   - secrets: what is masked in the name of the test.
    package func count(
        requestID: String, test: String?, edge: Int?, _ names: [Coverage.Name], in namespace: String,
        _ secrets: KnownSecrets
    ) {
        let edges = [edge].compactMap(\.self) + names.compactMap { table.number($0) }
        let sighting = Sighting(
            isInjected: false, test: test, namespace: namespace, request: .id(requestID), secrets: secrets)
        count(edges, sighting, nil)
    }

    /// Takes an answer back that did not reach its client.
    package func takeBack(_ answer: CountedAnswer) {
        state.withLockedValue { state in
            for edge in answer.edges {
                state.server.counts[edge]?.remove(answer.sighting)
                guard let name = answer.namespace else { continue }
                state.namespaces[name]?.counts.counts[edge]?.remove(answer.sighting)
            }
            state.changes.all += 1
            state.changes.new += 1
        }
    }

    package func resent(sequence: Int64, in namespace: String) {
        state.withLockedValue { state in
            guard var known = state.namespaces.removeValue(forKey: namespace) else { return }
            if known.resent.count >= Self.maxResent { known.resent = known.resent.filter { $0 > sequence - 1000 } }
            known.resent.insert(sequence)
            state.namespaces[namespace] = known
        }
    }

    /// Counts a shipped scenario that was verified.
    package func count(scenario name: String, requestID: String, test: String?, in namespace: Namespace) {
        guard let edge = table.number(Coverage.Name(DocumentedAxis.scenarios, name)) else { return }
        let sighting = Sighting(
            isInjected: false, test: test, namespace: namespace.name, request: .id(requestID),
            secrets: namespace.secrets)
        count([edge], sighting, namespace.generation)
    }

    /// The requests that are known to be sent again.
    func resentRequests(in namespace: String) -> Set<Int64> {
        state.withLockedValue { $0.namespaces[namespace]?.resent ?? [] }
    }

    /// Begins the counts of a namespace, anew where its state was replaced: its journal and its log are empty then too.
    func begin(_ namespace: NamespaceState) {
        let (name, generation) = (namespace.name, namespace.generation)
        state.withLockedValue { state in
            if let known = state.namespaces[name]?.generation {
                if known >= generation { return }
                if known == Self.beforeFirst, namespace.isOfEarlierProcess {
                    state.namespaces[name]?.generation = generation
                    return
                }
            }
            state.namespaces[name] = OfNamespace(generation: generation, counts: newCounts(within: state.server))
        }
    }

    /// Begins the counts of a namespace of an earlier process, whose counts are gone.
    package func continued(_ namespace: String) {
        state.withLockedValue { state in
            state.namespaces[namespace] = OfNamespace(
                generation: Self.beforeFirst, counts: newCounts(within: state.server, isSinceRestart: true))
        }
    }

    /// The generation of counts that began before the first state was opened.
    private static let beforeFirst = 0

    package func deleted(_ namespace: String) { state.withLockedValue { $0.namespaces[namespace] = nil } }

    /// - Parameter generation: that of the namespace's state; `nil` if only the server counts it.
    func count(_ edges: [Int], _ sighting: Sighting, _ generation: Int?) {
        state.withLockedValue { state in
            for edge in edges {
                let isNew = state.server.add(edge, sighting, table)
                if isNew { state.changes.new += 1 }
            }
            if !edges.isEmpty { state.changes.all += 1 }
            // The commit of the job that answers has begun the counts.
            guard let generation, let place = state.namespaces.index(forKey: sighting.namespace),
                state.namespaces.values[place].generation == generation
            else { return }
            for edge in edges { _ = state.namespaces.values[place].counts.add(edge, sighting, table) }
        }
    }

    // MARK: Coverage

    /// The coverage of the server since counting began, also of namespaces that are gone.
    package var ofServer: Coverage { state.withLockedValue { $0.server }.coverage(table, ofServer: true) }

    /// The coverage of the living namespaces whose name begins with a prefix.
    package func ofNamespaces(prefix: String) -> Coverage {
        let parts = state.withLockedValue { state in
            state.namespaces.filter { $0.key.begins(with: prefix) }.sorted { $0.key.precedes($1.key) }.map(
                \.value.counts)
        }
        // Only what was met is added: most edges of most namespaces were not.
        var sum = parts.first ?? EdgeCounts(since: realTime(), sources: [])
        for part in parts.dropFirst() { sum.add(part) }
        return sum.coverage(table, ofServer: false)
    }

    /// The coverage of one namespace since it was made, reset or restored, or since the server was started.
    package func ofNamespace(_ name: String) -> Coverage {
        let known = state.withLockedValue { $0.namespaces[name]?.counts }
        return (known ?? EdgeCounts(since: realTime(), sources: [])).coverage(table, ofServer: false)
    }

    /// Begins anew for the server.
    package func clearServer() {
        state.withLockedValue { state in
            state.server = EdgeCounts(since: realTime(), sources: [newID()])
            state.others = []
            state.changes.all += 1
            state.changes.new += 1
        }
    }

    /// Begins anew for the namespaces whose name begins with a prefix. The server's counts stay.
    package func clearNamespaces(prefix: String) {
        state.withLockedValue { state in
            for name in state.namespaces.keys where name.begins(with: prefix) {
                let counts = newCounts(within: state.server)
                state.namespaces[name]?.counts = counts
            }
        }
    }

    /// Begins anew for one namespace. The server's counts stay.
    package func clearNamespace(_ name: String) {
        state.withLockedValue { state in
            let counts = newCounts(within: state.server)
            state.namespaces[name]?.counts = counts
        }
    }

    // MARK: The file

    /// The server's counts with the edges of other versions, and the numbers of changes that they have.
    package var saved: (coverage: Coverage, changes: Changes) {
        let (server, others, changes) = state.withLockedValue { ($0.server, $0.others, $0.changes) }
        let axes = Dictionary(grouping: others, by: \.name.axis).map { axis, edges in
            Coverage.Axis(id: axis, title: axis, edges: edges.map(\.edge))
        }
        var coverage = server.coverage(table, ofServer: true)
        if !axes.isEmpty {
            coverage = .sum([coverage, Coverage(since: coverage.since, axes: axes.sorted { $0.id < $1.id })])
        }
        return (coverage, changes)
    }

    package var changes: Changes { state.withLockedValue { $0.changes } }

    /// Goes on from a file.
    ///
    /// - Returns: the edges that this version does not have. They are kept, at most ``maxOthers``.
    package func load(_ coverage: Coverage) -> [Coverage.Name] {
        let sources = coverage.sources.isEmpty ? [newID()] : coverage.sources
        var server = EdgeCounts(since: coverage.since, sources: sources)
        var others: [(name: Coverage.Name, edge: Coverage.Edge)] = []
        for (name, edge) in coverage.namedEdges {
            guard edge.reached > 0 || edge.injected > 0 else { continue }
            guard let number = table.number(name) else {
                others.append((name, edge))
                continue
            }
            var known = table.unmet(number)
            (known.reached, known.injected) = (edge.reached, edge.injected)
            (known.tests, known.first) = (edge.tests, edge.first)
            server.counts[number] = known
        }
        state.withLockedValue { [server] state in
            state.server = server
            state.others = Array(others.prefix(Self.maxOthers))
        }
        return others.map(\.name)
    }
}

extension TriggeredFault {
    /// Whether the fault decides what the client gets. An answer that is only late or slow is the platform's.
    fileprivate var decidesAnswer: Bool { effect?.held?.decidesAnswer ?? !proves.contains(.answer) }
}
