import ArgumentParser
import Foundation
import SimulationAPI

/// `entrupy-sim settings`.
struct SettingsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings", abstract: "See and change a namespace's settings.", subcommands: [Show.self, Set.self])

    struct Show: ControlCommand {
        static let configuration = CommandConfiguration(commandName: "show", abstract: "Print the settings as JSON.")

        @OptionGroup var control: ControlOptions

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            terminal.json(try await client.send("GET", "/_sim/settings").bytes)
        }
    }

    struct Set: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "set", abstract: "Change settings by a JSON merge patch, and print all.",
            discussion: """
                settings set '{"rate_limits": "off"}'
                settings set '{"result": {"default": "unknown", "delay": "3h"}}'
                """)

        @OptionGroup var control: ControlOptions

        @Argument(help: "The patch: members to change; null gives a member its default.")
        var patch: String

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            let patch = try InputFile.json(Data(patch.utf8), "the patch")
            terminal.json(try await client.send("PATCH", "/_sim/settings", patch).bytes)
        }
    }
}

/// `entrupy-sim choices`.
struct ChoicesCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "choices", abstract: "List the values that rules and actions can name.",
        discussion: "Without a list's name, prints the names of the lists. \"routes\" lists the platform's routes.")

    @OptionGroup var control: ControlOptions

    @Argument(help: "The list, for instance results or brands.")
    var list: String?

    func run(_ client: ControlClient, _ terminal: Terminal) async throws {
        let answer = try await client.send("GET", "/_sim/choices")
        try terminal.show(answer) {
            let choices = try answer.decoded(Choices.self)
            guard let list else { return (["routes"] + choices.lists.keys.sorted()).forEach { terminal.line($0) } }
            if list == "routes" { return choices.routes.forEach { terminal.line("\($0.method) \($0.path)") } }
            guard let found = choices.lists[list] else {
                throw Refusal(.usage, "there is no list \"\(list)\"", next: "entrupy-sim choices prints their names")
            }
            terminal.table(["ID", "NAME"], found.map { [$0.id, $0.name] }, empty: "none")
        }
    }
}

/// `entrupy-sim sessions`.
struct SessionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sessions", abstract: "See who is logged in, and revoke sessions.",
        subcommands: [List.self, Revoke.self])

    struct List: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List active sessions, newest first.")

        @OptionGroup var control: ControlOptions

        @Option(help: "The user.")
        var username: String?

        @Option(help: "The maximum number of sessions to list, 1 to 1000.")
        var limit = 100

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            let answer = try await client.send(
                "GET", "/_sim/sessions", query: [("username", username), ("limit", "\(limit)")])
            try terminal.show(answer) {
                let list = try answer.decoded(ActiveSessionList.self)
                let rows = list.sessions.map {
                    [
                        $0.id, $0.username, Readable.cell($0.bundle_id), Readable.time($0.created_at),
                        Readable.time($0.expires_at),
                    ]
                }
                terminal.table(["ID", "USER", "APP", "STARTED", "EXPIRES"], rows, empty: "no user is logged in")
                if list.total > rows.count { terminal.note("there are \(list.total) in all; raise --limit\n") }
            }
        }
    }

    struct Revoke: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "revoke", abstract: "Revoke sessions: their next request is 401.")

        @OptionGroup var control: ControlOptions

        @Argument(help: "The ids, as \"sessions list\" shows them.")
        var ids: [String] = []

        @Option(help: "Revoke all sessions of this user.")
        var username: String?

        @Flag(help: "Revoke all sessions of the namespace.")
        var all = false

        func validate() throws {
            let given = [!ids.isEmpty, username != nil, all].count { $0 }
            guard given == 1 else { throw ValidationError("give ids, --username or --all") }
        }

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            if ids.isEmpty { try await client.send("DELETE", "/_sim/sessions", query: [("username", username)]) }
            for id in ids { try await client.send("DELETE", "/_sim/sessions/\(ControlClient.escaped(id))") }
            terminal.isJSON ? terminal.json(Data()) : terminal.line("revoked")
        }
    }
}
