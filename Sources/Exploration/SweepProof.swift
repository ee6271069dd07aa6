import SimulationAPI

/// Kept bugs with two commands, before and after a mend. `--json` prints it.
package struct SweepProof: Encodable, Sendable {
    /// Both commands, as they were given.
    package let before, after: String
    package let kept: [Entry]

    package struct Entry: Encodable, Sendable {
        package let call, fault: String
        package let result: Result
        package let before, after: RepeatedRuns

        package init(_ cell: SweepCell, before: RepeatedRuns, after: RepeatedRuns) {
            (call, fault) = (cell.call, cell.fault)
            result = Result(before.verdict, after.verdict)
            (self.before, self.after) = (before, after)
        }
    }

    package enum Result: String, Encodable, CaseIterable, Sendable {
        case mended
        case stillThere = "still there"
        /// Without a bug before, an end without one proves nothing.
        case notSeen = "not seen before"
        case incomplete

        init(_ before: Verdict, _ after: Verdict) {
            self =
                if after.isBug {
                    .stillThere
                } else if !after.isPass || !before.isBug && !before.isPass {
                    .incomplete
                } else {
                    before.isBug ? .mended : .notSeen
                }
        }
    }

    package init(before: String, after: String, kept: [Entry]) {
        (self.before, self.after, self.kept) = (before, after, kept)
    }

    package var isProved: Bool { !kept.isEmpty && kept.allSatisfy { $0.result == .mended } }
    package var hasBug: Bool { kept.contains { $0.result == .stillThere } }
}

/// The runs of one cell with one command.
package struct RepeatedRuns: Encodable, Sendable {
    /// The verdict of a run with a bug, else of one that is no pass, else of the first.
    package let verdict: Verdict
    /// How many of the runs that were made had the verdict, for instance `3 of 3`.
    package let seen: String
    /// The bug, or why a run was not made; `nil` for neither.
    @Nullable package var sentence: String?

    package init(_ runs: some Collection<SweepOutcome>) {
        let worst = runs.first { $0.verdict.isBug } ?? runs.first { !$0.verdict.isPass } ?? runs.first
        let verdict = worst?.verdict ?? .notRun
        let made = runs.filter { $0.verdict != .notRun }
        self.verdict = verdict
        seen = "\(made.count { $0.verdict == verdict }) of \(made.count)"
        let reason = worst.map(\.detail.sentence) ?? ""
        _sentence = Nullable(wrappedValue: verdict.isPass || reason.isEmpty ? nil : reason)
    }
}

extension Sweep {
    /// The runs of each cell: a bug that does not come each time must not look mended.
    package static let runsOfProof = 3

    /// Runs each cell three times.
    package func repeated(
        _ cells: [SweepCell], _ baseline: Baseline, jobs: Int, done: @escaping @Sendable () -> Void = {}
    ) async -> [RepeatedRuns] {
        let count = Self.runsOfProof
        let runs = await run(
            cells.flatMap { Array(repeating: $0, count: count) }, baseline, jobs: jobs, prefix: "proof", done: done)
        return cells.indices.map { RepeatedRuns(runs[$0 * count..<($0 + 1) * count]) }
    }
}
