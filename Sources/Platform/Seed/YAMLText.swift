import EntrupyAPI

/// Looks at a YAML text before it is parsed.
///
/// The parser compares the keys of each mapping as `String`s, and whole: its time grows with the square of a run of combining
/// marks, and where keys are mappings or lists with aliases in them, with the power of their nesting.
enum YAMLText {
    /// The most combining marks in a row; the Stream-Safe Text Format (UAX #15) has 30.
    private static let maxMarks = 100
    /// The most mappings and lists that are keys, and the most directives.
    private static let maxOddities = 100

    /// What keeps a text from being parsed, or `nil`.
    static func problem(_ yaml: String) -> (line: Int, text: String)? {
        if let offset = endOfLongRun(yaml.unicodeScalars) {
            return (
                line(at: offset, in: yaml),
                "expected at most \(maxMarks) combining marks in a row; this would take too long to compare"
            )
        }
        let oddities = Oddities(Array(yaml.utf8))
        if oddities.directives > maxOddities { return (1, "expected at most \(maxOddities) directives") }
        if oddities.keys > maxOddities || oddities.mayHaveAliasInKey {
            return (1, "expected keys that are strings, and neither mappings, lists nor aliases")
        }
        return nil
    }

    /// Where a run of marks has become too long, written as they are or as escapes; `nil` if none has.
    private static func endOfLongRun(_ text: String.UnicodeScalarView) -> String.Index? {
        var run = 0
        var index = text.startIndex
        while index < text.endIndex {
            run = isMark(next(in: text, &index)) ? run + 1 : 0
            if run > maxMarks { return index }
        }
        return nil
    }

    /// The scalar at an index, or the one that an escape there stands for; moves the index behind it.
    private static func next(in text: String.UnicodeScalarView, _ index: inout String.Index) -> Unicode.Scalar {
        let scalar = text[index]
        text.formIndex(after: &index)
        guard scalar == "\\", index < text.endIndex else { return scalar }
        let lengths: [Unicode.Scalar: Int] = ["x": 2, "u": 4, "U": 8]
        let item = text[index]
        text.formIndex(after: &index)
        guard let length = lengths[item] else { return item }
        let digits = text[index...].prefix(length)
        guard let value = UInt32(String(String.UnicodeScalarView(digits)), radix: 16),
            let escaped = Unicode.Scalar(value)
        else { return item }
        index = digits.endIndex
        return escaped
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.value >= 0x300 else { return false }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: return true
        default: return false
        }
    }

    private static func line(at index: String.Index, in text: String) -> Int {
        text.utf8[..<index].count { $0 == 0x0a } + 1
    }

    /// The line a key stands at for the second time in a mapping, which the parser does not say; else the mapping's.
    static func secondLine(of key: String, in yaml: String, from line: Int) -> Int {
        let start = Array("\(key):".utf8)
        let lines = yaml.utf8.split(separator: 0x0a, omittingEmptySubsequences: false)
        let places = lines.indices.dropFirst(max(0, line - 1)).filter { index in
            lines[index].drop { " -{".utf8.contains($0) }.starts(with: start)
        }
        return places.count > 1 ? places[places.startIndex + 1] + 1 : line
    }
}

/// What hardly any document has, and what can make one expensive, counted without parsing: never too few, perhaps too many.
private struct Oddities {
    /// Lines that begin with a percent sign.
    private(set) var directives = 0
    /// Keys that are a mapping, a list or an alias.
    private(set) var keys = 0
    private var hasAnchor = false
    private var hasAlias = false
    /// Whether a key begins with a question mark, so that it may go over several lines.
    private var hasLongKey = false
    /// Whether a key is an alias, or a mapping or list in whose line there is one: other keys stand on one line.
    private var hasAliasInKey = false

    /// Whether an alias may be a key, or stand in one.
    var mayHaveAliasInKey: Bool { hasAnchor && (hasAliasInKey || hasLongKey && hasAlias) }

    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        var isAliasInLine = false
        for index in bytes.indices {
            switch bytes[index] {
            case 0x0a, 0x0d: isAliasInLine = false
            case UInt8(ascii: "%") where index == 0 || bytes[index - 1] == 0x0a: directives += 1
            case UInt8(ascii: "&") where isName(index + 1): hasAnchor = true
            case UInt8(ascii: "*") where isStart(index) && isName(index + 1):
                (hasAlias, isAliasInLine) = (true, true)
                guard isColon(afterBlanksFrom: endOfName(index + 1)) else { continue }
                keys += 1
                hasAliasInKey = true
            case UInt8(ascii: "?") where isStart(index):
                keys += 1
                hasLongKey = true
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                guard isColon(afterBlanksFrom: index + 1) else { continue }
                keys += 1
                hasAliasInKey = hasAliasInKey || isAliasInLine
            default: break
            }
        }
    }

    /// Whether an alias or a question mark that is no part of a text may stand here: what comes before is an indicator.
    private func isStart(_ index: Int) -> Bool {
        var end = index
        while end > 0, bytes[end - 1] == 0x20 || bytes[end - 1] == 0x09 { end -= 1 }
        // A hyphen and a question mark are indicators in front of a blank alone.
        return end == 0 || (end == index ? "\n\r[{,:" : "\n\r[{,:?-").utf8.contains(bytes[end - 1])
    }

    private func isName(_ index: Int) -> Bool {
        guard index < bytes.count else { return false }
        let byte = bytes[index]
        return (0x30...0x39).contains(byte) || (0x61...0x7a).contains(byte | 0x20) || "_-".utf8.contains(byte)
    }

    private func endOfName(_ index: Int) -> Int {
        var index = index
        while isName(index) { index += 1 }
        return index
    }

    private func isColon(afterBlanksFrom start: Int) -> Bool {
        var index = start
        while index < bytes.count, bytes[index] == 0x20 || bytes[index] == 0x09 { index += 1 }
        return index < bytes.count && bytes[index] == UInt8(ascii: ":")
    }
}
