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

    let code: Code
    let message: String
    var details: [(field: String, problem: String)] = []
    var next: String?
    /// The body of the server's answer, for `--json`.
    var answer: Data?

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

    init(_ code: Code, _ message: String, next: String? = nil, answer: Data? = nil) {
        self.code = code
        self.message = message
        self.next = next
        self.answer = answer
    }
}
