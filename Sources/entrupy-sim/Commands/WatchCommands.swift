import ArgumentParser
import Foundation
import NIOConcurrencyHelpers
import SimulationAPI

/// The options that select requests of the journal.
struct RequestFilter: ParsableArguments {
    @Option(help: "A glob over the path, for instance '/sdk/results/*'.")
    var route: String?

    @Option(help: "The method, for instance POST.")
    var method: String?

    @Option(help: "The status, for instance 404 or 4xx.")
    var status: String?

    @Option(
        help: ArgumentHelp(
            "Whether the answer reached the client. The default is any, but true for a verification with --status.",
            valueName: "true|false|any"))
    var delivered: String?

    @Option(help: "The user of the request's session.")
    var username: String?

    @Option(help: "The earliest time on the namespace's clock, ISO 8601 with an offset or epoch seconds.")
    var since: String?

    @Option(help: "The request's X-Sim-Test header.")
    var test: String?

    var query: [(String, String?)] {
        [
            ("route", route), ("method", method), ("status", status), ("delivered", delivered), ("username", username),
            ("since", since), ("test", test),
        ]
    }

    var match: JSONValue {
        .object(
            JSONObject(
                query.compactMap { name, value in
                    value.map { text in
                        // The API wants epoch seconds as a number.
                        let number = name == "since" ? JSONNumber(finite: text) : nil
                        return (name, number.map { .number($0) } ?? .string(text))
                    }
                }))
    }
}

/// `entrupy-sim requests`.
struct RequestsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "requests", abstract: "List, follow, verify and repeat the requests to a namespace.",
        subcommands: [List.self, Tail.self, Verify.self, Show.self, Resend.self, Rules.self, Clear.self])

    private static func decided(_ request: JournaledRequest) -> String {
        let limits = request.decided_by.limits.map { "limit \($0)" }
        return
            ([request.decided_by.fault.map { "fault \($0)" }, request.decided_by.outcome.map { "outcome \($0)" }]
            .compactMap { $0 } + limits).joined(separator: ", ")
    }

    private static func path(_ request: JournaledRequest) -> String {
        request.path + (request.query.map { "?\($0)" } ?? "")
    }

    struct List: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the journal, newest first.")

        @OptionGroup var control: ControlOptions
        @OptionGroup var filter: RequestFilter

        @Option(help: "The maximum number of requests to list, 1 to 1000.")
        var limit = 100

        @Flag(help: "Print an HTTP archive of all of them.")
        var har = false

        @OptionGroup var download: DownloadOptions

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            if har {
                return try await Download.text(
                    client, "/_sim/requests", query: filter.query + [("format", "har")], download, terminal,
                    isJSON: true)
            }
            let answer = try await client.send(
                "GET", "/_sim/requests", query: filter.query + [("limit", "\(limit)")])
            try terminal.show(answer) {
                let list = try answer.decoded(RequestList.self)
                let rows = list.requests.map { request in
                    [
                        Readable.time(request.at), request.answerText, request.method,
                        RequestsCommand.path(request), String(format: "%.1f ms", request.duration_ms), request.id,
                        RequestsCommand.decided(request),
                    ]
                }
                terminal.table(
                    ["TIME", "STATUS", "METHOD", "PATH", "TOOK", "ID", "DECIDED BY"], rows, empty: "no such requests")
                if list.next_cursor != nil { terminal.note("there are more; raise --limit\n") }
            }
        }
    }

    struct Tail: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "tail", abstract: "Print requests as they come, until Ctrl-C; with --json one object a line.")

        @OptionGroup var control: ControlOptions

        @Option(help: "Stop after this number of requests.")
        var count: Int?

        func validate() throws {
            if let count, count < 1 { throw ValidationError("--count must be at least 1, got \(count)") }
        }

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            let left = NIOLockedValueBox(count ?? .max)
            try await client.listen([("types", "request")]) { name, data in
                if name == "world.deleted" { throw Refusal(.no, "the namespace \(control.named) was deleted") }
                // A request whose answer was lost later is printed again, and counted once.
                guard name == "request" || name == "request.undelivered" else { return true }
                if terminal.isJSON {
                    terminal.json(data)
                } else {
                    let request = try WireJSON.decode(JournaledRequest.self, from: data)
                    let decided = RequestsCommand.decided(request)
                    terminal.line([
                        "\(Readable.time(request.at))  ",
                        .init(request.answerText, RequestsCommand.color(request)),
                        "  \(request.method) \(RequestsCommand.path(request))",
                        .init(String(format: "  %.1f ms", request.duration_ms)),
                        .init(decided.isEmpty ? "" : "  \(decided)"),
                    ])
                }
                return left.withLockedValue { left in
                    if name == "request" { left -= 1 }
                    return left > 0
                }
            }
            if left.withLockedValue({ $0 }) > 0 {
                throw Refusal(
                    .noServer, "the server at \(control.base) stopped",
                    next: "start it again with \"entrupy-sim serve\", then repeat this command")
            }
        }
    }

    struct Verify: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify",
            abstract: "Check that a request was made. If not, exits 1 and shows the nearest requests.",
            discussion: """
                Without a number, at least one such request is expected. A --route that the platforms do not have is an error, \
                unless --any-route says that it is meant.
                """)

        @OptionGroup var control: ControlOptions
        @OptionGroup var filter: RequestFilter

        @Flag(help: "Allow a --route that matches no route of the platforms.")
        var anyRoute = false

        @Option(help: "The exact number of requests.")
        var times: Int?

        @Option(help: "The least number of requests.")
        var atLeast: Int?

        @Option(help: "The maximum number of requests.")
        var atMost: Int?

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            var body: JSONObject = ["match": filter.match]
            if anyRoute { body["any_route"] = .bool(true) }
            for (name, count) in [("times", times), ("at_least", atLeast), ("at_most", atMost)] {
                body[name] = count.map { .number(JSONNumber($0)) }
            }
            let answer = try await verify(.object(body), client)
            try terminal.show(answer) {
                let count = try answer.decoded(Verification.self).count
                terminal.line("verified: \(Readable.count(count, "such request"))")
            }
        }

        private func verify(_ body: JSONValue, _ client: ControlClient) async throws -> ControlClient.Answer {
            do {
                return try await client.send("POST", "/_sim/requests/verify", body)
            } catch var refusal as Refusal
                where refusal.details.contains(where: { ["match.route", "match.method"].contains($0.field) })
            {
                refusal.next =
                    "correct --route or --method; \"entrupy-sim choices routes\" lists the routes, --any-route allows others"
                throw refusal
            }
        }
    }
}
