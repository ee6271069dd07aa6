import Foundation
import SimulationAPI

/// The reason why a command failed, and what to do next.
struct Refusal: Error {
    /// The exit codes of all commands, except 0 for success.
    enum Code: Int32 {
        /// The answer is no: refused, not verified, not settled, or different. Also: the server cannot start.
        case no = 1
        /// A replay found no difference, but was incomplete: its recording was cut, or it was interrupted.
        case incomplete = 2
        /// A wrong argument or input file (`EX_USAGE`).
        case usage = 64
        /// The server cannot be reached (`EX_UNAVAILABLE`).
        case noServer = 69
        /// An internal error of the program or the server (`EX_SOFTWARE`).
        case internalError = 70
    }

    var code: Code
    private(set) var message: String
    var details: [(field: String, problem: String)] = []
    var next: String?
    /// The body of the server's answer, for `--json`.
    var answer: Data?
    /// The status of an answer of the platform's routes, which clients see; `nil` for other errors.
    var status: Int?

    /// Whether the message already contains a detail's text. A `line …:` at the start of the detail is ignored.
    func says(_ problem: String) -> Bool {
        let withoutLine = problem.hasPrefix("line ") ? problem.drop { $0 != ":" }.dropFirst(2) : problem[...]
        return message.hasSuffix(withoutLine) || message.contains(problem)
    }

    /// The error as JSON, in the form of the server's errors. `nil` if its text cannot be encoded.
    var envelope: Data? {
        let name =
            switch code {
            case .no: "refused"
            case .incomplete: "incomplete"
            case .usage: "usage"
            case .noServer: "no_server"
            case .internalError: "internal_error"
            }
        let details = details.map { ErrorDetail($0.field, $0.problem) }
        // Without it, standard error still says what failed.
        return try? WireJSON.encode(
            ErrorEnvelope(error: message, code: name, sdk_error: nil, details: details, request_id: ""))
    }

    /// Names commands where the server names its own routes.
    mutating func nameCommands(_ options: ControlOptions) {
        for thing in ["scenario", "snapshot", "namespace"] {
            let end = "GET /_sim/\(thing)s lists them"
            guard message.hasSuffix(end), let start = message.range(of: "; ", options: .backwards) else { continue }
            let guess = message[start.upperBound...].dropLast(end.count)
            next = "\(guess)\"\(options.command("\(thing) list"))\" lists them"
            message = String(message[..<start.lowerBound])
        }
        message = message.replacing("POST /_sim/reset", with: "\"\(options.command("reset"))\"")
            .replacing("GET /_sim/webhooks", with: "\"\(options.command("webhooks list"))\"")
            .replacing(#/POST \/_sim\/scenarios\/([A-Za-z0-9._-]+)\/start/#) {
                "\"\(options.command("scenario start \($0.1)"))\""
            }
            .replacing(#/PUT \/_sim\/snapshots\/([A-Za-z0-9._-]+)/#) {
                "\"\(options.command("snapshot save \($0.1)"))\""
            }
    }

    /// Leaves out the member of a request that allows a name nobody has: the command has an option for it, or none.
    mutating func leaveOutMembers() {
        func plain(_ text: String) -> String {
            text.replacing(#/\. Send "?any_[a-z]+"?[^.]*$/#, with: "")
        }
        message = plain(message)
        details = details.map { ($0.field, plain($0.problem)) }
    }

    /// Replaces the members of a request's body by the options that they come from.
    ///
    /// - Parameter options: the options, by the name of the member. `events` stands for `events[0]` too.
    mutating func name(options: [String: String]) {
        func named(_ text: String) -> String? {
            let field = text.prefix { $0 != " " && $0 != "[" }
            guard let option = options[String(field)] else { return nil }
            let rest = text.dropFirst(field.count)
            return option + (rest.first == "[" ? rest.drop { $0 != "]" }.dropFirst() : rest)
        }
        message = named(message) ?? message
        details = details.map { (named($0.field) ?? $0.field, $0.problem) }
    }

    init(_ code: Code, _ message: String, next: String? = nil, answer: Data? = nil) {
        self.code = code
        self.message = message
        self.next = next
        self.answer = answer
    }
}

extension Refusal: CustomStringConvertible {
    var description: String { message }
}
