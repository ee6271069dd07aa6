import ArgumentParser
import SimulationAPI
import Testing

@testable import entrupy_sim

/// Wrong words of a command line: what is said about them.
@Suite struct CommandNameTests {
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
        (["rest"], "there is no command \"rest\"", "did you mean \"entrupy-sim reset\"?"),
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

    /// Each command is parsed without the others; groups, and words that name nothing, are left to the whole parser.
    @Test func eachCommandIsFoundByItsNames() throws {
        func commands(of type: any ParsableCommand.Type, _ names: [String]) -> [([String], any ParsableCommand.Type)] {
            let parts = type.configuration.subcommands
            return parts.isEmpty ? [(names, type)] : parts.flatMap { commands(of: $0, names + [$0._commandName]) }
        }
        let all = commands(of: EntrupySim.self, [])
        #expect(all.count > 60)
        for (names, type) in all {
            let found = try #require(CommandNames.command(names + ["--json", "x"]), "\(names)")
            #expect(found.type == type && found.rest == ["--json", "x"], "\(names)")
        }
        for words in [[], ["namespace"], ["help", "serve"], ["--version"], ["namespace", "lst"]] {
            #expect(CommandNames.command(words)?.rest == nil, "\(words)")
        }
    }
}
