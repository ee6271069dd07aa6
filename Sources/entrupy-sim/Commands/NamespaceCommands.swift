import ArgumentParser
import Foundation
import SimulationAPI

struct Reset: Endpoint {
    static let abstract = "Reset a namespace to its seed data, in place."
    func call() -> ControlCall {
        ControlCall(.POST, "/_sim/reset", takesLong: true).showing("resetting").printing {
            (info: NamespaceInfo, terminal) in
            terminal.line("\(info.name) was reset: \(Readable.count(info.counts.users, "user")), seed \(info.seed)")
        }
    }
}

struct Settle: Endpoint {
    static let abstract = "Wait until no result and no webhook is pending. Exits 1 if some still are."
    @Option(help: "The longest time to wait, for instance 5s or 1m30s; at most 10m.")
    var within = DurationArgument(argument: "5s")

    func call() -> ControlCall {
        ControlCall(.POST, "/_sim/settle", body: ["within": within], takesLong: true).showing("settling").saying(
            "settled")
    }

    func explain(_ refusal: inout Refusal, _ terminal: Terminal) {
        guard let bytes = refusal.answer, let unsettled = try? WireJSON.decode(Settlement.self, from: bytes) else {
            return
        }
        refusal.details = refusal.details.filter { $0.field == "pending" }
        refusal.next =
            unsettled.clock.mode == "frozen"
            ? "the clock is frozen: \(terminal.command("clock advance --to next"))"
            : "wait longer with --within, at most 10m"
    }
}

struct ClockCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clock", abstract: "See and move a namespace's clock.",
        subcommands: [Show.command, Freeze.command, Advance.command, Resume.command])

    struct Show: Endpoint {
        static let abstract = "Print the time and mode."
        func call() -> ControlCall { ControlCall(.GET, "/_sim/clock").printing(ClockState.self) }
    }

    struct Freeze: Endpoint {
        static let abstract = "Freeze the clock, now or at a later moment."
        static let optionNames = ["at": "--at"]
        @Argument(help: "ISO 8601 with an offset, for instance 2026-01-05T09:00:00Z. (default: now)")
        var moment: String?
        @Option(help: "The moment too. (default: now)") var at: String?

        func validate() throws { try require(moment == nil || at == nil, "give the moment once, with or without --at") }

        func call() -> ControlCall {
            ControlCall(.POST, "/_sim/clock/freeze", body: ["at": moment ?? at]).printing(ClockState.self)
        }
    }

    struct Resume: Endpoint {
        static let abstract = "Let a frozen clock run again from its time."
        func call() -> ControlCall { ControlCall(.POST, "/_sim/clock/resume").printing(ClockState.self) }
    }

    struct Advance: Endpoint {
        static let abstract = "Advance the clock and do all work due on the way. Exits 1 if it stopped earlier."
        static let discussion = "With --to next it also exits 1 if nothing is due, so a loop of such advances ends."
        static let optionNames = ["by": "the time", "to": "--to"]
        @Argument(help: "The time to advance: 90s, 1h30m, 300ms, or a number of seconds.") var by: DurationArgument?
        @Option(help: "\"next\" for the next due time, or a moment, ISO 8601 with an offset.") var to: String?

        /// The options with which the command was given, so that the hint is not about another namespace.
        private static var connection: String { Suggestions.connection(CommandLine.arguments.dropFirst()) }

        func validate() throws {
            try require(
                (by == nil) != (to == nil),
                "say how far, for instance \"clock advance 2h\(Self.connection)\" or \"clock advance --to next\(Self.connection)\""
            )
        }

        func call() -> ControlCall {
            ControlCall(.POST, "/_sim/clock/advance", body: ["by": by, "to": to], takesLong: true).showing("advancing")
                .printing(ClockState.self)
        }

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            let clock: ClockState = try await answer(client, terminal).decoded()
            guard clock.reached == false else { return }
            terminal.note(
                clock.nothing_due == true
                    ? "nothing is due, so the clock did not move"
                    : "the clock stopped before its target: \(clock.pending ?? 0) pieces of due work or webhook attempts "
                        + "are left; advance again")
            throw ExitCode(Refusal.Code.no.rawValue)
        }
    }
}

extension ClockState: Printable {
    func show(on terminal: Terminal) { terminal.line("\(now)  \(mode)") }
}

