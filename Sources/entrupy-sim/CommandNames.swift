/// Checks for mistakes in a command line that the argument parser would explain less well.
enum CommandNames {
    /// The first mistake found, `nil` if there is none.
    static func problem(_ words: [String]) -> Refusal? { unknown(words) ?? negative(words) }

    /// The error for a first word that is not a command, `nil` if it is one.
    private static func unknown(_ words: [String]) -> Refusal? {
        guard let word = words.first, !EntrupySim.asksForHelp([word]) else { return nil }
        let configuration = EntrupySim.configuration
        let names =
            (configuration.subcommands + configuration.groupedSubcommands.flatMap(\.subcommands)).map {
                $0._commandName
            }
            + ["help"]
        guard !names.contains(word) else { return nil }
        guard !word.hasPrefix("-") else {
            return Refusal(
                .usage, "\(word) must come after a command",
                next: "the server's flags follow \"entrupy-sim serve\"; entrupy-sim --help lists all commands")
        }
        let guess = Spelling.nearest(to: word, among: names).map { "did you mean \"entrupy-sim \($0)\"? " } ?? ""
        return Refusal(.usage, "there is no command \"\(word)\"", next: "\(guess)entrupy-sim --help lists all")
    }

    /// The error for a word such as `-1h`, `nil` if there is none. The parser would read it as options, one of them `-h`.
    private static func negative(_ words: [String]) -> Refusal? {
        let found = words.indices.first { index in
            let word = words[index]
            return word.hasPrefix("-") && word.dropFirst().first.map { $0.isASCII && $0.isNumber } ?? false
        }
        guard let found else { return nil }
        let option = found > 0 && words[found - 1].hasPrefix("--") ? "\(words[found - 1]) " : ""
        let command = words.prefix { !$0.hasPrefix("-") }.joined(separator: " ")
        return Refusal(
            .usage, "\(option)\(words[found]) is negative, which no value here can be",
            next: "Usage: entrupy-sim \(command) --help lists what it takes")
    }
}

/// Guesses the word that a misspelt word stands for.
enum Spelling {
    /// The largest edit distance at which a name still counts as near.
    private static let tolerance = 2

    /// The name with the smallest edit distance to `word`; `nil` if none is near.
    static func nearest(to word: String, among names: [String]) -> String? {
        let word = Array(word.utf8)
        let near = names.map { name in
            let name = (text: name, bytes: Array(name.utf8))
            let isNear = abs(name.bytes.count - word.count) <= tolerance
            return (name.text, isNear ? distance(name.bytes, word) : .max)
        }
        return near.min { $0.1 < $1.1 }.flatMap { $0.1 <= tolerance ? $0.0 : nil }
    }

    /// The edit distance: the number of bytes to insert, delete or change.
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var row = Array(0...right.count)
        for (i, a) in left.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, b) in right.enumerated() {
                let changed = diagonal + (a == b ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(changed, row[j] + 1, row[j + 1] + 1)
            }
        }
        return row[right.count]
    }
}
