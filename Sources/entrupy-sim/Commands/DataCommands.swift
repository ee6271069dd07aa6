import ArgumentParser
import Console
import EntrupyAPI
import Foundation
import SimulationAPI

/// Reads the input files of commands; `-` is standard input.
enum InputFile {
    static func bytes(_ path: String) throws -> Data {
        guard path != "-" else { return FileHandle.standardInput.readDataToEndOfFile() }
        do {
            return try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw Refusal(
                .usage, "the file \(path) cannot be read",
                next: "name a file that exists, or - for standard input")
        }
    }

    /// Throws a ``Refusal`` if a file cannot be read.
    ///
    /// - Parameter thing: the noun for the file in the message.
    static func check(_ path: String, _ thing: String) throws {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), !isDirectory.boolValue,
            FileManager.default.isReadableFile(atPath: path)
        else { throw Refusal(.usage, "the \(thing) \(path) cannot be read", next: "name a file that exists") }
    }

    /// Throws a ``Refusal`` if a file cannot be read, or is a recording where a bundle is expected.
    static func checkBundle(_ path: String) throws {
        try check(path, "bundle")
        guard isRecording(path) else { return }
        let file = Shell.quoted(path)
        throw Refusal(
            .usage, "\(path) is a recording, not a bundle",
            next: """
                open it with: entrupy-sim replay \(file) --serve
                write a bundle of it with: entrupy-sim replay \(file) --bundle OUT
                """)
    }

    /// Whether the first line is that of a recording. It may be cut.
    private static func isRecording(_ path: String) -> Bool {
        guard let file = FileHandle(forReadingAtPath: path) else { return false }
        // A file that cannot be read is reported where it is opened.
        guard let start = try? file.read(upToCount: 1 << 20), start.first == UInt8(ascii: "{") else { return false }
        let line = start.prefix { $0 != UInt8(ascii: "\n") }
        return line.range(of: Data(#""format":"entrupy-sim recording""#.utf8)) != nil
    }

    static func json(_ path: String) throws -> JSONValue { try json(bytes(path), path) }

    /// Decodes JSON text.
    ///
    /// - Parameter place: the file or flag that the text comes from, for the message.
    static func json(_ text: Data, _ place: String) throws -> JSONValue {
        do {
            return try WireJSON.decode(JSONValue.self, from: text)
        } catch {
            throw Refusal(.usage, "\(place) is not valid JSON", next: "check it with \"python3 -m json.tool\"")
        }
    }
}

/// `entrupy-sim seed`.
struct SeedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "seed", abstract: "Load seed data into a namespace, or print it.",
        subcommands: [Load.self, Export.self])

    struct Load: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "load",
            abstract: "Add organizations, users and catalogue from a file like seed-data/standard.yaml.")

        @OptionGroup var control: ControlOptions

        @Argument(help: "YAML or JSON; - for standard input.")
        var file: String

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            let bytes = try InputFile.bytes(file)
            var answer: ControlClient.Answer
            do {
                answer = try await client.send(
                    "POST", "/_sim/seed", bytes: bytes, type: "application/yaml", takesLong: true)
            } catch var refusal as Refusal where refusal.code == .usage {
                let place = file == "-" ? "it" : "\(file) there"
                refusal.next = "correct \(place), and load it again: nothing was changed"
                throw refusal
            }
            try terminal.show(answer) {
                let loaded = try answer.decoded(SeedLoaded.self)
                terminal.line(
                    "added \(Readable.count(loaded.organizations, "organization")), "
                        + "\(Readable.count(loaded.users_created, "user")), \(Readable.count(loaded.api_tokens, "token")); "
                        + "changed \(Readable.count(loaded.users_updated, "user")); \(loaded.brands) brands now")
            }
        }
    }

    struct Export: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "export", abstract: "Print a namespace's organizations, users and catalogue as seed data.")

        @OptionGroup var control: ControlOptions
        @OptionGroup var download: DownloadOptions

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            try await Download.text(
                client, "/_sim/export", query: [("format", terminal.isJSON ? "json" : "yaml")], download, terminal,
                isJSON: terminal.isJSON)
        }
    }
}

