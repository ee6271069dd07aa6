import ArgumentParser
import Console
import Foundation
import NIOConcurrencyHelpers
import SimulationAPI

struct RequestsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "requests", abstract: "List, tail, verify and resend the requests to a namespace.",
        subcommands: [
            List.command, Tail.command, Verify.command, Show.command, Resend.command, Rules.command, Clear.command,
        ])

    struct Name: ParsableArguments {
        @Argument(help: "The request's id, as in X-Request-Id, or its number in the journal.") var id: String
        @Option(help: "Its number in the journal, if several requests have the id. (default: the only one)")
        var sequence: Int?

        var query: [(String, String?)] { [("sequence", sequence.map { "\($0)" })] }
    }

    /// The options that select requests of the journal.
    struct Filter: ParsableArguments {
        @Option(help: "A glob over the path, for instance '/sdk/results/*'.") var route: String?
        @Option(help: "The method, for instance POST.") var method: String?
        @Option(help: "The status, for instance 404 or 4xx.") var status: String?
        @Option(
            help: ArgumentHelp(
                "Whether the answer reached the client. (default: any, but true for a verification with --status)",
                valueName: "true|false|any"))
        var delivered: String?
        @Option(help: "The user of the request's session.") var username: String?
        @Option(help: "The earliest time on the namespace's clock, ISO 8601 with an offset or epoch seconds.")
        var since: String?
        @Option(help: "The request's X-Sim-Test header.") var test: String?

        var query: [(String, String?)] {
            [
                ("route", route), ("method", method), ("status", status), ("delivered", delivered),
                ("username", username), ("since", since), ("test", test),
            ]
        }
    }

    struct List: Endpoint {
        static let abstract = "List the journal, newest first."
        @OptionGroup var filter: Filter
        @Option(help: "Words in the path, the headers or the kept bodies; a part in double quotes is one word.")
        var text: String?
        @Option(help: "The id of the trace that the requests belong to, 32 hexadecimal digits.") var trace: String?
        @Option(help: "The maximum number of requests to list, 1 to 1000.") var limit = 100
        @Flag(help: "Print an HTTP archive of all of them.") var har = false
        @OptionGroup var download: DownloadOptions

        func call() -> ControlCall {
            ControlCall(.GET, "/_sim/requests", filter.query + given + [("limit", "\(limit)")])
                .listing(
                    \RequestList.requests, next: \.next_cursor, empty: "no such requests",
                    ["TIME", "STATUS", "METHOD", "PATH", "TOOK", "ID", "USER", "DECIDED BY"]
                ) {
                    [
                        Readable.time($0.at), $0.answerText, $0.method, $0.target, $0.took, $0.id, $0.username ?? "",
                        $0.decided,
                    ]
                }
        }

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            guard har else { return _ = try await answer(client, terminal) }
            try await client.printText(
                "/_sim/requests", filter.query + given + [("format", "har")], download, terminal, isJSON: true)
        }

        private var given: [(String, String?)] { [("text", text), ("trace", trace)] }
    }

    struct Tail: ControlAction {
        static let abstract = "Print requests as they come, until Ctrl-C; with --json one object a line."
        @Option(help: "Stop after this number of requests. (default: no limit)") var count: Int?

        func validate() throws {
            if let count, count < 1 { throw ValidationError("--count must be at least 1, got \(count)") }
        }

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            let left = NIOLockedValueBox(count ?? .max)
            try await client.listen([("types", "request")]) { name, data in
                // A request whose answer was lost later is printed again, and counted once.
                guard name == "request" || name == "request.undelivered" else { return true }
                if terminal.isJSON {
                    terminal.json(data)
                } else {
                    let request = try WireJSON.decode(JournaledRequest.self, from: data)
                    terminal.line([
                        "\(Readable.time(request.at))  ", .init(request.answerText, request.style),
                        "  \(request.method) \(request.target)  \(request.took)",
                        .init(request.decided.isEmpty ? "" : "  \(request.decided)"),
                    ])
                }
                return left.withLockedValue { left in
                    if name == "request" { left -= 1 }
                    return left > 0
                }
            }
        }
    }

    /// A kind of name that nobody has.
    enum AnyName: String, EnumerableFlag {
        case anyRoute = "any_route"
        case anyUser = "any_user"
        case anyTest = "any_test"
        case anyItem = "any_item"
        case anyRegion = "any_region"
        case anyStatus = "any_status"

        static func help(for value: Self) -> ArgumentHelp? {
            switch value {
            case .anyRoute: "Allow a route that matches no route of the platforms."
            case .anyUser: "Allow a user that there is not."
            case .anyTest: "Allow a test that has sent no request."
            case .anyItem: "Allow a route that names an item or a capture that there is not."
            case .anyRegion: "Allow a route that names a region that no workflow has."
            case .anyStatus: "Allow a status that the routes do not answer."
            }
        }
    }

    struct Verify: Endpoint {
        static let abstract = "Check that requests were made. If not, exits 1 and shows the nearest requests."
        static let discussion = """
            Without a number, at least one such request is expected. A route that the platforms do not have is an error, \
            unless --any-route says that it is meant. With --step, requests must come in an order; --delivered, --username, \
            --since and --test then hold for all of them:
            requests verify --step 'POST /sdk/captures 429' --step 'POST /sdk/captures 201' --min-gap 2s
            """
        @OptionGroup var filter: Filter
        @Flag var any: [AnyName] = []
        @Option(help: "The exact number of requests.") var times: Int?
        @Option(help: "The least number of requests. (default: 1, without --times and --at-most)") var atLeast: Int?
        @Option(help: "The maximum number of requests. (default: no limit)") var atMost: Int?
        @Option(
            help: ArgumentHelp(
                "A request of a sequence, for instance 'POST /sdk/captures 429'. Repeat it: the requests must come in this order, with any others between them.",
                valueName: "[METHOD] ROUTE [STATUS]"))
        var step: [String] = []
        @Option(help: "The least time between two steps, for instance 2s: from the answer to the next request.")
        var minGap: DurationArgument?
        @Option(help: "The longest time between two steps.") var maxGap: DurationArgument?

        func validate() throws {
            let gaps: [(name: String, value: Any?)] = [("--min-gap", minGap), ("--max-gap", maxGap)]
            if step.count < 2, let gap = gaps.first(where: { $0.value != nil }) {
                throw ValidationError("\(gap.name) needs at least two --step")
            }
            guard !step.isEmpty else { return }
            let others: [(name: String, value: Any?)] = [
                ("--route", filter.route), ("--method", filter.method), ("--status", filter.status),
                ("--times", times), ("--at-least", atLeast), ("--at-most", atMost),
            ]
            if let other = others.first(where: { $0.value != nil }) {
                throw ValidationError("\(other.name) cannot be combined with --step")
            }
            for text in step where Self.condition(text) == nil {
                throw ValidationError(
                    "--step must be a route, with a method before and a status after it if they matter, for instance 'POST /sdk/captures 429', got \"\(text)\""
                )
            }
        }

        /// The members of the condition for a step such as `POST /sdk/captures 429`; `nil` if it is anything else.
        private static func condition(_ step: String) -> [(String, JSONValue)]? {
            guard let parts = step.wholeMatch(of: #/ *(?:([A-Za-z]+) +)?([\/*][^ ]*)(?: +([1-5][!-~]{2}))? */#) else {
                return nil
            }
            let given: [(String, Substring?)] = [("method", parts.1), ("route", parts.2), ("status", parts.3)]
            return given.compactMap { name, text in text.map { (name, .string(String($0))) } }
        }

        func call() -> ControlCall {
            let match = filter.query.compactMap { name, value in
                value.map { text -> (String, JSONValue) in
                    // The API wants epoch seconds as a number.
                    let number = name == "since" ? JSONNumber(finite: text) : nil
                    return (name, number.map { .number($0) } ?? .string(text))
                }
            }
            let steps = step.map { JSONValue.object(JSONObject((Self.condition($0) ?? []) + match)) }
            let condition: [(String, any BodyMember)] = [
                ("match", steps.isEmpty ? JSONValue.object(JSONObject(match)) : nil), ("times", times),
                ("at_least", atLeast), ("at_most", atMost), ("sequence", steps.isEmpty ? nil : JSONValue.array(steps)),
                ("min_gap", minGap), ("max_gap", maxGap),
            ]
            let body = JSONValue.members(condition + any.map { ($0.rawValue, true) })
            let call = ControlCall(.POST, "/_sim/requests/verify", body: .json(body))
            guard !steps.isEmpty else {
                return call.printing { (verification: Verification, terminal) in
                    let count = Readable.count(verification.count, match.isEmpty ? "request" : "such request")
                    terminal.line("verified: \(count)\(match.isEmpty ? " of any kind: no option chooses which" : "")")
                }
            }
            return call.printing { (verification: SequenceVerification, terminal) in
                let numbers = verification.requests.map { "\($0.sequence)" }.joined(separator: ", ")
                terminal.line("verified: requests \(numbers) of the journal, in this order")
            }
        }

        func explain(_ refusal: inout Refusal, _ terminal: Terminal) {
            let kind = AnyName.allCases.first { kind in
                refusal.details.contains { $0.problem.contains("\"\(kind.rawValue)\"") }
            }
            guard let kind else { return }
            let option = "--" + kind.rawValue.replacing("_", with: "-")
            guard kind == .anyRoute else {
                refusal.next = "correct the name, or allow it with \(option)"
                return
            }
            let wrong = step.isEmpty ? "--route or --method" : "the route of --step"
            refusal.next =
                "correct \(wrong); \"\(terminal.command("choices routes"))\" lists the routes, \(option) allows others"
        }
    }

    struct Clear: Endpoint {
        static let abstract = "Empty the journal."
        func call() -> ControlCall { ControlCall(.DELETE, "/_sim/requests").saying("the journal is empty") }
    }

    // MARK: About one request

    struct Rules: Endpoint {
        static let abstract = "Compare the fault rules with a request: why did one not match?"
        @OptionGroup var name: Name

        func call() -> ControlCall {
            ControlCall(.GET, "/_sim/requests/\(name.id)/rules", name.query).printing(RuleMatchList.self)
        }
    }

    struct Show: ExchangeEndpoint {
        static let abstract = "Show a request of the journal with its answer."
        @OptionGroup var name: Name

        func call() -> ControlCall {
            ControlCall(.GET, "/_sim/requests/\(name.id)", name.query).printing(JournaledRequest.self)
        }
    }

    struct Resend: ExchangeEndpoint {
        static let abstract = "Send a request of the journal again, with the token it had."
        static let discussion = """
            requests resend req_rmydnhkwzrhx3rsdxuaa
            requests resend 17 --path /sdk/search --body '{"limit": 5}' --header 'Accept-Language: ja'
            """
        @OptionGroup var name: Name
        @Option(help: "Another method. (default: that of the request)") var method: String?
        @Option(help: "Another path, with its query. (default: that of the request)") var path: String?
        @Option(help: "A header to set, for instance 'Api-Version: 1.4'; 'Api-Version:' removes it. May be repeated.")
        var header: [String] = []
        @Option(help: "Another body. (default: that of the request)") var body: String?

        func validate() throws { try HeaderOption.check(header, "Name: value") }

        func call() -> ControlCall {
            let headers = HeaderOption.json(header) { $0.isEmpty ? .null : .string($0) }
            return ControlCall(
                .POST, "/_sim/requests/\(name.id)/resend", name.query,
                body: ["method": method, "path": path, "body": body, "headers": headers], takesLong: true
            ).printing(JournaledRequest.self)
        }
    }
}

