import EntrupyAPI
import Foundation

/// Hides what nobody who reads a journal should see.
struct Secrets {
    private static let mask = "***"

    /// What is hidden wherever it stands, besides what can be told by its form or its name.
    private let known: [String]

    /// Whatever is shorter would be found in texts that mean something else.
    private static let shortestKnown = 6

    init(known: [String]) {
        self.known = known.filter { $0.utf8.count >= Self.shortestKnown }
    }

    /// - Parameter entry: its world's API tokens are hidden.
    init(_ entry: JournalEntry) {
        self.init(known: entry.known.apiTokens)
    }

    /// A header's value, as it is shown.
    func masked(header name: String, _ value: String) -> String {
        switch name.lowercased() {
        case "authorization":
            // The scheme tells what was wrong with it often enough.
            return value.split(separator: " ", maxSplits: 1).count == 2
                ? "\(value.prefix { $0 != " " }) \(Self.mask)" : Self.mask
        case "cookie", "set-cookie", "x-sim-control-token", "x-api-key", "proxy-authorization": return Self.mask
        default: return masked(text: value)
        }
    }

    /// Enough of a token to tell it from others, and no more.
    static func shortened(_ token: String) -> String {
        token.count > 8 ? "\(token.prefix(4))\(mask)" : mask
    }

    /// Names of members and parameters that hold secrets, in lower case.
    private static let names = [
        "token", "api_token", "access_token", "control_token", "signed_authorization_request", "secret", "secret_key",
        "password", "authorization", "api_key", "apitoken", "accesstoken", "controltoken", "signedauthorizationrequest",
        "secretkey", "passwd", "apikey", "jwt",
    ]

    /// A text outside of JSON, such as a path: tokens and passwords that can be told by their form.
    func masked(text: String) -> String {
        let mask = Self.mask
        let text = known.reduce(text) { $0.contains($1) ? $0.replacing($1, with: mask) : $0 }
        let mayHold = text.utf8.contains {
            $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: ".")
        }
        guard mayHold else { return text }
        return text.replacing(/\b(sdk|partner)_[a-z2-7]{20,}/) { "\($0.1)_\(mask)" }
            .replacing(/\beyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*/) { _ in mask }
            .replacing(/(:\/\/)[^\/\s@"]+@/) { "\($0.1)\(mask)@" }
    }

    /// A query, without its `?`.
    func masked(query: String) -> String {
        let mask = Self.mask
        return query.split(separator: "&", omittingEmptySubsequences: false).map { pair in
            let name = pair.prefix { $0 != "=" }
            let isSecret = Self.names.contains((name.removingPercentEncoding ?? String(name)).lowercased())
            return isSecret && name.count < pair.count ? "\(name)=\(mask)" : masked(text: String(pair))
        }.joined(separator: "&")
    }

    /// The members whose value is a secret, wherever they stand in a JSON text; also in one that breaks off.
    private static var member: Regex<(Substring, Substring, Substring)> {
        /(?i)("(?:token|api_?token|access_?token|control_?token|signed_?authorization_?request|secret|secret_?key|password|passwd|authorization|api_?key|jwt)"\s*:\s*)("(?:[^"\\]|\\.)*"?|[0-9][^,}\s]*)/
    }

    /// A body, as it is shown: a text in which secrets are hidden; nil where it is none.
    func masked(body: Data) -> String? {
        let mask = Self.mask
        guard let text = String(data: body, encoding: .utf8) ?? Self.cutText(body) else { return nil }
        // What is written in another way than it needs to be, or is no text, is found by reading it.
        if text.contains("\\u") || text.contains(Self.nested), let value = try? StoredJSON.decode(text),
            let plain = try? StoredJSON.encode(Self.masked(value))
        {
            return masked(text: plain)
        }
        // A form, which no route takes, is told by what it lacks.
        if text.contains("="), !text.contains(where: { "{[\"<\n".contains($0) }) { return masked(query: text) }
        return masked(
            text: text.contains("\"")
                ? text.replacing(Self.member) { found in
                    // One that breaks off goes on breaking off.
                    "\(found.1)\"\(mask)\(found.2.first == "\"" && (found.2.count == 1 || found.2.last != "\"") ? "" : "\"")"
                } : text)
    }

    /// A secret's name in front of an object or a list.
    private static var nested: Regex<Substring> {
        /(?i)"(?:token|secret|secret_?key|password|passwd|authorization|api_?key|api_?token)"\s*:\s*[{\[]/
    }

    private static func masked(_ value: JSONValue) -> JSONValue {
        switch value {
        case .object(let members):
            .object(
                Dictionary(
                    uniqueKeysWithValues: members.map { key, value in
                        (key, names.contains(key.lowercased()) && value != .null ? .string(mask) : masked(value))
                    }))
        case .array(let elements): .array(elements.map { masked($0) })
        default: value
        }
    }

    /// A text that was cut inside a character.
    private static func cutText(_ body: Data) -> String? {
        (1...3).lazy.filter { body.count > $0 }.compactMap { String(data: body.dropLast($0), encoding: .utf8) }.first
    }
}
