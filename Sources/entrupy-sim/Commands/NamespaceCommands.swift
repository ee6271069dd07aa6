import ArgumentParser
import Foundation
import SimulationAPI

/// `entrupy-sim reset`.
struct Reset: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset", abstract: "Reset a namespace to its seed data, in place.")

    @OptionGroup var control: ControlOptions

    func run(_ client: ControlClient, _ terminal: Terminal) async throws {
        let answer = try await client.send("POST", "/_sim/reset", takesLong: true)
        try terminal.show(answer) {
            let info = try answer.decoded(NamespaceInfo.self)
            terminal.line(
                "\(info.name) was reset: \(Readable.count(info.counts.users, "user")), seed \(info.seed)")
        }
    }
}

/// `entrupy-sim settle`.
struct Settle: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "settle",
        abstract: "Wait until no result and no webhook is pending. Exits 1 if some still are.")

    @OptionGroup var control: ControlOptions

    @Option(help: "The longest time to wait, for instance 5s.")
    var within = "5s"

    func run(_ client: ControlClient, _ terminal: Terminal) async throws {
        do {
            let answer = try await client.send(
                "POST", "/_sim/settle", .object(["within": .string(within)]), takesLong: true)
            terminal.show(answer) { terminal.line("settled") }
        } catch var refusal as Refusal {
            guard let bytes = refusal.answer, let unsettled = try? WireJSON.decode(Settlement.self, from: bytes) else {
                throw refusal
            }
            refusal.details = []
            refusal.next =
                unsettled.clock.mode == "frozen"
                ? "the clock is frozen: entrupy-sim clock advance --to next" : "wait longer with --within, at most 10m"
            throw refusal
        }
    }
}

/// `entrupy-sim clock`.
struct ClockCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clock", abstract: "See and move a namespace's clock.",
        subcommands: [Show.self, Freeze.self, Advance.self, Resume.self])

    private static func show(_ answer: ControlClient.Answer, _ terminal: Terminal) throws {
        try terminal.show(answer) {
            let clock = try answer.decoded(ClockState.self)
            terminal.line("\(clock.now)  \(clock.mode)")
        }
    }

    struct Show: ControlCommand {
        static let configuration = CommandConfiguration(commandName: "show", abstract: "Print the time and mode.")

        @OptionGroup var control: ControlOptions

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            try ClockCommand.show(try await client.send("GET", "/_sim/clock"), terminal)
        }
    }

    struct Freeze: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "freeze", abstract: "Freeze the clock, now or at a later moment.")

        @OptionGroup var control: ControlOptions

        @Option(help: "ISO 8601 with an offset, for instance 2026-01-05T09:00:00Z; now if absent.")
        var at: String?

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            let body = JSONValue.object(at.map { ["at": .string($0)] } ?? [:])
            try ClockCommand.show(try await client.send("POST", "/_sim/clock/freeze", body), terminal)
        }
    }

    struct Resume: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "resume", abstract: "Let a frozen clock run again from its time.")

        @OptionGroup var control: ControlOptions

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            try ClockCommand.show(try await client.send("POST", "/_sim/clock/resume"), terminal)
        }
    }

    struct Advance: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "advance",
            abstract: "Advance the clock and do all work due on the way. Exits 1 if it stopped earlier.",
            discussion: "With --to next it also exits 1 if nothing is due, so a loop of such advances ends.")

        @OptionGroup var control: ControlOptions

        @Argument(help: "The time to advance: 90s, 2h, 1d, or a number of seconds.")
        var by: String?

        @Option(help: "\"next\" for the next due time, or a moment, ISO 8601 with an offset.")
        var to: String?

        func validate() throws {
            guard (by == nil) != (to == nil) else {
                throw ValidationError("say how far, for instance \"clock advance 2h\" or \"clock advance --to next\"")
            }
        }

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            let by = by.map { text -> JSONValue in
                // A number is in seconds. The server parses any other text.
                guard let seconds = Double(text), seconds.isFinite else { return .string(text) }
                return .number(JSONNumber(text: "\(seconds)"))
            }
            let body: JSONValue = by.map { .object(["by": $0]) } ?? .object(["to": .string(to ?? "next")])
            let answer = try await client.send("POST", "/_sim/clock/advance", body, takesLong: true)
            try ClockCommand.show(answer, terminal)
            let clock = try answer.decoded(ClockState.self)
            guard clock.reached != false else {
                guard clock.nothing_due != true else {
                    terminal.note("nothing is due, so the clock did not move\n")
                    throw ExitCode(Refusal.Code.no.rawValue)
                }
                terminal.note(
                    "the clock stopped before its target: \(clock.pending ?? 0) pieces of due work or webhook attempts "
                        + "are left; advance again\n")
                throw ExitCode(Refusal.Code.no.rawValue)
            }
        }
    }
}

