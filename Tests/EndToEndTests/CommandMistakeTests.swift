import ArgumentParser
import Foundation
import SimulationAPI
import TestSupport
import Testing

@testable import entrupy_sim

/// Errors about a wrong command line, for people and for programs.
@Suite struct CommandMistakeTests {
    /// Standard output alone.
    private func output(_ words: [String], _ environment: [String: String] = [:]) async throws -> (Int32, String) {
        let run = try await SimProcess.run(
            ["-c", #"exec "$0" "$@" 2>/dev/null"#, SimProcess.path] + words, environment: environment,
            program: "/bin/sh")
        return (run.status, run.output)
    }

    // MARK: Commands

    @Test(arguments: [
        (["clock", "frieze"], "there is no command \"clock frieze\"", "did you mean \"entrupy-sim clock freeze\"?"),
        (["snapshot", "lst"], "there is no command \"snapshot lst\"", "did you mean \"entrupy-sim snapshot list\"?"),
        (["namespace", "create", "a"], "\"namespace create\"", "did you mean \"entrupy-sim namespace make a\"?"),
        (["namespace", "rm", "a"], "\"namespace rm\"", "did you mean \"entrupy-sim namespace drop a\"?"),
        (
            ["clock", "advnce", "2h", "-n", "q1", "--url", "http://127.0.0.1:9"], "\"clock advnce\"",
            "did you mean \"entrupy-sim clock advance 2h -n q1 --url http://127.0.0.1:9\"?"
        ),
        (
            ["namespace", "create", "a", "--frozen", "--url=http://127.0.0.1:9"], "\"namespace create\"",
            "did you mean \"entrupy-sim namespace make a --url=http://127.0.0.1:9\"?"
        ),
        (["webhooks", "delete", "a"], "\"webhooks delete\"", "did you mean \"entrupy-sim webhooks remove a\"?"),
        (["requests", "follow"], "\"requests follow\"", "did you mean \"entrupy-sim requests tail\"?"),
        (["clock", "unfreeze"], "\"clock unfreeze\"", "did you mean \"entrupy-sim clock resume\"?"),
        (["fault", "remove", "flt_a"], "\"fault remove\"", "did you mean \"entrupy-sim fault clear flt_a\"?"),
        (
            ["outcome", "remove", "a b", "--json"], "\"outcome remove\"",
            "did you mean \"entrupy-sim outcome clear 'a b'\"?"
        ),
        (["outcome", "rm"], "\"outcome rm\"", "did you mean \"entrupy-sim outcome clear ID\"?"),
        (
            ["deliveries", "repeat", "a"], "\"deliveries repeat\"",
            "did you mean \"entrupy-sim deliveries redeliver a\"?"
        ),
        (["requests", "repeat", "3"], "\"requests repeat\"", "did you mean \"entrupy-sim requests resend 3\"?"),
        (["items", "gen"], "\"items gen\"", "did you mean \"entrupy-sim items generate\"?"),
        (["ns", "list"], "there is no command \"ns\"", "did you mean \"entrupy-sim namespace\"?"),
        (["freeze"], "there is no command \"freeze\"", "did you mean \"entrupy-sim clock freeze\"?"),
        (["resend", "a"], "there is no command \"resend\"", "did you mean \"entrupy-sim requests resend\"?"),
        (["clock", "advance", "2", "h"], "2 h is two words", "write it as one: 2h"),
        (
            ["clock", "advance", "-1h"], "-1h is negative, and a clock only goes forward",
            "for instance \"entrupy-sim clock advance 1h\""
        ),
        (["status"], "there is no command \"status\"", "did you mean \"entrupy-sim doctor\"?"),
        (
            ["clock", "qqqq"], "there is no command \"clock qqqq\"",
            "entrupy-sim clock has show, freeze, advance, resume"
        ),
    ])
    func aWordThatIsNoCommandHasASuggestion(words: [String], problem: String, next: String) throws {
        let refusal = try #require(CommandNames.problem(words))
        #expect(refusal.code == .usage && refusal.message.contains(problem), "\(refusal.message)")
        #expect(refusal.next?.hasPrefix(next) == true, "\(refusal.next ?? "")")
    }

    @Test(arguments: [
        ["clock", "show"], ["clock"], ["clock", "--help"], ["clock", "help"], ["doctor", "--json"], ["reset"],
        ["run", "--", "npm", "tset"], ["namespace", "drop", "create"], ["deliveries", "trigger", "add", "list"],
    ])
    func aRightCommandHasNone(words: [String]) {
        #expect(CommandNames.problem(words)?.message == nil)
    }

    /// Every other group has a command of this name.
    @Test func eventsAreListedAsOtherThingsAre() {
        #expect(CommandNames.current(["events", "list", "--limit", "1"]) == ["events", "--limit", "1"])
        #expect(CommandNames.current(["events", "--kind", "list"]) == ["events", "--kind", "list"])
    }

    // MARK: Options

    @Test(
        arguments: [
            ("--user", ["requests", "list"], "did you mean --username?"), ("--user", ["clock", "show"], nil),
            ("--username", ["capture", "run"], "did you mean --user?"),
            ("--ns", ["clock", "show"], "did you mean --namespace?"), ("--out", ["bundle"], "did you mean --output?"),
            ("--server", ["clock", "show"], "did you mean --url?"),
            ("--token", ["doctor"], "did you mean --control-token?"),
            ("--statsu", ["requests", "list"], "did you mean --status?"),
            ("--wait", ["settle"], "did you mean --within?"),
            ("--force", ["scenario", "start"], "did you mean --replace?"),
            ("--memory", ["serve"], "did you mean --in-memory?"),
            ("--rand", ["serve"], "did you mean --random-seed?"), ("--zzzz", ["serve"], nil),
            ("-x", ["clock", "show"], nil),
            ("--size", ["bundle"], "did you mean --max-bytes?"),
        ] as [(String, [String], String?)])
    func anUnknownOptionHasASuggestion(option: String, words: [String], guess: String?) {
        let hint = Suggestions.hint(for: option, in: words + [option, "x"])
        let help = "entrupy-sim \(words.joined(separator: " ")) --help lists its options"
        #expect(hint == (guess.map { "\($0) \(help)" } ?? help))
    }

    /// Every name in the tables leads to a name that a command has.
    @Test func theTablesNameOnlyWhatThereIs() {
        var (names, options): (Set<String>, Set<String>) = ([], [])
        func collect(_ command: any ParsableCommand.Type) {
            for next in command.configuration.subcommands {
                names.insert(next._commandName)
                collect(next)
            }
            options.formUnion(Suggestions.options(of: command))
        }
        collect(EntrupySim.self)
        for (word, others) in Suggestions.otherCommands {
            #expect(Set(others).isSubset(of: names) && !others.contains(word), "\(word)")
        }
        for (word, others) in Suggestions.otherOptions {
            #expect(Set(others).isSubset(of: options) && !others.contains(word), "\(word)")
        }
    }

    @Test func theProgramNamesTheOptionThatIsMeant() async throws {
        let run = try await SimProcess.run(["requests", "list", "--user", "DemoOrg-a"])
        #expect(run.status == 64 && run.output.hasPrefix("error: unknown option '--user'\n  did you mean --username? "))
    }

    // MARK: JSON

    /// Failures of every kind, with the code of the envelope.
    @Test(
        arguments: [
            (["clock", "show", "--json", "--url", "http://127.0.0.1:9"], [:], 69, "no_server"),
            (["requests", "list", "--json", "--user", "x"], [:], 64, "usage"),
            (["clock", "frieze", "--json"], [:], 64, "usage"), (["nonsense", "--json"], [:], 64, "usage"),
            (["wait", "item:a:result", "--within", "soon", "--json"], [:], 64, "usage"),
            (["users", "set", "a", "--json"], [:], 64, "usage"),
            (["clock", "advance", "-1h", "--json"], [:], 64, "usage"),
            (["bundle", "--max-bytes", "10 MBs", "--json"], [:], 64, "usage"),
            (["seed", "load", "/nowhere", "--json"], [:], 64, "usage"),
            (["replay", "/nowhere", "--json"], [:], 64, "usage"),
            (["clock", "show", "--json"], ["ENTRUPY_SIM_PROT": "1"], 64, "usage"),
            (["clock", "advance", "soon", "--json"], [:], 64, "bad_request"),
            (["users", "show", "DemoOrg-nobody", "--json"], [:], 1, "not_found"),
            (["wait", "webhook:session.completed", "--within", "50ms", "--json"], [:], 1, "refused"),
        ] as [([String], [String: String], Int32, String)])
    func aFailureIsAnEnvelope(words: [String], environment: [String: String], status: Int32, code: String) async throws
    {
        let world = try await TestWorld.make()
        let own = [
            "ENTRUPY_SIM_URL": SimProcess.shared.baseURL,
            "ENTRUPY_SIM_NAMESPACE": String(try #require(world.base.split(separator: "/").last)),
        ]
        let (found, text) = try await output(words, own.merging(environment) { $1 })
        #expect(found == status)
        let envelope = try WireJSON.decode(ErrorEnvelope.self, from: Data(text.utf8))
        #expect(!envelope.error.isEmpty)
        #expect(envelope.code == code, "\(text)")
        #expect(text.split(separator: "\n").count == 1)
    }

    /// The parser's description of a command's arguments.
    private struct Description: Decodable {
        struct Command: Decodable {
            struct Argument: Decodable {
                let kind: String
                let isOptional: Bool
                let preferredName: [String: String]?
            }

            let arguments: [Argument]?
        }

        let command: Command
    }

    /// The words of every command with values for what it needs.
    private static func everyCommand() throws -> [[String]] {
        func leaves(_ command: any ParsableCommand.Type, _ path: [String]) throws -> [[String]] {
            let next = command.configuration.subcommands
            guard next.isEmpty else { return try next.flatMap { try leaves($0, path + [$0._commandName]) } }
            let description = try JSONDecoder().decode(Description.self, from: Data(command._dumpHelp().utf8))
            let needed = (description.command.arguments ?? []).filter { !$0.isOptional }.flatMap { argument in
                argument.kind == "positional" ? ["x"] : ["--\(argument.preferredName?["name"] ?? "")", "1"]
            }
            return [path + needed]
        }
        return try leaves(EntrupySim.self, [])
    }

    /// Without a server, or with an option that the command does not have.
    @Test func everyCommandFailsAsAnEnvelope() async throws {
        let commands = try Self.everyCommand()
        #expect(commands.count > 50)
        try await withThrowingTaskGroup { group in
            for words in commands where words.first != "doctor" {
                group.addTask {
                    let (status, text) = try await output(words + ["--json", "--url", "http://127.0.0.1:9"])
                    #expect([64, 69].contains(status), "\(words)")
                    #expect(text.split(separator: "\n").count == 1, "\(words): \(text)")
                    let envelope = try? WireJSON.decode(ErrorEnvelope.self, from: Data(text.utf8))
                    #expect(envelope?.code == (status == 64 ? "usage" : "no_server"), "\(words): \(text)")
                }
            }
            try await group.waitForAll()
        }
    }

    /// The server's answer was 200, so that is what is printed.
    @Test func anAnswerThatIsNoErrorStaysAnAnswer() async throws {
        let world = try await TestWorld.make()
        let name = String(try #require(world.base.split(separator: "/").last))
        let words = ["clock", "advance", "--to", "next", "--json", "-n", name, "--url", SimProcess.shared.baseURL]
        let (status, text) = try await output(words)
        let clock = try WireJSON.decode(ClockState.self, from: Data(text.utf8))
        #expect(status == 1 && clock.nothing_due == true)
    }

    // MARK: Files

    @Test(
        arguments: [
            ("name: x\n\tdescription: y\n", ":2:1: not YAML: a tab indents this line"),
            ("name: x\ndescription: \"y\n", ":2:14: not YAML: the quote that begins here has no end"),
            (
                "name: x\ndescription: y\noutcoms: []\n",
                ":3: outcoms: is not known here; did you mean outcomes? expected"
            ),
            (
                "name: x\ndescription: y\nfaults:\n  - match: {rout: /x}\n    effect: {status: 500}\n",
                ":4: faults[0].match.rout: is not known here; did you mean route? expected"
            ),
            (
                "name: x\ndescription: y\nclock: {freeze: 2026-02-29T09:00:00Z}\n",
                ":3: clock.freeze: 29 February 2026 is not a date; February 2026 has 28 days"
            ),
            (
                "name: x\ndescription: y\ntimeline:\n  - {at: 30m1h, clear_faults: true}\n",
                ":4: timeline[0].at: must be"
            ),
        ])
    func aMistakeInAScenarioHasItsPlace(text: String, problem: String) async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("sim-\(UUID()).yaml").path
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        let run = try await SimProcess.run(["scenario", "start", file, "--url", SimProcess.shared.baseURL])
        #expect(run.status == 64 && run.output.hasPrefix("error: \(file)\(problem)"), "\(run.output)")
    }

    @Test func eachMistakeInAScenarioHasItsPlace() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("sim-\(UUID()).yaml").path
        let text = "name: x\ndescription: y\noutcoms: []\ntimeline:\n  - {at: soon, clear_faults: true}\n  - {at: 1h}\n"
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        let run = try await SimProcess.run(["scenario", "start", file, "--url", SimProcess.shared.baseURL])
        let lines = run.output.split(separator: "\n").map(String.init)
        #expect(run.status == 64 && lines.count == 4, "\(run.output)")
        for (line, place) in zip(
            lines, ["error: \(file):3: outcoms: ", "  \(file):5: timeline[0].at: ", "  \(file):6: timeline[1]: "])
        {
            #expect(line.hasPrefix(place), "\(run.output)")
        }
    }

    // MARK: Measures

    @Test func durationsAndSizesAreRead() throws {
        #expect(DurationArgument(argument: "1h30m").seconds == 5400)
        #expect(DurationArgument(argument: "90").seconds == 90 && DurationArgument(argument: "0.5").seconds == 0.5)
        #expect(DurationArgument(argument: "inf").seconds == nil && DurationArgument(argument: "0x1p3").seconds == nil)
        #expect(DurationArgument(argument: "90").json == .number(JSONNumber(text: "90.0")))
        #expect(
            DurationArgument(argument: "1h30m").json == "1h30m" && DurationArgument(argument: "soon").json == "soon")
        #expect(SizeArgument(argument: "10 MB").bytes == 10_000_000)
        for (text, isRight) in [("1s", true), ("1d", true), ("999ms", false), ("1d1s", false), ("x", false)] {
            let argument = DurationArgument(argument: text)
            #expect(isRight == ((try? argument.check("--a", from: "1s", to: "1d")) != nil), "\(text)")
        }
        let error = #expect(throws: ValidationError.self) { try DurationArgument(argument: "0").check("--a", to: "1d") }
        #expect(
            error?.message
                == "--a must be a duration such as 90s, 1h30m, 300ms, 1.5d, or a number of seconds, more than 0 and at most 1d, got \"0\""
        )
    }
}
