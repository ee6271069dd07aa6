import ArgumentParser
import Console
import EntrupyAPI
import Foundation
import SimulationAPI

/// Reads the input files of commands; `-` is standard input.
enum InputFile {
    /// - Parameter next: the advice for a file that cannot be read, whose message then says why; `nil` for the usual message.
    static func bytes(_ path: String, next: String? = nil) throws -> Data {
        guard path != "-" else { return FileHandle.standardInput.readDataToEndOfFile() }
        do {
            return try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            if isFolder(path) {
                throw Refusal(.usage, "\(path) is a folder", next: "name a file in it, or - for standard input")
            }
            let problem =
                next == nil
                ? "the file \(path) cannot be read" : "\(path) cannot be read: \(error.localizedDescription)"
            throw Refusal(.usage, problem, next: next ?? "name a file that exists, or - for standard input")
        }
    }

    private static func isFolder(_ path: String) -> Bool {
        var isDirectory: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && isDirectory.boolValue
    }

    /// Throws a ``Refusal`` if a file cannot be read, or is a recording where a bundle is expected.
    static func checkBundle(_ path: String) throws {
        guard FileManager.default.isReadableFile(atPath: path), !isFolder(path) else {
            throw Refusal(.usage, "the bundle \(path) cannot be read", next: "name a file that exists")
        }
        guard isRecording(path) else { return }
        let file = Shell.quoted(path)
        throw Refusal(
            .usage, "\(path) is a recording, not a bundle",
            next: """
                open it with: entrupy-sim replay \(file) --serve
                write a bundle of it with: entrupy-sim replay \(file) --bundle OUT
                """)
    }

    /// Whether two paths lead to one file.
    static func isSame(_ one: String, _ other: String) -> Bool {
        var (first, second) = (stat(), stat())
        guard stat(one, &first) == 0, stat(other, &second) == 0 else { return false }
        return first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }

