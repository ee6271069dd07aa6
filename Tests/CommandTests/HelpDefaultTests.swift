import ArgumentParser
import Foundation
import Testing

@testable import entrupy_sim

/// Help names what holds for an option that is not given.
@Suite struct HelpDefaultTests {
    /// The options and arguments for which nothing stands in: filters that do not filter, members that stay as they are, files that
    /// are not written. An entry that is not needed any more fails.
    private static let without = [
        "serve": "tls-key bundle record",
        "run": "scenario command",
        "sweep": "command",
        "clock advance": "by to",
        "namespace make": "prefix",
        "namespace drop": "names prefix",
        "scenario verify": "junit",
        "users set": "email first-name last-name rate-limits",
        "sessions list": "username",
        "sessions revoke": "ids username",
        "items generate": "template",
        "items list": "text brand result flag username",
        "items set": "result reason flag",
        "items retake": "message",
        "settings set": "value",
        "fault add": "route method username header webhook status delay effect",
        "held release": "status",
        "outcome add": "reason brand customer-item-id username product-category component workflow client-id",
        "requests list": "route method status username since test text trace",
        "requests verify": "route method status username since test times step min-gap max-gap",
        "requests resend": "header",
        "api": "data header",
        "events": "subject kind",
        "coverage show": "save baseline html junit",
        "deliveries list": "status entrupy-id",
        "replay": "bundle tls-key",
    ]

    /// The parser's description of a command's arguments.
    private struct Description: Decodable {
        struct Command: Decodable {
            struct Argument: Decodable {
                let kind: String
                let isOptional: Bool
                let preferredName: [String: String]?
                let valueName: String?
                let defaultValue: String?
                let abstract: String?

                /// Whether something holds without the argument that a reader cannot know: a flag is then off.
                var hasDefault: Bool { isOptional && kind != "flag" || defaultValue != nil }
            }

            let arguments: [Argument]?
        }

        let command: Command
    }

    private struct Leaf {
        let name: String
        let type: any ParsableCommand.Type
        let arguments: [Description.Command.Argument]
    }

    /// Every command that has no subcommands.
    private static func leaves() throws -> [Leaf] {
        func leaves(_ command: any ParsableCommand.Type, _ path: [String]) throws -> [Leaf] {
            let next = command.configuration.subcommands
            guard next.isEmpty else { return try next.flatMap { try leaves($0, path + [$0._commandName]) } }
            let description = try JSONDecoder().decode(Description.self, from: Data(command._dumpHelp().utf8))
            let arguments = (description.command.arguments ?? []).filter {
                !["help", "version"].contains($0.preferredName?["name"])
            }
            return [Leaf(name: path.joined(separator: " "), type: command, arguments: arguments)]
        }
        return try leaves(EntrupySim.self, [])
    }

    @Test func helpNamesTheDefaultOfEveryOption() throws {
        let leaves = try Self.leaves()
        #expect(leaves.count > 50)
        var unneeded = Set(
            Self.without.flatMap { command, names in names.split(separator: " ").map { "\(command) \($0)" } })
        for leaf in leaves {
            // Help breaks its lines between words.
            let help = leaf.type.helpMessage(columns: 80).split(whereSeparator: \.isWhitespace).joined(separator: " ")
            for argument in leaf.arguments where argument.hasDefault {
                let name = argument.preferredName?["name"] ?? argument.valueName ?? ""
                if let value = argument.defaultValue {
                    let isNamed = help.contains("(default: \(value))") || help.contains("; default: \(value))")
                    #expect(isNamed, "\(leaf.name) \(name): help does not name \(value)")
                } else if unneeded.remove("\(leaf.name) \(name)") == nil {
                    let text = argument.abstract ?? ""
                    #expect(text.contains("(default: "), "\(leaf.name) \(name): help says \(text)")
                    #expect(help.contains(text), "\(leaf.name) \(name): help has another text")
                }
            }
        }
        #expect(unneeded.isEmpty, "\(unneeded.sorted())")
    }

    /// Help of `serve` says that every flag can be set in the environment.
    @Test func everyFlagOfServeCanComeFromTheEnvironment() throws {
        let serve = try #require(try Self.leaves().first { $0.name == "serve" })
        #expect(serve.arguments.count > 20)
        for argument in serve.arguments {
            let name = try #require(argument.preferredName?["name"])
            let variable = "ENTRUPY_SIM_" + name.uppercased().replacing("-", with: "_")
            let isFlag = argument.kind == "flag"
            let merged = EnvironmentFlags.merged(["serve"], environment: [variable: isFlag ? "yes" : "7"])
            #expect(merged == ["serve", isFlag ? "--\(name)" : "--\(name)=7"], "\(variable)")
            #expect(EnvironmentFlags.problem([variable: "7"]) == nil, "\(variable)")
        }
    }

    /// Kubernetes gives every container `ENTRUPY_SIM_PORT=tcp://…` if there is a service named `entrupy-sim`.
    @Test(arguments: ["tcp://10.96.0.7:8642", "udp://10.96.0.7:53"])
    func theAddressOfAServiceIsNoPort(address: String) {
        let environment = [
            "ENTRUPY_SIM_PORT": address, "ENTRUPY_SIM_PORT_8642_TCP_PROTO": "tcp", "ENTRUPY_SIM_SERVICE_PORT": "8642",
        ]
        #expect(EnvironmentFlags.problem(environment) == nil)
        #expect(
            EnvironmentFlags.merged(["serve", "--in-memory"], environment: environment) == ["serve", "--in-memory"])
        #expect(EnvironmentFlags.notice(environment)?.contains(address) == true)
        #expect(EnvironmentFlags.notice(["ENTRUPY_SIM_PORT": "8643"]) == nil)
        #expect(EnvironmentFlags.merged(["serve"], environment: ["ENTRUPY_SIM_PORT": "x"]) == ["serve", "--port=x"])
    }

    /// A default that the code falls back on is one that help must name.
    @Test func noOptionWithoutADefaultHasOneInTheCode() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources/entrupy-sim/Commands").path
        let names = Set(Self.without.values.flatMap { $0.split(separator: " ") }.map(Self.property))
        #expect(names.contains("customerItemId"))
        var files = 0
        for case let file as String in FileManager.default.enumerator(atPath: root) ?? .init()
        where file.hasSuffix(".swift") {
            files += 1
            let text = try String(contentsOfFile: "\(root)/\(file)", encoding: .utf8)
            for match in text.matches(of: #/[^.\w](\w+) \?\? (?:"[^"]|[0-9])/#) {
                #expect(!names.contains(String(match.1)), "\(file): \(match.0)")
            }
        }
        #expect(files > 15)
    }

    /// The property of an option.
    private static func property(_ name: Substring) -> String {
        let words = name.split(separator: "-")
        return words.dropFirst().reduce(words.first.map(String.init) ?? "") { $0 + $1.capitalized }
    }
}
