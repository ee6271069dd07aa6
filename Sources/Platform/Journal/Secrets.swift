import Foundation

/// Hides what nobody who reads a journal should see.
enum Secrets {
    private static let mask = "***"

    /// A header's value, as it is shown.
    static func masked(header name: String, _ value: String) -> String {
        switch name.lowercased() {
        case "authorization":
            // The scheme tells what was wrong with it often enough.
            return value.split(separator: " ", maxSplits: 1).count == 2 ? "\(value.prefix { $0 != " " }) \(mask)" : mask
        case "cookie", "set-cookie", "x-sim-control-token": return mask
        default: return value
        }
    }

    /// Enough of a token to tell it from others, and no more.
    static func shortened(_ token: String) -> String {
        token.count > 8 ? "\(token.prefix(4))\(mask)" : mask
    }

    /// The members whose text is a secret, wherever they stand in a JSON text; also in one that breaks off.
    private static var member: Regex<(Substring, Substring)> {
        /("(?:token|signed_authorization_request|secret_key|password)"\s*:\s*")(?:[^"\\]|\\.)*/
    }

    /// A body, as it is shown: a text in which secrets are hidden; nil where it is none.
    static func masked(body: Data) -> String? {
        guard let text = String(data: body, encoding: .utf8) ?? Self.cutText(body) else { return nil }
        guard text.contains("\"") else { return text }
        return text.replacing(member) { "\($0.1)\(mask)" }
    }

    /// A text that was cut inside a character.
    private static func cutText(_ body: Data) -> String? {
        (1...3).lazy.filter { body.count > $0 }.compactMap { String(data: body.dropLast($0), encoding: .utf8) }.first
    }
}
