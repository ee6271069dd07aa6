import SimulationAPI
import Yams

/// An error in seed data: its place and what was expected.
package struct SeedError: Error, Sendable, CustomStringConvertible {
    package let file: String
    /// The line, from 1; `nil` if the parser gave none.
    package let line: Int?
    /// The column of a syntax error, from 1; `nil` for other errors.
    package var column: Int?
    /// The path, for instance `organizations[0].name`; empty for the whole document.
    package let path: String
    package let problem: String

    package var description: String {
        let place = [file, line.map { "\($0)" }, column.map { "\($0)" }].compactMap(\.self).joined(separator: ":")
        return path.isEmpty ? "\(place): \(problem)" : "\(place): \(path): \(problem)"
    }
}

/// A node of a YAML document that knows its path and line.
package struct SeedNode {
    private let node: Node
    private let place: SeedPlace
    private let file: String

    /// Parses a document in time proportional to its length.
    ///
    /// - Throws: ``SeedError`` with the line of a syntax error or of a duplicate key.
    package init(yaml: String, file: String) throws {
        self.file = file
        place = .document
        // A byte order mark has no meaning in UTF-8.
        let yaml = yaml.unicodeScalars.first == "\u{feff}" ? String(yaml.unicodeScalars.dropFirst()) : yaml
        if let problem = YAMLText.problem(yaml) {
            throw SeedError(file: file, line: problem.line, path: "", problem: problem.text)
        }
        do {
            guard let node = try Yams.compose(yaml: yaml) else {
                throw SeedError(file: file, line: 1, path: "", problem: "the file is empty; expected a mapping")
            }
            self.node = node
        } catch YamlError.duplicatedKeysInMapping(let keys, let context) {
            let key = keys.min { $0.utf8.lexicographicallyPrecedes($1.utf8) } ?? ""
            throw SeedError(
                file: file, line: YAMLText.secondLine(of: key, in: yaml, from: context.mark.line), path: "",
                problem: "the key \"\(key)\" appears twice")
        } catch let error as YamlError {
            let problem = YAMLProblem(error, in: yaml)
            throw SeedError(
                file: file, line: problem.line, column: problem.column, path: "", problem: problem.text)
        }
        // Without aliases, a document has at most one value per byte. Aliases can multiply values, so they are
        // counted.
        var left = max(Self.maxValues, yaml.utf8.count)
        guard node.isWritten(within: &left) else {
            throw SeedError(file: file, line: nil, path: "", problem: "expected at most \(Self.maxValues) values")
        }
    }

    private init(node: Node, place: SeedPlace, file: String) {
        self.node = node
        self.place = place
        self.file = file
    }

    /// The line at which the node begins.
    private var line: Int? { node.mark?.line }

    /// An error at this node.
    package func error(_ problem: String) -> SeedError {
        SeedError(file: file, line: line, path: place.path, problem: problem)
    }

    /// The members of a mapping. Throws on a key that is not allowed.
    package func mapping(allowed: [String]) throws -> SeedMapping {
        try mapping(allowed: KnownNames(allowed))
    }

    /// The members of a mapping. Throws on a key that is not allowed.
    package func mapping(allowed: KnownNames) throws -> SeedMapping {
        let members = try mapping()
        for (key, member) in members.members where !allowed.contains(key) {
            let guess = FieldReader.guess(key, allowed.names)
            throw member.error("unknown key; \(guess)expected one of \(allowed.names.joined(separator: ", "))")
        }
        return members
    }

    /// The members of a mapping with any keys.
    package func mapping() throws -> SeedMapping {
        guard case .mapping(let mapping) = node else { throw error("expected a mapping") }
        var members: [(String, SeedNode)] = []
        for (key, value) in mapping {
            guard let name = key.string else { throw error("expected keys that are strings") }
            members.append((name, SeedNode(node: value, place: .member(name, of: place), file: file)))
        }
        return SeedMapping(node: self, members: members)
    }

    package func list<Value>(_ decode: (SeedNode) throws -> Value) throws -> [Value] {
        guard case .sequence(let sequence) = node else { throw error("expected a list") }
        return try sequence.enumerated().map { index, element in
            try decode(SeedNode(node: element, place: .element(index, of: place), file: file))
        }
    }

    /// The document as JSON, and the line of each of its parts.
    ///
    /// A plain scalar that JSON reads as a number, `true` or `false` becomes that value; `null` in YAML's forms
    /// becomes null. All others are strings, for instance dates and `1.3.2`.
    ///
    /// - Throws: ``SeedError`` if a key is not a string, or a number is too large.
    package func json() throws -> (value: JSONValue, lines: SourceLines) {
        var lines = SourceLines(line: line ?? 0)
        switch node {
        case .mapping:
            var members = JSONObject()
            for (key, member) in try mapping().members {
                (members[key], lines.members[TextKey(key)]) = try member.json()
            }
            return (.object(members), lines)
        case .sequence:
            let elements = try list { try $0.json() }
            lines.elements = elements.map(\.lines)
            return (.array(elements.map(\.value)), lines)
        case .scalar(let scalar): return (try value(scalar), lines)
        case .alias: throw error("expected no unresolved alias")
        }
    }

    /// The number of values that every document may have, however short it is.
    private static let maxValues = 100_000

    private func value(_ scalar: Node.Scalar) throws -> JSONValue {
        guard scalar.style == .plain else { return .string(scalar.string) }
        if node.null != nil { return .null }
        if scalar.string.isOne(of: ["true", "false"]) { return .bool(scalar.string.isIdentical(to: "true")) }
        // JSON numbers consist of these characters only. The check avoids running the pattern on all other texts.
        let mayBeNumber = scalar.string.utf8.allSatisfy { (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0) }
        guard mayBeNumber, scalar.string.wholeMatch(of: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/) != nil else {
            return .string(scalar.string)
        }
        guard let number = JSONNumber(finite: scalar.string) else { throw error("the number is too large") }
        return .number(number)
    }

    /// A string of 1 to `maxBytes` bytes.
    package func string(maxBytes: Int) throws -> String {
        guard case .scalar(let scalar) = node, node.null == nil else { throw error("expected a string") }
        let value = scalar.string
        guard !value.isEmpty, value.utf8.count <= maxBytes else {
            throw error("expected 1 to \(maxBytes) bytes, found \(value.utf8.count)")
        }
        guard !value.utf8.contains(0) else { throw error("expected no NUL character") }
        return value
    }

    package func bool() throws -> Bool {
        guard let value = node.bool else { throw error("expected true or false") }
        return value
    }

    /// A string that must be one of `accepted`.
    package func oneOf(_ accepted: [String]) throws -> String {
        let value = try string(maxBytes: 100)
        guard value.isOne(of: accepted) else {
            throw error("expected one of \(accepted.joined(separator: ", ")), found \"\(value)\"")
        }
        return value
    }

    /// An id: lower-case letters, digits and underscores.
    package func identifier() throws -> String {
        let value = try string(maxBytes: 64)
        guard value.utf8.allSatisfy({ (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5f }) else {
            throw error("expected an id of a-z, 0-9 and _, found \"\(value)\"")
        }
        return value
    }

    /// A text in every language.
    package func localized() throws -> LocalizedText {
        let members = try mapping(allowed: Language.allCases.map(\.rawValue))
        return LocalizedText(
            english: try members.required("en").string(maxBytes: 1000),
            japanese: try members.required("ja").string(maxBytes: 1000))
    }
}

/// The members of a mapping, in the document's order.
package struct SeedMapping {
    fileprivate let node: SeedNode
    package let members: [(String, SeedNode)]

    package subscript(key: String) -> SeedNode? {
        members.first { $0.0.isIdentical(to: key) }?.1
    }

    /// A member that must exist.
    package func required(_ key: String) throws -> SeedNode {
        guard let member = self[key] else { throw node.error("\(key) is missing") }
        return member
    }
}

extension Node {
    /// Whether the node has at most `left` values, with aliases expanded. Subtracts them from `left`.
    fileprivate func isWritten(within left: inout Int) -> Bool {
        left -= 1
        guard left >= 0 else { return false }
        switch self {
        case .scalar, .alias: return true
        case .sequence(let elements): return elements.allSatisfy { $0.isWritten(within: &left) }
        case .mapping(let members): return members.allSatisfy { $0.value.isWritten(within: &left) }
        }
    }
}