struct NamespaceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "namespace", abstract: "List, make and delete namespaces.",
        subcommands: [List.command, Make.command, Drop.command])

    struct List: Endpoint {
        static let abstract = "List the namespaces with their sizes."
        func call() -> ControlCall {
            ControlCall(.GET, "/_sim/namespaces").listing(
                \NamespaceList.namespaces, next: { $0.damaged?.first?.name },
                more: "some cannot be opened, and \"entrupy-sim doctor\" names them", empty: "none",
                ["NAME", "USERS", "ITEMS", "SIZE", "CLOCK", "TTL", "URL"]
            ) {
                [
                    $0.name, "\($0.counts.users)", "\($0.counts.authentications)", SizeText.text($0.database_bytes),
                    Readable.clock($0.clock), $0.ttl.map { DurationText.text(seconds: $0) }, $0.url,
                ]
            }
        }
    }

    struct Make: Endpoint {
        static let abstract = "Make a namespace and print its URL."
        static let discussion =
            "Without a name, the server picks a free one, which begins with --prefix if that is given."

        @Argument(help: "The name: 1 to 63 of a-z, 0-9 and -. (default: the server picks one)") var name: String?
        @Option(help: "The start of the name that the server picks.") var prefix: String?
        @Option(help: "Delete the namespace after this time without a request, for instance 30m. (default: never)")
        var ttl: DurationArgument?
        @Option(help: "\"standard\", \"empty\", or a file of seed data as JSON. (default: the server's --seed)")
        var seed: String?
        @Option(
            help:
                "The seed for every id, token and key, 0 to 9007199254740991. (default: follows from the server's and the name)"
        ) var randomSeed: Int?
        @Option(
            help:
                "The moment at which the clock is frozen from the start, ISO 8601 with an offset, or \"now\". (default: the clock runs)"
        )
        var freeze: String?

        func validate() throws {
            if name != nil, prefix != nil { throw ValidationError("a name and --prefix exclude each other") }
            if let name {
                try require(
                    name.wholeMatch(of: #/[a-z0-9-]{1,63}/#) != nil,
                    "the name must be 1 to 63 characters of a-z, 0-9 and -, got \"\(VisibleText.line(name))\"")
            }
        }

        func call() throws -> ControlCall {
            let seed = try seed.map {
                ["standard", "empty"].contains($0) ? .string($0) : try InputFile.json(InputFile.bytes($0), $0)
            }
            let clock = freeze.map { JSONValue.object(["freeze": .string($0)]) }
            let body: ControlCall.Body = [
                "ttl": ttl, "seed": seed, "random_seed": randomSeed, "clock": clock, "prefix": prefix,
            ]
            let path: ControlPath = if let name { "/_sim/namespaces/\(name)" } else { "/_sim/namespaces" }
            return ControlCall(name == nil ? .POST : .PUT, path, body: body, takesLong: true)
                .printing { (info: NamespaceInfo, terminal) in
                    for note in info.notes ?? [] {
                        // The one note of a new namespace is about its clock; the option stands for the member of the body.
                        let text = note.problem.replacing(
                            #"with {"clock": {"freeze": "now"}}"#, with: "with --freeze now")
                        terminal.note("note: \(text)")
                    }
                    terminal.line(info.url)
                }
        }
    }

    struct Drop: ControlAction {
        static let abstract = "Delete namespaces by name or prefix. Exits 1 if there is none."
        @Argument(help: "The names.") var names: [String] = []
        @Option(help: "The start of the names; \"default\" is never deleted.") var prefix: String?

        func validate() throws {
            try require(
                names.isEmpty != (prefix == nil),
                "say which: \"namespace drop NAME\", or \"namespace drop --prefix pr-12-\"")
            if prefix == "" { throw ValidationError("--prefix must not be empty") }
        }

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            for name in names {
                try await client.send(ControlCall(.DELETE, "/_sim/namespaces/\(name)", takesLong: true))
                if !terminal.isJSON { terminal.line("dropped \(name)") }
            }
            if let prefix {
                let all: NamespaceList = try await client.get("/_sim/namespaces")
                let count = all.namespaces.count { $0.name != "default" && $0.name.utf8.starts(with: prefix.utf8) }
                // An error, like a name that does not exist.
                guard count > 0 else {
                    throw Refusal(
                        .no, "there is no namespace whose name begins with \"\(prefix)\"",
                        next: "see which there are: \(terminal.command("namespace list"))")
                }
                try await client.send(ControlCall(.DELETE, "/_sim/namespaces", [("prefix", prefix)], takesLong: true))
                if !terminal.isJSON { terminal.line("dropped \(Readable.count(count, "namespace"))") }
            }
            if terminal.isJSON { terminal.json(Data()) }
        }
    }
}
