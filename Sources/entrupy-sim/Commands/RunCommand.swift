import ArgumentParser
import Console
import Foundation
import SimulationAPI

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run a command with a simulator of its own, and exit with its exit code.",
        discussion: """
            entrupy-sim run -- npm test
            entrupy-sim run --scenario late-result --timeout 10m -- pytest -q

            Starts a server in memory on a free port, and the command with its address in the environment: ENTRUPY_SIM_URL (a \
            namespace, for clients), ENTRUPY_SIM_SERVER, ENTRUPY_SIM_NAMESPACE, and the API token as ENTRUPY_SIM_API_TOKEN and \
            ENTRUPY_SIM_TOKEN. The server ends with this program. The command has its own standard input, output and error; \
            lines of this program go to standard error.

            Exits with the command's code if that is not 0: 128 and the number of a signal that ended it, 127 if there is no \
            such command, 126 if it cannot be run, 124 after --timeout. Else 1 if what the scenario expects did not happen, if --audit \
            finds an error in any namespace of the server, or if an edge of the baseline of coverage is not met.

            What the run did not test is said in notes: no request came, a fault was never met, the scenario expects nothing. With \
            --strict a note is a failure.

            If the run fails, the bundle and a report are kept. The bundle holds tokens. Files of an earlier run are not \
            replaced: the names get a number.
            """)

    @Option(help: "A scenario to start first: its name, or a YAML file.") var scenario: String?
    @Option(
        help:
            "The longest time for the command, for instance 90s or 1h30m. Then it gets SIGTERM, 5 s later SIGKILL. (default: no limit)"
    )
    var timeout: DurationArgument?
    @Option(help: "The folder for the files of a failed run. (default: ENTRUPY_SIM_ARTIFACTS, or .entrupy-sim)")
    var artifacts: String?
    @Flag(help: "Judge the clients at the end, as \"entrupy-sim audit\" does. An error is a failure.") var audit = false
    @Option(help: "A YAML file of findings of --audit to leave out, each with a reason. (default: none)")
    var ignore: String?
    @Option(
        help:
            "A baseline of coverage: an edge that it has met must be met. One that does not exist is written. (default: none is compared)"
    )
    var coverage: String?
    @Flag(help: "Fail for each note on what the run did not test.") var strict = false
    @OptionGroup var files: ResultFiles
    @Flag(help: "Keep a recording of a failed run too, for \"entrupy-sim replay\". It holds tokens.") var record = false
    @Flag(help: "Print the result as JSON, in the last line of standard error.") var json = false
    @Argument(parsing: .postTerminator, help: "The command and its arguments, after --.") var command: [String] = []

    func validate() throws {
        try require(
            !command.isEmpty, "the command is missing; put it after --, for instance: entrupy-sim run -- npm test")
        try timeout?.check("--timeout", to: "7d")
        try require(artifacts != "", "--artifacts must be a folder")
        try require(ignore == nil || audit, "--ignore is for findings of --audit, which is not given")
        try require(coverage != "", "--coverage must be a file")
        try require(files.junit != "" && files.summary != "", "--junit and --summary must be files")
    }

    func run() async throws {
        ChildProcess.noteInheritedDescriptors()
        let paths = [(files.junit, "--junit"), (files.summary, "--summary"), (coverage, "--coverage")]
        for case (let path?, let option) in paths {
            try OutputFile.prepare(path, option: option)
        }
        let run = SimulatedRun(
            options: self, scenario: try scenario.map { try ScenarioCommand.Start.parse(["--", $0]) },
            folder: try ArtifactFolder(
                artifacts ?? ControlOptions.environment("ENTRUPY_SIM_ARTIFACTS") ?? ".entrupy-sim"),
            ignored: try ignore.map { try IgnoredFindings(file: $0) },
            coverage: try coverage.map { try CoverageGate($0) }, terminal: Terminal(isJSON: json))
        throw ExitCode(try await run.run())
    }
}

/// One run of a command with a server of its own.
private struct SimulatedRun {
    let options: RunCommand
    let scenario: ScenarioCommand.Start?
    let folder: ArtifactFolder
    /// The findings that the audit leaves out; `nil` for none.
    let ignored: IgnoredFindings?
    /// The baseline of coverage; `nil` if none is compared.
    let coverage: CoverageGate?
    let terminal: Terminal