/// `entrupy-sim namespace`.
struct NamespaceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "namespace", abstract: "List, make and delete namespaces.",
        subcommands: [List.self, Make.self, Drop.self])

    struct List: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the namespaces with their sizes.")

        @OptionGroup var control: ControlOptions

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            let answer = try await client.send("GET", "/_sim/namespaces")
            try terminal.show(answer) {
                let rows = try answer.decoded(NamespaceList.self).namespaces.map { info in
                    [
                        info.name, "\(info.counts.users)", "\(info.counts.authentications)",
                        Readable.bytes(info.database_bytes), "\(info.clock.now.prefix(19))Z \(info.clock.mode)",
                        info.ttl.map { "\(Int($0)) s" } ?? "-", info.url,
                    ]
                }
                terminal.table(["NAME", "USERS", "ITEMS", "SIZE", "CLOCK", "TTL", "URL"], rows, empty: "none")
            }
        }
    }

    struct Make: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "make", abstract: "Make a namespace and print its URL.",
            discussion: "Without a name, the server picks a free one, which begins with --prefix if that is given.")

        @OptionGroup var control: ControlOptions

        @Argument(help: "The name: 1 to 63 of a-z, 0-9 and -.")
        var name: String?

        @Option(help: "The start of the name that the server picks.")
        var prefix: String?

        @Option(help: "Delete the namespace after this time without a request, for instance 30m.")
        var ttl: String?

        @Option(help: "\"standard\", \"empty\", or a file of seed data as JSON.")
        var seed: String?

        @Option(help: "The seed for every id, token and key, 0 to 9007199254740991.")
        var randomSeed: Int?

        @Option(help: "The moment at which the clock is frozen from the start, ISO 8601 with an offset.")
        var freeze: String?

        func validate() throws {
            if name != nil, prefix != nil { throw ValidationError("a name and --prefix exclude each other") }
        }

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            var body: JSONObject = [:]
            body["ttl"] = ttl.map { .string($0) }
            body["seed"] = try seed.map { ["standard", "empty"].contains($0) ? .string($0) : try InputFile.json($0) }
            body["random_seed"] = randomSeed.map { .number(JSONNumber($0)) }
            body["clock"] = freeze.map { .object(["freeze": .string($0)]) }
            if name == nil { body["prefix"] = prefix.map { .string($0) } }
            let path = name.map { "/_sim/namespaces/\(ControlClient.escaped($0))" } ?? "/_sim/namespaces"
            let answer = try await client.send(
                name == nil ? "POST" : "PUT", path, .object(body), takesLong: true)
            try terminal.show(answer) { terminal.line(try answer.decoded(NamespaceInfo.self).url) }
        }
    }

    struct Drop: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "drop", abstract: "Delete namespaces by name or prefix. Exits 1 if there is none."
        )

        @OptionGroup var control: ControlOptions

        @Argument(help: "The names.")
        var names: [String] = []

        @Option(help: "The start of the names; \"default\" is never deleted.")
        var prefix: String?

        func validate() throws {
            guard names.isEmpty != (prefix == nil) else {
                throw ValidationError("say which: \"namespace drop NAME\", or \"namespace drop --prefix pr-12-\"")
            }
            if prefix == "" { throw ValidationError("--prefix must not be empty") }
        }

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            for name in names {
                try await client.send("DELETE", "/_sim/namespaces/\(ControlClient.escaped(name))", takesLong: true)
                if !terminal.isJSON { terminal.line("dropped \(name)") }
            }
            if let prefix {
                let count = try await count(prefix, client)
                try await client.send(
                    "DELETE", "/_sim/namespaces", query: [("prefix", prefix)], takesLong: true)
                if !terminal.isJSON { terminal.line("dropped \(Readable.count(count, "namespace"))") }
            }
            if terminal.isJSON { terminal.json(Data()) }
        }

        /// The number of namespaces with the prefix. Zero is an error, like a name that does not exist.
        private func count(_ prefix: String, _ client: ControlClient) async throws -> Int {
            let all = try await client.send("GET", "/_sim/namespaces").decoded(NamespaceList.self).namespaces
            let count = all.count { $0.name != "default" && $0.name.utf8.starts(with: prefix.utf8) }
            guard count > 0 else {
                throw Refusal(
                    .no, "there is no namespace whose name begins with \"\(prefix)\"",
                    next: "see which there are: entrupy-sim namespace list")
            }
            return count
        }
    }
}
