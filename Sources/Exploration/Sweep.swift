import SimulationAPI

/// Why a sweep cannot begin.
package enum SweepProblem: Error, Sendable {
    /// The command failed without a fault.
    case fails(ClientEnding)
    case noRequest
    /// No call is in every run without a fault.
    case nothingRepeats([String])
}

/// Runs a client once for each call and fault, and compares the end of each run with that of a run without a fault.
package struct Sweep: Sendable {
    private let control: any SweepControl
    private let client: any SweptClient
    /// The shortest time after which a client counts as hung, in seconds.
    private let patience: Double
    /// The number of processors, which bounds how many runs work at the same time.
    private let processors: Int
    /// Whether repeated calls are looked for, which reads the journal of each run.
    private let pairs: Bool
    /// Whether right runs have their requests too, which reads the journal of each run.
    private let tellsAll: Bool

    private static let saved = "sweep-end"
    private static let runsWithoutFault = 3
    /// The runs of a bug, with the one that found it.
    private static let runsOfBug = 3

    package init(
        _ control: any SweepControl, _ client: any SweptClient, processors: Int = 1, patience: Double = 10,
        pairs: Bool = false, tellsAll: Bool = false
    ) {
        self.pairs = pairs
        self.tellsAll = tellsAll
        self.processors = processors
        self.control = control
        self.client = client
        self.patience = patience
    }

    // MARK: Without a fault

    /// The runs without a fault.
    package struct Baseline: Sendable {
        package let calls: [SweepTarget]
        package let webhooks: [SweepTarget]
        package let leftOut: LeftOut
        /// The time of the longest run, in seconds.
        package let seconds: Double
        /// The time of such a run with making and comparing its namespace, in seconds.
        let pace: Double
        let processors: Int
        let names: CallNames
        /// The rules of the audit that a run without a fault breaks.
        let broken: Set<String>
        /// The namespace whose saved state others are compared with.
        let namespace: String

        /// The parts of a run at which faults are tried.
        package var targets: [SweepTarget] { calls + webhooks + [SweepTarget.wholeRun] }

        /// The cells of parts and faults, in their order.
        package func cells(_ faults: [SweepFault], of chosen: [SweepTarget]) -> [SweepCell] {
            chosen.flatMap { target in faults.filter(target.takes).map { SweepCell(target, $0) } }
        }

        /// The copies of the namespaces that the command makes itself, by their names in the first run.
        let own: [String: String]
        /// All namespaces of the runs without a fault.
        let namespaces: Set<String>
        /// The number of calls of a run without a fault that have a plain name, at most.
        let counts: [String: Int]

        /// The cells of two faults: at a call, and at its repetition by the client. Those whose first fault alone shows a bug are left out.
        package func pairs(_ faults: [SweepFault], after outcomes: [SweepOutcome]) -> [SweepCell] {
            cells(faults, of: outcomes.filter(\.verdict.isPass).compactMap(\.detail.repeated))
        }

        /// The number of runs at the same time. The server does not say which of them made a namespace.
        package func atOnce(_ jobs: Int) -> Int { leftOut.hasOwnNamespaces ? 1 : max(1, jobs) }

        /// The expected time of cells without bugs, in seconds.
        package func expected(_ cells: [SweepCell], jobs: Int) -> Double {
            let atOnce = max(1, min(atOnce(jobs), cells.count))
            let work = pace * Double(cells.count) / Double(min(atOnce, processors))
            return work + cells.reduce(0) { $0 + $1.setup.cost } / Double(atOnce)
        }
    }

    private struct PlainRun: Sendable {
        let namespace: String
        let ending: ClientEnding
        let journal: [JournaledRequest]
        let deliveries: [WebhookDelivery]
        let broken: Set<String>
        /// The copies of the namespaces that the command made itself, by their names.
        let own: [String: String]

        var namespaces: [String] { [namespace] + own.values }
    }

    /// Runs the client three times without a fault. The first run decides whether there are others.
    ///
    /// - Throws: ``SweepProblem``.
    package func baseline() async throws -> Baseline {
        let names = CallNames(try await control.routes())
        var runs: [PlainRun] = []
        let start = ContinuousClock.now
        for number in 1...Self.runsWithoutFault {
            let run = try await plainRun("sweep-\(number)", besides: Set(runs.flatMap(\.namespaces)))
            guard run.ending.code == 0, !run.ending.isLate else { throw SweepProblem.fails(run.ending) }
            guard !run.journal.isEmpty else { throw SweepProblem.noRequest }
            runs.append(run)
        }
        let pace = (ContinuousClock.now - start) / .seconds(Self.runsWithoutFault)
        var leftOut = LeftOut()
        for other in runs.dropFirst() {
            leftOut.add(
                try await control.difference(from: Self.saved, of: runs[0].namespace, to: other.namespace))
        }
        let own = try await commonNamespaces(runs, &leftOut)
        let calls = Self.commonCalls(runs.map { names.calls(of: $0.journal) }, &leftOut)
        guard !calls.isEmpty else { throw SweepProblem.nothingRepeats(leftOut.sentences) }
        let webhooks = Self.common(runs.map { SweepTarget.webhooks(of: $0.deliveries) })
        leftOut.webhooks = webhooks.others
        return Baseline(
            calls: calls, webhooks: webhooks.found, leftOut: leftOut, seconds: runs.map(\.ending.seconds).max() ?? 0,
            pace: pace,
            processors: max(1, processors), names: names,
            broken: runs.reduce(into: []) { $0.formUnion($1.broken) }, namespace: runs[0].namespace,
            own: own, namespaces: Set(runs.flatMap(\.namespaces)),
            counts: runs.reduce(into: [:]) { counts, run in
                let own = Dictionary(grouping: names.calls(of: run.journal).found, by: \.plainName)
                counts.merge(own.mapValues(\.count), uniquingKeysWith: max)
            })
    }

    private func plainRun(_ namespace: String, besides others: Set<String>) async throws -> PlainRun {
        try await control.make(namespace)
        let ending = try await client.run(in: namespace, fault: nil, limit: nil)
        try await control.settle(namespace)
        try await control.save(namespace, as: Self.saved)
        let made = try await own.found(besides: others.union([namespace]))
        return PlainRun(
            namespace: namespace, ending: ending, journal: try await control.journal(of: namespace),
            deliveries: try await control.deliveries(of: namespace),
            broken: Set(Self.errors(try await control.audit(of: namespace)).map(\.rule)),
            own: try await own.moved(made, of: namespace, savedAs: Self.saved))
    }

    private var own: OwnNamespaces { OwnNamespaces(control: control) }

    /// The copies of the first run's own namespaces that all runs make, by name. Others go to `leftOut`.
    private func commonNamespaces(_ runs: [PlainRun], _ leftOut: inout LeftOut) async throws -> [String: String] {
        var common = runs[0].own
        for run in runs.dropFirst() {
            let (pairs, missing, more) = OwnNamespaces.paired(common.keys.sorted(), run.own.keys.sorted())
            for name in missing { common[name] = nil }
            leftOut.namespaces += missing + more
            for (name, other) in pairs {
                guard let copy = common[name], let place = run.own[other] else { continue }
                leftOut.add(try await control.difference(from: Self.saved, of: copy, to: place))
            }
        }
        leftOut.hasOwnNamespaces = runs.contains { !$0.own.isEmpty }
        let moved = Set(runs.flatMap(\.own.keys))
        leftOut.deletesNamespaces = try await control.deletedNamespaces().contains { !moved.contains($0) }
        return common
    }

    /// The calls that all runs make. Others, and requests without a described route, go to `leftOut`.
    static func commonCalls(
        _ runs: [(found: [SweepTarget], others: [String])], _ leftOut: inout LeftOut
    ) -> [SweepTarget] {
        let calls = common(runs)
        leftOut.calls = calls.others
        return calls.found
    }

    /// The targets of the first run that all have, and the names of the others.
    private static func common(
        _ runs: [(found: [SweepTarget], others: [String])]
    ) -> (found: [SweepTarget], others: [String]) {
        let names = runs.map { Set($0.found.map(\.name)) }
        let common = names.dropFirst().reduce(names.first ?? []) { $0.intersection($1) }
        let others = names.reduce(Set<String>()) { $0.union($1) }.subtracting(common)
        return (
            runs.first?.found.filter { common.contains($0.name) } ?? [],
            others.union(runs.flatMap(\.others)).sorted()
        )
    }

    private static func errors(_ report: AuditReport) -> [AuditReport.Finding] {
        report.findings.filter { $0.level == .error }
    }

    // MARK: With faults

    /// Runs the cells, some side by side.
    ///
    /// - Parameter done: is called after each cell.
    /// - Returns: the outcomes in the order of the cells; those of cells that a cancellation left out are ``Verdict/notRun``.
    package func run(
        _ cells: [SweepCell], _ baseline: Baseline, jobs: Int, prefix: String = "cell",
        done: @escaping @Sendable () -> Void = {}
    ) async -> [SweepOutcome] {
        var outcomes = cells.map { SweepOutcome.notRun($0) }
        await withTaskGroup(of: (Int, SweepOutcome).self) { group in
            var next = 0
            func begin() {
                guard next < cells.count, !Task.isCancelled else { return }
                let (number, cell) = (next, cells[next])
                next += 1
                group.addTask { (number, await outcome(of: cell, "\(prefix)-\(number + 1)", baseline)) }
            }
            for _ in 0..<baseline.atOnce(jobs) { begin() }
            for await (number, outcome) in group {
                outcomes[number] = outcome
                done()
                begin()
            }
        }
        return outcomes
    }

    private func outcome(of cell: SweepCell, _ namespace: String, _ baseline: Baseline) async -> SweepOutcome {
        let outcome: SweepOutcome
        do {
            outcome = try await judge(cell, namespace, baseline)
        } catch is CancellationError {
            return .notRun(cell)
        } catch {
            outcome = .notRun(cell, Task.isCancelled ? "" : "\(error)")
        }
        // A namespace that stays costs memory alone, and the server ends with the sweep.
        try? await control.drop(namespace)
        // The next run makes its own namespaces anew; one that stays is a difference of that run.
        if baseline.leftOut.hasOwnNamespaces { try? await own.drop(besides: baseline.namespaces) }
        return outcome
    }

    private func judge(_ cell: SweepCell, _ namespace: String, _ baseline: Baseline) async throws -> SweepOutcome {
        try await control.make(namespace)
        var rules: Set<String> = []
        for rule in cell.setup.faults { rules.insert(try await control.add(rule, to: namespace)) }
        if let settings = cell.setup.settings { try await control.change(settings, of: namespace) }
        let limit = max(patience, 3 * baseline.seconds) + cell.setup.cost
        let ending = try await client.run(in: namespace, fault: cell.title, limit: limit)
        try Task.checkCancellation()
        try await control.settle(namespace)
        var difference = try await control.difference(from: Self.saved, of: baseline.namespace, to: namespace)
        if baseline.leftOut.hasOwnNamespaces { difference.add(try await ownDifference(baseline, besides: namespace)) }
        let state = EndState(difference, without: baseline.leftOut, of: cell)
        let misuse = Self.errors(try await control.audit(of: namespace)).filter { !baseline.broken.contains($0.rule) }
        let deliveries = cell.setup.event == nil ? [] : try await control.deliveries(of: namespace)
        let problem = try await problem(cell, rules, deliveries, in: namespace)
        let verdict = Verdict(ending, isMet: problem == nil, state, misuse: misuse.map(\.rule))
        let isTold = verdict.isBug || tellsAll
        let journal = isTold || pairs ? try await control.journal(of: namespace) : []
        return SweepOutcome(
            cell, verdict, exit: ending.code, seconds: ending.seconds, difference: state.objects,
            sentence: problem
                ?? BugSentence.text(
                    verdict, cell.kind, at: cell.call, state, limit: limit,
                    misuse: misuse.map { "\($0.rule): \($0.text)" }),
            requests: isTold ? RequestLines.around(rules, journal, deliveries, baseline.names) : [],
            misuse: misuse.map(\.rule),
            repeated: pairs
                ? SweepTarget(after: cell, rules, journal, baseline.names) { baseline.counts[$0] ?? 0 } : nil)
    }

    /// The difference of the namespaces that the command made in a run.
    private func ownDifference(_ baseline: Baseline, besides namespace: String) async throws -> StateDifference {
        let made = try await own.found(besides: baseline.namespaces.union([namespace]))
        var difference = try await own.difference(baseline.own, savedAs: Self.saved, to: made)
        // Where not every run makes the same ones, none is known to be missing or new.
        if !baseline.leftOut.namespaces.isEmpty { difference.objects.removeAll(where: OwnNamespaces.isWhole) }
        return difference
    }

    /// Why nothing was tried; `nil` if the fault happened. A second or reordered webhook must also have reached a receiver.
    private func problem(
        _ cell: SweepCell, _ rules: Set<String>, _ deliveries: [WebhookDelivery], in namespace: String
    ) async throws -> String? {
        for rule in rules where try await control.hits(of: rule, in: namespace) == 0 {
            return "the command no longer makes it, or removed the fault rule"
        }
        if cell.setup.settings != nil, !cell.setup.holds(in: try await control.settings(of: namespace)) {
            return "the command changed the setting back"
        }
        let needed = cell.kind == .twice ? 2 : cell.kind == .reordered ? 1 : 0
        guard deliveries.count(where: { $0.isTriggered(by: rules) && $0.isAnswered }) < needed else {
            return nil
        }
        return cell.kind == .reordered
            ? "no receiver took it after the next one; the command waits for it before it causes the next, or not until both have come"
            : "no receiver took it: let the command wait until webhooks have come, for instance with POST /_sim/settle"
    }

    /// Runs each bug twice more.
    ///
    /// - Returns: the bugs in the order of the outcomes, each with the requests around it; those with one cause are one. A run that a
    ///   cancellation left out does not count.
    package func confirmed(
        _ outcomes: [SweepOutcome], _ baseline: Baseline, jobs: Int, done: @escaping @Sendable () -> Void = {}
    ) async -> [SweepBug] {
        let found = outcomes.filter(\.verdict.isBug)
        let cells = found.flatMap { Array(repeating: $0.detail.cell, count: Self.runsOfBug - 1) }
        let again = await run(cells, baseline, jobs: jobs, prefix: "again", done: done)
        let bugs = found.enumerated().map { index, outcome in
            let more = again[index * (Self.runsOfBug - 1)..<(index + 1) * (Self.runsOfBug - 1)]
            let made = more.filter { $0.verdict != .notRun }
            let seen = made.count { $0.verdict == outcome.verdict }
            return SweepBug(outcome, seen: seen + 1, of: made.count + 1)
        }
        return Self.joined(bugs)
    }

    /// Joins faults at one call that have the same verdict, difference and counts, so that one cause is one entry.
    static func joined(_ bugs: [SweepBug]) -> [SweepBug] {
        var groups: [[SweepBug]] = []
        for bug in bugs {
            let place = groups.firstIndex { group in
                group[0].plainCall == bug.plainCall && group[0].seen == bug.seen
                    && group[0].outcome.hasSameEnd(as: bug.outcome)
            }
            if let place { groups[place].append(bug) } else { groups.append([bug]) }
        }
        return groups.map { group in
            var first = group[0]
            first.add(Array(group.dropFirst()))
            return first
        }
    }
}
