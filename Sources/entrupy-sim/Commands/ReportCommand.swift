import ArgumentParser
import Console
import Foundation
import SimulationAPI

struct ReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report", abstract: "Write a bundle as one page that a browser opens from a file.",
        discussion: """
            Opens the bundle in this process, without changing it, and writes items, requests, timelines, deliveries and settings,
            with secrets masked. The page needs no server.
            """)

    @Argument(help: "The bundle, as \"entrupy-sim bundle\" or a test writes it, or an exported snapshot.")
    var bundle: String
    @Option(
        name: [.short, .long],
        help: "The page to write, or - for standard output. (default: the bundle's name with .html)")
    var output: String?

    func run() async throws {
        let terminal = Terminal(isJSON: false)
        let report = try await ProgressLine.showing(terminal, "making the report") { _ in
            try await Self.report(ofBundle: bundle)
        }
        let data = Data(report.html.utf8)
        let file = output ?? URL(fileURLWithPath: bundle).deletingPathExtension().lastPathComponent + ".html"
        guard file != "-" else { return terminal.document(data) }
        try OutputFile.write(data, to: file, option: "--output")
        terminal.line("\(file): \(SizeText.text(data.count))")
        for note in report.notes { terminal.note("note: \(note)") }
    }

    /// Opens a bundle in this process, without changing it, and makes its page.
    ///
    /// - Parameter run: the command that failed; `nil` if it is not known.
    static func report(ofBundle bundle: String, run: ReportedRun? = nil) async throws -> Report {
        let name = URL(fileURLWithPath: bundle).lastPathComponent
        return try await OpenedBundle.with(bundle) { opened in
            let (client, console) = (opened.client, Console(version: Release.version, proof: ""))
            return try await Report(console, title: name, gate: try await gate(client), run: run) { path in
                do {
                    let answer = try await client.send(ControlCall(.GET, ControlPath(stringLiteral: path)))
                    return (answer.status, answer.bytes)
                } catch {
                    return (500, (error as? Refusal)?.answer ?? Data())
                }
            } picture: { path in
                // The report shows that the picture is missing.
                try? await client.send(ControlCall(.GET, ControlPath(stringLiteral: path))).bytes
            }
        }
    }

    /// Verifies the bundle's scenario; `nil` if it has none.
    private static func gate(_ client: ControlClient) async throws -> ReportGate? {
        guard let name = try await client.startedScenario() else { return nil }
        do {
            return .verified(try await client.verify(name, isStrict: false).run)
        } catch let refusal as Refusal {
            return .unverifiable(name: name, reason: refusal.message)
        }
    }
}
