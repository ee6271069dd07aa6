import ArgumentParser
import Foundation
import Resources
import Server
import SimulationAPI

/// The root command: starts the server, or sends a command to a running one.
@main
struct EntrupySim: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "entrupy-sim",
        abstract: "A simulator of the Entrupy platform for laptops and CI.",
        version: Encryption.isBuiltIn ? Release.version : "\(Release.version), built without HTTPS",
        subcommands: [Serve.self, RunCommand.self, SweepCommand.self, Doctor.command],
        groupedSubcommands: [
            .init(
                name: "Namespaces",
                subcommands: [
                    Reset.command, Settle.command, Wait.command, ClockCommand.self, NamespaceCommand.self,
                    SnapshotCommand.self, DiffCommand.command, ScenarioCommand.self, SeedCommand.self,
                    UsersCommand.self,
                    SessionsCommand.self, ItemsCommand.self, CaptureCommand.self, SettingsCommand.self,
                    ListChoices.command,
                ]),
            .init(
                name: "Faults and results",
                subcommands: [FaultCommand.self, HeldCommand.self, OutcomeCommand.self]),
            .init(
                name: "Requests, webhooks and recordings",
                subcommands: [
                    RequestsCommand.self, CallRoute.command, ListEvents.command, ExplainCommand.command,
                    AuditCommand.command,
                    CoverageCommand.self,
                    WebhooksCommand.self, DeliveriesCommand.self,
                    WriteBundle.command,
                    ReportCommand.self, ReplayCommand.self,
                ]),
            .init(name: "HTTPS", subcommands: [TrustCommand.self, UntrustCommand.self]),
            .init(name: "Coding agents", subcommands: [AgentServerCommand.self, AgentGuide.self]),
            .init(name: "About this program", subcommands: [Fidelity.self]),
        ])

    /// Parses and runs a command. Flags of `serve` can also come from the environment; the command line has priority.
    static func main() async {
        let words = CommandNames.current(Array(CommandLine.arguments.dropFirst()))
        let environment = ProcessInfo.processInfo.environment
        Encryption.install()
        do {
            if !asksForHelp(words), let problem = EnvironmentFlags.problem(environment) { throw problem }
            let arguments = EnvironmentFlags.merged(words, environment: environment)
            if words.first == "serve" {
                SimServer.prepare(standardSeed: !arguments.contains { $0.hasPrefix("--seed") })
            } else if let problem = CommandNames.problem(words) {
                throw problem
            }
            // In a debug build the parser checks each command on its way down, which takes a fifth of a command's time; in a release the way
            // to `serve` is what counts. If this fails, the parser below reports the error.
            if let (type, rest) = CommandNames.command(arguments), let command = try? type.parse(rest) {
                return try await run(command)
            }
            if let problem = CommandNames.problem(words) { throw problem }
            try await run(parseAsRoot(arguments))
        } catch {
            ExitStatus.end(error)
        }
    }

    private static func run(_ command: any ParsableCommand) async throws {
        var command = command
        if var command = command as? any AsyncParsableCommand {
            try await command.run()
        } else {
            try command.run()
        }
    }

    /// Whether the command line only asks for help, the version, or completions.
    static func asksForHelp(_ words: [String]) -> Bool {
        words.isEmpty || words.first == "help"
            || words.contains {
                ["-h", "--help", "--version", "--generate-completion-script", "--experimental-dump-help"].contains($0)
            }
    }
}

/// `entrupy-sim fidelity`: prints the decisions that the vendor's documents leave open.
struct Fidelity: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fidelity",
        abstract: "Print how far the simulator can be trusted, and every decision that is ours and not the vendor's.")

    func run() {
        Terminal(isJSON: false).document(Data(Resource.bytes("docs/fidelity.md")))
    }
}
