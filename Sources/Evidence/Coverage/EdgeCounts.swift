import Simulation
import SimulationAPI

extension Coverage.Edge {
    /// Counts one more.
    ///
    /// - Returns: whether more than a number changed: the edge is newly met, or by another test.
    mutating func add(_ sighting: Sighting) -> Bool {
        var isNew = (sighting.isInjected ? injected : reached) == 0
        // A file may have given the largest number.
        if sighting.isInjected { injected = Self.sum(injected, 1) } else { reached = Self.sum(reached, 1) }
        guard !sighting.isInjected || fault_only else { return isNew }
        if first == nil { (first, isNew) = (sighting.first, true) }
        guard let test = sighting.test, tests.count < Coverage.maxTests else { return isNew }
        let name = Coverage.boundedTest(test)
        guard !tests.contains(where: { $0.isIdentical(to: name) }) else { return isNew }
        // A name with a secret is stored masked.
        let masked = Secrets(sighting.secrets).masked(text: name)
        guard !tests.contains(where: { $0.isIdentical(to: masked) }) else { return isNew }
        tests.append(masked)
        return true
    }

    /// Counts one less: its answer did not arrive. Where nothing is left, no test has met it.
    mutating func remove(_ sighting: Sighting) {
        if sighting.isInjected { injected = max(0, injected - 1) } else { reached = max(0, reached - 1) }
        guard !isMet else { return }
        tests = []
        first = nil
    }
}

/// One time that an edge was met.
struct Sighting: Sendable {
    let isInjected: Bool
    /// The value of `X-Sim-Test`; `nil` if there is none.
    let test: String?
    let namespace: String
    let request: Request
    /// The secrets of the namespace, which are masked in the name of a test.
    let secrets: KnownSecrets

    /// The request in the words of the control API. Few requests are the first of an edge, so the text is made for these alone.
    enum Request: Sendable {
        case id(String)
        case sequence(Int64)
    }

    var first: Coverage.First {
        switch request {
        case .id(let id): Coverage.First(namespace: namespace, request: id)
        case .sequence(let sequence): Coverage.First(namespace: namespace, request: "sequence:\(sequence)")
        }
    }
}

/// The counts of all edges of a server or a namespace. Few edges of a namespace are met, so only these have a count.
struct EdgeCounts: Sendable {
    /// The real time at which counting began, in epoch seconds.
    var since: Double
    /// See ``Coverage/since_restart``.
    var isSinceRestart = false
    /// See ``Coverage/sources``.
    var sources: [String]
    var counts: [Int: Coverage.Edge] = [:]

    /// - Returns: whether more than a number changed.
    mutating func add(_ edge: Int, _ sighting: Sighting, _ table: EdgeTable) -> Bool {
        counts[edge, default: table.unmet(edge)].add(sighting)
    }

    /// Adds the counts of another namespace, whose counting may have begun earlier.
    mutating func add(_ other: EdgeCounts) {
        since = min(since, other.since)
        isSinceRestart = isSinceRestart || other.isSinceRestart
        sources += other.sources
        counts.merge(other.counts) { known, edge in
            var sum = known
            sum.add(edge, Coverage.Edge.sum)
            return sum
        }
    }

    /// The counts as coverage.
    ///
    /// - Parameter ofServer: whether it has the edges that no namespace meets too.
    func coverage(_ table: EdgeTable, ofServer: Bool) -> Coverage {
        let commands = table.commands.value
        let left = ofServer ? [] : table.ofServer.value
        return Coverage(
            since: since, since_restart: isSinceRestart, sources: sources,
            axes: table.axes.map { axis in
                Coverage.Axis(
                    id: axis.id, title: axis.title,
                    edges: axis.edges.filter { !left.contains($0) }.map { number in
                        var shown = counts[number] ?? table.unmet(number)
                        if !shown.isMet { shown.meet_with = commands[number] }
                        return shown
                    })
            })
    }
}
