import ArgumentParser
import Server
import SimulationAPI
import UnixSignals

/// `entrupy-sim replay`.
struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Replay a recording, and show the first answer that differs.",
        discussion: """
            Needs no running server: it starts one in memory with the recording's settings. It sends nothing to webhook receivers; \
            their answers are in the recording. Exits 1 if an answer differs. A killed server leaves a recording that ends in the \
            middle; its complete part is replayed. Exits 2 if that part, or an interrupted replay, shows no difference.
            """)

    @Argument(help: "A file that \"entrupy-sim serve --record\" wrote.")
    var file: String

    @Flag(help: "Print JSON.")
    var json = false

    /// The number of requests from which the start of the replay is announced. Fewer take only a moment.
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
                try await ReplayServer.run(file, version: Release.version, log: { TextLogHandler(label: $0) }) {
                    requests in
                    if requests >= Self.many { terminal.note("replaying \(requests) requests\n") }
                }
            }
        } catch let refusal as ReplayRefusal {
            throw Refusal(
                .usage, refusal.description, next: "name a file that \"entrupy-sim serve --record FILE\" wrote")
        }
    }

    private func show(_ report: ReplayReport, _ terminal: Terminal) {
        let made = "\(report.requests) of \(report.recorded) requests were replayed"
        let compared = "\(report.compared) compared in full, \(Readable.count(report.outcomes, "webhook attempt"))"
        if let difference = report.difference {
            terminal.line("entry \(difference.number) of the recording differs: \(difference.what)")
            for line in difference.lines {
                terminal.line(["  ", .init(line, line.hasPrefix("-") ? .red : .green)])
            }
            terminal.line("\(report.incomplete.map { "\($0); " } ?? "")\(made), \(compared)")
        } else if let incomplete = report.incomplete {
            terminal.line("\(incomplete); \(made)")
            if report.requests > 0 { terminal.line("none of them differs: \(compared)") }
        } else {
            terminal.line("no difference: \(made), \(compared)")
        }
    }
}

/// Signals that tell a command to stop.
private enum StopSignals {
    /// Runs `body`, and cancels it at the first SIGTERM or SIGINT.
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
