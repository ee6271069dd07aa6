import Exploration
import Foundation
import NIOConcurrencyHelpers
import SimulationAPI

/// One sweep of a command with a server of its own.
struct SweepSession {
    let options: SweepCommand
    let scenario: ScenarioCommand.Start?
    /// The cells of kept scenarios; `nil` for a whole sweep.
    let kept: [SweepCell]?
    let terminal: Terminal

    /// The exit code of a command that fails without a fault.
    private static let failsWithoutFault: Int32 = 3
    /// The end of the output of a failed command that is shown, in bytes.
    private static let shownBytes = 4000

    /// Why a sweep ended early.
    enum End: Sendable {
        case interrupted, outOfTime

        var text: String {
            switch self {
            case .interrupted: "interrupted: this is what was found until then"
            case .outOfTime: "the time of --for is over: this is what was found until then"
            }
        }
    }

    /// - Returns: the exit code.
    func run() async throws -> Int32 {
        let resetting = [SIGPIPE].filter { SignalWatch.ignore($0) }
        let signals = SignalWatch.start([SIGINT, SIGTERM, SIGHUP])
        let server = try await OwnServer.start(recording: nil)
        let end = NIOLockedValueBox<End?>(nil)
        let work = Task { try await sweep(with: server, resetting, end) }
        let watch = Task {
            for await number in signals {
                // A second signal ends the program, and with it the server.
                let isFirst = end.withLockedValue { end in
                    defer { end = .interrupted }
                    return end != .interrupted
                }
                guard isFirst else { exit(128 + number) }
                work.cancel()
            }
        }
        let clock = options.time.map { limit in
            Task {
                try await Task.sleep(for: limit.duration)
                end.withLockedValue { $0 = $0 ?? .outOfTime }
                work.cancel()
            }
        }
        let result = await work.result
        clock?.cancel()
        await server.stop()
        watch.cancel()
        do {
            return try result.get()
        } catch let problem as SweepProblem {
            return tell(problem)
        } catch  where end.withLockedValue({ $0 != nil }) {
            terminal.show(
                Refusal(
                    .incomplete, "the sweep ended before the runs without a fault were over", next: "no fault was tried"
                ))
            return Refusal.Code.incomplete.rawValue
        } catch let failure as ChildProcess.StartFailure {
            let reason = String(cString: strerror(failure.number))
            terminal.show(
                Refusal(
                    .usage, "the command \"\(options.command.first ?? "sh")\" cannot be started: \(reason)",
                    next: "check its spelling, its path and PATH"))
            return Self.failsWithoutFault
        }
    }

    /// Runs a command without a fault.
    func begin(
        _ words: [ChildProcess.RawText], with server: OwnServer, _ resetting: [Int32]
    ) async throws -> (Sweep, Sweep.Baseline) {
        let client = ControlClient(options: try ControlOptions.parse(["--url", server.url, "--namespace", "default"]))
        let output = try OutputOfRuns()
        let command = SweptCommand(
            words: words, server: server, token: try await client.firstAPIToken(), resetting: resetting,
            output: output)
        let sweep = Sweep(
            SweepClient(client: client, scenario: scenario), command,
            processors: ProcessInfo.processInfo.activeProcessorCount, pairs: options.pairs,
            tellsAll: options.html != nil)
        do {
            return (sweep, try await sweep.baseline())
        } catch let problem as SweepProblem {
            if case .noRequest = problem { throw try await elsewhere(client) ?? problem }
            if case .fails = problem, !terminal.isJSON {
                for line in output.end(Self.shownBytes) { terminal.note("  \(line)") }
            }
            throw problem
        }
    }

