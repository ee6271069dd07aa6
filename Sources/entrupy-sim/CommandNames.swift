import ArgumentParser
import SimulationAPI

/// Checks for mistakes in a command line that the argument parser would explain less well.
enum CommandNames {
    /// The first mistake found, `nil` if there is none.
    static func problem(_ words: [String]) -> Refusal? {
        guard words.first == "run" else {
            return unknown(words) ?? Suggestions.unknownSubcommand(words) ?? splitTime(words)
                ?? negative(words)
        }
        // The words after it are the command's, which may have options of the same names.
        let own = Array(words.prefix { $0 != "--" })
        if own.count == words.count, !EntrupySim.asksForHelp(own) {
            return Refusal(
                .usage, "the command to run must follow --", next: "for instance: entrupy-sim run -- npm test")
        }
        return negative(own)
    }

    /// The words, without the `list` of `events list`: every other group has a command of this name.
    static func current(_ words: [String]) -> [String] {
        if words.starts(with: ["events", "list"]) { return ["events"] + words.dropFirst(2) }
        return words
    }

    /// The command that the first words name, and the words behind its name; `nil` if they name a group or nothing.
    static func command(_ words: [String]) -> (type: any ParsableCommand.Type, rest: [String])? {
        // Clients wait for a server's start: the list of all commands alone would take a twentieth of it.
        if words.first == "serve" { return (Serve.self, Array(words.dropFirst())) }
        let (type, path) = Suggestions.command(words)
        return type.configuration.subcommands.isEmpty ? (type, Array(words.dropFirst(path.count))) : nil
    }

    /// The error for a first word that is not a command, `nil` if it is one.
    private static func unknown(_ words: [String]) -> Refusal? {
        guard let word = words.first, !EntrupySim.asksForHelp([word]) else { return nil }
        let names = EntrupySim.configuration.subcommands.map { $0._commandName } + ["help"]
        guard !names.contains(word) else { return nil }
        guard !word.hasPrefix("-") else {
            return Refusal(
                .usage, "\(word) must come after a command",
                next: "the server's flags follow \"entrupy-sim serve\"; entrupy-sim --help lists all commands")
        }
        let guesses = Suggestions.commands(for: word).map { "\"entrupy-sim \($0)\"" }
        let hint = guesses.isEmpty ? "" : "did you mean \(guesses.joined(separator: " or "))? "
        return Refusal(.usage, "there is no command \"\(word)\"", next: "\(hint)entrupy-sim --help lists all")
    }

    /// The error for a time in two words, such as `2 h`, `nil` if there is none.
    private static func splitTime(_ words: [String]) -> Refusal? {
        let options = ["advance", "--after", "--max-gap", "--min-gap", "--timeout", "--ttl", "--within"]
        let place = words.indices.dropFirst(2).first { place in
            options.contains(words[place - 2]) && unit(words[place], behind: words[place - 1]) != nil
        }
        guard let place, let unit = unit(words[place], behind: words[place - 1]) else { return nil }
        return Refusal(
            .usage, "\(words[place - 1]) \(words[place]) is two words",
            next: "write it as one: \(words[place - 1])\(unit)")
    }

    /// The end of a time in two words as it must be written: `h` for `hours` behind a number, `30m` behind `1h`; `nil` for other words.
    private static func unit(_ word: String, behind first: String) -> String? {
        let names = ["ms": "millisecond", "s": "second", "m": "minute", "h": "hour", "d": "day"]
        if first.wholeMatch(of: #/[0-9.]+/#) != nil {
            return names.first { unit, name in
                word == unit || word == name || word == name + "s" || ["m": "min", "s": "sec"][unit] == word
            }?.key
        }
        let isPart = #/[0-9.]+(ms|s|m|h|d)/#
        return first.wholeMatch(of: isPart) != nil && word.wholeMatch(of: isPart) != nil ? word : nil
    }

    /// The error for a word such as `-1h`, `nil` if there is none. The parser would read it as options, one of them `-h`.
    private static func negative(_ words: [String]) -> Refusal? {
        guard let found = words.firstIndex(where: { $0.starts(with: #/-[0-9]/#) }) else { return nil }
        let option = found > 0 && words[found - 1].hasPrefix("--") ? "\(words[found - 1]) " : ""
        let command = words.prefix { !$0.hasPrefix("-") }.joined(separator: " ")
        if command == "clock advance", found == 2 {
            return Refusal(
                .usage, "\(words[found]) is negative, and a clock only goes forward",
                next:
                    "for instance \"entrupy-sim clock advance 1h\(Suggestions.connection(words))\"; a snapshot that is restored brings its time back"
            )
        }
        return Refusal(
            .usage, "\(option)\(words[found]) is negative, which no value here can be",
            next: "Usage: entrupy-sim \(command) --help lists what it takes")
    }
}