    private static let namespace = "run"

    /// The result with `--json`.
    private struct Summary: Encodable {
        var exit_code: Int32 = 0
        let timed_out: Bool
        @Nullable var signal: Int32? = nil
        @Nullable var scenario: ScenarioRun? = nil
        @Nullable var audit: AuditReport? = nil
        /// What the run did not test.
        var notes: [String] = []
        /// The first lines of the report's reasons.
        var why: [String] = []
        @Nullable var bundle: String? = nil
        @Nullable var report: String? = nil
        @Nullable var recording: String? = nil
        @Nullable var coverage: CoverageGate.Result? = nil
    }

    /// - Returns: the exit code.
    func run() async throws -> Int32 {
        let files = try options.record ? folder.make() : nil
        let server = try await OwnServer.start(recording: files?.recording)
        do {
            return try await run(with: server, files)
        } catch {
            await server.stop()
            if let files { folder.discard(recording: files.recording) }
            throw error
        }
    }

    /// - Parameter files: the names that go with the recording; `nil` if there is none.
    private func run(with server: OwnServer, _ files: ArtifactFolder.Files?) async throws -> Int32 {
        let client = ControlClient(
            options: try ControlOptions.parse(["--url", server.url, "--namespace", Self.namespace]))
        let started = try await prepare(client)
        let (token, start) = (try await client.firstAPIToken(), ContinuousClock.now)
        let result = try await execute(server, token: token)
        let duration = ContinuousClock.now - start
        say(result)
        var summary = Summary(timed_out: result.isLate)
        if case .signalled(let number) = result.ending { summary.signal = number }
        let wasLost = server.hasEnded
        if wasLost {
            terminal.note("error: the simulator ended before the command")
        } else if let started {
            summary.scenario = await verify(started, client)
        }
        let judgement = wasLost ? nil : await judgement(client)
        let judged = await judge(judgement)
        summary.audit = judged?.report
        summary.notes = judgement?.notes(summary.scenario) ?? []
        let isClean =
            (!options.audit || judged?.passes(isStrict: options.strict) == true)
            && (!options.strict || judgement != nil && summary.notes.isEmpty)
        let isVerified = (started == nil || summary.scenario?.verified == true) && isClean
        let hasFailed = result.isLate || result.ending.code != 0 || !isVerified
        if !wasLost { summary.coverage = await coverage?.check(client, hasFailed: hasFailed, terminal) }
        let isMet = isVerified && (coverage == nil || summary.coverage?.lost.isEmpty == true)
        var code = code(result, isLost: wasLost, isMet: isMet)
        summary.exit_code = code
        let missing = judgement?.missing(isNeeded: started != nil) ?? []
        // The reasons of a failed run begin with what is missing.
        for note in summary.notes where code == 0 || options.strict || !missing.contains(note) {
            terminal.note("\(options.strict ? "error" : "note"): \(note)")
        }
        if code != 0, !wasLost { await keep(client, files, reported(result, missing), in: &summary) }
        do {
            try write(summary, judged, result, duration)
        } catch let refusal as Refusal {
            // The folder has gone since it was checked.
            terminal.show(refusal)
            if code == 0 { code = refusal.code.rawValue }
        }
        await server.stop()
        if let recording = files?.recording {
            if code == 0 { folder.discard(recording: recording) } else { summary.recording = recording }
        }
        try tell(summary)
        return code
    }

    private func execute(_ server: OwnServer, token: String?) async throws -> CommandRun.Result {
        let command = CommandRun(
            words: ChildProcess.ownArguments(last: options.command.count),
            environment: server.environment(Self.namespace, token),
            mark: "ENTRUPY_SIM_SERVER=\(server.url)", timeout: options.timeout?.seconds.map { .seconds($0) })
        do {
            return try await command.run()
        } catch {
            throw notStarted(error)
        }
    }

    private func code(_ result: CommandRun.Result, isLost: Bool, isMet: Bool) -> Int32 {
        if result.isLate { return 124 }
        if result.ending.code != 0 { return result.ending.code }
        return isLost ? Refusal.Code.internalError.rawValue : isMet ? 0 : Refusal.Code.no.rawValue
    }

