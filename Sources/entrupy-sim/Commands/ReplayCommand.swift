import ArgumentParser
import EntrupyAPI
import Foundation
import Logging
import Server

/// `entrupy-sim replay`.
struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Make a recording again, and show the first answer that differs.",
        discussion: """
            Needs no server: it starts one of its own, in memory, from what the recording says. Nothing is sent to webhook receivers: \
            what they answered is in the recording. Exits 1 where an answer differs.
            """)

    @Argument(help: "A file that \"entrupy-sim serve --record\" wrote.")
    var file: String

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let terminal = Terminal(isJSON: json)
        do {
            var logger = Logger(label: "replay") { StreamLogHandler.standardError(label: $0) }
            logger.logLevel = .error
            let report = try await ReplayServer.run(file, version: Version.text, logger: logger)
            if json {
                terminal.json(try WireJSON.encode(report))
            } else {
                show(report, terminal)
            }
            guard report.difference == nil else { throw ExitCode(Refusal.Code.no.rawValue) }
        } catch let code as ExitCode {
            throw code
        } catch {
            let refusal = Refusal(
                .usage, "\(error)", next: "name a file that \"entrupy-sim serve --record FILE\" wrote")
            terminal.show(refusal)
            throw ExitCode(refusal.code.rawValue)
        }
    }

    private func show(_ report: ReplayReport, _ terminal: Terminal) {
        let done =
            "\(Readable.count(report.requests, "request")), \(report.compared) compared whole, "
            + "\(Readable.count(report.outcomes, "webhook attempt"))"
        guard let difference = report.difference else { return terminal.line("no difference: \(done)") }
        terminal.line("number \(difference.number) differs: \(difference.what)")
        for line in difference.lines {
            terminal.line("  " + terminal.styled(line, line.hasPrefix("-") ? .red : .green))
        }
        terminal.line("after \(done)")
    }
}
