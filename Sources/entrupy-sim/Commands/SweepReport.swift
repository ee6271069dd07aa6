import Exploration
import Foundation
import SimulationAPI

/// A sweep for people: the table of calls and faults, and the bugs.
struct SweepReport {
    let result: SweepResult

    /// The most calls and members that are named as left out.
    private static let maxLeftOut = 20

    private typealias Table = (headings: [String], rows: [[String]])

    /// The marks that the tables have, and their meanings.
    var shownLegend: [(mark: String, meaning: String)] {
        let shown = Set(result.cells.map(\.verdict))
        return Verdict.allCases.filter { shown.contains($0) }.map(\.legend)
    }

    /// The tables of marks, one for each place of faults.
    private var tables: [Table] {
        let places = Dictionary(grouping: result.cells) { $0.detail.cell.kind?.place ?? .call }
        return SweepFault.Place.allCases.compactMap { place in places[place].map { Self.table($0, of: place) } }
    }

    private static func table(_ cells: [SweepOutcome], of place: SweepFault.Place) -> Table {
        var faults: [String] = []
        var calls: [String] = []
        var marks: [String: String] = [:]
        for cell in cells {
            if !faults.contains(cell.fault) { faults.append(cell.fault) }
            if calls.last != cell.call, !calls.contains(cell.call) { calls.append(cell.call) }
            marks["\(cell.fault) \(cell.call)"] = cell.verdict.legend.mark
        }
        return (
            [place.rawValue.uppercased()] + faults,
            calls.map { call in [call] + faults.map { marks["\($0) \(call)"] ?? " " } }
        )
    }

    /// Counts of the verdicts, as `20 recovered, 1 doubled`.
    var counts: String {
        "\(Readable.count(result.cells.count, "cell")): \(Readable.counts(result.cells.map(\.verdict)))"
    }

    func show(on terminal: Terminal) {
        for (number, table) in tables.enumerated() {
            if number > 0 { terminal.line("") }
            terminal.table(table.headings, table.rows, empty: "")
        }
        terminal.line("")
        for (mark, meaning) in shownLegend { terminal.line("\(mark) \(meaning)", .dim) }
        for (number, bug) in result.bugs.enumerated() {
            terminal.line("")
            terminal.line([
                .init("\(number + 1). \(bug.verdict.rawValue)", .red), .init(": \(bug.sentence) (\(bug.seen))"),
            ])
            for line in bug.outcome.detail.requests { terminal.line("   \(line)") }
            if let scenario = bug.scenario { terminal.line("   kept: \(scenario)") }
        }
        for cell in result.cells where [.notRun, .notMet].contains(cell.verdict) && !cell.detail.sentence.isEmpty {
            terminal.note("note: \(cell.call) \(cell.fault) was \(cell.verdict.rawValue): \(cell.detail.sentence)")
        }
        for text in result.left_out.prefix(Self.maxLeftOut) { terminal.note("left out: \(text)") }
        let rest = result.left_out.count - Self.maxLeftOut
        if rest > 0 { terminal.note("left out: \(rest) more, which --json lists") }
        terminal.line("")
        terminal.line(counts)
    }

    /// The result as Markdown, for the summary of a job.
    func markdown(_ command: String) -> String {
        func row(_ cells: [String]) -> String { "| \(cells.map { Markdown.escaped($0) }.joined(separator: " | ")) |" }
        var lines = ["## entrupy-sim sweep", "", Markdown.escaped(command), ""]
        for table in tables {
            lines +=
                [row(table.headings), "|" + table.headings.map { _ in " --- |" }.joined()] + table.rows.map(row) + [""]
        }
        lines += [shownLegend.map { "`\($0.mark)` \($0.meaning)" }.joined(separator: ", "), ""]
        lines += result.bugs.map { "- **\($0.verdict.rawValue)**: \(Markdown.escaped($0.sentence)) (\($0.seen))" }
        return lines.joined(separator: "\n") + "\n\n\(Markdown.escaped(counts))\n"
    }
}
