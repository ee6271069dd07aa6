import Yams

/// A syntax error of a YAML text in this project's words, at the place that a person has to change.
struct YAMLProblem {
    /// From 1; `nil` if the parser gave no place.
    private(set) var line: Int?
    /// From 1, in Unicode scalars; `nil` if the parser gave no place.
    private(set) var column: Int?
    private(set) var text = ""

    init(_ error: YamlError, in yaml: String) {
        switch error {
        case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            place(mark)
            describe(problem, context, yaml)
        case .reader(let problem, _, let value, _): describe(problem, character: value, yaml)
        default: text = "the parser failed: \(error)"
        }
        text = "not YAML: \(text)"
    }

    private mutating func place(_ mark: Mark) {
        line = mark.line
        column = mark.column
    }

    /// The problem of a text with a character that YAML forbids everywhere.
    private mutating func describe(_ problem: String, character value: Int32, _ yaml: String) {
        guard let scalar = Unicode.Scalar(UInt32(max(0, value))),
            let index = yaml.unicodeScalars.firstIndex(of: scalar)
        else {
            text = problem
            return
        }
        let before = yaml.unicodeScalars[..<index]
        line = before.count { $0 == "\n" } + 1
        column = before.reversed().prefix { $0 != "\n" }.count + 1
        let name = "U+" + String(scalar.value + 0x10000, radix: 16, uppercase: true).dropFirst()
        text = "the character \(name) is not allowed; write it as an escape between double quotes"
    }

    private mutating func describe(_ problem: String, _ context: YamlError.Context?, _ yaml: String) {
        let begins = context.map { "line \($0.mark.line), column \($0.mark.column)" } ?? "its start"
        switch problem {
        case "found character that cannot start any token": describeCharacter(yaml)
        case "found a tab character that violates indentation",
            "found a tab character where an indentation space is expected":
            text = Self.tab
        case "found unexpected end of stream", "found unexpected document indicator":
            if let context { place(context.mark) }
            text = "the quote that begins here has no end"
        case "could not find expected ':'":
            if let context { place(context.mark) }
            text = "this line has no \": \" after its key; write \"key: value\""
        case "did not find expected ',' or ']'":
            text = "expected , or ] here; the list begins with [ at \(begins)"
        case "did not find expected ',' or '}'":
            text = "expected , or } here; the mapping begins with { at \(begins)"
        case "did not find expected key":
            text =
                "expected a key of the mapping that begins at \(begins), with the same indentation; is a quote missing before it?"
        case "did not find expected '-' indicator":
            text = "expected an entry of the list that begins at \(begins), with - and the same indentation"
        case "but found another document": text = "a second document begins here, and one is expected; remove the ---"
        case "found undefined alias": text = "no anchor (&name) before this alias (*name) has its name"
        case "found unknown escape character":
            text = "this escape is not known; write \\\\ for a backslash, or use single quotes"
        default:
            text = Self.words[problem] ?? context.flatMap { Self.words(of: $0.text) } ?? problem
            if Self.words[problem] == nil, let context { place(context.mark) }
        }
    }

    /// The problem of a part that the parser could not read to its end; `nil` for other parts.
    private static func words(of context: String) -> String? {
        for (part, words) in [
            ("anchor", "& begins a name of letters and digits; put a value that begins so in quotes"),
            ("alias", "* begins a name of letters and digits; put a value that begins so in quotes"),
            ("directive", "a line that begins with % is a directive; put it in quotes"),
            ("tag", "a value that begins with ! must be in quotes"),
            ("block scalar", "after | or > a text begins on the next line; put a value that begins so in quotes"),
        ] where context.contains(part) { return words }
        return nil
    }

    /// The problem of a character that cannot begin a value.
    private mutating func describeCharacter(_ yaml: String) {
        let lines = yaml.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        guard let line, let column, lines.indices.contains(line - 1),
            let character = lines[line - 1].dropFirst(column - 1).first
        else {
            text = "a value cannot begin like this; put it in quotes"
            return
        }
        text = character == "\t" ? Self.tab : "a value cannot begin with \(character); put it in quotes"
    }

    private static let tab = "a tab indents this line; use spaces, since YAML has no tabs there"

    /// Those problems of the parser that need no more than other words.
    private static let words = [
        "mapping values are not allowed in this context":
            "a \": \" is not allowed here; put a value that has one in quotes, or check the indentation",
        "block sequence entries are not allowed in this context":
            "a list (-) cannot begin on the line of its key; begin it on the next one",
        "mapping keys are not allowed in this context": "a key is not allowed here; check the indentation",
        "found unexpected ':'": "a : is not allowed here; put a value that has one in quotes",
        "did not find expected node content": "a value is missing here",
        "did not find expected <document start>": "the document has ended before this; check the indentation",
        "did not find expected hexdecimal number": "an escape such as \\u0041 needs its hexadecimal digits",
        "found invalid Unicode character escape code": "this escape is not a Unicode character",
        "found undefined tag handle": "a value that begins with ! must be in quotes",
    ]
}
