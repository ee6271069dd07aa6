import ArgumentParser
import Foundation
import SimulationAPI

struct HeldCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "held", abstract: "List and release the requests that the fault effect \"hold\" holds.",
        subcommands: [List.command, Release.command])

    struct List: Endpoint {
        static let abstract = "List the held requests, oldest first."

        func call() -> ControlCall {
            ControlCall(.GET, "/_sim/held").listing(
                \HeldList.held, empty: "no request is held",
                ["ID", "WHEN", "METHOD", "PATH", "USER", "TEST", "SEQUENCE", "HELD FOR", "TIME LEFT"]
            ) { held in
                let now = Date().timeIntervalSince1970
                return [
                    held.id, held.when, held.request.method, held.request.path, held.request.username ?? "",
                    held.request.test ?? "", "\(held.request.sequence)", Self.span(now - held.since),
                    Self.span(held.until - now),
                ]
            }
        }

        private static func span(_ seconds: Double) -> String { DurationText.text(seconds: max(0, seconds.rounded())) }
    }

    struct Release: Endpoint {
        static let abstract = "Let a held request go on, or all of them."
        static let discussion = """
            held release hld_4qkxo3qj6ru6ynqmvdea
            held release hld_4qkxo3qj6ru6ynqmvdea --status 503
            held release hld_4qkxo3qj6ru6ynqmvdea --drop-connection
            held release --all
            """
        static let optionNames = [
            "status": "--status", "body": "--body", "drop_connection": "--drop-connection",
        ]
        @Argument(help: "The id of the held request, as \"held list\" prints it. (default: none, with --all)")
        var id: String?
        @Flag(help: "Release all of the namespace.") var all = false
        @Option(help: "Answer this status instead. A request that was held before is then not handled.") var status:
            Int?
        @Option(help: "The body of that answer, as JSON or plain text. (default: the error envelope)") var body: String?
        @Flag(help: "Reset the connection instead. A request that was held before is then not handled.")
        var dropConnection = false

        func validate() throws {
            try require((id != nil) != all, "name one held request, or give --all")
            try require(body == nil || status != nil, "--body belongs to --status")
            try require(!dropConnection || status == nil, "--drop-connection cannot be combined with --status")
            try require(
                !all || status == nil && !dropConnection,
                "--all lets the requests go on; --status and --drop-connection need an id")
        }

        func call() -> ControlCall {
            guard let id else { return ControlCall(.DELETE, "/_sim/held").saying("all held requests are released") }
            let body = body.map { InputFile.value(Data($0.utf8)) }
            return ControlCall(
                .POST, "/_sim/held/\(id)/release",
                body: ["status": status, "body": body, "drop_connection": dropConnection ? true : nil]
            ).printing { (held: HeldInfo, terminal) in
                terminal.line("released: \(held.request.method) \(held.request.path)")
            }
        }
    }
}
