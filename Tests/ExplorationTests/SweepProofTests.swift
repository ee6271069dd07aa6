import SimulationAPI
import Testing

@testable import Exploration

/// The results of kept bugs with two commands.
@Suite struct SweepProofTests {
    private static let cell = SweepCell(call: "POST /a #1", fault: "503", setup: SweepSetup())

    private func runs(_ verdicts: Verdict...) -> RepeatedRuns {
        RepeatedRuns(verdicts.map { SweepOutcome(Self.cell, $0, sentence: "says \($0.rawValue)") })
    }

    @Test func theWorstOfSeveralRunsCounts() {
        let flaky = runs(.recovered, .notMet, .silent)
        #expect(flaky.verdict == .silent && flaky.seen == "1 of 3" && flaky.sentence == "says silent")
        #expect(runs(.gaveUp, .notMet, .recovered).verdict == .notMet)
        let right = runs(.recovered, .gaveUp, .recovered)
        #expect(right.verdict == .recovered && right.seen == "2 of 3" && right.sentence == nil)
        #expect(runs(.silent, .notRun, .silent).seen == "2 of 2", "a run that was not made does not count")
        let none = RepeatedRuns([])
        #expect(none.verdict == .notRun && none.seen == "0 of 0" && none.sentence == nil)
    }

    @Test(arguments: [
        (Verdict.silent, Verdict.recovered, SweepProof.Result.mended), (.hung, .gaveUp, .mended),
        (.silent, .doubled, .stillThere), (.recovered, .silent, .stillThere), (.notRun, .silent, .stillThere),
        (.recovered, .recovered, .notSeen), (.gaveUp, .recovered, .notSeen), (.silent, .notMet, .incomplete),
        (.silent, .notRun, .incomplete), (.notMet, .recovered, .incomplete),
    ])
    func aMendNeedsTheBugBeforeAndARightEndAfter(before: Verdict, after: Verdict, result: SweepProof.Result) {
        let entry = SweepProof.Entry(Self.cell, before: runs(before), after: runs(after))
        #expect(entry.result == result)
        let proof = SweepProof(before: "a", after: "b", kept: [entry])
        #expect(proof.isProved == (result == .mended) && proof.hasBug == (result == .stillThere))
        #expect(!SweepProof(before: "a", after: "b", kept: []).isProved, "no bug, no proof")
    }
}
