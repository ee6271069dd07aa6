import ArgumentParser
import Console
import Foundation
import SimulationAPI

/// Finds the command or option that a wrong name means.
enum Suggestions {
    /// Words of other programs for what a command here has another name for, the likeliest first.
    static let otherCommands = [
        "rm": ["drop", "delete", "clear", "remove"], "delete": ["drop", "clear", "remove"],
        "remove": ["drop", "delete", "clear"], "drop": ["delete", "clear", "remove"],
        "create": ["make", "save", "add", "generate"], "new": ["make", "save", "add", "generate"],
        "add": ["make", "save"], "ls": ["list"], "get": ["show", "list"], "cat": ["show"], "info": ["show", "doctor"],
        "follow": ["tail"], "watch": ["tail", "events"], "logs": ["requests"], "log": ["events"],
        "event-log": ["events"], "journal": ["requests"],
        "check": ["verify", "doctor"], "test": ["verify"], "status": ["doctor", "show"], "health": ["doctor"],
        "start": ["serve"], "server": ["serve"], "up": ["serve"], "ns": ["namespace"], "stop": ["freeze"],
        "set": ["advance"], "load": ["import", "restore"], "download": ["export"], "upload": ["import"],
        "retry": ["redeliver", "resend"], "repeat": ["resend", "redeliver"], "unfreeze": ["resume"], "edit": ["set"],
        "update": ["set"], "change": ["set"],
    ]

    /// Options of other programs, or of other commands here, for what an option has another name for.
    static let otherOptions = [
        "user": ["username"], "username": ["user"], "user-name": ["username"], "unique-user-id": ["username"],
        "ns": ["namespace"],
        "name": ["namespace", "new"], "world": ["namespace"], "server": ["url"], "address": ["url", "host"],
        "base-url": ["url", "public-url"], "endpoint": ["url"], "bind": ["host"], "listen": ["host", "port"],
        "token": ["control-token"], "api-token": ["control-token"], "out": ["output"], "file": ["output", "bundle"],
        "dest": ["output"], "path": ["route", "output"], "uri": ["route"], "verb": ["method"], "code": ["status"],
        "outcome": ["result"], "verdict": ["result"], "number": ["count", "times", "limit"],
        "num": ["count", "times", "limit"], "max": ["at-most", "limit"], "min": ["at-least"],
        "max-size": ["max-bytes"], "size": ["max-bytes"], "wait": ["within", "timeout"],
        "max-wait": ["within", "timeout"], "for": ["within"], "duration": ["within", "ttl"],
        "expires": ["ttl"], "expire": ["ttl"], "lifetime": ["ttl"], "delay": ["after"], "in": ["after"],
        "force": ["replace"], "overwrite": ["replace"], "silent": ["quiet"], "no-progress": ["quiet"],
        "verbose": ["log-level"], "debug": ["log-level"], "data": ["data-dir"], "dir": ["data-dir", "artifacts"],
        "db": ["data-dir"], "memory": ["in-memory"], "ephemeral": ["in-memory"], "https-port": ["tls-port"],
        "cert": ["tls-cert"], "key": ["tls-key"], "origin": ["cors"], "item": ["text"], "sku": ["text"],
        "customer-item-id": ["text"], "tags": ["test"], "xml": ["junit"], "report": ["junit"],
    ]

    /// The error for a word that is none of its group's commands, `nil` if there is none.
    static func unknownSubcommand(_ words: [String]) -> Refusal? {
        let (command, path) = command(words)
        let names = command.configuration.subcommands.map { $0._commandName }
        guard !names.isEmpty, !path.isEmpty, path.count < words.count else { return nil }
        let word = words[path.count]
        guard !word.hasPrefix("-"), word != "help" else { return nil }
        let group = "entrupy-sim \(path.joined(separator: " "))"
        let guess =
            meant(by: word, among: names, otherCommands)
            .map { name in
                let rest = words.dropFirst(path.count + 1)
                // A command with another name may have other options.
                let isSlip = otherCommands[word]?.contains(name) != true
                let given =
                    isSlip && !rest.isEmpty
                    ? rest.map { " " + Shell.quoted($0) }.joined() : operands(rest, of: name, path) + connection(rest)
                return "did you mean \"\(group) \(name)\(given)\"? "
            } ?? ""
        return Refusal(
            .usage, "there is no command \"\(path.joined(separator: " ")) \(word)\"",
            next: "\(guess)\(group) has \(names.joined(separator: ", "))")
    }

