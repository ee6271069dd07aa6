import ArgumentParser
import Foundation
import Server

/// Ends the program after an error. All commands share one message format and one meaning of exit codes.
enum ExitStatus {
    static func end(_ error: any Error) -> Never {
        let refusal: Refusal
        switch error {
        case let code as ExitCode:
            Foundation.exit(code.rawValue)
        case let known as Refusal:
            refusal = known
        case let known as ReplayRefusal:
            refusal = Refusal(known)
        default:
            switch EntrupySim.exitCode(for: error) {
            // Help, the version, completions.
            case .success: EntrupySim.exit(withError: error)
            case .validationFailure: refusal = usage(error)
            default:
                refusal = Refusal(
                    .internalError, "\(error)",
                    next: "this is a bug in entrupy-sim; please report it with the command")
            }
        }
        Terminal(isJSON: CommandLine.arguments.prefix { $0 != "--" }.contains("--json")).show(refusal)
        Foundation.exit(refusal.code.rawValue)
    }

    /// The argument parser's message in this program's format.
    private static func usage(_ error: any Error) -> Refusal {
        let message = EntrupySim.message(for: error)
        let rest = EntrupySim.fullMessage(for: error).trimmingPrefix("Error: \(message)")
        let lines = rest.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        // The parser guesses by letters alone.
        if let unknown = message.firstMatch(of: #/^Unknown option '([^']+)'/#) {
            let words = Array(CommandLine.arguments.dropFirst())
            return Refusal(
                .usage, "unknown option '\(unknown.1)'", next: Suggestions.hint(for: String(unknown.1), in: words))
        }
        return Refusal(.usage, lowercased(message), next: lines.joined(separator: "\n"))
    }

    /// The message with a lowercase first letter, to follow `error:`. A message that begins with a flag's name is unchanged.
    private static func lowercased(_ message: String) -> String {
        let isSentence = message.dropFirst().first.map { $0.isLowercase || $0 == " " } ?? false
        return isSentence ? message.prefix(1).lowercased() + message.dropFirst() : message
    }
}
