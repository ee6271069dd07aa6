import ArgumentParser
import Foundation
import SimulationAPI

struct SettingsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings", abstract: "See and change a namespace's settings.",
        subcommands: [Show.command, Set.command])

    struct Show: Endpoint {
        static let abstract = "Print the settings as JSON."
        func call() -> ControlCall { ControlCall(.GET, "/_sim/settings") }
    }

    struct Set: Endpoint {
        static let abstract = "Change settings, and print all."
        static let discussion = """
            settings set quota 3
            settings set result.delay 3h
            settings set '{"rate_limits": "off", "result": {"default": "unknown", "delay": "3h"}}'
            """
        @Argument(help: "A setting's name, with dots for nesting, or a JSON merge patch: members to change.")
        var setting: String
        @Argument(help: "Its value, as JSON or plain text; null gives it its default. Not with a patch.")
        var value: String?

        private var isPatch: Bool { setting.drop(while: \.isWhitespace).first == "{" }

        func validate() throws {
            try require(
                isPatch == (value == nil),
                isPatch
                    ? "a patch has no value after it"
                    : "the value is missing; give a name and a value, for instance: settings set quota 3")
            // Each dot makes an object within an object.
            try require(isPatch || setting.utf8.count <= 200, "no setting has a name of more than 200 bytes")
        }

        func call() throws -> ControlCall {
            ControlCall(.PATCH, "/_sim/settings", body: .json(try patch()))
        }

        private func patch() throws -> JSONValue {
            guard let value else { return try InputFile.json(Data(setting.utf8), "the patch") }
            let names = setting.split(separator: ".", omittingEmptySubsequences: false)
            return names.reversed().reduce(InputFile.value(Data(value.utf8))) {
                .object(JSONObject([(String($1), $0)]))
            }
        }
    }
}

extension ControlClient {
    /// One of the namespace's lists of values; empty if there is none of this name.
    func choices(_ list: String) async throws -> [Choice] {
        let choices: Choices = try await get("/_sim/choices")
        return choices.lists[list] ?? []
    }
}

struct ListChoices: Endpoint {
    static let name = "choices"
    static let abstract = "List the values that rules and actions can name."
    static let discussion =
        "Without a list's name, prints the names of the lists. \"routes\" lists the platform's routes."

    @Argument(help: "The list, for instance results or brands. (default: the names of the lists)") var list: String?

    func call() -> ControlCall { ControlCall(.GET, "/_sim/choices").printing { try show($0, $1) } }

    private func show(_ choices: Choices, _ terminal: Terminal) throws {
        guard let list else { return (["routes"] + choices.lists.keys.sorted()).forEach { terminal.line($0) } }
        if list == "routes" { return choices.routes.forEach { terminal.line("\($0.method) \($0.path)") } }
        guard let found = choices.lists[list] else {
            throw Refusal(.usage, "there is no list \"\(list)\"", next: "entrupy-sim choices prints their names")
        }
        let hasSentences = found.contains { $0.about != nil }
        terminal.table(
            ["ID", hasSentences ? "ABOUT" : "NAME"], found.map { [$0.id, $0.about ?? $0.name] }, empty: "none")
    }
}

struct SessionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sessions", abstract: "See who is logged in, and revoke sessions.",
        subcommands: [List.command, Revoke.command])

    struct List: Endpoint {
        static let abstract = "List active sessions, newest first."
        @Option(help: "The user.") var username: String?
        @Option(help: "The maximum number of sessions to list, 1 to 1000.") var limit = 100

        func call() -> ControlCall {
            ControlCall(.GET, "/_sim/sessions", [("username", username), ("limit", "\(limit)")])
                .printing { (list: ActiveSessionList, terminal) in
                    let rows = list.sessions.map {
                        [
                            $0.id, $0.username, $0.bundle_id, Readable.time($0.created_at),
                            Readable.time($0.expires_at),
                        ]
                    }
                    terminal.table(["ID", "USER", "APP", "STARTED", "EXPIRES"], rows, empty: "no user is logged in")
                    if list.total > rows.count {
                        terminal.note("there are \(list.total) in all; raise --limit")
                    }
                }
        }
    }

    struct Revoke: ControlAction {
        static let abstract = "Revoke sessions: their next request is 401."
        @Argument(help: "The ids, as \"sessions list\" shows them.") var ids: [String] = []
        @Option(help: "Revoke all sessions of this user.") var username: String?
        @Flag(help: "Revoke all sessions of the namespace.") var all = false

        func validate() throws {
            let given = [!ids.isEmpty, username != nil, all].count { $0 }
            try require(given == 1, "give ids, --username or --all")
        }

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            if ids.isEmpty { try await client.send(ControlCall(.DELETE, "/_sim/sessions", [("username", username)])) }
            for id in ids { try await client.send(ControlCall(.DELETE, "/_sim/sessions/\(id)")) }
            terminal.done("revoked")
        }
    }
}
