import Foundation
import SimulationAPI
import Yams

/// A scenario that is being written: its parts, each with comments for the person who completes it.
struct ScenarioDraft {
    /// A part of a list, or a value of the scenario.
    struct Part {
        /// The members in the order in which they are written.
        var members: [(String, JSONValue)]
        /// Sentences that stand above it.
        var comments: [String] = []

        /// Members without a value are left out.
        init(_ members: [(String, JSONValue?)], _ comments: [String] = []) {
            self.members = members.compactMap { name, value in value.map { (name, $0) } }
            self.comments = comments
        }

        init(_ members: JSONObject, _ comments: [String] = []) {
            self.init(members.sorted.map { ($0.name, $0.value) }, comments)
        }
    }

    /// A list of the scenario, for instance `expect`.
    struct List {
        var parts: [Part] = []
        var comments: [String] = []
    }

    var comments: [String] = []
    let name: String
    let description: String
    /// `standard`, `empty`, or seed data without tokens and passwords.
    var seed: Part = Part([("seed", "standard")])
    /// A merge patch over the default settings; `nil` if there is none.
    var settings: Part?
    /// The time at which the clock is frozen, in ISO 8601.
    var frozenAt: String
    var clockComments: [String] = []
    /// By their keys.
    var lists: [String: List] = [:]
    /// The number of the first expectations that the run's scenario had already.
    var givenExpectations = 0

    /// The keys of the lists in the order in which they are written.
    static let keys = ["items", "subscriptions", "outcomes", "faults", "timeline", "expect"]

    subscript(key: String) -> List {
        get { lists[key, default: List()] }
        set { lists[key] = newValue }
    }

    /// Removes the part of a list that a path such as `items[2].brand` names, and notes why.
    ///
    /// - Returns: whether there is such a part.
    mutating func remove(_ path: String, because problem: String) -> Bool {
        guard let (key, index) = Self.place(path), self[key].parts.indices.contains(index) else { return false }
        let part = self[key].parts.remove(at: index)
        if key == "expect", index < givenExpectations { givenExpectations -= 1 }
        // The comment names the part in any case.
        let what = (try? Self.yaml(part.members)).map { $0.split(separator: "\n").joined(separator: ", ") } ?? ""
        self[key].comments.append("Left out, because \(path) \(problem): \(what)")
        return true
    }

    /// Whether a path names an expectation that is made of a request of the run.
    func isOfRun(_ path: String) -> Bool { Self.place(path).map { $0 == "expect" && $1 >= givenExpectations } ?? false }

    /// Removes the expected request that a path names, and notes why.
    mutating func removeRequest(_ path: String, because problem: String) {
        guard let (key, index) = Self.place(path), self[key].parts.indices.contains(index) else { return }
        let members = JSONObject(self[key].parts.remove(at: index).members)
        let request = ["method", "route"].compactMap { members[$0]?.text }.joined(separator: " ")
        let reason = problem.replacing(#/^line \d+: /#, with: "")
        self[key].comments.append("Not expected: \(request): \(reason). Correct the client.")
    }

    /// Adds a comment to the part that a path names.
    mutating func comment(_ path: String, _ text: String) {
        guard let (key, index) = Self.place(path), self[key].parts.indices.contains(index) else { return }
        self[key].parts[index].comments.append(text)
    }

    private static func place(_ path: String) -> (String, Int)? {
        guard let match = path.firstMatch(of: #/^(\w+)\[(\d+)\]/#), let index = Int(match.2) else { return nil }
        return (String(match.1), index)
    }

    // MARK: The text

    /// The scenario in YAML. Values are written by the YAML library, so a hostile name stays a value.
    func text() throws -> String {
        var text = Self.comment(comments)
        text += try Self.yaml([("name", .string(name)), ("description", .string(description))])
        for part in [seed, settings].compactMap({ $0 }) {
            text += Self.comment(part.comments) + (try Self.yaml(part.members))
        }
        text += Self.comment(clockComments)
        text += try Self.yaml([("clock", .object(JSONObject([("freeze", .string(frozenAt))])))])
        for key in Self.keys {
            let list = self[key]
            guard !list.parts.isEmpty || !list.comments.isEmpty else { continue }
            text += "\n" + Self.comment(list.comments)
            guard !list.parts.isEmpty else { continue }
            text += "\(key):\n"
            for part in list.parts {
                text += Self.comment(part.comments, indent: "  ")
                text += try Self.yaml(element: part.members).split(separator: "\n", omittingEmptySubsequences: false)
                    .map { $0.isEmpty ? "" : "  \($0)" }.joined(separator: "\n")
            }
        }
        return text
    }

    /// The maximum length of a comment, in Unicode scalars.
    private static let maxComment = 500

    /// Comments, each on one line. Characters that end a line or that YAML forbids are written as numbers.
    private static func comment(_ sentences: [String], indent: String = "") -> String {
        sentences.map { sentence in
            var line = ""
            for scalar in sentence.unicodeScalars.prefix(maxComment) {
                switch scalar.properties.generalCategory {
                case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
                    line += "\\u{\(String(scalar.value, radix: 16))}"
                default: line.unicodeScalars.append(scalar)
                }
            }
            return "\(indent)# \(line)\n"
        }.joined()
    }

    private static func yaml(_ members: [(String, JSONValue)]) throws -> String {
        try Yams.serialize(node: mapping(members), width: -1, allowUnicode: true)
    }

    private static func yaml(element members: [(String, JSONValue)]) throws -> String {
        try Yams.serialize(node: Node([mapping(members)], .implicit, .block), width: -1, allowUnicode: true)
    }

    private static func mapping(_ members: [(String, JSONValue)]) -> Node {
        Node(members.map { (scalar($0), node($1)) }, .implicit, .block)
    }

    private static func node(_ value: JSONValue) -> Node {
        switch value {
        case .null: Node("null", .implicit, .plain)
        case .bool(let value): Node(value ? "true" : "false", .implicit, .plain)
        case .number(let number): Node(number.text, .implicit, .plain)
        case .string(let text): scalar(text)
        case .array(let elements): Node(elements.map(node), .implicit, elements.isEmpty ? .flow : .block)
        case .object(let members):
            Node(members.sorted.map { (scalar($0.name), node($0.value)) }, .implicit, members.isEmpty ? .flow : .block)
        }
    }

    /// A text. It is quoted unless it is a word that cannot be anything else.
    private static func scalar(_ text: String) -> Node {
        let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
        let isPlain =
            text.utf8.count <= 200 && text.wholeMatch(of: #/[A-Za-z\/][A-Za-z0-9_.\/*-]*/#) != nil
            && !words.contains(text.lowercased())
        return Node(text, .implicit, isPlain ? .plain : .doubleQuoted)
    }
}
