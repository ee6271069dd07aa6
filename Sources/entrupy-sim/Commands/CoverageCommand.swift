import ArgumentParser
import Console
import Foundation
import SimulationAPI

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
    @Option(help: "A file to save the coverage to.") var save: String?
    @Option(help: "A saved file that the coverage is compared with. An edge that it has met must be met.")
    var baseline: String?
    @Option(help: "A file to write the map to: a page that a browser opens without a server.") var html: String?
    @Option(help: "A file to write the result to as JUnit XML, for CI servers.") var junit: String?
    @Option(help: "A file to add the result to as Markdown, such as that in GITHUB_STEP_SUMMARY. (default: none)")
    var summary: String?
    @Flag(help: "List every edge, not only what is missing.") var all = false

    func run(_ client: ControlClient, _ terminal: Terminal) async throws {
        // Read first: a wrong file is no reason to ask.
        let baseline = try baseline.map { try Coverage.read($0) }
        guard prefix == nil || client.options.named == "default" else {
            throw Refusal(
                .usage, "--prefix is for the whole server, and the namespace \"\(client.options.named)\" is chosen too",
                next: "leave out one of the two")
        }
        let answer = try await client.send(ControlCall(.GET, "/_sim/coverage", [("prefix", prefix)]))
        let coverage: Coverage = try answer.decoded()
        let difference = baseline.map { coverage.difference(from: $0) }
        try write(coverage, baseline, difference)
        if terminal.isJSON {
            terminal.json(answer.bytes)
        } else {
            coverage.showAxes(on: terminal)
            if coverage.since_restart {
                let since = Readable.time(coverage.since)
                terminal.line(
                    "since \(since), when the server was started again: what a namespace met before is not counted")
            }
            coverage.showEdges(all: all, on: terminal)
            difference?.show(on: terminal)
        }
        guard difference?.lost.isEmpty != false else { throw ExitCode(Refusal.Code.no.rawValue) }
    }

    private func write(_ coverage: Coverage, _ baseline: Coverage?, _ difference: Coverage.Difference?) throws {
        if let save { try coverage.save(to: save, option: "--save") }
        if let html {
            let page = try CoveragePage.file(coverage, difference, version: Release.version)
            try OutputFile.write(Data(page.utf8), to: html, option: "--html")
        }
        if let junit {
            let report = JUnitReport(coverage, baseline, difference)
            try OutputFile.write(Data(report.xml.utf8), to: junit, option: "--junit")
        }
        if let summary {
            try OutputFile.append(Data(Self.markdown(coverage, difference).utf8), to: summary, option: "--summary")
        }
    }

    /// The axes as a table of Markdown, and the edges of the baseline that are lost.
    private static func markdown(_ coverage: Coverage, _ difference: Coverage.Difference?) -> String {
        var lines = ["## Coverage", "", "| axis | met | of |", "|---|---|---|"]
        lines += coverage.axes.map { "| \(Markdown.escaped($0.title)) | \($0.reached) | \($0.of) |" }
        lines += [""] + (difference?.lost ?? []).map { "- :x: no longer met: \(Markdown.escaped($0.description))" }
        if difference?.lost.isEmpty == true { lines.append("Every edge of the baseline is met.") }
        return lines.joined(separator: "\n") + "\n\n"
    }
}

struct MergeCoverage: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge", abstract: "Add up the coverage of several servers, such as the shards of CI.",
        discussion: "Needs no server. Edges that only some files have are kept.")

    @Argument(help: "The files, as \"coverage --save\" wrote them.") var files: [String]
    @Option(name: [.short, .long], help: "The file to write.") var output: String
    @Flag(help: "Print the result as JSON.") var json = false

    func run() throws {
        let terminal = Terminal(isJSON: json)
        let sum = try merged()
        try sum.coverage.save(to: output, option: "--output")
        if sum.repeated > 0 {
            let files = Readable.count(sum.repeated, "file")
            terminal.note("note: \(files) with counts that another one has; they are counted once")
        }
        if json { return try terminal.json(of: sum.coverage) }
        sum.coverage.showAxes(on: terminal)
    }

    private func merged() throws -> Coverage.Merge {
        do {
            return try Coverage.merged(try files.map { try Coverage.read($0) })
        } catch let problem as Coverage.FileProblem {
            throw Refusal(
                .usage, "the files cannot be added up: \(problem)",
                next: "name each file of the servers once, and no sum")
        }
    }
}

extension Coverage {
    /// Reads a file of coverage.
    ///
    /// - Throws: ``Refusal``.
    static func read(_ path: String) throws -> Coverage {
        let next = "name a file that \"entrupy-sim coverage --save\" wrote"
        do {
            return try Coverage(file: InputFile.bytes(path, next: next))
        } catch let problem as FileProblem {
            throw Refusal(.usage, "\(path) is not a file of coverage: \(problem)", next: next)
        }
    }

    func save(to path: String, option: String) throws {
        try OutputFile.write(try WireJSON.encode(self) + Data("\n".utf8), to: path, option: option)
    }

    // MARK: Text for people

    /// The maximum number of missing edges of an axis that are listed, unless all are.
    private static let maxMissing = 10

    fileprivate func showAxes(on terminal: Terminal) {
        terminal.table(
            ["AXIS", "MET", "OF", "INJECTED ONLY", ""],
            axes.map { axis in
                let injectedOnly = axis.edges.count { !$0.isMet && $0.injected > 0 }
                return [axis.id, "\(axis.reached)", "\(axis.of)", "\(injectedOnly)", axis.title]
            }, empty: "no axes")
    }

    /// Prints the missing edges of each axis, or all.
    fileprivate func showEdges(all: Bool, on terminal: Terminal) {
        for axis in axes {
            let edges = axis.edges.filter { all || !$0.isMet }
            guard !edges.isEmpty else { continue }
            terminal.line("")
            terminal.line(axis.title, .bold)
            for edge in all ? edges[...] : edges.prefix(Self.maxMissing) { edge.show(on: terminal) }
            if !all, edges.count > Self.maxMissing {
                terminal.line("  … \(edges.count - Self.maxMissing) more; --all lists them", .dim)
            }
        }
    }
}

extension Coverage.Edge {
    fileprivate func show(on terminal: Terminal) {
        let mark = isMet ? Terminal.Piece("met    ", .green) : Terminal.Piece("missing", .yellow)
        let more = tests.count > 1 ? " and \(tests.count - 1) more" : ""
        let count =
            isMet
            ? " \(self.count)x" + (tests.first.map { " by \($0)\(more)" } ?? "")
            : injected > 0 ? " (\(injected) injected, which proves nothing)" : ""
        terminal.line([Terminal.Piece("  "), mark, Terminal.Piece(" \(id)"), Terminal.Piece(count, .dim)])
        if let line = meet_with, !line.isEmpty { terminal.line("          \(line)", .dim) }
    }
}

extension Coverage.Difference {
    /// Says what differs from the baseline, to standard error.
    func show(on terminal: Terminal) {
        for name in lost { terminal.note("lost: \(name)") }
        for name in unknown { terminal.note("not listed here, of another version or of the whole server: \(name)") }
        terminal.note("\(Readable.count(lost.count, "edge")) of the baseline lost, \(gained.count) new")
    }
}