    // MARK: Before the command

    /// Makes the namespace.
    ///
    /// - Returns: the name of the scenario that was started; `nil` if there is none.
    private func prepare(_ client: ControlClient) async throws -> String? {
        guard var scenario else {
            try await client.send(ControlCall(.PUT, "/_sim/namespaces/\(Self.namespace)", body: [:], takesLong: true))
            return nil
        }
        scenario.newNamespace = Self.namespace
        do {
            let run: ScenarioRun = try await client.of("default").send(try scenario.call()).decoded()
            for note in run.notes { terminal.note("note: \(note.field): \(note.problem)") }
            return run.name
        } catch var refusal as Refusal {
            scenario.explain(&refusal, terminal)
            // The server of this run ends with it; a run of its own lists the scenarios.
            let list = client.of("default").options.command("scenario list")
            refusal.next = refusal.next?.replacing(list, with: "entrupy-sim run -- entrupy-sim scenario list")
            throw refusal
        }
    }

    // MARK: After the command

    /// Says why the command could not be started.
    ///
    /// - Returns: the exit code of a shell for that.
    private func notStarted(_ failure: ChildProcess.StartFailure) -> ExitCode {
        let isMissing = [ENOENT, ENOTDIR].contains(failure.number)
        let reason = String(cString: strerror(failure.number))
        terminal.show(
            isMissing
                ? Refusal(
                    .no, "there is no command \"\(name)\"",
                    next: name.contains(" ") && options.command.count == 1
                        ? "the quotes make one word of it: leave them out, or write -- sh -c \(Shell.quoted(name))"
                        : "check its spelling, its path and PATH")
                : Refusal(
                    .no, "the command \"\(name)\" cannot be run: \(reason)",
                    next: "it must be a program, or an executable script that begins with #!"))
        return ExitCode(isMissing ? 127 : 126)
    }

    private var name: String { options.command[0] }

    private func ending(_ result: CommandRun.Result) -> String {
        switch result.ending {
        case _ where result.isLate:
            "did not end within \(options.timeout?.seconds.map { DurationText.text(seconds: $0) } ?? "its time")"
        case .exited(let code): "exited with \(code)"
        case .signalled(let number): "was ended by signal \(number)"
        }
    }

    private func say(_ result: CommandRun.Result) {
        let ending = ending(result)
        if result.isLate {
            terminal.note("error: \(name) \(ending), so it was ended with its process group")
        } else if case .signalled(let number) = result.ending {
            terminal.note("error: \(name) \(ending) (\(String(cString: strsignal(number))))")
        } else if result.ending.code != 0 {
            terminal.note("error: \(name) \(ending)")
        }
        if let left = result.leftovers {
            terminal.note(
                "note: processes that \(name) started run on, without the simulator, which ends now\(left.text)")
        }
    }

    private func reported(_ result: CommandRun.Result, _ missing: [String]) -> ReportedRun {
        ReportedRun(command: commandLine, ending: ending(result), missing: missing)
    }

    private var commandLine: String { options.command.map { Shell.quoted($0) }.joined(separator: " ") }

    /// Verifies the scenario, and says if something differs. What differs is said later, after its causes.
    ///
    /// - Returns: `nil` if it cannot be verified.
    private func verify(_ scenario: String, _ client: ControlClient) async -> ScenarioRun? {
        let run = await trying("scenario \(scenario) cannot be verified") {
            try await client.verify(scenario, isStrict: false).run
        }
        if let run, !run.verified { terminal.note("error: what the scenario \(run.name) expects did not happen") }
        return run
    }

    /// What the scenario expects and did not happen, in lines.
    private static func unmet(_ run: ScenarioRun) -> [String] {
        let actions = run.timeline.filter { $0.state != "done" }.map { action in
            "  \(action.action) \(action.state)\(action.problem.map { ": \($0)" } ?? "")"
        }
        return actions
            + run.expectations.filter { !$0.passed }.flatMap { check in
                let lines = (check.problem ?? "found \(check.found)").split(separator: "\n")
                return ["  \(check.expectation): \(lines.first ?? "")"] + lines.dropFirst().map { "    \($0)" }
            }
    }

