import Foundation
import SimulationAPI
import TestSupport
import Testing

/// `entrupy-sim run`: a command with a simulator of its own. Wrong options are in `UsageTests`, the XML in `JUnitReportTests`.
@Suite final class RunCommandTests: Sendable {
    private let folder: TestFolder
    /// How scripts call the program.
    private let program = "'\(SimProcess.path)'"
    /// What a run says of a command that asks nothing.
    private let unasked = "note: no request came to /ns/run; does the client read ENTRUPY_SIM_URL?\n"

    init() throws { folder = try TestFolder() }

    deinit { folder.remove() }

    private func run(_ command: [String], _ options: [String]) async throws -> RunningProgram.Finished {
        try await RunningProgram(["run", "--artifacts", folder.file("kept")] + options + ["--"] + command).finish()
    }

    private func shell(_ script: String, _ options: String...) async throws -> RunningProgram.Finished {
        try await run(["sh", "-c", script], options)
    }

    /// The names of the files that a failed run kept.
    private var files: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.file("kept"))) ?? []).sorted()
    }

    @Test(arguments: [("exit 0", 0), ("exit 3", 3), ("kill -9 $$", 137), ("kill -TERM $$", 143)] as [(String, Int32)])
    func theExitCodeIsTheCommands(script: String, status: Int32) async throws {
        let run = try await shell(script)
        #expect(run.status == status, "\(run.errors)")
        #expect(files == (status == 0 ? [] : ["bundle.tar", "report.html"]), "\(run.errors)")
        #expect(run.output.isEmpty && (status != 0 || run.errors == unasked), "\(run.errors)")
    }

    /// The files of the result are tried before the command. A folder that goes meanwhile does not change the code.
    @Test func theResultsFileIsCheckedFirstAndHasTheTime() async throws {
        let lost = try await shell("echo ran; exit 3", "--junit", "/dev/null/j.xml")
        #expect(lost.status == 64 && lost.output.isEmpty, "\(lost.errors)")
        #expect(lost.errors.contains("/dev/null/j.xml cannot be written: "), "\(lost.errors)")
        let run = try await shell("sleep 0.2; exit 3", "--junit", folder.file("made/j.xml"))
        let junit = try folder.text(of: "made/j.xml")
        #expect(run.status == 3 && junit.contains("time=\"0.") && !junit.contains("errors=\"0\" time=\"0.000\""))
        let gone = try await shell("rm -r \(folder.file("made")); exit 3", "--junit", folder.file("made/j.xml"))
        #expect(gone.status == 3 && gone.errors.contains("cannot be written"), "\(gone.errors)")
        #expect(files == ["bundle-2.tar", "bundle.tar", "report-2.html", "report.html"], "\(gone.errors)")
    }

    @Test func theHintsOfARunCanBeUsed() async throws {
        let words = try await run(["npm test"], [])
        let hint = "the quotes make one word of it: leave them out, or write -- sh -c 'npm test'"
        #expect(words.status == 127 && words.errors.contains(hint), "\(words.errors)")
        let scenario = try await shell("true", "--scenario", "lateresult")
        #expect(scenario.errors.contains("\"entrupy-sim run -- entrupy-sim scenario list\" lists them"), "\(scenario)")
        let strict = try await shell("true", "--strict")
        #expect(strict.status == 1 && strict.errors.components(separatedBy: "no request came to").count == 2)
    }

    @Test func aRunWithAnAuditFailsForAnError() async throws {
        let script = "\(program) api GET '/v1/health?token=0123456789' || true"
        #expect(try await shell(script).status == 0)
        let judged = try await shell(script, "--audit")
        #expect(judged.status == 1, "\(judged.errors)")
        #expect(judged.errors.contains("error: token-in-url: GET /v1/health?token=***"), "\(judged.errors)")
        #expect(files == ["bundle.tar", "report.html"])
        let file = try folder.write("ignore: [{rule: token-in-url, reason: the test of it}]", to: "audit.yaml")
        let meant = try await shell(script, "--audit", "--ignore", file)
        #expect(meant.status == 0 && meant.errors.contains("1 finding left out by --ignore"), "\(meant.errors)")
        let alone = try await shell("true", "--ignore", file)
        #expect(alone.status == 64 && alone.errors.contains("--ignore is for findings of --audit"), "\(alone.errors)")
    }

    /// Tests make namespaces of their own, and delete them.
    @Test func aRunJudgesAllNamespacesOfItsServer() async throws {
        func own(_ told: String = "") -> String {
            """
            export ENTRUPY_SIM_URL=$ENTRUPY_SIM_SERVER; unset ENTRUPY_SIM_NAMESPACE
            \(program) namespace make mine >/dev/null
            \(program) api GET '/v1/health?token=0123456789' -n mine >/dev/null || true
            \(told)
            \(program) namespace drop mine
            """
        }
        let files = ["--junit", folder.file("run.xml"), "--summary", folder.file("run.md")]
        let judged = try await run(["sh", "-c", own()], ["--audit", "--json"] + files)
        #expect(judged.status == 1, "\(judged.errors)")
        #expect(judged.errors.contains("in namespace mine"), "\(judged.errors)")
        #expect(judged.result["audit.findings"].items.contains { $0["rule"] == "token-in-url" }, "\(judged.errors)")
        // It is no mistake that they went there.
        #expect(judged.result["notes"] == [], "\(judged.errors)")
        let junit = try folder.text(of: "run.xml")
        #expect(
            junit.contains("name=\"audit token-in-url\"")
                && junit.contains("<failure message=\"GET /v1/health?token=***"))
        let summary = try folder.text(of: "run.md")
        #expect(summary.contains("## Audit of the run") && summary.contains("token-in-url"), "\(summary)")
        // What a test has told is not told again.
        let told = try await shell(
            own("\(program) api GET '/_sim/audit?told=error' -n mine >/dev/null"), "--audit")
        #expect(
            told.status == 0 && told.errors.contains("the findings of 1 namespace are told by their tests"),
            "\(told.errors)")
    }

    /// A world that ends within a run was judged: whatever ends it.
    @Test(arguments: ["reset", "scenario start late-result", "snapshot restore s"])
    func whatHappenedBeforeAResetIsJudged(end: String) async throws {
        let script = """
            \(program) snapshot save s >/dev/null
            \(program) api GET '/v1/health?token=0123456789' >/dev/null || true
            \(program) \(end) >/dev/null
            """
        let judged = try await shell(script, "--audit")
        #expect(judged.status == 1 && judged.errors.contains("error: token-in-url"), "\(judged.errors)")
        #expect(!judged.errors.contains("no request came"), "\(judged.errors)")
        // Requests that were judged before the journal forgot them are no gap.
        #expect(!judged.errors.contains("the journal has forgotten"), "\(judged.errors)")
    }

    /// A rule that could not judge everything is no green for a strict run.
    @Test func aStrictRunFailsForWhatWasNotJudged() async throws {
        let script = """
            \(program) api GET '/v1/health?token=0123456789' >/dev/null || true
            \(program) requests clear >/dev/null
            \(program) api GET /v2/webhooks >/dev/null || true
            """
        let lax = try await shell(script, "--audit")
        #expect(lax.status == 0 && lax.errors.contains("note: token-in-url could not judge"), "\(lax.errors)")
        let strict = try await shell(script, "--audit", "--strict", "--junit", folder.file("run.xml"))
        #expect(strict.status == 1, "\(strict.errors)")
        #expect(strict.errors.contains("error: token-in-url could not judge everything"), "\(strict.errors)")
        #expect(try folder.text(of: "run.xml").contains("<failure message=\"could not judge everything"))
    }

    /// A green that tested nothing says so, and is none for a strict run.
    @Test(arguments: [false, true]) func whatARunDidNotTestIsSaid(isStrict: Bool) async throws {
        let scenario = try folder.write(
            "name: x\ndescription: x\nfaults: [{match: {route: /sdk/login}, effect: {status: 503}}]\n", to: "x.yaml")
        let options = ["--scenario", scenario, "--junit", folder.file("run.xml")] + (isStrict ? ["--strict"] : [])
        let idle = try await run(["true"], options)
        #expect(idle.status == (isStrict ? 1 : 0), "\(idle.errors)")
        for note in [
            "no request came to /ns/run; does the client read ENTRUPY_SIM_URL?",
            "the scenario x expects nothing: it has no expect:",
            "(/sdk/login) was never met: no request matched it",
        ] { #expect(idle.errors.contains(note), "\(note): \(idle.errors)") }
        let mark = isStrict ? "failure" : "skipped"
        #expect(try folder.text(of: "run.xml").contains("<\(mark) message=\"no request came to /ns/run"))
        let asked = try await shell("\(program) api GET /v2/webhooks >/dev/null 2>&1 || true", "--strict")
        #expect(asked.status == 0 && asked.errors.isEmpty, "\(asked.errors)")
    }

    @Test func aCommandThatCannotBeRunIs127Or126() async throws {
        for name in ["nobody-has-this", "", folder.file("none")] {
            let run = try await run([name], [])
            #expect(run.status == 127 && run.errors.contains("there is no command"), "\(name): \(run.errors)")
        }
        let data = try await run(["/etc/passwd"], ["--json"])
        #expect(data.status == 126 && data.errors.contains("cannot be run"), "\(data.errors)")
        #expect(try WireJSON.decode(JSONValue.self, from: data.output)["code"] == "refused", "\(data.text)")
        #expect(files.isEmpty)
    }

    @Test func theCommandKnowsItsNamespace() async throws {
        let run = try await shell(
            "env | grep ^ENTRUPY_SIM_ | sort; \(program) clock freeze --at 2099-01-01T00:00:00Z; \(program) clock show "
                + "--url $ENTRUPY_SIM_SERVER -n run")
        let lines = run.text.split(separator: "\n").map(String.init)
        try #require(lines.count == 7, "\(run.text) \(run.errors)")
        let server = String(try #require(lines[2].split(separator: "=").last))
        #expect(
            lines[..<5] == [
                "ENTRUPY_SIM_API_TOKEN=demo-api-token", "ENTRUPY_SIM_NAMESPACE=run", "ENTRUPY_SIM_SERVER=\(server)",
                "ENTRUPY_SIM_TOKEN=demo-api-token", "ENTRUPY_SIM_URL=\(server)/ns/run",
            ])
        #expect(lines[5] == lines[6] && lines[6].hasPrefix("2099-01-01"), "the URL of a namespace names both")
    }

    @Test func bytesPassThrough() async throws {
        let bytes = Data([0, 0xff, 0xfe, 10, 0xc3])
        let cat = try await RunningProgram(["run", "--artifacts", folder.path, "--", "cat"]).finish(bytes)
        #expect(cat.status == 0 && cat.output == bytes)
        let script = "\"$0\" run --artifacts \(folder.path) -- printf '%s|' -1 --help -- \"$(printf '\\377\\033')\""
        let words = try await RunningProgram(["-c", script, SimProcess.path], program: "/bin/sh").finish()
        #expect(words.output == Data("-1|--help|--|".utf8) + Data([0xff, 0x1b]) + Data("|".utf8), "\(words)")
        let both = try await shell("echo out; echo err >&2")
        #expect(both.text == "out\n" && both.errors == "err\n" + unasked)
    }

    @Test func aFailedRunKeepsItsFilesAndReplacesNone() async throws {
        let first = try await shell("exit 1")
        let kept = folder.file("kept/")
        #expect(first.errors.contains("report: \(kept)report.html\n"), "\(first.errors)")
        #expect(first.errors.contains("bundle, which holds tokens: \(kept)bundle.tar\n"), "\(first.errors)")
        let before = try Data(contentsOf: URL(fileURLWithPath: kept + "bundle.tar"))
        let second = try await shell("exit 1", "--record", "--json")
        #expect(second.result["bundle"].text == kept + "bundle-2.tar", "\(second.errors)")
        #expect(second.result["recording"].text == kept + "run-2.recording" && second.result["exit_code"] == 1)
        #expect(try Data(contentsOf: URL(fileURLWithPath: kept + "bundle.tar")) == before)
        let names = ["bundle-2.tar", "bundle.tar", "report-2.html", "report.html", "run-2.recording"]
        #expect(files == names)
        let replay = try await SimProcess.run(["replay", kept + "run-2.recording"])
        #expect(replay.status == 0, "\(replay.output)")
        // Beside each other they take different names too.
        async let one = shell("exit 1")
        async let other = shell("exit 1")
        _ = try await (one, other)
        #expect(files.count == 9, "\(files)")
    }

    /// A client with another base URL, or none.
    @Test func aClientThatWentElsewhereIsTold() async throws {
        let question = "no request came to /ns/run; does the client read ENTRUPY_SIM_URL?"
        let silent = try await shell("exit 7")
        #expect(silent.status == 7 && silent.errors.contains("  \(question)\n"), "\(silent.errors)")
        #expect(!silent.errors.contains("namespace default"))
        let ask = "\(program) api GET /v2/webhooks --url $ENTRUPY_SIM_SERVER -n default >/dev/null 2>&1"
        let elsewhere = try await shell("\(ask); exit 3")
        #expect(
            elsewhere.errors.contains(
                "no request came to /ns/run; the namespace default got 1 request: does the client leave out /ns/run?"
            ),
            "\(elsewhere.errors)")
        let page = try folder.text(of: "kept/report-2.html")
        for text in [
            "got 1 request", "api GET /v2/webhooks", "exited with 3.", "(running). 0 requests, ",
        ] {
            #expect(page.contains(text), "\(text)")
        }
        let made = try await SimProcess.run(["scenario", "from", folder.file("kept/bundle.tar"), "-o", "-"])
        #expect(made.status == 1 && !made.output.contains("exported snapshot"), "\(made.output)")
    }

    @Test func theTerminalSaysWhyInAtMostFiveLines() async throws {
        let token = "-H 'Authorization: Token demo-api-token'"
        func ask(_ path: String) -> String { "\(program) api GET \(path) \(token) >/dev/null 2>&1; " }
        let one = try await shell(ask("/v2/authentications/ABCD2345") + "exit 1", "--json")
        let why = "#1 GET /v2/authentications/ABCD2345 404: the namespace has no item with this id"
        #expect(one.errors.contains("  \(why)\n"), "\(one.errors)")
        #expect(one.result["why"] == [.string(why)], "\(one.errors)")
        let asked = (1...7).map { ask("/v2/authentications/ABCD234\($0 % 6 + 2)") }.joined()
        let many = try await shell(
            ask("/v2/no-route") + ask("/v2/no-route") + asked + "exit 1")
        let lines = many.errors.split(separator: "\n").filter { $0.hasPrefix("  ") }
        #expect(lines.count == 5 && lines.last == "  and 3 more, in the report", "\(many.errors)")
        #expect(lines.first?.hasPrefix("  #1 GET /v2/no-route 404, 2 times: ") == true, "\(many.errors)")
    }

    /// An answer with several problems names each, on the terminal, in JUnit and in the summary.
    @Test func eachProblemOfARefusalIsNamed() async throws {
        let call =
            "\(program) api POST /v2/integrations/authorize-user '{}' -H 'Authorization: Token demo-api-token' >/dev/null 2>&1; exit 4"
        let files = ["--junit", folder.file("run.xml"), "--summary", folder.file("run.md")]
        let failed = try await run(["sh", "-c", call], ["--json"] + files)
        let why = failed.result["why"].items.first?.text ?? ""
        #expect(failed.status == 4 && why.contains("authorize-user 400: "), "\(failed.errors)")
        #expect(why.contains("sdk_authorization_request") && why.contains("unique_user_id"), "\(why)")
        #expect(!why.contains(" more)"), "\(why)")
        let junit = try folder.text(of: "run.xml")
        #expect(
            junit.contains("<failure message=\"exited with 4&#10;#1 POST") && junit.contains("unique_user_id"),
            "\(junit)")
        let summary = try folder.text(of: "run.md")
        #expect(summary.contains("- \\#1 POST") && summary.contains("unique\\_user\\_id"), "\(summary)")
        // The cause comes before what it led to.
        let expecting = try await run(
            ["sh", "-c", call], ["--scenario", "signed-request-used-twice"])
        let cause = try #require(expecting.errors.range(of: "authorize-user 400: "))
        let effect = try #require(expecting.errors.range(of: "/sdk/login -> 403"))
        #expect(cause.lowerBound < effect.lowerBound, "\(expecting.errors)")
        let idle = try await run(["true"], ["--summary", folder.file("idle.md")])
        #expect(idle.status == 0 && idle.errors.contains("note: no request came to /ns/run"), "\(idle.errors)")
        #expect(
            try folder.text(of: "idle.md").contains("- note: no request came"))
    }

    @Test func aSuccessLeavesNothing() async throws {
        let run = try await shell("test -e '\(folder.path)/kept/run.recording'", "--record", "--json")
        #expect(
            run.status == 0 && run.result["exit_code"] == 0 && run.result["recording"] == .null, "\(run.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder.file("kept")))
    }

    @Test func whatAScenarioExpectsIsVerified() async throws {
        let text = "name: asks-once\ndescription: x\nexpect:\n  - {route: /v1/health, method: GET, times: 1}\n"
        let file = try folder.write(text, to: "-case.yaml")
        let silent = try await shell("\(program) requests list >/dev/null", "--scenario=\(file)")
        #expect(silent.status == 1 && silent.errors.contains("/v1/health"), "\(silent.errors)")
        #expect(files == ["bundle.tar", "report.html"])
        let report = try folder.text(of: "kept/report.html")
        #expect(report.contains("Scenario asks-once") && report.contains("1 not met"))
        let failed = try await shell("exit 5", "--scenario", file, "--json")
        #expect(failed.status == 5 && failed.result["scenario.verified"] == false, "the command's code comes first")
        try folder.write("name: [", to: "wrong.yaml")
        for (scenario, status) in [
            ("late-result", 1), ("nobody's", 64), ("nobody", 1), (folder.file("wrong.yaml"), 64),
        ]
            as [(String, Int32)]
        {
            let run = try await shell("echo ran", "--scenario=\(scenario)")
            #expect(run.status == status && run.output.isEmpty == (scenario != "late-result"), "\(scenario): \(run)")
            #expect(scenario == "late-result" || run.errors.hasPrefix("error: "), "\(run)")
        }
    }

    /// The process has ended, or is not ours any more.
    private func isRunning(_ id: String) -> Bool {
        let state = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8)
        return Int32(id).map { kill($0, 0) == 0 } == true && state?.contains(") Z ") != true
    }

    @Test(arguments: ["", "trap '' TERM; "]) func aCommandWithoutAnEndIsEnded(before: String) async throws {
        let run = try await shell(
            "\(before)sleep 1000 & echo $!; wait; wait", "--timeout", "300ms", "--json")
        #expect(run.status == 124 && run.errors.contains("did not end within 300ms"), "\(run.errors)")
        #expect(run.result["timed_out"] == true && files.count == 2)
        #expect(!isRunning(run.text.trimmingCharacters(in: .newlines)), "the whole group is ended")
    }

    @Test func aDaemonOutlivesTheRunAndTheServerDoesNot() async throws {
        let run = try await shell(
            "sleep 1000 >/dev/null 2>&1 & echo $! $ENTRUPY_SIM_SERVER")
        let words = run.text.split(whereSeparator: \.isWhitespace).map(String.init)
        try #require(words.count == 2)
        #expect(run.status == 0 && run.errors.contains("run on, without the simulator"), "\(run.errors)")
        #expect(isRunning(words[0]))
        kill(try #require(Int32(words[0])), SIGKILL)
        #expect(try await SimProcess.run(["clock", "show", "--url", words[1]]).status == 69)
    }

    /// A child that has ended, and waits for its new parent, does not run on. A daemon does, also in a session of its own.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/setsid"), "needs setsid and /proc"))
    func onlyProcessesThatLiveRunOn() async throws {
        let ended = try await shell("sleep 1000 & P=$!; kill $P; exit 0")
        #expect(ended.status == 0 && ended.errors == unasked, "\(ended.errors)")
        let daemon = try await shell("setsid sleep 1000 >/dev/null 2>&1 & exit 0")
        let named = try #require(
            daemon.errors.firstMatch(of: #/run on, .* ends now: (\d+) \(sleep\)\n/#), "\(daemon)")
        #expect(isRunning(String(named.1)) && daemon.status == 0)
        kill(try #require(Int32(named.1)), SIGKILL)
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP]) func aSignalIsHandedOn(number: Int32) async throws {
        // The background process says that it is ready: between its fork and its exec it has the trap, which would lose the signal.
        let script = "trap 'kill $!; exit 7' TERM INT HUP; sh -c 'echo ready; exec sleep 1000' & wait"
        let running = try RunningProgram(["run", "--artifacts", folder.path, "--", "sh", "-c", script])
        #expect(running.line() == "ready")
        kill(running.process.processIdentifier, number)
        let run = await running.finish()
        #expect(run.status == 7 && run.errors.contains("sh exited with 7"), "\(run.errors)")
    }

    @Test func theServerEndsWithAKilledRun() async throws {
        let running = try RunningProgram(["run", "--", "sh", "-c", "echo $ENTRUPY_SIM_SERVER; exec cat"])
        let server = running.line()
        #expect(try await SimProcess.run(["clock", "show", "--url", server, "-n", "run"]).status == 0)
        kill(running.process.processIdentifier, SIGKILL)
        // The server shares standard error, which ends with it.
        _ = await running.finish()
        #expect(try await SimProcess.run(["clock", "show", "--url", server, "-n", "run"]).status == 69)
    }

    @Test(arguments: [
        ["run"], ["run", "--scenario", "/nowhere.yaml", "--", "true"],
        ["run", "--artifacts", "/etc/passwd", "--", "true"], ["run", "--artifacts", "/etc/passwd/x", "--", "true"],
        ["run", "--artifacts", "/proc/nope", "--", "echo", "ran"],
    ])
    func wrongUsageIs64(arguments: [String]) async throws {
        let run = try await RunningProgram(arguments).finish()
        #expect(run.status == 64 && run.errors.hasPrefix("error: ") && run.output.isEmpty, "\(run.errors)")
        if arguments.count < 3 { #expect(run.errors.contains("entrupy-sim run -- npm test"), "\(run.errors)") }
    }

    @Test func hostileNamesAreShownAsTheyAre() async throws {
        let hostile = folder.file("a\u{1b}[31m\nb '$(x)'")
        let run = try await RunningProgram(["run", "--artifacts", hostile, "--", "sh", "-c", "exit 1", "\u{1b}"])
            .finish()
        #expect(run.status == 1 && !run.errors.contains("\u{1b}") && run.errors.contains("/a\\x1b[31m\\x0ab"))
        #expect(FileManager.default.fileExists(atPath: hostile + "/report.html"), "\(run.errors)")
        let none = try await RunningProgram(["run", "--", "\u{1b}[2J"]).finish()
        #expect(none.status == 127 && none.errors.contains("\\x1b[2J") && !none.errors.contains("\u{1b}"))
        for name in ["x", "x/", "./y//z"] {
            let script = "cd \"$1\" && exec \"$0\" run --artifacts \(name) -- sh -c 'exit 1'"
            let short = try await RunningProgram(["-c", script, SimProcess.path, folder.path], program: "/bin/sh")
                .finish()
            #expect(short.status == 1 && FileManager.default.fileExists(atPath: folder.file("\(name)/report.html")))
        }
    }

    private static let python = "/usr/bin/python3"

    /// Ctrl-C on a terminal reaches the command once, and Ctrl-Z stops both until the shell continues them.
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: python), "needs python3 for a terminal"))
    func aTerminalIsShared() async throws {
        let script = """
            import os, pty, signal, sys
            def read_until(fd, text):
                got = b""
                while text not in got:
                    part = os.read(fd, 1024)
                    if not part: break
                    got += part
                return got
            pid, fd = pty.fork()
            if pid == 0:
                # The shell of the session, with a job as an interactive one has it.
                signal.signal(signal.SIGTTOU, signal.SIG_IGN)
                job = os.fork()
                if job == 0:
                    os.setpgid(0, 0)
                    os.tcsetpgrp(0, os.getpgrp())
                    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
                    os.execv(sys.argv[1], [sys.argv[1], "run", "--artifacts", sys.argv[2], "--", "sh", "-c",
                        "trap 'echo int; kill $!; exit 9' INT; read line; echo got $line; sleep 1000 & wait"])
                _, status = os.waitpid(job, os.WUNTRACED)
                print("stopped", os.WIFSTOPPED(status), flush=True)
                os.tcsetpgrp(0, job)
                os.killpg(job, signal.SIGCONT)
                _, status = os.waitpid(job, 0)
                os.tcsetpgrp(0, os.getpgrp())
                print("code", os.WEXITSTATUS(status), flush=True)
                os._exit(0)
            os.write(fd, b"hello\\n")
            seen = read_until(fd, b"got hello")
            os.write(fd, b"\\x1a")
            seen += read_until(fd, b"stopped True")
            os.write(fd, b"\\x03")
            seen += read_until(fd, b"code 9")
            print(seen.decode())
            """
        let file = try folder.write(script, to: "terminal.py")
        let run = try await SimProcess.run([file, SimProcess.path, folder.path], program: Self.python)
        #expect(run.output.components(separatedBy: "int\r\n").count == 2, "\(run.output)")
        #expect(run.output.contains("code 9"), "\(run.output)")
    }
}

extension RunningProgram.Finished {
    /// The result with `--json`: the last line of standard error.
    fileprivate var result: JSONValue {
        let line = errors.split(separator: "\n").last ?? ""
        return (try? WireJSON.decode(JSONValue.self, from: Data(line.utf8))) ?? .null
    }
}
