import ArgumentParser
import Console
import Foundation
import SimulationAPI

/// `entrupy-sim coverage`.
struct CoverageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "coverage", abstract: "Show which documented answers, errors, states and limits were met.",
        discussion: """
            entrupy-sim coverage
            entrupy-sim coverage --save coverage.json
            entrupy-sim coverage --baseline coverage.json --html coverage.html
            entrupy-sim coverage merge shard-1.json shard-2.json -o coverage.json
            """,
        subcommands: [ShowCoverage.command, MergeCoverage.self], defaultSubcommand: ShowCoverage.command)
}

/// The coverage of a server, compared and written.
struct ShowCoverage: ControlAction {
    static let name = "show"
    static let abstract =
        "Show which documented answers, errors, states and limits were met, and compare with a baseline."
    static let discussion = """
        Without --namespace it is the server's, over all namespaces since counting began; with it, that of the namespace. Exits 1 if \
        an edge that the baseline has met is not met.
        """
    @Option(help: "Only the living namespaces whose names begin with this. (default: the whole server)")
    var prefix: String?
    @OptionGroup var files: CoverageFiles
    @Flag(help: "List every edge, not only what is missing.") var all = false

    func run(_ client: ControlClient, _ terminal: Terminal) async throws {
        // Read first: a wrong file is no reason to ask.
        let baseline = try files.readBaseline()
        let answer = try await client.send(try call(client.options))
        let coverage: Coverage = try answer.decoded()
        let difference = baseline.map { coverage.difference(from: $0) }
        try files.write(coverage, baseline, difference)
        if terminal.isJSON {
            terminal.json(answer.bytes)
        } else {
            CoverageText(coverage, difference).show(listsAll: all, on: terminal)
        }
        guard difference?.lost.isEmpty != false else { throw ExitCode(Refusal.Code.no.rawValue) }
    }

    private func call(_ options: ControlOptions) throws -> ControlCall {
        guard prefix == nil || options.named == "default" else {
            throw Refusal(
                .usage, "--prefix is for the whole server, and the namespace \"\(options.named)\" is chosen too",
                next: "leave out one of the two")
        }
        return ControlCall(.GET, "/_sim/coverage", [("prefix", prefix)])
    }
}

/// The files that coverage is compared with and written to.
struct CoverageFiles: ParsableArguments {
    @Option(help: "A file to save the coverage to.") var save: String?
    @Option(help: "A saved file that the coverage is compared with. An edge that it has met must be met.")
    var baseline: String?
    @Option(help: "A file to write the map to: a page that a browser opens without a server.") var html: String?
    @Option(help: "A file to write the result to as JUnit XML, for CI servers.") var junit: String?
    @Option(help: "A file to add the result to as Markdown, such as that in GITHUB_STEP_SUMMARY. (default: none)")
    var summary: String?

    /// The baseline; `nil` if none is given.
    ///
    /// - Throws: ``Refusal`` if it cannot be read.
    func readBaseline() throws -> Coverage? { try baseline.map { try Self.read($0) } }

    /// Reads a file of coverage.
    ///
    /// - Throws: ``Refusal``.
    static func read(_ path: String) throws -> Coverage {
        let bytes = try InputFile.bytes(path) { error in
            Refusal(
                .usage, "\(path) cannot be read: \(error.localizedDescription)",
                next: "name a file that \"entrupy-sim coverage --save\" wrote")
        }
        do {
            return try Coverage(file: bytes)
        } catch let problem as Coverage.FileProblem {
            throw Refusal(
                .usage, "\(path) is not a file of coverage: \(problem)",
                next: "name a file that \"entrupy-sim coverage --save\" wrote")
        }
    }

    /// Writes what was asked for.
    func write(_ coverage: Coverage, _ baseline: Coverage?, _ difference: Coverage.Difference?) throws {
        if let save { try Self.save(coverage, to: save, option: "--save") }
        if let html {
            let page = try CoveragePage.file(coverage, difference, version: Release.version)
            try OutputFile.write(Data(page.utf8), to: html, option: "--html")
        }
        if let junit {
            let report = CoverageJUnit(coverage, baseline, difference)
            try OutputFile.write(Data(report.xml.utf8), to: junit, option: "--junit")
        }
        if let summary {
            try OutputFile.append(
                Data(Self.markdown(coverage, difference).utf8), to: summary, option: "--summary")
        }
    }

