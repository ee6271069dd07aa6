import ArgumentParser
import Foundation

/// The command line: flags in, a server or an answer out.
@main
struct EntrupySim: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "entrupy-sim",
        abstract: "The Entrupy platform as a simulator that runs on a laptop and in CI.",
        version: Version.text,
        subcommands: [Serve.self, Fidelity.self],
        defaultSubcommand: Serve.self)

    /// Every flag can come from the environment too; one that is given wins.
    static func main() async {
        let arguments = EnvironmentFlags.merged(
            Array(CommandLine.arguments.dropFirst()), environment: ProcessInfo.processInfo.environment)
        await main(arguments)
    }
}

/// This program's version.
enum Version {
    static let text = "0.1.0"
}
