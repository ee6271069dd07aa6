import Foundation
import NIOConcurrencyHelpers
import SimulationAPI

/// The secrets of a namespace: texts, and the beginnings of its platforms' tokens.
package struct KnownSecrets: Sendable, Equatable, ExpressibleByArrayLiteral {
    /// Texts that are secrets in any position.
    package let texts: [String]
    /// The beginnings of tokens. Each ends with `_`.
    let tokenPrefixes: [[UInt8]]

    /// - Parameter platforms: the platforms whose tokens are secrets too; `nil` if there are none.
    package init(_ texts: [String], tokensOf platforms: Platforms? = nil) {
        self.init(texts, tokenPrefixes: platforms?.tokenPrefixes ?? [])
    }

    init(_ texts: [String], tokenPrefixes: [[UInt8]]) {
        self.texts = texts
        self.tokenPrefixes = tokenPrefixes
    }

    package init(arrayLiteral texts: String...) {
        self.init(texts)
    }

    /// With more texts.
    static func + (known: KnownSecrets, texts: [String]) -> KnownSecrets {
        KnownSecrets(known.texts + texts, tokenPrefixes: known.tokenPrefixes)
    }
}

/// Masks secrets in everything that the journal and the log show [D secrets].
///
/// Each call takes time linear in its input: an export masks tens of thousands of texts.
package struct Secrets: Sendable {
    static let mask = "***"

    /// Masks known texts in any position, and secrets that are recognized by their form or name.
    private let scanner: SecretScanner
    /// Whether bodies name the URLs of receivers, whose queries may hold secrets.
    private var masksReceivers = false

    /// Shorter secrets would also match in texts that mean something else [D secrets].
    private static let minKnownLength = 6

    package init(_ known: KnownSecrets) {
        scanner = known.texts.count < Self.minCached ? Self.scanner(known) : Self.cachedScanner(known)
    }

    private static func scanner(_ known: KnownSecrets) -> SecretScanner {
        let spellings = known.texts.filter { $0.utf8.count >= minKnownLength }.flatMap(spellings)
        return SecretScanner(known: spellings.map { Array($0.utf8) }, tokenPrefixes: known.tokenPrefixes)
    }

    /// The number of secrets from which a scanner is cached. Seed data may have a hundred thousand tokens, and each entry,
    /// log line and event needs a scanner.
    private static let minCached = 32
    private static let maxCached = 8
    private static let cache = NIOLockedValueBox<[(known: KnownSecrets, scanner: SecretScanner)]>([])

    private static func cachedScanner(_ known: KnownSecrets) -> SecretScanner {
        // Lists of one namespace share their storage, so equal ones are found at once.
        if let scanner = cache.withLockedValue({ $0.first { $0.known == known }?.scanner }) { return scanner }
        let made = scanner(known)
        cache.withLockedValue { cache in
            cache.insert((known, made), at: 0)
            if cache.count > maxCached { cache.removeLast() }
        }
        return made
    }

    /// - Parameters:
    ///   - entry: the entry to mask, whose outcome has the namespace's secrets at that time.
    ///   - present: the namespace's current secrets. The request itself may have added one.
    package init(_ entry: JournalEntry, _ present: KnownSecrets) {
        self = Secrets(Self.union(entry.outcome.secrets, present)).of(entry)
    }

    /// These secrets for one entry of the journal. The bodies of requests about subscriptions name receivers.
    func of(_ entry: JournalEntry) -> Secrets {
        var secrets = self
        secrets.masksReceivers = entry.path.split(at: "/").contains(Self.receivers)
        return secrets
    }

    /// The part of the paths whose requests make, change or show subscriptions.
    private static let receivers = "webhooks"[...]

    /// The union of both. The platforms of a server do not change.
    package static func union(_ past: KnownSecrets, _ present: KnownSecrets) -> KnownSecrets {
        past == present
            ? present : present + past.texts.filter { text in !present.texts.contains { $0.isIdentical(to: text) } }
    }

    /// A text in its plain form and in the forms that JSON may have.
    private static func spellings(of text: String) -> [String] {
        let isPlain = !text.utf8.contains {
            $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") || $0 == UInt8(ascii: "/") || $0 < 0x20
        }
        guard !isPlain, let json = try? StoredJSON.encode(text) else { return [text] }
        let inner = String(Substring(json.utf8.dropFirst().dropLast()))
        return [text, inner, inner.replacing(each: "/", with: "\\/")]
    }

    /// Whether a text may have a masked part.
    package static func isMasked(_ text: String) -> Bool { text.utf8.contains(UInt8(ascii: "*")) }

    /// A header's value with secrets masked.
    package func masked(header name: String, _ value: String) -> String {
        switch name.lowercased() {
        case "authorization":
            // The scheme is kept: it often shows what was wrong.
            let scheme = value.utf8.prefix { $0 != UInt8(ascii: " ") }
            return scheme.isEmpty || scheme.count == value.utf8.count
                ? Self.mask : "\(masked(text: String(Substring(scheme)))) \(Self.mask)"
        case "cookie", "set-cookie", "x-sim-control-token", "x-api-key", "proxy-authorization": return Self.mask
        default: return masked(text: value)
        }
    }

    /// The first characters of a token, enough to recognize it.
    package static func shortened(_ token: String) -> String {
        token.count > 8 ? "\(token.prefix(4))\(mask)" : mask
    }

    /// A text outside of JSON, such as a path, with secrets masked. If a secret is percent-encoded, the text is
    /// returned decoded.
    package func masked(text: String) -> String { decodedIfSecret(scanner.masked(text, isJSON: false), isJSON: false) }

    private func decodedIfSecret(_ text: String, isJSON: Bool) -> String {
        var decoded = text
        for _ in 0..<Self.maxEncodings where decoded.utf8.contains(UInt8(ascii: "%")) {
            decoded = decoded.percentDecoded()
            let masked = scanner.masked(decoded, isJSON: isJSON)
            if !masked.isIdentical(to: decoded) { return masked }
        }
        return text
    }

    /// The number of nested percent-encodings in which secrets are found.
    private static let maxEncodings = 3

    /// A query, without its `?`, with secrets masked.
    package func masked(query: String) -> String {
        guard mayHoldSecret(query: query) else { return query }
        return query.split(at: "&", omittingEmpty: false).map { masked(pair: $0) }.joined(separator: "&")
    }

    /// Whether a query may hold a secret. Looks at it as a whole: its pairs, one by one, take ten times as long.
    private func mayHoldSecret(query: String) -> Bool {
        var text = query
        // The encoding of a query around those of a text.
        for _ in 0...Self.maxEncodings + 1 {
            if SecretScanner.hasSecretName(query: text) || !scanner.masked(text, isJSON: false).isIdentical(to: text) {
                return true
            }
            guard text.utf8.contains(UInt8(ascii: "%")) else { return false }
            text = text.percentDecoded()
        }
        return false
    }

    private func masked(pair: Substring) -> String {
        let name = Substring(pair.utf8.prefix { $0 != UInt8(ascii: "=") })
        let hasValue = name.utf8.count < pair.utf8.count
        if hasValue, SecretScanner.isSecretName((name.removingPercentEncoding ?? String(name)).utf8) {
            return "\(masked(text: String(name)))=\(Self.mask)"
        }
        // A percent-encoded secret is found by decoding it.
        if pair.utf8.contains(UInt8(ascii: "%")), let plain = pair.removingPercentEncoding,
            !masked(text: plain).isIdentical(to: plain)
        {
            return hasValue ? "\(masked(text: String(name)))=\(Self.mask)" : Self.mask
        }
        return masked(text: String(pair))
    }

    /// The JSON data of an event with secrets masked.
    package func masked(json text: String) -> String { masked(body: Data(text.utf8)) ?? Self.mask }

    /// JSON with secrets masked in its strings and member names.
    package func masked(json value: JSONValue) -> JSONValue {
        switch value {
        case .string(let text): .string(masked(text: text))
        case .array(let elements): .array(elements.map { masked(json: $0) })
        case .object(let members):
            .object(JSONObject(members.sorted.map { (masked(text: $0.name), masked(json: $0.value)) }))
        case .null, .bool, .number: value
        }
    }

    /// An object with secrets masked, also those that are recognized by the names of their members.
    package func masked(members object: JSONObject) -> JSONObject {
        masked(json: Self.masked(.object(object))).members ?? [:]
    }

    /// A body as text with secrets masked; `nil` if it is not text.
    ///
    /// - Parameter isCut: whether only the beginning of the body is kept. It may end within a secret.
    package func masked(body: Data, isCut: Bool = false) -> String? {
        guard let whole = masked(whole: body) else { return nil }
        var text = decodedIfSecret(whole, isJSON: true)
        if masksReceivers { text = SecretScanner.maskingReceivers(text) }
        return isCut ? scanner.maskedEnd(of: text) : text
    }

    private func masked(whole body: Data) -> String? {
        guard let text = String(data: body, encoding: .utf8) ?? Self.cutText(body) else { return nil }
        // Escaped letters, and objects under a secret's name, need decoded JSON.
        if scanner.needsDecoding(text), let value = try? StoredJSON.decode(text),
            let plain = try? StoredJSON.encode(Self.masked(value))
        {
            return scanner.masked(plain, isJSON: true)
        }
        if Self.isForm(text) { return masked(query: text) }
        // Cut-off JSON cannot be decoded, so its escapes are undone separately.
        return scanner.masked(scanner.needsDecoding(text) ? Self.unescaped(text) : text, isJSON: true)
    }

    /// A JSON text with its unnecessary escapes undone. It may be cut off.
    private static func unescaped(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var plain: [UInt8] = []
        var index = 0
        while index < bytes.count {
            guard bytes[index] == UInt8(ascii: "\\"), index + 1 < bytes.count else {
                plain.append(bytes[index])
                index += 1
                continue
            }
            let digits = bytes[(index + 2)...].prefix(4)
            if bytes[index + 1] == UInt8(ascii: "u"), digits.count == 4,
                let code = UInt8(String(decoding: digits, as: UTF8.self), radix: 16), (0x20..<0x7f).contains(code),
                code != UInt8(ascii: "\""), code != UInt8(ascii: "\\")
            {
                plain.append(code)
                index += 6
            } else {
                plain += bytes[index..<index + 2]
                index += 2
            }
        }
        return String(decoding: plain, as: UTF8.self)
    }

    /// Whether a text looks like a URL-encoded form. No route accepts one.
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
                JSONObject(
                    members.map { key, value in
                        let isSecret = SecretScanner.isSecretName(key.utf8) && value != .null
                        return (key, isSecret ? .string(mask) : masked(value))
                    }))
        case .array(let elements): .array(elements.map { masked($0) })
        default: value
        }
    }

    /// The text of a body that was cut inside a character.
    private static func cutText(_ body: Data) -> String? {
        (1...3).lazy.filter { body.count > $0 }.compactMap { String(data: body.dropLast($0), encoding: .utf8) }.first
    }
}