    private func sweep(with server: OwnServer, _ resetting: [Int32], _ end: NIOLockedValueBox<End?>) async throws
        -> Int32
    {
        if let before = options.before, let after = options.after {
            return try await prove(before: before, after: after, with: server, resetting, end)
        }
        let words = ChildProcess.ownArguments(last: options.command.count)
        let (sweep, baseline) = try await begin(words, with: server, resetting)
        let cells = try kept ?? chosenCells(of: baseline)
        var outcomes = await run(cells, of: sweep, baseline)
        if options.pairs { outcomes += try await runPairs(after: outcomes, of: sweep, baseline) }
        let bugs = await showing(2 * outcomes.count(where: \.verdict.isBug), "running bugs twice more") {
            await sweep.confirmed(outcomes, baseline, jobs: options.jobs, done: $0)
        }
        var result = SweepResult(
            calls: baseline.targets.dropLast().map(\.name), cells: outcomes, bugs: bugs,
            left_out: baseline.leftOut.sentences)
        if kept == nil { result.leaveOutUnordered() }
        // What was found is shown also if it cannot be written.
        let isKept =
            kept != nil || telling { try result.keep(in: KeptFolder(path: options.out), base: options.scenario) }
        let report = SweepReport(result: result)
        if terminal.isJSON { try terminal.json(of: result) } else { report.show(on: terminal) }
        let isWritten = write(report)
        if let end = end.withLockedValue({ $0 }) {
            terminal.note("error: \(end.text)")
            return Refusal.Code.incomplete.rawValue
        }
        if !bugs.isEmpty { return Refusal.Code.no.rawValue }
        return result.isComplete && isKept && isWritten ? 0 : Refusal.Code.incomplete.rawValue
    }

    /// Does something that can be refused, and says if it was.
    func telling(_ body: () throws -> Void) -> Bool {
        do {
            try body()
            return true
        } catch {
            terminal.note("error: \(error)")
            return false
        }
    }

    /// The error of a client whose requests went to other namespaces; `nil` if there were none.
    private func elsewhere(_ client: ControlClient) async throws -> Refusal? {
        let audit: ServerAudit = try await client.get("/_sim/audits", takesLong: true)
        let asked = audit.namespaces.filter { $0.requests > 0 }
        guard !asked.isEmpty else { return nil }
        if asked.contains(where: { $0.name == "default" }) {
            return Refusal(
                .incomplete, "no request came to the namespace of the run, but the namespace default got some",
                next: "does the client leave out /ns/NAME, with which ENTRUPY_SIM_URL ends?")
        }
        return Refusal(
            .incomplete,
            "no request came to the namespace of the run, but to \(Readable.count(asked.count, "namespace")) that the command made",
            next: "faults happen in the namespace of the run alone: let the client ask ENTRUPY_SIM_URL")
    }

    func showing<Value: Sendable>(
        _ count: Int, _ doing: String, _ body: (@escaping @Sendable () -> Void) async -> Value
    ) async -> Value {
        await ProgressLine.showing(terminal, doing, of: count) { progress in await body { progress.add(1) } }
    }

    /// The cells of `--only` and `--faults`.
    private func chosenCells(of baseline: Sweep.Baseline) throws -> [SweepCell] {
        let targets = baseline.targets
        for name in options.only where !targets.contains(where: { $0.isCalled(name) }) {
            let near =
                NearestName.nearest(to: name, among: targets.map(\.name)).map { "did you mean \($0)? There" } ?? "there"
            throw Refusal(
                .usage, "--only: the runs without a fault have no call or webhook \"\(name)\" in common",
                next: "\(near) are \(targets.map(\.name).joined(separator: ", "))")
        }
        let chosen = targets.filter { options.only.isEmpty || options.only.contains(where: $0.isCalled) }
        let cells = try baseline.cells(options.chosenFaults(), of: chosen)
        guard !cells.isEmpty else {
            throw Refusal(
                .incomplete, "nothing was tried: none of these faults can happen at these calls and webhooks",
                next: "there are \(targets.map(\.name).joined(separator: ", "))")
        }
        return cells
    }

    private func run(
        _ cells: [SweepCell], of sweep: Sweep, _ baseline: Sweep.Baseline, _ name: String = "cell"
    ) async -> [SweepOutcome] {
        announce(cells, baseline)
        return await showing(cells.count, "sweeping") {
            await sweep.run(cells, baseline, jobs: options.jobs, prefix: name, done: $0)
        }
    }

