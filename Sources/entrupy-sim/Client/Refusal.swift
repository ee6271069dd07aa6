import ArgumentParser
import Foundation

/// Why a command did not do what it was asked, and what to do next.
struct Refusal: Error {
    /// The exit codes of all commands, besides 0 for yes.
    enum Code: Int32 {
        /// The answer is no: refused, not verified, not settled, different; or the server cannot start.
        case no = 1
        /// Not everything was done: a replay of a cut recording, or an interrupted one, that found no difference.
        case incomplete = 2
        /// The command was given something wrong, a file included (`EX_USAGE`).
        case usage = 64
        /// There is no server (`EX_UNAVAILABLE`).
        case noServer = 69
        /// The program, or the server, made a mistake (`EX_SOFTWARE`).
        case internalError = 70
    }

    let code: Code
    let message: String
    var details: [(field: String, problem: String)] = []
    var next: String?
    /// The server's own answer, for `--json`.
    var answer: Data?

    /// Whether the message says what a detail says, wherever that names its line.
    func says(_ problem: String) -> Bool {
        let withoutLine = problem.hasPrefix("line ") ? problem.drop { $0 != ":" }.dropFirst(2) : problem[...]
        return message.hasSuffix(withoutLine) || message.contains(problem)
    }

    init(_ code: Code, _ message: String, next: String? = nil, answer: Data? = nil) {
        self.code = code
        self.message = message
        self.next = next
        self.answer = answer
    }
}

/// A command that is a client of the control API.
protocol ControlCommand: AsyncParsableCommand {
    var control: ControlOptions { get }
    func run(_ client: ControlClient, _ terminal: Terminal) async throws
}

extension ControlCommand {
    func run() async throws {
        let terminal = Terminal(isJSON: control.json)
        do {
            try await run(ControlClient(options: control), terminal)
        } catch let refusal as Refusal {
            terminal.show(refusal)
            throw ExitCode(refusal.code.rawValue)
        }
    }
}