    /// Whether an archive is a bundle, and not an exported snapshot. Its manifest is the first file in it.
    static func isBundle(_ path: String) -> Bool {
        start(of: path, 1 << 16).range(of: Data(#""format":"entrupy-sim bundle""#.utf8)) != nil
    }

    /// Whether the first line is that of a recording. It may be cut.
    private static func isRecording(_ path: String) -> Bool {
        let line = start(of: path, 1 << 20).prefix { $0 != UInt8(ascii: "\n") }
        return line.first == UInt8(ascii: "{")
            && line.range(of: Data(#""format":"entrupy-sim recording""#.utf8)) != nil
    }

    /// The first bytes of a file, none if it cannot be read.
    private static func start(of path: String, _ count: Int) -> Data {
        // A file that cannot be read is reported where it is opened.
        (try? FileHandle(forReadingAtPath: path)?.read(upToCount: count)) ?? Data()
    }

    /// The value of a text that is JSON, else the text itself, such as 3h.
    static func value(_ text: Data) -> JSONValue {
        // Whether it is JSON is the question.
        (try? WireJSON.decode(JSONValue.self, from: text)) ?? .string(String(decoding: text, as: UTF8.self))
    }

    /// - Parameter place: the file or flag that the text comes from, for the message.
    static func json(_ text: Data, _ place: String) throws -> JSONValue {
        do {
            return try WireJSON.decode(JSONValue.self, from: text)
        } catch {
            throw Refusal(.usage, "\(place) is not valid JSON", next: "check it with \"python3 -m json.tool\"")
        }
    }
}

struct SeedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "seed", abstract: "Load seed data into a namespace, or print it.",
        subcommands: [Load.command, Export.command])

    struct Load: Endpoint {
        static let abstract = "Add organizations, users and catalogue from a file like seed-data/standard.yaml."
        @Argument(help: "YAML or JSON; - for standard input.") var file: String

        func call() throws -> ControlCall {
            let body = ControlCall.Body.bytes(try InputFile.bytes(file), type: "application/yaml")
            return ControlCall(.POST, "/_sim/seed", body: body, takesLong: true).showing("loading")
                .printing { (loaded: SeedLoaded, terminal) in
                    terminal.line(
                        "added \(Readable.count(loaded.organizations, "organization")), "
                            + "\(Readable.count(loaded.users_created, "user")), "
                            + "\(Readable.count(loaded.api_tokens, "token")); "
                            + "changed \(Readable.count(loaded.users_updated, "user")); \(loaded.brands) brands now")
                }
        }

        func explain(_ refusal: inout Refusal, _ terminal: Terminal) {
            guard refusal.code == .usage else { return }
            let place = file == "-" ? "it" : "\(file) there"
            refusal.next = "correct \(place), and load it again: nothing was changed"
        }
    }

    struct Export: ControlAction {
        static let abstract = "Print a namespace's organizations, users and catalogue as seed data."
        @OptionGroup var download: DownloadOptions

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            try await client.printText(
                "/_sim/export", [("format", terminal.isJSON ? "json" : "yaml")], download, terminal,
                isJSON: terminal.isJSON)
        }
    }
}

struct UsersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "users", abstract: "See users, and change their email, names and limits.",
        subcommands: [List.command, Show.command, Set.command, Login.command])

    struct User: ParsableArguments {
        @Argument(help: "The username, for instance DemoOrg-example-user-id.") var username: String
    }

    struct List: Endpoint {
        static let abstract = "List users, newest first."
        @Option(help: "The maximum number of users to list, 1 to 1000.") var limit = 100

        func call() -> ControlCall {
            ControlCall(.GET, "/_sim/users", [("limit", "\(limit)")])
                .listing(
                    \UserInfoList.users, next: \.next_cursor, empty: "no users",
                    ["USERNAME", "EMAIL", "SESSIONS", "SUBMISSIONS", "CREATED"]
                ) { [$0.username, $0.email, "\($0.sessions)", "\($0.submissions)", Readable.time($0.created_at)] }
        }
    }

    struct Show: Endpoint {
        static let abstract = "Show a user, and what its limits still allow."
        @OptionGroup var user: User

        func call() -> ControlCall { ControlCall(.GET, "/_sim/users/\(user.username)").printing(UserInfo.self) }
    }

    struct Set: Endpoint {
        static let abstract = "Change a user's email, names or limits."
        static let discussion = "An empty first or last name removes it."
        @OptionGroup var user: User
        @Option(help: "The email.") var email: String?
        @Option(help: "The first name.") var firstName: String?
        @Option(help: "The last name.") var lastName: String?
        @Option(help: "The user's own limits as JSON, for instance '{\"sdk_per_second\": 3}', or null to remove them.")
        var rateLimits: String?

        func validate() throws {
            try require(
                email != nil || firstName != nil || lastName != nil || rateLimits != nil,
                "say what to change: --email, --first-name, --last-name or --rate-limits")
        }

        func call() throws -> ControlCall {
            let limits = try rateLimits.map { try InputFile.json(Data($0.utf8), "--rate-limits") }
            func name(_ name: String) -> JSONValue { name.isEmpty ? .null : .string(name) }
            return ControlCall(
                .PATCH, "/_sim/users/\(user.username)",
                body: [
                    "email": email, "first_name": firstName.map(name), "last_name": lastName.map(name),
                    "rate_limits": limits,
                ]
            ).printing(UserInfo.self)
        }
    }
}

extension UserInfo: Printable {
    func show(on terminal: Terminal) {
        func left(_ count: Int?) -> String { count.map { "\($0) left" } ?? "no limit" }
        terminal.pairs([
            ("username", username), ("organization", organization), ("email", email), ("first name", first_name),
            ("last name", last_name), ("created", Readable.time(created_at)), ("sessions", "\(sessions)"),
            ("submissions", "\(submissions)"), ("requests this second", left(budgets.sdk_this_second)),
            ("logins this minute", left(budgets.logins_this_minute)),
            ("logins this day", left(budgets.logins_this_day)),
        ])
    }
}
