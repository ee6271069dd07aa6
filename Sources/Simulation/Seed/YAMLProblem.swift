import Yams

/// A syntax error of a YAML text in this project's words, at the place that a person has to change. The words follow from the text at
/// the place that the parser names, and from where the part begins that it was reading; its own words may change with any release.
struct YAMLProblem {
    /// From 1; `nil` if the parser gave no place.
    private(set) var line: Int?
    /// From 1, in Unicode scalars; `nil` if the parser gave no place.
    private(set) var column: Int?
    private(set) var text = ""

    init(_ error: YamlError, in yaml: String) {
        switch error {
        case .scanner(let context, _, let mark, _): describe(mark, context?.mark, yaml, isScanner: true)
        case .parser(let context, _, let mark, _), .composer(let context, _, let mark, _):
            describe(mark, context?.mark, yaml, isScanner: false)
        case .reader(_, _, let value, _): describe(character: value, yaml)
        default: text = "the parser failed: \(error)"
        }
        text = "not YAML: \(text)"
    }

    private mutating func place(_ mark: Mark) { (line, column) = (mark.line, mark.column) }

    /// The problem of a text with a character that YAML forbids everywhere.
    private mutating func describe(character value: Int32, _ yaml: String) {
        guard let scalar = Unicode.Scalar(UInt32(max(0, value))),
            let index = yaml.unicodeScalars.firstIndex(of: scalar)
        else {
            text = "a character is not allowed"
            return
        }
        let before = yaml.unicodeScalars[..<index]
        line = before.count { $0 == "\n" } + 1
        column = before.reversed().prefix { $0 != "\n" }.count + 1
        let name = "U+" + String(scalar.value + 0x10000, radix: 16, uppercase: true).dropFirst()
        text = "the character \(name) is not allowed; write it as an escape between double quotes"
    }

    /// - Parameters:
    ///   - mark: the place of the problem.
    ///   - start: the place at which the part begins that was read, if it is known.
    ///   - isScanner: whether a word was read, and not the order of words.
    private mutating func describe(_ mark: Mark, _ start: Mark?, _ yaml: String, isScanner: Bool) {
        place(mark)
        let lines = yaml.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        func rest(_ mark: Mark) -> Substring.UnicodeScalarView {
            guard lines.indices.contains(mark.line - 1) else { return Substring().unicodeScalars }
            return lines[mark.line - 1].dropFirst(mark.column - 1)
        }
        let here = rest(mark)
        if let words = Self.words(at: here, isAlias: !isScanner && here.first == "*") {
            text = words
        } else if let start, isScanner {
            text = Self.words(ofPart: rest(start))
            place(start)
        } else if let start {
            text = Self.words(ofStructure: rest(start).first, "line \(start.line), column \(start.column)")
        } else {
            text = Self.words(ofPlain: here.first)
        }
    }

    /// The problem of what stands at a place, whatever was read before; `nil` for what can stand somewhere.
    private static func words(at here: Substring.UnicodeScalarView, isAlias: Bool) -> String? {
        switch here.first {
        case "\t": "a tab indents this line; use spaces, since YAML has no tabs there"
        case let first? where "@`".unicodeScalars.contains(first):
            "a value cannot begin with \(first); put it in quotes"
        case "\\": "this escape is not known; write \\\\ for a backslash, or use single quotes"
        case _ where isAlias: "no anchor (&name) before this alias (*name) has its name"
        case _ where here.starts(with: "---".unicodeScalars):
            "a second document begins here, and one is expected; remove the ---"
        default: nil
        }
    }

    /// The problem of a part that could not be read to its end, by its beginning.
    private static func words(ofPart part: Substring.UnicodeScalarView) -> String {
        switch part.first {
        case "\"", "'": "the quote that begins here has no end, or an escape in it is not known"
        case "&": "& begins a name of letters and digits; put a value that begins so in quotes"
        case "*": "* begins a name of letters and digits; put a value that begins so in quotes"
        case "%": "a line that begins with % is a directive; put it in quotes"
        case "!": "a value that begins with ! must be in quotes"
        case "|", ">": "after | or > a text begins on the next line; put a value that begins so in quotes"
        default: "this line has no \": \" after its key; write \"key: value\""
        }
    }

    /// The problem of a list or mapping, by its beginning.
    private static func words(ofStructure first: Unicode.Scalar?, _ begins: String) -> String {
        switch first {
        case "[": "expected , or ] here; the list begins with [ at \(begins)"
        case "{": "expected , or } here; the mapping begins with { at \(begins)"
        case "-": "expected an entry of the list that begins at \(begins), with - and the same indentation"
        case "!": "a value that begins with ! must be in quotes"
        default:
            "expected a key of the mapping that begins at \(begins), with the same indentation; is a quote missing before it?"
        }
    }

    /// The problem of what is not allowed at a place.
    private static func words(ofPlain first: Unicode.Scalar?) -> String {
        switch first {
        case ":": "a \": \" is not allowed here; put a value that has one in quotes, or check the indentation"
        case "-": "a list (-) cannot begin on the line of its key; begin it on the next one"
        case "?": "a key is not allowed here; check the indentation"
        case "!": "a value that begins with ! must be in quotes"
        default: "a value is missing here, or this is not expected; check quotes and the indentation"
        }
    }
}
