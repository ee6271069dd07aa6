import ArgumentParser
import Foundation
import SimulationAPI

// The commands of `entrupy-sim requests` about one request.

extension RequestsCommand {
    /// The request that a command is about.
    struct Name: ParsableArguments {
        @Argument(help: "The request's id, as in X-Request-Id, or its number in the journal.")
        var id: String

        @Option(help: "Its number in the journal, if several requests have the id.")
        var sequence: Int?

        var path: String { "/_sim/requests/\(ControlClient.escaped(id))" }
        var query: [(String, String?)] { [("sequence", sequence.map { "\($0)" })] }
    }

    /// The color of an answer: red also where the client did not get it.
    static func color(_ request: JournaledRequest) -> Terminal.Style {
        guard request.delivered, let status = request.status else { return .red }
        return status < 400 ? .green : status < 500 ? .yellow : .red
    }

    /// Prints an exchange: the request line, the status, both bodies, and the page that shows it.
    private static func show(
        _ answer: ControlClient.Answer, _ control: ControlOptions, _ terminal: Terminal
    ) throws {
        try terminal.show(answer) {
            let request = try answer.decoded(JournaledRequest.self)
            terminal.line("\(request.method) \(request.path)\(request.query.map { "?\($0)" } ?? "")")
            if let body = request.request?.body, !body.isEmpty { terminal.lines(body) }
            terminal.line(request.answerText, RequestsCommand.color(request))
            if let body = request.response?.body, !body.isEmpty { terminal.lines(body) }
            terminal.note(
                "\(control.console)/requests/\(ControlClient.escaped(request.id))\(request.sequence.map { "?sequence=\($0)" } ?? "")\n"
            )
        }
    }

    struct Show: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show a request of the journal with its answer.")

        @OptionGroup var control: ControlOptions
        @OptionGroup var name: Name

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            try RequestsCommand.show(await client.send("GET", name.path, query: name.query), control, terminal)
        }
    }

    struct Resend: ControlCommand {
        static let configuration = CommandConfiguration(
            commandName: "resend", abstract: "Send a request of the journal again, with the token it had.",
            discussion: """
                requests resend req_rmydnhkwzrhx3rsdxuaa
                requests resend 17 --path /sdk/search --body '{"limit": 5}' --header 'Accept-Language: ja'
                """)

        @OptionGroup var control: ControlOptions
        @OptionGroup var name: Name

        @Option(help: "Another method.")
        var method: String?

        @Option(help: "Another path, with its query.")
        var path: String?

        @Option(help: "A header to set, for instance 'Api-Version: 1.4'; 'Api-Version:' removes it. May be repeated.")
        var header: [String] = []

        @Option(help: "Another body.")
        var body: String?

        func validate() throws {
            for header in header where !header.contains(":") {
                throw ValidationError("--header must be 'Name: value', got '\(header)'")
            }
        }

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            var edit: JSONObject = [:]
            for (key, value) in [("method", method), ("path", path), ("body", body)] {
                edit[key] = value.map { .string($0) }
            }
            if !header.isEmpty {
                let pairs = header.map { text -> (String, JSONValue) in
                    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                    let value = parts[1].trimmingCharacters(in: .whitespaces)
                    return (String(parts[0]), value.isEmpty ? .null : .string(value))
                }
                edit["headers"] = .object(JSONObject(pairs))
            }
            let answer = try await client.send(
                "POST", name.path + "/resend", query: name.query, .object(edit), takesLong: true)
            try RequestsCommand.show(answer, control, terminal)
        }
    }

    struct Clear: ControlCommand {
        static let configuration = CommandConfiguration(commandName: "clear", abstract: "Empty the journal.")

        @OptionGroup var control: ControlOptions

        func run(_ client: ControlClient, _ terminal: Terminal) async throws {
            try await client.send("DELETE", "/_sim/requests")
            terminal.isJSON ? terminal.json(Data()) : terminal.line("the journal is empty")
        }
    }
}
