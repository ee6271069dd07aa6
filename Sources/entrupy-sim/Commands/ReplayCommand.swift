import ArgumentParser
import Server
import SimulationAPI
import UnixSignals

struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Replay a recording, and show the first answer that differs.",
        discussion: """
            Needs no running server: it starts one in memory with the recording's settings. It sends nothing to webhook receivers; \
            their answers are in the recording. Exits 1 if an answer differs. A killed server leaves a recording that ends in the \
            middle; its complete part is replayed. Exits 2 if that part, or an interrupted replay, shows no difference.

            --serve goes on as a server with the namespaces as they are at the end, for the console and all commands: clocks stand, \
            and nothing is sent until one is advanced. --bundle writes a namespace to a file for "entrupy-sim serve --bundle" and \
            "entrupy-sim report". Neither happens if an answer differs.
            """)

    @Argument(help: "A file that \"entrupy-sim serve --record\" wrote.") var file: String
    @Flag(help: "Go on as a server after the replay. The options of a server's address, log and access belong to it.")
    var serve = false
    @Option(help: "Write the bundle of a namespace to this file, or - for standard output, after the replay.")
    var bundle: String?
    @Option(
        help:
            "The last request that is replayed, for --bundle and --serve: its id, or \"sequence:N\" of its namespace. (default: the last one of the recording)"
    )
    var until: String?
    @Option(
        name: [.short, .long],
        help: "The namespace of --bundle and --until. (default: ENTRUPY_SIM_NAMESPACE, or \"default\")")
    var namespace: String?
    @Flag(help: "Print JSON.") var json = false
    @Flag(help: "Show no progress. It is shown only on a terminal.") var quiet = false
    @OptionGroup(title: "Options of --serve") var listening: ListeningOptions

    func validate() throws {
        try require(!serve || bundle == nil, "--serve and --bundle exclude each other")
        try require(!serve || !json, "--serve prints no report as JSON; --ready-json prints where it listens")
        if !serve, let option = listening.changed {
            throw ValidationError("\(option) is an option of --serve, which is missing")
        }
        try require(
            until == nil || serve || bundle != nil,
            "--until needs --bundle FILE or --serve, which show the namespaces as of that request")
        try require(
            namespace == nil || bundle != nil || until != nil, "--namespace needs --bundle FILE, or --until REQUEST")
        try require(bundle != "", "--bundle must be a file, or - for standard output")
        _ = try end()
    }

    private func end() throws -> ReplayEnd {
        let named = namespace ?? ControlOptions.environment("ENTRUPY_SIM_NAMESPACE") ?? "default"
        guard let until else { return ReplayEnd(namespace: named, until: nil) }
        try require(!until.isEmpty, "--until must be a request's id, or sequence:N")
        guard until.hasPrefix("sequence:") else { return ReplayEnd(namespace: named, until: .id(until)) }
        guard let number = Int64(until.dropFirst("sequence:".count)), number > 0 else {
            throw ValidationError("--until sequence:N must have a number from 1, got \(until)")
        }
        return ReplayEnd(namespace: named, until: .sequence(number))
    }

    func run() async throws {
        let terminal = Terminal(isJSON: json, isQuiet: quiet)
        if serve { return try await resume(terminal) }
        if let bundle { return try await write(bundle, terminal) }
        let report = try await replaying(terminal) { try await ReplayServer.run($0) }
        try finish(report, terminal)
    }

    /// The number of requests whose replay takes long enough to be announced.
    private static let many = 10_000

    /// Runs `body` with the plan of the replay, and shows its progress.
    private func replaying<Value: Sendable>(
        _ terminal: Terminal, _ body: @escaping @Sendable (ReplayPlan) async throws -> Value
    ) async throws -> Value {
        try await ProgressLine.showing(terminal, "replaying requests") { progress in
            let plan = ReplayPlan(path: file, version: Release.version, log: { TextLogHandler(label: $0) }) {
                done, total in
                // Where no progress is shown, one line says why nothing comes for a while.
                if done == 0, total >= Self.many, !terminal.showsProgress, !terminal.isJSON, !terminal.isQuiet {
                    terminal.note("replaying \(Readable.count(Int(total), "request"))")
                }
                progress.note(done, of: total)
            }
            // The first SIGTERM or SIGINT cancels it.
            let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
            let work = Task { try await body(plan) }
            let watch = Task { for await _ in signals { work.cancel() } }
            defer { watch.cancel() }
            return try await work.value
        }
    }

    /// Shows the report, and exits with its code.
    private func finish(_ report: ReplayReport, _ terminal: Terminal) throws {
        if json { try terminal.json(of: report) } else { Self.lines(report).forEach(terminal.line) }
        try Self.exit(report)
    }

    private static func exit(_ report: ReplayReport) throws {
        if report.difference != nil { throw ExitCode(Refusal.Code.no.rawValue) }
        if report.incomplete != nil { throw ExitCode(Refusal.Code.incomplete.rawValue) }
    }

    private static func lines(_ report: ReplayReport) -> [[Terminal.Piece]] {
        let recorded = Readable.count(Int(report.recorded), "request")
        let made = "\(report.requests) of \(recorded) \(report.recorded == 1 ? "was" : "were") replayed"
        let compared = "\(report.compared) compared in full, \(Readable.count(report.outcomes, "webhook attempt"))"
        if let difference = report.difference {
            return [[.init("entry \(difference.number) of the recording differs: \(difference.what)")]]
                + difference.lines.map { ["  ", .init($0, $0.hasPrefix("-") ? .red : .green)] }
                + [[.init("\(report.incomplete.map { "\($0); " } ?? "")\(made), \(compared)")]]
        }
        if let incomplete = report.incomplete {
            return [[.init("\(incomplete); \(made)")]]
                + (report.requests > 0 ? [[.init("none of them differs: \(compared)")]] : [])
        }
        return [[.init("no difference: \(made), \(compared)")]]
    }
}

