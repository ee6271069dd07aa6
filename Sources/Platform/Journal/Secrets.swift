import EntrupyAPI
import Foundation

/// Masks secrets in everything the journal and the log show.
///
/// Each call takes time linear in its input: an export masks tens of thousands of texts.
package struct Secrets: Sendable {
    private static let mask = "***"

    /// Texts that are masked wherever they stand, besides secrets that have a form or a name of their own.
    private let scanner: SecretScanner

    /// Shorter ones would be found in texts that mean something else.
    private static let minKnownLength = 6

    package init(known: [String]) {
        scanner = SecretScanner(
            known: known.map { Array($0.utf8) }.filter { $0.count >= Self.minKnownLength }, mask: Array(Self.mask.utf8))
    }

    /// - Parameter entry: the API tokens of its namespace are masked.
    init(_ entry: JournalEntry) {
        self.init(known: entry.known.apiTokens)
    }

    /// Whether a text has a masked part.
    static func isMasked(_ text: String) -> Bool { text.utf8.contains(UInt8(ascii: "*")) }

    /// A header's value, as it is shown.
    func masked(header name: String, _ value: String) -> String {
        switch name.lowercased() {
        case "authorization":
            // The scheme often tells what was wrong.
            let scheme = value.utf8.prefix { $0 != UInt8(ascii: " ") }
            return scheme.isEmpty || scheme.count == value.utf8.count
                ? Self.mask : "\(masked(text: String(Substring(scheme)))) \(Self.mask)"
        case "cookie", "set-cookie", "x-sim-control-token", "x-api-key", "proxy-authorization": return Self.mask
        default: return masked(text: value)
        }
    }

    /// Enough of a token to tell it from others, and no more.
    static func shortened(_ token: String) -> String {
        token.count > 8 ? "\(token.prefix(4))\(mask)" : mask
    }

    /// A text outside of JSON, such as a path: secrets that have a form of their own.
    package func masked(text: String) -> String { scanner.masked(text, isJSON: false) }

    /// A query, without its `?`.
    func masked(query: String) -> String {
        query.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
            .map { masked(pair: Substring($0)) }.joined(separator: "&")
    }

    private func masked(pair: Substring) -> String {
        let name = Substring(pair.utf8.prefix { $0 != UInt8(ascii: "=") })
        let hasValue = name.utf8.count < pair.utf8.count
        if hasValue, SecretScanner.isSecretName((name.removingPercentEncoding ?? String(name)).utf8) {
            return "\(masked(text: String(name)))=\(Self.mask)"
        }
        // A secret that is written with escapes is found by decoding it.
        if pair.utf8.contains(UInt8(ascii: "%")), let plain = pair.removingPercentEncoding,
            !masked(text: plain).isIdentical(to: plain)
        {
            return hasValue ? "\(masked(text: String(name)))=\(Self.mask)" : Self.mask
        }
        return masked(text: String(pair))
    }

    /// A body, as it is shown: a text in which secrets are masked; nil if it is not text.
    func masked(body: Data) -> String? {
        guard let text = String(data: body, encoding: .utf8) ?? Self.cutText(body) else { return nil }
        // Escaped letters, and objects under a secret's name, are found by decoding the JSON.
        if scanner.needsDecoding(text), let value = try? StoredJSON.decode(text),
            let plain = try? StoredJSON.encode(Self.masked(value))
        {
            return scanner.masked(plain, isJSON: true)
        }
        return Self.isForm(text) ? masked(query: text) : scanner.masked(text, isJSON: true)
    }

    /// Whether a text is a form, which no route takes.
    private static func isForm(_ text: String) -> Bool {
        var hasValue = false
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "="): hasValue = true
            case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: "\n"):
                return false
            default: continue
            }
        }
        return hasValue
    }

    private static func masked(_ value: JSONValue) -> JSONValue {
        switch value {
        case .object(let members):
            .object(
                Dictionary(
                    uniqueKeysWithValues: members.map { key, value in
                        let isSecret = SecretScanner.isSecretName(key.utf8) && value != .null
                        return (key, isSecret ? .string(mask) : masked(value))
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
