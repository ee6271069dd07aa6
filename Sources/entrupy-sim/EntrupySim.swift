import ArgumentParser
import Foundation

/// The command line: flags in, a server or an answer out.
@main
struct EntrupySim: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "entrupy-sim",
        abstract: "The Entrupy platform as a simulator that runs on a laptop and in CI.",
        version: Version.text,
        subcommands: [Serve.self, Doctor.self],
        groupedSubcommands: [
            .init(
                name: "A namespace",
                subcommands: [
                    Reset.self, Settle.self, ClockCommand.self, NamespaceCommand.self, SnapshotCommand.self,
                    ScenarioCommand.self,
                    SeedCommand.self,
                    UsersCommand.self, ItemsCommand.self,
                ]),
            .init(name: "What it does", subcommands: [FaultCommand.self, OutcomeCommand.self]),
            .init(
                name: "What it did",
                subcommands: [RequestsCommand.self, WebhooksCommand.self, BundleCommand.self, ReplayCommand.self]),
            .init(name: "About this program", subcommands: [Fidelity.self]),
        ],
        defaultSubcommand: Serve.self)

    /// Every flag can come from the environment too; one that is given wins.
    static func main() async {
        let words = Array(CommandLine.arguments.dropFirst())
        let arguments = EnvironmentFlags.merged(words, environment: ProcessInfo.processInfo.environment)
        // Most runs are this one, and wait for it: looking through all commands would take longer than to start.
        // What is wrong with it is said below.
        if words.first == "serve", let serve = try? Serve.parse(Array(arguments.dropFirst())) {
            do {
                return try await serve.run()
            } catch {
                exit(withError: error)
            }
        }
        if let problem = words.first.flatMap({ Names.problem($0) }) ?? Names.negative(words) {
            Terminal(isJSON: false).show(problem)
            Foundation.exit(problem.code.rawValue)
        }
        await main(arguments)
    }
}

/// The names of commands.
private enum Names {
    /// What is wrong with a first word that is no command: without one, the command is `serve`, which takes no words.
    static func problem(_ word: String) -> Refusal? {
        let configuration = EntrupySim.configuration
        let names =
            (configuration.subcommands + configuration.groupedSubcommands.flatMap(\.subcommands)).map {
                $0._commandName
            }
            + ["help"]
        guard !word.hasPrefix("-"), !names.contains(word) else { return nil }
        let near = names.map { ($0, distance(Array($0), Array(word))) }.min { $0.1 < $1.1 }
        let guess = near.flatMap { $0.1 <= 2 ? "did you mean \"entrupy-sim \($0.0)\"? " : nil } ?? ""
        return Refusal(.usage, "there is no command \"\(word)\"", next: "\(guess)entrupy-sim --help lists all")
    }

    /// What is wrong with a word such as `-1h`, which would be read as options, `-h` among them.
    static func negative(_ words: [String]) -> Refusal? {
        let found = words.indices.first { index in
            let word = words[index]
            return word.hasPrefix("-") && word.dropFirst().first.map { $0.isASCII && $0.isNumber } ?? false
        }
        guard let found else { return nil }
        let option = found > 0 && words[found - 1].hasPrefix("--") ? "\(words[found - 1]) " : ""
        let command = words.prefix { !$0.hasPrefix("-") }.joined(separator: " ")
        return Refusal(
            .usage, "\(option)\(words[found]) is negative, and nothing here can be",
            next: "Usage: entrupy-sim \(command) --help lists what it takes")
    }

    /// How many letters have to be put in, taken out or changed.
    private static func distance(_ left: [Character], _ right: [Character]) -> Int {
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

/// This program's version.
enum Version {
    static let text = "0.1.0"
}