// MARK: - After the replay

extension ReplayCommand {
    private func resume(_ terminal: Terminal) async throws {
        let logger = listening.prepare()
        let token = listening.effectiveControlToken
        listening.watchParent()
        let (end, listening) = (try end(), listening)
        do {
            let (report, server) = try await replaying(terminal) { plan in
                try await ReplayServer.continued(plan, end, logger: logger) {
                    try listening.apply(to: &$0, controlToken: token, dataDirectory: nil, logger: logger)
                }
            }
            guard let server else { return try finish(report, terminal) }
            Self.lines(report).forEach(terminal.note)
            try await server.run { location in
                Welcome(
                    location: location, authority: server.authorityPath,
                    place: "the end of \(file), clocks stand", tokens: server.tokens, controlToken: token
                ).show(asJSON: listening.readyJson)
            }
            try Self.exit(report)
        } catch let error where !(error is ReplayRefusal || error is ExitCode || error is Refusal) {
            throw await Stop.because(error)
        }
    }

    private func write(_ path: String, _ terminal: Terminal) async throws {
        guard path == "-" || !InputFile.isSame(path, file) else {
            throw Refusal(
                .usage, "the bundle would replace the recording \(file)", next: "name another file with --bundle")
        }
        let end = try end()
        let output = try path == "-" ? nil : OutputFile(path, option: "--bundle")
        defer { output?.discard() }
        let (report, isWritten) = try await replaying(terminal) { plan in
            try await ReplayServer.bundle(plan, end) { part in
                if let output { try output.write(part) } else { terminal.document(part) }
            }
        }
        let count = try isWritten ? output?.finish() : nil
        if json, output != nil {
            try terminal.json(of: Written(file: count == nil ? nil : path, bytes: count, replay: report))
        } else {
            // Standard output may be the bundle.
            Self.lines(report).forEach(output == nil ? terminal.note : terminal.line)
            if let count { terminal.line("\(path): \(SizeText.text(count))") }
        }
        if !isWritten, output != nil { terminal.note("\(path) was not written") }
        try Self.exit(report)
    }

    private struct Written: Encodable {
        @Nullable var file: String?
        @Nullable var bytes: Int?
        let replay: ReplayReport
    }
}

extension Refusal {
    /// The command's view of a replay that was refused.
    init(_ refusal: ReplayRefusal) {
        let code: Code =
            switch refusal.kind {
            case .wrongFile: .usage
            case .notFound: .no
            case .afterGap: .incomplete
            }
        let next = refusal.next ?? "name a file that \"entrupy-sim serve --record FILE\" wrote"
        self.init(code, refusal.description, next: next)
    }
}
