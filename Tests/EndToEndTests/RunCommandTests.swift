import Foundation
import SimulationAPI
import TestSupport
import Testing

/// `entrupy-sim run`: a command with a simulator of its own.
@Suite struct RunCommandTests {
    private func run(_ command: [String], _ options: [String], in directory: String) async throws
        -> RunningProgram.Finished
    {
        try await RunningProgram(["run", "--artifacts", directory + "/kept"] + options + ["--"] + command).finish()
    }

    private func shell(_ script: String, _ options: String..., in directory: String) async throws
        -> RunningProgram.Finished
    {
        try await run(["sh", "-c", script], options, in: directory)
    }

    /// What a run says of a command that asks nothing.
    private let unasked = "note: no request came to /ns/run; does the client read ENTRUPY_SIM_URL?\n"

    private func files(_ directory: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: directory + "/kept")) ?? []).sorted()
    }

    @Test(arguments: [("exit 0", 0), ("exit 3", 3), ("kill -9 $$", 137), ("kill -TERM $$", 143)] as [(String, Int32)])
    func theExitCodeIsTheCommands(script: String, status: Int32) async throws {
        try await Process.withDirectory { directory in
            let run = try await shell(script, in: directory)
            #expect(run.status == status, "\(run.errors)")
            #expect(files(directory) == (status == 0 ? [] : ["bundle.tar", "report.html"]), "\(run.errors)")
            #expect(run.output.isEmpty && (status != 0 || run.errors == unasked), "\(run.errors)")
        }
    }

    /// The files of the result are tried before the command, and have its time.
    @Test func theResultsFileIsCheckedFirstAndHasTheTime() async throws {
        try await Process.withDirectory { directory in
            let lost = try await shell("echo ran; exit 3", "--junit", "/dev/null/j.xml", in: directory)
            #expect(
                lost.status == 64 && lost.output.isEmpty && lost.errors.contains("/dev/null/j.xml cannot be written: "),
                "\(lost.errors)")
            let file = directory + "/made/j.xml"
            let run = try await shell("sleep 0.2; exit 3", "--junit", file, in: directory)
            let junit = try String(contentsOfFile: file, encoding: .utf8)
            #expect(
                run.status == 3 && junit.contains("time=\"0.") && !junit.contains("errors=\"0\" time=\"0.000\""),
                "\(junit)")
        }
    }

    @Test func aFolderThatGoesMeanwhileDoesNotChangeTheCode() async throws {
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory + "/j", withIntermediateDirectories: true)
            let gone = try await shell("rm -r \(directory)/j; exit 3", "--junit", directory + "/j/j.xml", in: directory)
            #expect(gone.status == 3 && gone.errors.contains("cannot be written"), "\(gone.errors)")
            #expect(files(directory) == ["bundle.tar", "report.html"], "\(gone.errors)")
        }
    }

    @Test func theHintsOfARunCanBeUsed() async throws {
        try await Process.withDirectory { directory in
            let words = try await run(["npm test"], [], in: directory)
            #expect(
                words.status == 127
                    && words.errors.contains(
                        "the quotes make one word of it: leave them out, or write -- sh -c 'npm test'"),
                "\(words.errors)")
            let scenario = try await shell("true", "--scenario", "lateresult", in: directory)
            #expect(
                scenario.errors.contains("\"entrupy-sim run -- entrupy-sim scenario list\" lists them"),
                "\(scenario.errors)")
            let strict = try await shell("true", "--strict", in: directory)
            #expect(strict.status == 1, "\(strict.errors)")
            #expect(strict.errors.components(separatedBy: "no request came to").count == 2, "\(strict.errors)")
        }
    }

    @Test func aRunWithAnAuditFailsForAnError() async throws {
        try await Process.withDirectory { directory in
            let script = "'\(SimProcess.path)' api GET '/v1/health?token=0123456789' || true"
            let plain = try await shell(script, in: directory)
            #expect(plain.status == 0, "\(plain.errors)")
            let judged = try await shell(script, "--audit", in: directory)
            #expect(
                judged.status == 1 && judged.errors.contains("error: token-in-url: GET /v1/health?token=***"),
                "\(judged.errors)")
            #expect(files(directory) == ["bundle.tar", "report.html"])
            let file = directory + "/audit.yaml"
            try "ignore: [{rule: token-in-url, reason: the test of it}]".write(
                toFile: file, atomically: true, encoding: .utf8)
            let meant = try await shell(script, "--audit", "--ignore", file, in: directory)
            #expect(meant.status == 0 && meant.errors.contains("1 finding left out by --ignore"), "\(meant.errors)")
            let alone = try await shell("true", "--ignore", file, in: directory)
            #expect(
                alone.status == 64 && alone.errors.contains("--ignore is for findings of --audit"), "\(alone.errors)")
        }
    }

    /// Tests make namespaces of their own, and delete them.
    @Test func aRunJudgesAllNamespacesOfItsServer() async throws {
        try await Process.withDirectory { directory in
            let program = "'\(SimProcess.path)'"
            func own(_ told: String = "") -> String {
                """
                export ENTRUPY_SIM_URL=$ENTRUPY_SIM_SERVER; unset ENTRUPY_SIM_NAMESPACE
                \(program) namespace make mine >/dev/null
                \(program) api GET '/v1/health?token=0123456789' -n mine >/dev/null || true
                \(told)
                \(program) namespace drop mine
                """
            }
            let files = ["--junit", directory + "/run.xml", "--summary", directory + "/run.md"]
            let judged = try await run(["sh", "-c", own()], ["--audit", "--json"] + files, in: directory)
            #expect(judged.status == 1, "\(judged.errors)")
            #expect(judged.errors.contains("in namespace mine"), "\(judged.errors)")
            #expect(judged.result["audit.findings"].items.contains { $0["rule"] == "token-in-url" }, "\(judged.errors)")
            // It is no mistake that they went there.
            #expect(judged.result["notes"] == [], "\(judged.errors)")
            let junit = try String(contentsOfFile: directory + "/run.xml", encoding: .utf8)
            #expect(
                junit.contains("name=\"audit token-in-url\"")
                    && junit.contains("<failure message=\"GET /v1/health?token=***"))
            let summary = try String(contentsOfFile: directory + "/run.md", encoding: .utf8)
            #expect(summary.contains("## Audit of the run") && summary.contains("token-in-url"), "\(summary)")
            // What a test has told is not told again.
            let told = try await shell(
                own("\(program) api GET '/_sim/audit?told=error' -n mine >/dev/null"), "--audit", in: directory)
            #expect(
                told.status == 0 && told.errors.contains("the findings of 1 namespace are told by their tests"),
                "\(told.errors)")
        }
    }

    /// A world that ends within a run was judged: whatever ends it.
    @Test(arguments: ["reset", "scenario start late-result", "snapshot restore s"])
    func whatHappenedBeforeAResetIsJudged(end: String) async throws {
        try await Process.withDirectory { directory in
            let program = "'\(SimProcess.path)'"
            let script = """
                \(program) snapshot save s >/dev/null
                \(program) api GET '/v1/health?token=0123456789' >/dev/null || true
                \(program) \(end) >/dev/null
                """
            let judged = try await shell(script, "--audit", in: directory)
            #expect(judged.status == 1 && judged.errors.contains("error: token-in-url"), "\(judged.errors)")
            #expect(!judged.errors.contains("no request came"), "\(judged.errors)")
            // Requests that were judged before the journal forgot them are no gap.
            #expect(!judged.errors.contains("the journal has forgotten"), "\(judged.errors)")
        }
    }

    /// A rule that could not judge everything is no green for a strict run.
    @Test func aStrictRunFailsForWhatWasNotJudged() async throws {
        try await Process.withDirectory { directory in
            let program = "'\(SimProcess.path)'"
            let script = """
                \(program) api GET '/v1/health?token=0123456789' >/dev/null || true
                \(program) requests clear >/dev/null
                \(program) api GET /v2/webhooks >/dev/null || true
                """
            let lax = try await shell(script, "--audit", in: directory)
            #expect(lax.status == 0 && lax.errors.contains("note: token-in-url could not judge"), "\(lax.errors)")
            let junit = directory + "/run.xml"
            let strict = try await shell(script, "--audit", "--strict", "--junit", junit, in: directory)
            #expect(strict.status == 1, "\(strict.errors)")
            #expect(strict.errors.contains("error: token-in-url could not judge everything"), "\(strict.errors)")
            let cases = try String(contentsOfFile: junit, encoding: .utf8)
            #expect(cases.contains("<failure message=\"could not judge everything"), "\(cases)")
        }
    }

    /// A green that tested nothing says so.
    @Test func whatARunDidNotTestIsSaid() async throws {
        try await Process.withDirectory { directory in
            let (scenario, junit) = (directory + "/x.yaml", directory + "/run.xml")
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            try """
            name: x
            description: x
            faults: [{match: {route: /sdk/login}, effect: {status: 503}}]
            """.write(toFile: scenario, atomically: true, encoding: .utf8)
            let notes = [
                "no request came to /ns/run; does the client read ENTRUPY_SIM_URL?",
                "the scenario x expects nothing: it has no expect:",
                "(/sdk/login) was never met: no request matched it",
            ]
            let lax = try await shell("true", "--scenario", scenario, "--junit", junit, in: directory)
            #expect(lax.status == 0, "\(lax.errors)")
            for note in notes { #expect(lax.errors.contains(note), "\(note): \(lax.errors)") }
            let skipped = try String(contentsOfFile: junit, encoding: .utf8)
            #expect(
                skipped.contains("<skipped message=\"no request came to /ns/run") && skipped.contains("failures=\"0\""))
            let strict = try await shell("true", "--scenario", scenario, "--junit", junit, "--strict", in: directory)
            #expect(strict.status == 1, "\(strict.errors)")
            for note in notes { #expect(strict.errors.contains(note), "\(note): \(strict.errors)") }
            #expect(
                try String(contentsOfFile: junit, encoding: .utf8).contains(
                    "<failure message=\"no request came to /ns/run"))
            let asked = "'\(SimProcess.path)' api GET /v2/webhooks >/dev/null 2>&1 || true"
            let quiet = try await shell(asked, "--strict", in: directory)
            #expect(quiet.status == 0 && quiet.errors.isEmpty, "\(quiet.errors)")
        }
    }

    @Test func aCommandThatCannotBeRunIs127Or126() async throws {
        try await Process.withDirectory { directory in
            for name in ["nobody-has-this", "", directory + "/none"] {
                let run = try await run([name], [], in: directory)
                #expect(run.status == 127 && run.errors.contains("there is no command"), "\(name): \(run.errors)")
            }
            let data = try await run(["/etc/passwd"], ["--json"], in: directory)
            #expect(data.status == 126 && data.errors.contains("cannot be run"), "\(data.errors)")
            #expect(try WireJSON.decode(JSONValue.self, from: data.output)["code"] == "refused", "\(data.text)")
            #expect(files(directory).isEmpty)
        }
    }

    @Test func theCommandKnowsItsNamespace() async throws {
        try await Process.withDirectory { directory in
            let own = SimProcess.path
            let run = try await shell(
                "env | grep ^ENTRUPY_SIM_ | sort; '\(own)' clock freeze --at 2099-01-01T00:00:00Z; '\(own)' clock show "
                    + "--url $ENTRUPY_SIM_SERVER -n run", in: directory)
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
    }

    @Test func bytesPassThrough() async throws {
        try await Process.withDirectory { directory in
            let bytes = Data([0, 0xff, 0xfe, 10, 0xc3])
            let cat = try await RunningProgram(["run", "--artifacts", directory, "--", "cat"]).finish(bytes)
            #expect(cat.status == 0 && cat.output == bytes)
            let script = "\"$0\" run --artifacts \(directory) -- printf '%s|' -1 --help -- \"$(printf '\\377\\033')\""
            let words = try await RunningProgram(["-c", script, SimProcess.path], program: "/bin/sh").finish()
            #expect(words.output == Data("-1|--help|--|".utf8) + Data([0xff, 0x1b]) + Data("|".utf8), "\(words)")
            let both = try await shell("echo out; echo err >&2", in: directory)
            #expect(both.text == "out\n" && both.errors == "err\n" + unasked)
        }
    }

    @Test func aFailedRunKeepsItsFilesAndReplacesNone() async throws {
        try await Process.withDirectory { directory in
            let first = try await shell("exit 1", in: directory)
            let kept = directory + "/kept/"
            #expect(first.errors.contains("report: \(kept)report.html\n"), "\(first.errors)")
            #expect(first.errors.contains("bundle, which holds tokens: \(kept)bundle.tar\n"), "\(first.errors)")
            let before = try Data(contentsOf: URL(fileURLWithPath: kept + "bundle.tar"))
            let second = try await shell("exit 1", "--record", "--json", in: directory)
            #expect(second.result["bundle"].text == kept + "bundle-2.tar", "\(second.errors)")
            #expect(second.result["recording"].text == kept + "run-2.recording" && second.result["exit_code"] == 1)
            #expect(try Data(contentsOf: URL(fileURLWithPath: kept + "bundle.tar")) == before)
            let names = ["bundle-2.tar", "bundle.tar", "report-2.html", "report.html", "run-2.recording"]
            #expect(files(directory) == names)
            let replay = try await SimProcess.run(["replay", kept + "run-2.recording"])
            #expect(replay.status == 0, "\(replay.output)")
            // Beside each other they take different names too.
            async let one = shell("exit 1", in: directory)
            async let other = shell("exit 1", in: directory)
            _ = try await (one, other)
            #expect(files(directory).count == 9, "\(files(directory))")
        }
    }

    /// A client with another base URL, or none.
    @Test func aClientThatWentElsewhereIsTold() async throws {
        try await Process.withDirectory { directory in
            let question = "no request came to /ns/run; does the client read ENTRUPY_SIM_URL?"
            let silent = try await shell("exit 7", in: directory)
            #expect(silent.status == 7 && silent.errors.contains("  \(question)\n"), "\(silent.errors)")
            #expect(!silent.errors.contains("namespace default"))
            let ask = "'\(SimProcess.path)' api GET /v2/webhooks --url $ENTRUPY_SIM_SERVER -n default >/dev/null 2>&1"
            let elsewhere = try await shell("\(ask); exit 3", in: directory)
            #expect(
                elsewhere.errors.contains(
                    "no request came to /ns/run; the namespace default got 1 request: does the client leave out /ns/run?"
                ),
                "\(elsewhere.errors)")
            let page = try String(contentsOfFile: directory + "/kept/report-2.html", encoding: .utf8)
            for text in [
                "got 1 request", "api GET /v2/webhooks", "exited with 3.", "(running). 0 requests, ",
            ] {
                #expect(page.contains(text), "\(text)")
            }
            let made = try await SimProcess.run(["scenario", "from", directory + "/kept/bundle.tar", "-o", "-"])
            #expect(made.status == 1 && !made.output.contains("exported snapshot"), "\(made.output)")
        }
    }

    @Test func theTerminalSaysWhyInAtMostFiveLines() async throws {
        try await Process.withDirectory { directory in
            let token = "-H 'Authorization: Token demo-api-token'"
            func ask(_ path: String) -> String { "'\(SimProcess.path)' api GET \(path) \(token) >/dev/null 2>&1; " }
            let one = try await shell(ask("/v2/authentications/ABCD2345") + "exit 1", "--json", in: directory)
            let why = "#1 GET /v2/authentications/ABCD2345 404: the namespace has no item with this id"
            #expect(one.errors.contains("  \(why)\n"), "\(one.errors)")
            #expect(one.result["why"] == [.string(why)], "\(one.errors)")
            let asked = (1...7).map { ask("/v2/authentications/ABCD234\($0 % 6 + 2)") }.joined()
            let many = try await shell(
                ask("/v2/no-route") + ask("/v2/no-route") + asked + "exit 1", in: directory)
            let lines = many.errors.split(separator: "\n").filter { $0.hasPrefix("  ") }
            #expect(lines.count == 5 && lines.last == "  and 3 more, in the report", "\(many.errors)")
            #expect(lines.first?.hasPrefix("  #1 GET /v2/no-route 404, 2 times: ") == true, "\(many.errors)")
        }
    }

    /// An answer with several problems names each, on the terminal, in JUnit and in the summary.
    @Test func eachProblemOfARefusalIsNamed() async throws {
        try await Process.withDirectory { directory in
            let call =
                "'\(SimProcess.path)' api POST /v2/integrations/authorize-user '{}' -H 'Authorization: Token demo-api-token' >/dev/null 2>&1; exit 4"
            let files = ["--junit", directory + "/run.xml", "--summary", directory + "/run.md"]
            let failed = try await run(["sh", "-c", call], ["--json"] + files, in: directory)
            let why = failed.result["why"].items.first?.text ?? ""
            #expect(failed.status == 4 && why.contains("authorize-user 400: "), "\(failed.errors)")
            #expect(why.contains("sdk_authorization_request") && why.contains("unique_user_id"), "\(why)")
            #expect(!why.contains(" more)"), "\(why)")
            let junit = try String(contentsOfFile: directory + "/run.xml", encoding: .utf8)
            #expect(
                junit.contains("<failure message=\"exited with 4&#10;#1 POST") && junit.contains("unique_user_id"),
                "\(junit)")
            let summary = try String(contentsOfFile: directory + "/run.md", encoding: .utf8)
            #expect(summary.contains("- \\#1 POST") && summary.contains("unique\\_user\\_id"), "\(summary)")
            // The cause comes before what it led to.
            let expecting = try await run(
                ["sh", "-c", call], ["--scenario", "signed-request-used-twice"], in: directory)
            let cause = try #require(expecting.errors.range(of: "authorize-user 400: "))
            let effect = try #require(expecting.errors.range(of: "/sdk/login -> 403"))
            #expect(cause.lowerBound < effect.lowerBound, "\(expecting.errors)")
            let idle = try await run(["true"], ["--summary", directory + "/idle.md"], in: directory)
            #expect(idle.status == 0 && idle.errors.contains("note: no request came to /ns/run"), "\(idle.errors)")
            #expect(
                try String(contentsOfFile: directory + "/idle.md", encoding: .utf8).contains("- note: no request came"))
        }
    }

    @Test func aSuccessLeavesNothing() async throws {
        try await Process.withDirectory { directory in
            let run = try await shell("test -e '\(directory)/kept/run.recording'", "--record", "--json", in: directory)
            #expect(
                run.status == 0 && run.result["exit_code"] == 0 && run.result["recording"] == .null, "\(run.errors)")
            #expect(!FileManager.default.fileExists(atPath: directory + "/kept"))
        }
    }

    @Test func whatAScenarioExpectsIsVerified() async throws {
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let file = directory + "/-case.yaml"
            try """
            name: asks-once
            description: The back end asks for its health.
            expect:
              - {route: /v1/health, method: GET, times: 1}
            """.write(toFile: file, atomically: true, encoding: .utf8)
            let ask = "'\(SimProcess.path)' requests list >/dev/null"
            let silent = try await shell(ask, "--scenario=\(file)", in: directory)
            #expect(silent.status == 1 && silent.errors.contains("/v1/health"), "\(silent.errors)")
            #expect(files(directory) == ["bundle.tar", "report.html"])
            let report = try String(contentsOfFile: directory + "/kept/report.html", encoding: .utf8)
            #expect(report.contains("Scenario asks-once") && report.contains("1 not met"))
            let failed = try await shell("exit 5", "--scenario", file, "--json", in: directory)
            #expect(failed.status == 5 && failed.result["scenario.verified"] == false, "the command's code comes first")
            let shipped = try await shell("exit 0", "--scenario", "late-result", in: directory)
            #expect(shipped.status == 1, "\(shipped.errors)")
            let noName = try await shell("echo ran", "--scenario", "nobody's", in: directory)
            #expect(noName.status == 64 && noName.output.isEmpty && noName.errors.hasPrefix("error: "), "\(noName)")
            let unknown = try await shell("echo ran", "--scenario", "nobody", in: directory)
            #expect(unknown.status == 1 && unknown.output.isEmpty && unknown.errors.hasPrefix("error: "), "\(unknown)")
            try "name: [".write(toFile: file, atomically: true, encoding: .utf8)
            let wrong = try await shell("echo ran", "--scenario=\(file)", in: directory)
            #expect(wrong.status == 64 && wrong.output.isEmpty && wrong.errors.contains("case.yaml"), "\(wrong)")
        }
    }

    /// The process has ended, or is not ours any more.
    private func isRunning(_ id: String) -> Bool {
        let state = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8)
        return Int32(id).map { kill($0, 0) == 0 } == true && state?.contains(") Z ") != true
    }

    @Test(arguments: ["", "trap '' TERM; "]) func aCommandWithoutAnEndIsEnded(before: String) async throws {
        try await Process.withDirectory { directory in
            let run = try await shell(
                "\(before)sleep 1000 & echo $!; wait; wait", "--timeout", "300ms", "--json", in: directory)
            #expect(run.status == 124 && run.errors.contains("did not end within 300ms"), "\(run.errors)")
            #expect(run.result["timed_out"] == true && files(directory).count == 2)
            #expect(!isRunning(run.text.trimmingCharacters(in: .newlines)), "the whole group is ended")
        }
    }

    @Test func aDaemonOutlivesTheRunAndTheServerDoesNot() async throws {
        try await Process.withDirectory { directory in
            let run = try await shell(
                "sleep 1000 >/dev/null 2>&1 & echo $! $ENTRUPY_SIM_SERVER", in: directory)
            let words = run.text.split(whereSeparator: \.isWhitespace).map(String.init)
            try #require(words.count == 2)
            #expect(run.status == 0 && run.errors.contains("run on, without the simulator"), "\(run.errors)")
            #expect(isRunning(words[0]))
            kill(try #require(Int32(words[0])), SIGKILL)
            #expect(try await SimProcess.run(["clock", "show", "--url", words[1]]).status == 69)
        }
    }

    /// A child that has ended, and waits for its new parent, does not run on. A daemon does, also in a session of its own.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/setsid"), "needs setsid and /proc"))
    func onlyProcessesThatLiveRunOn() async throws {
        try await Process.withDirectory { directory in
            let ended = try await shell("sleep 1000 & P=$!; kill $P; exit 0", in: directory)
            #expect(ended.status == 0 && ended.errors == unasked, "\(ended.errors)")
            let daemon = try await shell("setsid sleep 1000 >/dev/null 2>&1 & exit 0", in: directory)
            let named = try #require(
                daemon.errors.firstMatch(of: #/run on, .* ends now: (\d+) \(sleep\)\n/#), "\(daemon)")
            #expect(isRunning(String(named.1)) && daemon.status == 0)
            kill(try #require(Int32(named.1)), SIGKILL)
        }
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP]) func aSignalIsHandedOn(number: Int32) async throws {
        try await Process.withDirectory { directory in
            // The background process says that it is ready: between its fork and its exec it has the trap, which would lose the signal.
            let script = "trap 'kill $!; exit 7' TERM INT HUP; sh -c 'echo ready; exec sleep 1000' & wait"
            let running = try RunningProgram(["run", "--artifacts", directory, "--", "sh", "-c", script])
            #expect(running.line() == "ready")
            kill(running.process.processIdentifier, number)
            let run = await running.finish()
            #expect(run.status == 7 && run.errors.contains("sh exited with 7"), "\(run.errors)")
        }
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
        ["run"], ["run", "--"], ["run", "true"], ["run", "--timeout", "soon", "--", "true"],
        ["run", "--timeout", "0", "--", "true"], ["run", "--timeout", "-1s", "--", "true"],
        ["run", "--scenario", "/nowhere.yaml", "--", "true"], ["run", "--artifacts", "", "--", "true"],
        ["run", "--artifacts", "/etc/passwd", "--", "true"], ["run", "--artifacts", "/etc/passwd/x", "--", "true"],
        ["run", "--nonsense", "--", "true"], ["run", "--artifacts", "/proc/nope", "--", "echo", "ran"],
    ])
    func wrongUsageIs64(arguments: [String]) async throws {
        let run = try await RunningProgram(arguments).finish()
        #expect(run.status == 64 && run.errors.hasPrefix("error: ") && run.output.isEmpty, "\(run.errors)")
        if arguments.count < 3 { #expect(run.errors.contains("entrupy-sim run -- npm test"), "\(run.errors)") }
    }

    @Test func hostileNamesAreShownAsTheyAre() async throws {
        try await Process.withDirectory { directory in
            let folder = directory + "/a\u{1b}[31m\nb '$(x)'"
            let run = try await RunningProgram(["run", "--artifacts", folder, "--", "sh", "-c", "exit 1", "\u{1b}"])
                .finish()
            #expect(run.status == 1 && !run.errors.contains("\u{1b}") && run.errors.contains("/a\\x1b[31m\\x0ab"))
            #expect(FileManager.default.fileExists(atPath: folder + "/report.html"), "\(run.errors)")
            let none = try await RunningProgram(["run", "--", "\u{1b}[2J"]).finish()
            for name in ["x", "x/", "./y//z"] {
                let short = try await RunningProgram(
                    [
                        "-c", "cd \"$1\" && exec \"$0\" run --artifacts \(name) -- sh -c 'exit 1'", SimProcess.path,
                        directory,
                    ],
                    program: "/bin/sh"
                ).finish()
                #expect(short.status == 1 && FileManager.default.fileExists(atPath: "\(directory)/\(name)/report.html"))
            }
            #expect(none.status == 127 && none.errors.contains("\\x1b[2J") && !none.errors.contains("\u{1b}"))
        }
    }

    private static let python = "/usr/bin/python3"

    /// Ctrl-C on a terminal reaches the command once, and Ctrl-Z stops both until the shell continues them.
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: python), "needs python3 for a terminal"))
    func aTerminalIsShared() async throws {
        try await Process.withDirectory { directory in
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
            let file = directory + "/terminal.py"
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            try script.write(toFile: file, atomically: true, encoding: .utf8)
            let run = try await SimProcess.run([file, SimProcess.path, directory], program: Self.python)
            #expect(run.output.components(separatedBy: "int\r\n").count == 2, "\(run.output)")
            #expect(run.output.contains("code 9"), "\(run.output)")
        }
    }
}

extension RunningProgram.Finished {
    /// The result with `--json`: the last line of standard error.
    fileprivate var result: JSONValue {
        let line = errors.split(separator: "\n").last ?? ""
        return (try? WireJSON.decode(JSONValue.self, from: Data(line.utf8))) ?? .null
    }
}