    /// Runs a second fault at each call that the client repeated after the first one.
    private func runPairs(
        after outcomes: [SweepOutcome], of sweep: Sweep, _ baseline: Sweep.Baseline
    ) async throws -> [SweepOutcome] {
        let cells = try baseline.pairs(options.chosenFaults(), after: outcomes)
        guard !cells.isEmpty else {
            terminal.note("no pairs: no right run with a fault of a call repeated that call")
            return []
        }
        terminal.note("pairs of faults, the second at the call that was repeated:")
        return await run(cells, of: sweep, baseline, "pair")
    }

    func announce(_ cells: [SweepCell], _ baseline: Sweep.Baseline) {
        let time = DurationText.text(seconds: max(1, baseline.expected(cells, jobs: options.jobs).rounded(.up)))
        terminal.note(
            "\(Readable.count(baseline.calls.count, "call")), "
                + (baseline.webhooks.isEmpty ? "" : "\(Readable.count(baseline.webhooks.count, "webhook")), ")
                + "\(Readable.count(cells.count, "run")) with a fault, "
                + "about \(time) with \(Readable.count(baseline.atOnce(options.jobs), "job"))")
        if baseline.leftOut.hasOwnNamespaces, options.jobs > 1 {
            terminal.note("the command makes namespaces itself, so its runs are made one after another")
        }
    }

    /// - Returns: the exit code.
    func tell(_ problem: SweepProblem, _ command: String = "the command") -> Int32 {
        let refusal =
            switch problem {
            case .fails(let ending):
                Refusal(
                    .no, "\(command) fails without a fault: it exited with \(ending.code)",
                    next: "its output is above; make it pass with \"entrupy-sim run\" first")
            case .noRequest:
                Refusal(
                    .incomplete, "no request came to the namespace of the run",
                    next: "does the client read ENTRUPY_SIM_URL? Its value ends with the namespace, /ns/NAME")
            case .nothingRepeats(let leftOut):
                Refusal(
                    .incomplete, "nothing repeats: no call is in all three runs without a fault",
                    next: leftOut.prefix(10).joined(separator: "\n"))
            }
        terminal.show(refusal)
        return refusal.code == .no ? Self.failsWithoutFault : refusal.code.rawValue
    }

    /// Writes the files of `--junit`, `--summary` and `--html`. One that cannot be written does not keep others from it.
    private func write(_ report: SweepReport) -> Bool {
        let written = [
            telling {
                guard let path = options.files.junit else { return }
                try OutputFile.write(Data(JUnitReport(report).xml.utf8), to: path, option: "--junit")
            },
            telling {
                guard let path = options.files.summary else { return }
                try OutputFile.append(Data(report.markdown(options.commandLine).utf8), to: path, option: "--summary")
            },
            telling {
                guard let path = options.html else { return }
                try OutputFile.write(Data(report.page(options.commandLine).utf8), to: path, option: "--html")
            },
        ]
        return !written.contains(false)
    }
}

/// A file without a name for what the runs without a fault print.
final class OutputOfRuns: Sendable {
    let descriptor: Int32

    init() throws {
        var name = Array("\(NSTemporaryDirectory())/entrupy-sim-XXXXXX".utf8CString)
        descriptor = mkstemp(&name)
        guard descriptor >= 0 else {
            throw Refusal(.internalError, "no temporary file can be made: \(String(cString: strerror(errno)))")
        }
        unlink(name)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    deinit { close(descriptor) }

    /// The lines of the last bytes.
    func end(_ count: Int) -> [String] {
        let size = Int(lseek(descriptor, 0, SEEK_END))
        var bytes = [UInt8](repeating: 0, count: min(count, max(0, size)))
        let read = pread(descriptor, &bytes, bytes.count, off_t(size - bytes.count))
        return String(decoding: bytes.prefix(max(0, read)), as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
