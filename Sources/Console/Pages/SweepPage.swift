import SimulationAPI

/// The result of a sweep, as one file that opens without a server.
package enum SweepPage {
    /// The most runs that are shown with their details.
    package static let maxRuns = 300
    private static let maxObjects = 50
    private static let maxText = 2000

    /// A run with a fault.
    package struct Run: Sendable {
        package enum Style: String, Sendable { case good, warn, bad }

        /// The heading of the table that has the run.
        package var place = "Call"
        package var call, fault, mark, verdict: String
        package var style: Style
        /// The bug, or why the run was not made; empty for neither.
        package var sentence = ""
        /// How many runs had the verdict, and the path of the kept scenario; `nil` if it is no bug, or not known.
        package var seen, scenario: String?
        /// The exit code; `nil` if the command was not run to its end.
        package var exit: Int32?
        package var seconds: Double
        /// The requests around the fault, a line each.
        package var requests: [String] = []
        package var difference: [ObjectDifference] = []

        package init(call: String, fault: String, mark: String, verdict: String, style: Style, seconds: Double) {
            (self.call, self.fault, self.mark, self.verdict) = (call, fault, mark, verdict)
            (self.style, self.seconds) = (style, seconds)
        }
    }

    private struct View: Encodable {
        let version, style, policy, command, counts: String
        let legend: [NamedText]
        let tables: [Table]
        let details: Rows<Detail>?
        /// The number of runs whose details are left out; `nil` for none.
        let more: Int?
        let leftOut: Rows<String>?
    }

    private struct Table: Encodable {
        let place: String
        let faults: [String]
        let rows: [Row]
    }

    private struct Row: Encodable {
        let call: String
        let cells: [Cell]
    }

    private struct Cell: Encodable {
        /// `nil` if the fault was not tried at the call.
        var mark: String?
        var title = ""
        var style = ""
        /// The anchor of the details; `nil` if there are none.
        var anchor: String?
    }

    private struct Detail: Encodable, Sendable {
        let anchor, call, fault, verdict, style, ending: String
        let isOpen: Bool
        let sentence, seen, scenario, requests: String?
        let objects: Rows<DifferencePage.Object>?
        let isCut: Bool

        init(_ run: Run, _ anchor: String) {
            self.anchor = anchor
            (call, fault, verdict, style) = (text(run.call), text(run.fault), run.verdict, run.style.rawValue)
            let exit = run.exit.map { "exit code \($0)" } ?? "not run to its end"
            ending = "\(exit), after \(run.seconds) s"
            isOpen = run.style == .bad
            (sentence, requests) = (text(run.sentence).nonEmpty, text(run.requests.joined(separator: "\n")).nonEmpty)
            (seen, scenario) = (run.seen, run.scenario.map(text))
            objects = Rows(
                run.difference.prefix(maxObjects).enumerated().map { DifferencePage.Object($1, "\(anchor)-\($0)") })
            isCut = run.difference.count > maxObjects
        }
    }

    /// - Parameters:
    ///   - command: the command line, quoted for a shell.
    ///   - legend: the marks and their meaning.
    ///   - counts: the numbers of the verdicts.
    ///   - leftOut: the calls and members that say nothing, a sentence each.
    /// - Returns: the page. ``maxRuns`` runs have details, first those that are not right.
    package static func file(
        command: String, legend: [(mark: String, meaning: String)], counts: String, _ runs: [Run], leftOut: [String],
        version: String
    ) throws -> String {
        let style = String(decoding: ConsoleAsset.style.bytes, as: UTF8.self)
        let right = runs.indices.filter { runs[$0].style == .good }
        let told = runs.indices.filter { runs[$0].style != .good } + right
        let anchors = Dictionary(uniqueKeysWithValues: told.prefix(maxRuns).map { ($0, "run-\($0 + 1)") })
        var places: [String] = []
        for run in runs where !places.contains(run.place) { places.append(run.place) }
        let view = View(
            version: version, style: style,
            policy:
                "default-src 'none'; style-src \(ContentPolicy.source(of: style)); base-uri 'none'; form-action 'none'",
            command: text(command), counts: counts, legend: legend.map { NamedText(name: $0.mark, value: $0.meaning) },
            tables: places.map { place in table(place, runs.enumerated().filter { $1.place == place }, anchors) },
            details: Rows(told.compactMap { index in anchors[index].map { Detail(runs[index], $0) } }),
            more: told.count > maxRuns ? told.count - maxRuns : nil, leftOut: Rows(leftOut.map(text)))
        return try PageTemplates.render(view, "sweep-file")
    }

    /// The calls by faults, both in the order of the runs.
    private static func table(
        _ place: String, _ runs: [(offset: Int, element: Run)], _ anchors: [Int: String]
    ) -> Table {
        var faults: [String] = []
        var calls: [String] = []
        var cells: [String: [String: Cell]] = [:]
        for (index, run) in runs {
            if !faults.contains(run.fault) { faults.append(run.fault) }
            if cells[run.call] == nil { calls.append(run.call) }
            let title = "\(run.verdict), \(run.seconds) s"
            let cell = Cell(mark: run.mark, title: title, style: run.style.rawValue, anchor: anchors[index])
            // Of kept scenarios with one name, the first that is not right.
            let other = cells[run.call]?[run.fault]
            if other == nil || other?.style == Run.Style.good.rawValue {
                cells[run.call, default: [:]][run.fault] = cell
            }
        }
        return Table(
            place: place, faults: faults.map(text),
            rows: calls.map { call in Row(call: text(call), cells: faults.map { cells[call]?[$0] ?? Cell() }) })
    }

    /// A text of the client that is bounded, and whose invisible characters show.
    private static func text(_ text: String) -> String {
        let isLong = text.utf8.count > maxText
        return (isLong ? "\(String(text.unicodeScalars.prefix(maxText)))…" : text).showingInvisible
    }
}
