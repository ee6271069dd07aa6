import ArgumentParser
import EntrupyAPI
import Server
import UnixSignals

/// `entrupy-sim replay`.
struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Make a recording again, and show the first answer that differs.",
        discussion: """
            Needs no server: it starts one of its own, in memory, from what the recording says. Nothing is sent to webhook receivers: \
            what they answered is in the recording. Exits 1 where an answer differs. Of a recording that ends in the middle, as a \
            killed server leaves it, as much is made again as is whole, and it exits 2 where nothing of that differs; so it does \
            where it is interrupted.
            """)

    @Argument(help: "A file that \"entrupy-sim serve --record\" wrote.")
    var file: String

    @Flag(help: "Print JSON.")
    var json = false

    /// From how many requests on it says that it has begun: those before take a moment.
    private static let many = 10_000

    func run() async throws {
        let terminal = Terminal(isJSON: json)
        let report = try await replay(terminal)
        if json {
            terminal.json(try WireJSON.encode(report))
        } else {
            show(report, terminal)
        }
        if report.difference != nil { throw ExitCode(Refusal.Code.no.rawValue) }
        if report.incomplete != nil { throw ExitCode(Refusal.Code.incomplete.rawValue) }
    }

    private func replay(_ terminal: Terminal) async throws -> ReplayReport {
        do {
            return try await StopSignals.cancelling { [file] in
                try await ReplayServer.run(file, version: Version.text) { requests in
                    if requests >= Self.many { terminal.note("making \(requests) requests again\n") }
                }
            }
        } catch let refusal as ReplayRefusal {
            throw Refusal(
                .usage, refusal.description, next: "name a file that \"entrupy-sim serve --record FILE\" wrote")
        }
    }

    private func show(_ report: ReplayReport, _ terminal: Terminal) {
        let made = "\(report.requests) of \(report.recorded) requests were made again"
        let compared = "\(report.compared) compared whole, \(Readable.count(report.outcomes, "webhook attempt"))"
        if let difference = report.difference {
            terminal.line("number \(difference.number) differs: \(difference.what)")
            for line in difference.lines {
                terminal.line("  " + terminal.styled(line, line.hasPrefix("-") ? .red : .green))
            }
            terminal.line("\(report.incomplete.map { "\($0); " } ?? "")\(made), \(compared)")
        } else if let incomplete = report.incomplete {
            terminal.line("\(incomplete); \(made)")
            if report.requests > 0 { terminal.line("none of these differs: \(compared)") }
        } else {
            terminal.line("no difference: \(made), \(compared)")
        }
    }
}

/// Signals that tell a command to stop.
private enum StopSignals {
    /// Does something, and cancels it at the first SIGTERM or SIGINT.
    static func cancelling<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        let work = Task { try await body() }
        let watch = Task { for await _ in signals { work.cancel() } }
        defer { watch.cancel() }
        return try await work.value
    }
}