/// An endpoint that answers a request of the journal. It also prints the page of the console that shows the request.
protocol ExchangeEndpoint: Endpoint {}

extension ExchangeEndpoint {
    func run(_ client: ControlClient, _ terminal: Terminal) async throws {
        let answer = try await answer(client, terminal)
        guard !terminal.isJSON else { return }
        let request: JournaledRequest = try answer.decoded()
        let page = "\(client.options.console)/requests/\(URLPart.escaped(request.id))"
        terminal.note("\(page)\(request.sequence.map { "?sequence=\($0)" } ?? "")")
    }
}

extension JournaledRequest: Printable {
    /// Prints the exchange: the request line and its body, the status, the user, the fact behind a refusal, and the answer's body.
    func show(on terminal: Terminal) {
        terminal.line("\(method) \(target)")
        if let body = request?.body, !body.isEmpty { terminal.lines(body) }
        terminal.line(answerText, style)
        if let username { terminal.line("user \(username)") }
        if let because { terminal.line("because \(because)") }
        if let body = response?.body, !body.isEmpty { terminal.lines(body) }
    }

    fileprivate var target: String { path + (query.map { "?\($0)" } ?? "") }

    fileprivate var took: String { String(format: "%.1f ms", duration_ms) }

    /// The rules, limits and facts that decided the answer; empty if none did.
    fileprivate var decided: String {
        let rules = [decided_by.fault.map { "fault \($0)" }, decided_by.outcome.map { "outcome \($0)" }]
        let decided = rules.compactMap(\.self) + decided_by.limits.map { "limit \($0)" }
        // The fact behind an answer of a fault is the fault.
        return (decided.isEmpty ? [because].compactMap(\.self) : decided).joined(separator: ", ")
    }

    /// The style of the answer's status: red also where the client did not get the answer.
    fileprivate var style: Terminal.Style {
        guard delivered, let status else { return .red }
        return status < 400 ? .green : status < 500 ? .yellow : .red
    }
}
