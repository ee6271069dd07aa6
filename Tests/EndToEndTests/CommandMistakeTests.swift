import ArgumentParser
import Foundation
import SimulationAPI
import TestSupport
import Testing

@testable import entrupy_sim

/// Errors for programs: with `--json` each is an envelope on standard output.
@Suite struct CommandMistakeTests {
    /// Standard output alone.
    private func output(_ words: [String], _ environment: [String: String] = [:]) async throws -> (Int32, String) {
        let run = try await SimProcess.run(
            ["-c", #"exec "$0" "$@" 2>/dev/null"#, SimProcess.path] + words, environment: environment,
            program: "/bin/sh")
        return (run.status, run.output)
    }

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

}
