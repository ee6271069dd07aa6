import SimulationAPI
import Yams

/// The problems of seed data or of a scenario: where they are, and what was expected.
package struct SeedError: Error, Sendable, CustomStringConvertible {
    package let file: String
    /// The line, from 1; `nil` if the parser gave none.
    package let line: Int?
    /// The column of a syntax error, from 1; `nil` for other errors.
    package var column: Int?
    /// The path, for instance `organizations[0].name`; empty for the whole document.
    package let path: String
    package let problem: String
    /// Further problems of the document, in the order of their lines.
    package var others: [SeedError] = []

    /// Joins the problems of a document.
    ///
    /// - Parameter errors: at least one.
    package static func joined(_ errors: [SeedError]) -> SeedError {
        // A part that two readers read has its problems twice.
        var seen: Set<TextKey> = []
        let all = errors.flatMap(\.all).filter { seen.insert(TextKey("\($0.path) \($0.problem)")).inserted }
        // Stable: problems of one line stay in the order in which they were found.
        var sorted = all.prefix(FieldReader.maxProblems).enumerated().sorted {
            ($0.element.line ?? 0, $0.offset) < ($1.element.line ?? 0, $1.offset)
        }
        .map(\.element)[...]
        guard var first = sorted.popFirst() else { preconditionFailure("no problem to report") }
        first.others = Array(sorted)
        return first
    }

    /// Each problem for itself.
    package var all: [SeedError] {
        var first = self
        first.others = []
        return [first] + others
    }

    /// The first problem, and how many there are besides, in one line.
    package var summary: String { "\(all[0])\(more)" }

    /// The number of the other problems, for the end of a sentence; empty without any.
    var more: String { others.isEmpty ? "" : " (and \(others.count) more)" }

    /// A line for each of the first problems.
    package var description: String {
        let more = others.count >= Self.maxLines ? ["and \(others.count + 1 - Self.maxLines) more"] : []
        let lines = all.prefix(Self.maxLines).map { error in
            let place = [error.file, error.line.map { "\($0)" }, error.column.map { "\($0)" }].compactMap(\.self)
                .joined(separator: ":")
            return error.path.isEmpty ? "\(place): \(error.problem)" : "\(place): \(error.path): \(error.problem)"
        }
        return (lines + more).joined(separator: "\n")
    }

    /// The number of problems that ``description`` has.
    private static let maxLines = 20
}