    /// The operands of a command that is suggested, behind a space each: without its ids, `clear` would remove all rules.
    private static func operands(_ words: ArraySlice<String>, of name: String, _ path: [String]) -> String {
        let operands = words.prefix { !$0.hasPrefix("-") }.map { " " + Shell.operand($0) }.joined()
        return operands.isEmpty && name == "clear" && ["fault", "outcome"].contains(path.last) ? " ID" : operands
    }

    /// The options that name the server and the namespace, behind a space each: without them a suggestion would be about others.
    static func connection(_ words: some Sequence<String>) -> String {
        let words = Array(words)
        return words.indices.filter { place in
            let names = ["-n", "--namespace", "--url"]
            return names.contains { words[place] == $0 || words[place].hasPrefix($0 + "=") }
                || place > 0 && names.contains(words[place - 1])
        }.map { " " + Shell.quoted(words[$0]) }.joined()
    }

    /// The commands that a first word can mean: those of a group with its name, or one with a near name or the same meaning.
    static func commands(for word: String) -> [String] {
        let all = EntrupySim.configuration.subcommands
        let nested = all.filter { $0.configuration.subcommands.contains { $0._commandName == word } }
        if (1...3).contains(nested.count) { return nested.map { "\($0._commandName) \(word)" } }
        return meant(by: word, among: all.map { $0._commandName }, otherCommands).map { [$0] } ?? []
    }

    /// The hint for an option that the command of these words does not have.
    ///
    /// - Parameter option: its name with its hyphens.
    static func hint(for option: String, in words: [String]) -> String {
        let (command, path) = command(words)
        let help = "entrupy-sim \((path + ["--help"]).joined(separator: " ")) lists its options"
        guard option.hasPrefix("--") else { return help }
        let guess = meant(by: String(option.dropFirst(2)), among: options(of: command), otherOptions)
        return guess.map { "did you mean --\($0)? \(help)" } ?? help
    }

    /// The command or group that the first words name, and these words.
    static func command(_ words: [String]) -> (type: any ParsableCommand.Type, path: [String]) {
        var type: any ParsableCommand.Type = EntrupySim.self
        var path: [String] = []
        while path.count < words.count,
            let next = type.configuration.subcommands.first(where: { $0._commandName == words[path.count] })
        {
            type = next
            path.append(words[path.count])
        }
        return (type, path)
    }

    private static func meant(by word: String, among names: [String], _ others: [String: [String]]) -> String? {
        // In short words, two other letters make another word.
        others[word]?.first { names.contains($0) } ?? NearestName.nearest(to: word, among: names, maxDistance: 1)
            ?? names.first { word.count > 2 && $0.hasPrefix(word) }
            ?? (word.count > 3 ? NearestName.nearest(to: word, among: names, maxDistance: 2) : nil)
    }

    /// The long names of a command's options. The parser tells them as JSON alone.
    static func options(of command: any ParsableCommand.Type) -> [String] {
        // Without the names there is no suggestion; a test reads them.
        let help = try? WireJSON.decode(JSONValue.self, from: Data(command._dumpHelp().utf8))
        let arguments = help?.members?["command"]?.members?["arguments"]?.elements ?? []
        let names = arguments.flatMap { $0.members?["names"]?.elements ?? [] }.compactMap(\.members)
        return names.filter { $0["kind"]?.text == "long" }.compactMap { $0["name"]?.text }
    }
}