    /// What happened in all namespaces; `nil` if the server cannot be asked.
    private func judgement(_ client: ControlClient) async -> RunJudgement? {
        await trying("the clients cannot be judged") {
            RunJudgement(
                audit: try await client.of("default").get("/_sim/audits", takesLong: true), own: Self.namespace)
        }
    }

    /// Judges the clients of the run with `--audit`, and says what was found.
    ///
    /// - Returns: `nil` if they could not be judged, which is a failure too.
    private func judge(_ judgement: RunJudgement?) async -> JudgedAudit? {
        guard options.audit, let judgement else { return nil }
        return await trying("the clients cannot be judged") {
            let report = judgement.report
            try ignored?.check(against: report.rules.map(\.id))
            let judged = JudgedAudit(report, ignored)
            for line in judged.lines(isStrict: options.strict) + judgement.auditNotes { terminal.note(line) }
            return judged
        }
    }

    /// Does something whose failure is said, and does not end the run.
    ///
    /// - Parameter problem: the beginning of the sentence, before the reason.
    /// - Returns: `nil` if it failed.
    private func trying<Value>(_ problem: String, _ body: () async throws -> Value) async -> Value? {
        do {
            return try await body()
        } catch {
            terminal.note("error: \(problem): \(error)")
            return nil
        }
    }

    /// Writes the files of `--junit` and `--summary`.
    private func write(
        _ summary: Summary, _ audit: JudgedAudit?, _ result: CommandRun.Result, _ duration: Duration
    ) throws {
        let ending = ending(result)
        let hasSucceeded = result.ending.code == 0 && !result.isLate
        var lines = ["## entrupy-sim run", "", Markdown.escaped("\(commandLine) \(ending)"), ""]
        lines += summary.why.map { "- \(Markdown.escaped($0))" }
        lines += summary.notes.filter { !summary.why.contains($0) }.map { "- note: \(Markdown.escaped($0))" }
        lines += (summary.scenario?.expectations ?? []).filter { !$0.passed }.map {
            "- failed: \(Markdown.escaped($0.expectation))"
        }
        lines += (summary.coverage?.lost ?? []).map { "- not met any more: \(Markdown.escaped($0))" }
        try options.files.write(
            JUnitReport(
                command: commandLine, took: duration,
                failure: hasSucceeded ? nil : ([ending] + summary.why).joined(separator: "\n"), notes: summary.notes,
                isStrict: options.strict, summary.scenario, audit, lost: summary.coverage?.lost),
            lines.joined(separator: "\n") + "\n\n" + (audit?.markdown("Audit of the run") ?? ""))
    }

    /// Writes the bundle and the report. If that fails, says why: the exit code is the command's.
    private func keep(
        _ client: ControlClient, _ own: ArtifactFolder.Files?, _ run: ReportedRun, in summary: inout Summary
    ) async {
        do {
            let files = try folder.claim(own)
            do {
                let output = try OutputFile(files.bundle, option: "--artifacts")
                defer { output.discard() }
                try await client.download(
                    ControlCall(.GET, "/_sim/bundle", takesLong: true), maxBytes: 16_000_000_000
                ) { try output.write($0) }
                _ = try output.finish()
            } catch {
                unlink(files.bundle)
                throw error
            }
            summary.bundle = files.bundle
            let report = try await ReportCommand.report(ofBundle: files.bundle, run: run)
            summary.why = report.why
            try OutputFile.write(Data(report.html.utf8), to: files.report, option: "--artifacts")
            summary.report = files.report
        } catch let refusal as Refusal {
            terminal.note("error: \(refusal.message)")
        } catch {
            terminal.note("error: the artifacts could not be written: \(error)")
        }
    }

    private func tell(_ summary: Summary) throws {
        // With --strict a note was told as an error.
        for line in summary.why where !options.strict || !summary.notes.contains(line) { terminal.note("  \(line)") }
        for line in summary.scenario.map(Self.unmet) ?? [] { terminal.note(line) }
        guard !terminal.isJSON else {
            return Terminal.log(json: String(decoding: try WireJSON.encode(summary), as: UTF8.self))
        }
        let files = [
            ("report", summary.report), ("bundle, which holds tokens", summary.bundle),
            ("recording, which holds tokens", summary.recording),
        ]
        for case (let thing, let file?) in files { terminal.note("\(thing): \(file)") }
    }
}