/// A document in YAML, or in JSON, which is YAML too.
package struct SourceDocument {
    private let node: Node
    private let file: String

    /// Parses a document in time proportional to its length.
    ///
    /// - Throws: ``SeedError`` with the line of a syntax error or of a duplicate key.
    package init(yaml: String, file: String) throws {
        self.file = file
        func error(_ line: Int?, _ problem: String) -> SeedError {
            SeedError(file: file, line: line, path: "", problem: problem)
        }
        // A byte order mark has no meaning in UTF-8.
        let yaml = yaml.unicodeScalars.first == "\u{feff}" ? String(yaml.unicodeScalars.dropFirst()) : yaml
        if let problem = YAMLText.problem(yaml) { throw error(problem.line, problem.text) }
        do {
            // A tag for each plain scalar would cost seven regular expressions, and is not read.
            guard let node = try Yams.compose(yaml: yaml, .basic) else {
                throw error(1, "the file is empty; expected a mapping")
            }
            self.node = node
        } catch YamlError.duplicatedKeysInMapping(let keys, let context) {
            let key = keys.min { $0.utf8.lexicographicallyPrecedes($1.utf8) } ?? ""
            let line = YAMLText.secondLine(of: key, in: yaml, from: context.mark.line)
            throw error(line, "the key \"\(key)\" appears twice")
        } catch let failure as YamlError {
            let problem = YAMLProblem(failure, in: yaml)
            throw SeedError(
                file: file, line: problem.line, column: problem.column, path: "", problem: problem.text)
        }
        // Without aliases, a document has at most one value per byte, and as many levels as the parser allows. Aliases can multiply
        // both, so they are counted.
        var left = max(Self.maxValues, yaml.utf8.count)
        guard node.isWritten(within: &left, levels: Self.maxLevels) else {
            throw error(nil, "expected at most \(Self.maxValues) values, and \(Self.maxLevels) levels of them")
        }
    }

    /// Reads the document's members.
    ///
    /// - Parameter known: the names of all members; `nil` if others are ignored.
    /// - Throws: ``SeedError`` with all problems.
    package func read<Value>(known: [String]?, _ body: (inout FieldReader) throws -> Value) throws -> Value {
        var fields = FieldReader(written: try members(largeNumbersAreTexts: true), known: known)
        do {
            let value = try body(&fields)
            try fields.finish()
            return value
        } catch let problem as PlatformError where problem.kind == .invalid {
            let lines = lines()
            let details = problem.details.isEmpty ? [ErrorDetail("", problem.message)] : problem.details
            throw SeedError.joined(
                details.map { SeedError(file: file, line: lines[$0.field], path: $0.field, problem: $0.problem) })
        }
    }

    /// The members of the document, which must be a mapping.
    ///
    /// - Parameter largeNumbersAreTexts: whether a number that is too large is text. Seed data has no numbers.
    package func members(largeNumbersAreTexts: Bool = false) throws -> JSONObject {
        guard case .object(let members) = try json(largeNumbersAreTexts: largeNumbersAreTexts) else {
            throw SeedError(file: file, line: node.mark?.line, path: "", problem: "expected a mapping")
        }
        return members
    }

    /// The document as JSON.
    ///
    /// A plain scalar that JSON reads as a number, `true` or `false` becomes that value; `null` in YAML's forms
    /// becomes null. All others are strings, for instance dates and `1.3.2`.
    ///
    /// - Throws: ``SeedError`` if a key is not a string, or a number is too large.
    package func json(largeNumbersAreTexts: Bool = false) throws -> JSONValue {
        var path: [String] = []
        return try value(node, &path, largeNumbersAreTexts)
    }

    /// - Parameter path: the steps to the node, which an error names.
    private func value(_ node: Node, _ path: inout [String], _ largeNumbersAreTexts: Bool) throws -> JSONValue {
        func error(_ problem: String) -> SeedError {
            let path = path.joined()
            let text = path.begins(with: ".") ? String(decoding: path.utf8.dropFirst(), as: UTF8.self) : path
            return SeedError(file: file, line: node.mark?.line, path: text, problem: problem)
        }
        switch node {
        case .mapping(let mapping):
            var members = JSONObject()
            for (key, member) in mapping {
                guard let name = key.string else { throw error("expected keys that are strings") }
                // The parser takes `!!int 1` and `1` for two keys.
                guard members[name] == nil else { throw error("the key \"\(name)\" appears twice") }
                path.append("." + name)
                members[name] = try value(member, &path, largeNumbersAreTexts)
                path.removeLast()
            }
            return .object(members)
        case .sequence(let sequence):
            return .array(
                try sequence.enumerated().map { index, element in
                    path.append("[\(index)]")
                    defer { path.removeLast() }
                    return try value(element, &path, largeNumbersAreTexts)
                })
        case .scalar(let scalar):
            if let value = Self.value(scalar, node) { return value }
            guard largeNumbersAreTexts else { throw error("the number is too large") }
            return .string(scalar.string)
        case .alias: throw error("expected no unresolved alias")
        }
    }

    /// The line of each part.
    package func lines() -> SourceLines { Self.lines(node) }

    private static func lines(_ node: Node) -> SourceLines {
        var lines = SourceLines(line: node.mark?.line ?? 0)
        switch node {
        case .mapping(let mapping):
            for (key, member) in mapping {
                if let name = key.string { lines.members[TextKey(name)] = Self.lines(member) }
            }
        case .sequence(let sequence): lines.elements = sequence.map { Self.lines($0) }
        case .scalar, .alias: break
        }
        return lines
    }

    /// The number of values that every document may have, however short it is.
    private static let maxValues = 100_000
    /// The depth of a document, which is the parser's for one without aliases.
    private static let maxLevels = 1000

    /// The value of a scalar; `nil` if it is a number that is too large.
    private static func value(_ scalar: Node.Scalar, _ node: Node) -> JSONValue? {
        guard scalar.style == .plain else { return .string(scalar.string) }
        if node.null != nil { return .null }
        if scalar.string.isOne(of: ["true", "false"]) { return .bool(scalar.string.isIdentical(to: "true")) }
        guard JSONNumber.isNumber(scalar.string) else { return .string(scalar.string) }
        return JSONNumber(finite: scalar.string).map { .number($0) }
    }
}

extension Node {
    /// Whether the node has at most `left` values in at most `levels` levels, with aliases expanded. Subtracts the values from `left`.
    fileprivate func isWritten(within left: inout Int, levels: Int) -> Bool {
        left -= 1
        guard left >= 0, levels >= 0 else { return false }
        switch self {
        case .scalar, .alias: return true
        case .sequence(let elements): return elements.allSatisfy { $0.isWritten(within: &left, levels: levels - 1) }
        case .mapping(let members): return members.allSatisfy { $0.value.isWritten(within: &left, levels: levels - 1) }
        }
    }
}
