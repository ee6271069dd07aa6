import Simulation
import SimulationAPI

/// What is known of one edge.
struct EdgeCount: Sendable {
    var reached = 0
    var injected = 0
    /// The tests that met it, at most ``Coverage/maxTests``, in their order.
    var tests: [String] = []
    /// The first that counted; `nil` if nothing did.
    var first: Coverage.First?

    /// Counts one more.
    ///
    /// - Parameter counts: whether it is the first of an edge that counts.
    /// - Returns: whether more than a number changed: the edge is newly met, or by another test.
    mutating func add(_ sighting: Sighting, counts: Bool) -> Bool {
        var isNew = (sighting.isInjected ? injected : reached) == 0
        // A file may have given the largest number.
        if sighting.isInjected {
            injected = Coverage.Edge.sum(injected, 1)
        } else {
            reached = Coverage.Edge.sum(reached, 1)
        }
        guard counts else { return isNew }
        if first == nil { (first, isNew) = (sighting.first, true) }
        guard let test = sighting.test, tests.count < Coverage.maxTests else { return isNew }
        let name = Coverage.boundedTest(test)
        guard !tests.contains(where: { $0.isIdentical(to: name) }) else { return isNew }
        // A name with a secret is stored masked.
        let count = tests.count
        append(Secrets(sighting.secrets).masked(text: name))
        return isNew || tests.count > count
    }

    /// Adds the counts of another namespace.
    mutating func add(_ other: EdgeCount) {
        reached = Coverage.Edge.sum(reached, other.reached)
        injected = Coverage.Edge.sum(injected, other.injected)
        if first == nil { first = other.first }
        for test in other.tests { append(test) }
    }

    private mutating func append(_ test: String) {
        guard tests.count < Coverage.maxTests, !tests.contains(where: { $0.isIdentical(to: test) }) else { return }
        tests.append(test)
    }

    /// Counts one less: its answer did not arrive. Where nothing is left, no test has met it.
    mutating func remove(_ sighting: Sighting, isFaultOnly: Bool) {
        if sighting.isInjected { injected = max(0, injected - 1) } else { reached = max(0, reached - 1) }
        guard reached == 0, !(isFaultOnly && injected > 0) else { return }
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
    var counts: [Int: EdgeCount] = [:]

    /// - Returns: whether more than a number changed.
    mutating func add(_ edge: Int, _ sighting: Sighting, isFaultOnly: Bool) -> Bool {
        counts[edge, default: EdgeCount()].add(sighting, counts: !sighting.isInjected || isFaultOnly)
    }

    /// Adds the counts of another namespace, whose counting may have begun earlier.
    mutating func add(_ other: EdgeCounts) {
        since = min(since, other.since)
        isSinceRestart = isSinceRestart || other.isSinceRestart
        sources += other.sources
        for (edge, count) in other.counts { counts[edge, default: EdgeCount()].add(count) }
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
                        let (edge, count) = (table.edges[number], counts[number] ?? EdgeCount())
                        var shown = Coverage.Edge(
                            id: edge.id, reached: count.reached, injected: count.injected, fault_only: edge.isFaultOnly,
                            tests: count.tests, first: count.first)
                        if !shown.isMet { shown.meet_with = commands[number] }
                        return shown
                    })
            })
    }
}
