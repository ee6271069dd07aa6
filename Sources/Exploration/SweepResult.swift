import Foundation
import SimulationAPI

/// A run that is to be made: a fault at a call or webhook, or for the whole run.
package struct SweepCell: Sendable {
    package let call: String
    package let fault: String
    package let setup: SweepSetup
    /// The fault by its kind; `nil` if a kept scenario has another one.
    package let kind: SweepFault?

    package init(_ target: SweepTarget, _ fault: SweepFault) {
        self.init(call: target.name, fault: fault.rawValue, setup: target.setup(fault))
    }

    /// A name without its number.
    static func plainName(_ name: String) -> String {
        name.lastIndex(of: "#").map { String(name[..<$0].dropLast()) } ?? name
    }

    package init(call: String, fault: String, setup: SweepSetup) {
        self.call = call
        self.fault = fault
        self.setup = setup
        kind = SweepFault(rawValue: fault)
    }

    /// The call and the fault, for the client's own log.
    var title: String { "\(call) \(fault)" }
}

/// A cell of the table, as `--json` has it.
package struct SweepOutcome: Encodable, Sendable {
    package let call: String
    package let fault: String
    package let verdict: Verdict
    /// The exit code of the client; `nil` if it was not run to its end.
    @Nullable package var exit: Int32?
    package let seconds: Double
    /// The objects that differ from the run without a fault.
    package let difference: [ObjectDifference]
    package let detail: Detail

    /// The parts that only people read.
    package struct Detail: Sendable {
        package let cell: SweepCell
        package var sentence = ""
        /// The rules of the audit that only this run breaks.
        var misuse: [String] = []
        /// The call that the client made again because of the fault, if that was looked for.
        var repeated: SweepTarget?
        /// The requests around the fault, a line each.
        package var requests: [String] = []
    }

    private enum CodingKeys: String, CodingKey {
        case call, fault, verdict, exit, seconds, difference
    }

    init(
        _ cell: SweepCell, _ verdict: Verdict, exit: Int32? = nil, seconds: Double = 0,
        difference: [ObjectDifference] = [], sentence: String = "", requests: [String] = [],
        misuse: [String] = [], repeated: SweepTarget? = nil
    ) {
        call = cell.call
        fault = cell.fault
        self.verdict = verdict
        _exit = Nullable(wrappedValue: exit)
        self.seconds = (seconds * 1000).rounded() / 1000
        self.difference = difference
        detail = Detail(cell: cell, sentence: sentence, misuse: misuse, repeated: repeated, requests: requests)
    }

    fileprivate var isUnordered: Bool { verdict == .notMet && detail.cell.kind == .reordered }

    /// Whether another cell has the same verdict, for the same difference and rules.
    func hasSameEnd(as other: SweepOutcome) -> Bool {
        func text(_ difference: [ObjectDifference]) -> Data? {
            // Objects that came as JSON can be written as JSON.
            try? WireJSON.encode(difference)
        }
        return verdict == other.verdict && detail.misuse == other.detail.misuse
            && text(difference) == text(other.difference)
    }

    /// A cell that was not run, or not to its end.
    ///
    /// - Parameter reason: why; empty if the sweep ended before.
    package static func notRun(_ cell: SweepCell, _ reason: String = "") -> SweepOutcome {
        SweepOutcome(cell, .notRun, sentence: reason)
    }
}

/// A bug that was found.
package struct SweepBug: Encodable, Sendable {
    package let verdict: Verdict
    /// The bug in words, with the other faults at the call that have the same end.
    package private(set) var sentence: String
    package let call: String
    package let fault: String
    /// How many of its runs had the verdict, for instance `3 of 3`.
    package let seen: String
    /// The path of the kept scenario; `nil` if it was not written.
    @Nullable package var scenario: String?
    /// The run that found it.
    package let outcome: SweepOutcome

    private enum CodingKeys: String, CodingKey {
        case verdict, sentence, call, fault, seen, scenario
    }

    package init(_ outcome: SweepOutcome, seen: Int, of runs: Int) {
        self.outcome = outcome
        verdict = outcome.verdict
        sentence = outcome.detail.sentence
        call = outcome.call
        fault = outcome.fault
        self.seen = "\(seen) of \(runs)"
    }

    /// The name of the call without its number.
    var plainCall: String { SweepCell.plainName(call) }

    private static let maxNamed = 5

    /// Adds the other cells of the cause to the sentence: faults at the same call, and the numbers of others with its plain name.
    mutating func add(_ others: [SweepBug]) {
        let faults = others.filter { $0.call == call }.map(\.fault)
        if !faults.isEmpty { sentence += "; the same with \(faults.joined(separator: ", "))" }
        var places: [String] = []
        for other in others where other.call != call && !places.contains(other.number) { places.append(other.number) }
        guard !places.isEmpty else { return }
        let rest = places.count - Self.maxNamed
        sentence += "; the same at \(places.prefix(Self.maxNamed).joined(separator: ", "))"
        if rest > 0 { sentence += " and \(rest) more" }
    }

    /// The number of the call, as `#2`.
    private var number: String { String(call.dropFirst(plainCall.count + 1)) }
}

/// The result of a sweep, as `--json` prints it.
package struct SweepResult: Encodable, Sendable {
    package var calls: [String]
    package var cells: [SweepOutcome]
    package var bugs: [SweepBug]
    package var left_out: [String]

    package init(calls: [String], cells: [SweepOutcome], bugs: [SweepBug], left_out: [String]) {
        self.calls = calls
        self.cells = cells
        self.bugs = bugs
        self.left_out = left_out
    }

    /// Whether every cell was run and its fault triggered.
    package var isComplete: Bool { !cells.isEmpty && cells.allSatisfy { $0.verdict.isPass || $0.verdict.isBug } }

    /// Leaves out webhooks that did not change places with the next one: where the command waits for one before it causes the next, they
    /// cannot.
    package mutating func leaveOutUnordered() {
        left_out += cells.filter(\.isUnordered).map { "\($0.call) reordered: \($0.detail.sentence)" }
        cells.removeAll(where: \.isUnordered)
    }
}