    /// The axes as a table of Markdown, and the edges of the baseline that are lost.
    private static func markdown(_ coverage: Coverage, _ difference: Coverage.Difference?) -> String {
        var lines = ["## Coverage", "", "| axis | met | of |", "|---|---|---|"]
        lines += coverage.axes.map { "| \(Markdown.escaped($0.title)) | \($0.reached) | \($0.of) |" }
        lines.append("")
        for name in difference?.lost ?? [] {
            lines.append("- :x: no longer met: \(Markdown.escaped(name.description))")
        }
        if difference?.lost.isEmpty == true { lines.append("Every edge of the baseline is met.") }
        return lines.joined(separator: "\n") + "\n\n"
    }

    static func save(_ coverage: Coverage, to path: String, option: String) throws {
        try OutputFile.write(try WireJSON.encode(coverage) + Data("\n".utf8), to: path, option: option)
    }
}

/// `entrupy-sim coverage merge`.
struct MergeCoverage: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge", abstract: "Add up the coverage of several servers, such as the shards of CI.",
        discussion: "Needs no server. Edges that only some files have are kept.")

    @Argument(help: "The files, as \"coverage --save\" wrote them.") var files: [String]
    @Option(name: [.short, .long], help: "The file to write.") var output: String
    @Flag(help: "Print the result as JSON.") var json = false

    func run() throws {
        let terminal = Terminal(isJSON: json)
        do {
            let merged = Coverage.merged(try files.map { try CoverageFiles.read($0) })
            try CoverageFiles.save(merged, to: output, option: "--output")
            if json { return try terminal.json(of: merged) }
            CoverageText(merged, nil).show(listsAll: false, on: terminal, listsMissing: false)
        } catch let refusal as Refusal {
            terminal.show(refusal)
            throw ExitCode(refusal.code.rawValue)
        }
    }
}

/// Coverage as text for people.
struct CoverageText {
    private let coverage: Coverage
    private let difference: Coverage.Difference?

    /// The maximum number of missing edges of an axis that are listed, unless all are.
    private static let maxMissing = 10

    init(_ coverage: Coverage, _ difference: Coverage.Difference?) {
        self.coverage = coverage
        self.difference = difference
    }

    func show(listsAll: Bool, on terminal: Terminal, listsMissing: Bool = true) {
        terminal.table(
            ["AXIS", "MET", "OF", "INJECTED ONLY", ""],
            coverage.axes.map { axis in
                [axis.id, "\(axis.reached)", "\(axis.of)", "\(Self.injectedOnly(axis))", axis.title]
            }, empty: "no axes")
        if listsAll {
            for axis in coverage.axes { list(axis, axis.edges, on: terminal) }
        } else if listsMissing {
            for axis in coverage.axes {
                let missing = axis.edges.filter { !$0.isMet }
                list(axis, Array(missing.prefix(Self.maxMissing)), on: terminal)
                if missing.count > Self.maxMissing {
                    terminal.line("  … \(missing.count - Self.maxMissing) more; --all lists them", .dim)
                }
            }
        }
        showDifference(on: terminal)
    }

    private static func injectedOnly(_ axis: Coverage.Axis) -> Int {
        axis.edges.count { !$0.isMet && $0.injected > 0 }
    }

    private func list(_ axis: Coverage.Axis, _ edges: [Coverage.Edge], on terminal: Terminal) {
        guard !edges.isEmpty else { return }
        terminal.line("")
        terminal.line(axis.title, .bold)
        for edge in edges {
            let mark = edge.isMet ? Terminal.Piece("met    ", .green) : Terminal.Piece("missing", .yellow)
            let count =
                edge.isMet
                ? " \(edge.fault_only ? edge.reached + edge.injected : edge.reached)x" + Self.by(edge.tests)
                : edge.injected > 0 ? " (\(edge.injected) injected, which proves nothing)" : ""
            terminal.line([Terminal.Piece("  "), mark, Terminal.Piece(" \(edge.id)"), Terminal.Piece(count, .dim)])
            if let line = edge.meet_with, !line.isEmpty { terminal.line("          \(line)", .dim) }
        }
    }

    private static func by(_ tests: [String]) -> String {
        guard let first = tests.first else { return "" }
        return " by \(first)" + (tests.count > 1 ? " and \(tests.count - 1) more" : "")
    }

    /// Says what differs from the baseline, to standard error.
    func showDifference(on terminal: Terminal) {
        guard let difference else { return }
        for name in difference.lost { terminal.note("lost: \(name)") }
        for name in difference.unknown { terminal.note("unknown here, of another version: \(name)") }
        let lost = Readable.count(difference.lost.count, "edge")
        terminal.note("\(lost) of the baseline lost, \(difference.gained.count) new")
    }
}
