import ArgumentParser
import Foundation

/// The end of a program whose command did not do what it was asked: one form of words, and one meaning of exit codes.
enum ExitStatus {
    /// Says what was wrong, and exits.
    static func end(_ error: any Error) -> Never {
        let refusal: Refusal
        switch error {
        case let code as ExitCode:
            Foundation.exit(code.rawValue)
        case let known as Refusal:
            refusal = known
        default:
            switch EntrupySim.exitCode(for: error) {
            // Help, the version, completions.
            case .success: EntrupySim.exit(withError: error)
            case .validationFailure: refusal = usage(error)
            default:
                refusal = Refusal(
                    .internalError, "\(error)",
                    next: "this is a mistake in entrupy-sim; please report it with the command")
            }
        }
        Terminal(isJSON: false).show(refusal)
        Foundation.exit(refusal.code.rawValue)
    }

    /// What the parser of arguments says, in this program's form.
    private static func usage(_ error: any Error) -> Refusal {
        let message = EntrupySim.message(for: error)
        let whole = EntrupySim.fullMessage(for: error)
        let prefix = "Error: \(message)"
        let rest = whole.hasPrefix(prefix) ? whole.dropFirst(prefix.count) : whole[...]
        let lines = rest.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        return Refusal(.usage, lowercased(message), next: lines.joined(separator: "\n  "))
    }

    /// A sentence as it stands behind `error:`; names of flags stay as they are.
    private static func lowercased(_ message: String) -> String {
        let isSentence = message.dropFirst().first.map { $0.isLowercase || $0 == " " } ?? false
        return isSentence ? message.prefix(1).lowercased() + message.dropFirst() : message
    }
}