/// `entrupy-sim users`.
struct UsersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "users", abstract: "See users, and change their email, names and limits.",
        subcommands: [List.self, Show.self, Set.self])

    struct List: ControlCommand {
        static let configuration = CommandConfiguration(commandName: "list", abstract: "List users, newest first.")

        @OptionGroup var control: ControlOptions

        @Option(help: "The maximum number of users to list, 1 to 1000.")
        var limit = 100

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            let answer = try await client.send("GET", "/_sim/users", query: [("limit", "\(limit)")])
            try terminal.show(answer) {
                let list = try answer.decoded(UserInfoList.self)
                let rows = list.users.map { user in
                    [
                        user.username, Readable.cell(user.email), "\(user.sessions)", "\(user.submissions)",
                        Readable.time(user.created_at),
                    ]
                }
                terminal.table(["USERNAME", "EMAIL", "SESSIONS", "SUBMISSIONS", "CREATED"], rows, empty: "no users")
                if list.next_cursor != nil { terminal.note("there are more; raise --limit\n") }
            }
        }
    }

    struct Show: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show a user, and what its limits still allow.")

        @OptionGroup var control: ControlOptions

        @Argument(help: "The username, for instance DemoOrg-example-user-id.")
        var username: String

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            let answer = try await client.send("GET", "/_sim/users/\(ControlClient.escaped(username))")
            try UsersCommand.show(answer, terminal)
        }
    }

    struct Set: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "set", abstract: "Change a user's email, names or limits.",
            discussion: "An empty first or last name removes it.")

        @OptionGroup var control: ControlOptions

        @Argument(help: "The username, for instance DemoOrg-example-user-id.")
        var username: String

        @Option(help: "The email.")
        var email: String?

        @Option(help: "The first name.")
        var firstName: String?

        @Option(help: "The last name.")
        var lastName: String?

        @Option(help: "The user's own limits as JSON, for instance '{\"sdk_per_second\": 3}', or null to remove them.")
        var rateLimits: String?

        func validate() throws {
            if email == nil, firstName == nil, lastName == nil, rateLimits == nil {
                throw ValidationError("say what to change: --email, --first-name, --last-name or --rate-limits")
            }
        }

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            var body: JSONObject = [:]
            body["email"] = email.map { .string($0) }
            body["first_name"] = firstName.map { $0.isEmpty ? .null : .string($0) }
            body["last_name"] = lastName.map { $0.isEmpty ? .null : .string($0) }
            body["rate_limits"] = try rateLimits.map { try InputFile.json(Data($0.utf8), "--rate-limits") }
            let answer = try await client.send(
                "PATCH", "/_sim/users/\(ControlClient.escaped(username))", .object(body))
            try UsersCommand.show(answer, terminal)
        }
    }

    fileprivate static func show(_ answer: ControlClient.Answer, _ terminal: Terminal) throws {
        try terminal.show(answer) {
            let user = try answer.decoded(UserInfo.self)
            func left(_ count: Int?) -> String { count.map { "\($0) left" } ?? "no limit" }
            terminal.pairs([
                ("username", user.username), ("organization", user.organization),
                ("email", Readable.cell(user.email)), ("first name", Readable.cell(user.first_name)),
                ("last name", Readable.cell(user.last_name)), ("created", Readable.time(user.created_at)),
                ("sessions", "\(user.sessions)"), ("submissions", "\(user.submissions)"),
                ("requests this second", left(user.budgets.sdk_this_second)),
                ("logins this minute", left(user.budgets.logins_this_minute)),
                ("logins this day", left(user.budgets.logins_this_day)),
            ])
        }
    }
}

/// `entrupy-sim items`.
struct ItemsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "items", abstract: "See items, make them without captures, and act as the platform's team.",
        subcommands: [
            Generate.self, List.self, Show.self, Set.self, ResolveFlag.self, Retake.self, Message.self, Rules.self,
        ])

    struct Generate: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "generate", abstract: "Make items, one minute apart, the newest now.",
            discussion: """
                Without --count it makes one item and sends its webhooks. With --count, even --count 1, it sends none.
                Prints the ids. Of more than 100 it prints the newest, with --json the first 1,000.
                """)

        private static let maxListed = 100

        @OptionGroup var control: ControlOptions

        @Option(help: "How many, 1 to 10000000. Counted items send no webhooks.")
        var count: Int?

        @Option(help: "The user that the items belong to; made if it does not exist.")
        var username: String?

        @Option(help: "The brand.")
        var brand: String?

        @Option(help: "\(ResultID.list).")
        var result: String?

        @Option(
            help: "More members as JSON, for instance '{\"customer_item_id\": \"sku-{n}\", \"flag\": \"flagged\"}'.")
        var template: String?

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            var members = try template.map { text -> JSONObject in
                guard let members = try InputFile.json(Data(text.utf8), "--template").members else {
                    throw Refusal(
                        .usage, "--template must be a JSON object", next: "for instance '{\"brand\": \"Nike\"}'")
                }
                return members
            }
            let given = [("username", username), ("brand", brand), ("result", result)]
            for (key, value) in given {
                guard let value else { continue }
                members = members ?? [:]
                members?[key] = .string(value)
            }
            var body: JSONObject = ["template": .object(members ?? [:])]
            body["count"] = count.map { .number(JSONNumber($0)) }
            let answer = try await generate(.object(body), client, terminal)
            if count == 1, !terminal.isJSON {
                terminal.note("no webhook is sent, as for any --count; without --count one item sends its webhooks\n")
            }
            try terminal.show(answer) {
                let made = try answer.decoded(GeneratedItems.self)
                guard made.count <= Self.maxListed else {
                    return terminal.line("made \(made.count) items, the newest \(made.entrupy_ids.first ?? "-")")
                }
                for id in made.entrupy_ids { terminal.line(id) }
            }
        }

        /// Sends the request. For 10,000 items or more it also shows the progress.
        private func generate(
            _ body: JSONValue, _ client: ControlClient, _ terminal: Terminal
        ) async throws -> ControlClient.Answer {
            guard let count, count >= 10_000 else {
                return try await client.send("POST", "/_sim/authentications", body, takesLong: true)
            }
            let progress = Progress(terminal, "making items", of: count)
            let before = try await items(client)
            let watching = Task {
                while !Task.isCancelled {
                    await progress.show(try await items(client) - before)
                    try await Task.sleep(for: .milliseconds(500))
                }
            }
            defer { watching.cancel() }
            let answer = try await client.send("POST", "/_sim/authentications", body, takesLong: true)
            watching.cancel()
            _ = await watching.result
            await progress.end()
            return answer
        }

        private func items(_ client: ControlClient) async throws -> Int {
            try await client.send("GET", "/_sim/info").decoded(ServerInfo.self).namespace.counts.authentications
        }
    }
}
