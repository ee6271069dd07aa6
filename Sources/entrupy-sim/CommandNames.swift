import SimulationAPI

/// Checks for mistakes in a command line that the argument parser would explain less well.
enum CommandNames {
    /// The first mistake found, `nil` if there is none.
    static func problem(_ words: [String]) -> Refusal? {
        guard words.first == "run" else {
            return unknown(words) ?? Suggestions.unknownSubcommand(words) ?? negative(words)
        }
        // The words after it are the command's, which may have options of the same names.
        let own = Array(words.prefix { $0 != "--" })
        if own.count == words.count, !EntrupySim.asksForHelp(own) {
            return Refusal(
                .usage, "the command to run must follow --", next: "for instance: entrupy-sim run -- npm test")
        }
        return negative(own)
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

    /// The error for a word such as `-1h`, `nil` if there is none. The parser would read it as options, one of them `-h`.
    private static func negative(_ words: [String]) -> Refusal? {
        guard let found = words.firstIndex(where: { $0.starts(with: #/-[0-9]/#) }) else { return nil }
        let option = found > 0 && words[found - 1].hasPrefix("--") ? "\(words[found - 1]) " : ""
        let command = words.prefix { !$0.hasPrefix("-") }.joined(separator: " ")
        return Refusal(
            .usage, "\(option)\(words[found]) is negative, which no value here can be",
            next: "Usage: entrupy-sim \(command) --help lists what it takes")
    }
}
