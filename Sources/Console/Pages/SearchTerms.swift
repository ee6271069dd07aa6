import Foundation
import SimulationAPI

/// The search of the live view: words of the form `status:4xx`, and words that a request shows.
struct SearchTerms {
    struct Term {
        let key, value: String

        /// The word as it is typed.
        var text: String {
            let quoted = value.contains(ascii: " ") ? "\"\(value)\"" : value
            return key.isEmpty ? quoted : "\(key):\(quoted)"
        }
    }

    let terms: [Term]
    let problems: [String]

    /// The keys, with what follows them.
    static let keys = [
        ("status", "status:404 or status:4xx"), ("delivered", "delivered:false, of lost answers"),
        ("method", "method:POST"), ("route", "route:/sdk/results/*"),
        ("user", "user:example-user-id, also with its organization"), ("test", "test:name, of X-Sim-Test"),
        ("trace", "trace:ID, of traceparent"),
        ("since", "since:2026-01-05T09:00:00Z"), ("before", "before:2026-01-05T10:00:00Z"),
        ("kind", "kind:result.*, of state changes"), ("subject", "subject:ID, of state changes"),
        ("show", "show:requests, show:changes or show:webhooks"),
    ]
    private static let ofRequests = [
        "status", "delivered", "method", "route", "user", "test", "trace", "since", "before", "",
    ]
    private static let ofEvents = ["kind", "subject"]
    /// The values of `show:`; `nil` for all.
    static let shown: [String?] = [nil, "requests", "webhooks", "changes"]

    init(_ text: String) {
        var terms: [Term] = []
        var problems: [String] = []
        for word in Self.words(text) {
            let parts = word.split(at: ":", maxSplits: 1, omittingEmpty: false).map(String.init)
            guard parts.count == 2, !parts[0].contains(ascii: "/"), !parts[0].isEmpty else {
                terms.append(Term(key: "", value: word))
                continue
            }
            let (key, value) = (parts[0].lowercased(), parts[1])
            if !Self.keys.contains(where: { $0.0.isIdentical(to: key) }) {
                problems.append(
                    "\(key): is not a search key; use one of \(Self.keys.map(\.0).joined(separator: ", "))")
            } else if value.isEmpty {
                problems.append("\(key): needs a value")
            } else if key == "show", !value.isOne(of: Self.shown.compactMap { $0 }) {
                problems.append("show: must be one of \(Self.shown.compactMap { $0 }.joined(separator: ", "))")
            } else {
                terms.append(Term(key: key, value: value))
            }
        }
        self.terms = terms
        self.problems = problems
    }

    /// The words of the first thousand characters, split at spaces outside of quotes.
    private static func words(_ text: String) -> [String] {
        var words: [String] = []
        var word = ""
        var isQuoted = false
        for scalar in text.unicodeScalars.prefix(1000) {
            if scalar == "\"" {
                isQuoted.toggle()
            } else if scalar.properties.isWhitespace, !isQuoted {
                if !word.isEmpty { words.append(word) }
                word = ""
            } else {
                word.unicodeScalars.append(scalar)
            }
        }
        return word.isEmpty ? words : words + [word]
    }

    func value(_ key: String) -> String? { terms.last { $0.key == key }?.value }

    var text: String { terms.map(\.text).joined(separator: " ") }

    /// The search without one of its words.
    func without(_ index: Int) -> String {
        terms.enumerated().filter { $0.offset != index }.map(\.element.text).joined(separator: " ")
    }

    /// The search with another word of a key.
    func replacing(_ key: String, with value: String) -> String {
        terms.map { ($0.key == key ? Term(key: key, value: value) : $0).text }.joined(separator: " ")
    }

    /// The search with only one kind of entries, or all. Words that only the others have are left out.
    func showing(_ kind: String?) -> String {
        let others = kind == nil ? [] : kind == "requests" ? Self.ofEvents : Self.ofRequests
        let kept = terms.filter { $0.key != "show" && !others.contains($0.key) }
        return (kept + (kind.map { [Term(key: "show", value: $0)] } ?? [])).map(\.text).joined(separator: " ")
    }

    /// The words without a key that are a part of a path: they begin with `/`, or are patterns.
    private static func isPath(_ word: String) -> Bool { word.begins(with: "/") || word.contains(ascii: "*") }

    /// The one word that may name an item; `nil` if there is none, or several.
    var freeWord: String? {
        let words = terms.filter { $0.key.isEmpty && !Self.isPath($0.value) }
        return words.count == 1 ? words[0].value : nil
    }

    /// Whether a key is given that only requests have.
    var hasKeysOfRequests: Bool { terms.contains { !$0.key.isEmpty && Self.ofRequests.contains($0.key) } }

    private var hasRequestTerms: Bool { terms.contains { Self.ofRequests.contains($0.key) } }
    private var hasEventTerms: Bool { terms.contains { Self.ofEvents.contains($0.key) } }

    var showsRequests: Bool { value("show").map { $0 == "requests" } ?? !hasEventTerms }
    var showsEvents: Bool { value("show").map { $0 != "requests" } ?? !hasRequestTerms }

    /// The query for the journal.
    ///
    /// - Parameter username: the whole name of the user; `nil` for all users.
    func requests(username: String?) -> [(String, String?)] {
        let words = terms.filter(\.key.isEmpty)
        let path = words.last { Self.isPath($0.value) }?.value
        let pattern = value("route") ?? path.map { $0.contains(ascii: "*") ? $0 : "\($0)*" }
        let text = words.filter { !Self.isPath($0.value) }.map(\.text).joined(separator: " ")
        return [
            ("status", value("status")), ("delivered", value("delivered")), ("method", value("method")),
            ("route", pattern), ("username", username), ("text", text.isEmpty ? nil : text),
            ("test", value("test")), ("trace", value("trace")), ("since", value("since")),
            ("before", value("before")),
        ]
    }

    func events(subject: String?) -> [(String, String?)] {
        let kind = value("kind") ?? (value("show") == "webhooks" ? "webhook.*" : nil)
        return [("kind", kind), ("subject", subject)]
    }
}
