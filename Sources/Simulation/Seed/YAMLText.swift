import Yams

/// Checks on a YAML text before it is parsed [D linear-time].
///
/// The parser compares the keys of each mapping as whole `String`s. Its time grows with the square of a run of
/// combining marks. It grows exponentially with the nesting of keys that are mappings or lists with aliases.
package enum YAMLText {
    /// The maximum number of combining marks in a row. The Stream-Safe Text Format (UAX #15) allows 30.
    private static let maxMarks = 100
    /// The maximum number of keys that are mappings or lists, and of directives.
    private static let maxOddities = 100

    /// The reason why a text must not be parsed, with its line; `nil` if it may be.
    package static func problem(_ yaml: String) -> (line: Int, text: String)? {
        let bytes = Array(yaml.utf8)
        // Most texts have neither marks nor escapes of marks.
        let mayHaveMarks = bytes.contains { $0 >= 0x80 || $0 == UInt8(ascii: "\\") }
        if mayHaveMarks, let offset = endOfLongRun(yaml.unicodeScalars) {
            return (
                yaml.utf8[..<offset].count { $0 == 0x0a } + 1,
                "expected at most \(maxMarks) combining marks in a row; this would take too long to compare"
            )
        }
        // That of a file which was appended to another one.
        if mayHaveMarks, let offset = strayMark(bytes) {
            return (
                bytes[..<offset].count { $0 == 0x0a } + 1,
                "a byte-order mark (U+FEFF) is only allowed at the start of the text; remove this one"
            )
        }
        let oddities = Oddities(bytes)
        if oddities.directives > maxOddities { return (1, "expected at most \(maxOddities) directives") }
        if oddities.keys > maxOddities || oddities.mayHaveAliasInKey {
            return (1, "expected keys that are strings, and neither mappings, lists nor aliases")
        }
        return nil
    }

    /// The truth value of a word of YAML 1.1: `yes`, `off` and so on, in any case; `nil` for other texts.
    static func bool(_ text: String) -> Bool? { text.utf8.count <= 5 ? Node(text).bool : nil }

    /// The place of the first byte-order mark that begins a line; `nil` if there is none.
    private static func strayMark(_ bytes: [UInt8]) -> Int? {
        bytes.indices.first { index in
            bytes[index] == 0xef && (index == 0 || bytes[index - 1] == 0x0a)
                && bytes[index...].starts(with: [0xef, 0xbb, 0xbf])
        }
    }

    /// The end of the first run of marks that is too long; `nil` if there is none. Escaped marks count too.
    private static func endOfLongRun(_ text: String.UnicodeScalarView) -> String.Index? {
        var run = 0
        var index = text.startIndex
        while index < text.endIndex {
            run = isMark(next(in: text, &index)) ? run + 1 : 0
            if run > maxMarks { return index }
        }
        return nil
    }

    /// The scalar at an index, or the scalar that an escape there represents. Moves the index past it.
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

    /// The line of a key's second occurrence in a mapping, which the parser does not report. If not found, the
    /// mapping's line.
    package static func secondLine(of key: String, in yaml: String, from line: Int) -> Int {
        let start = Array("\(key):".utf8)
        let lines = yaml.utf8.split(separator: 0x0a, omittingEmptySubsequences: false)
        let places = lines.indices.dropFirst(max(0, line - 1)).filter { index in
            lines[index].drop { " -{".utf8.contains($0) }.starts(with: start)
        }
        return places.count > 1 ? places[places.startIndex + 1] + 1 : line
    }
}

/// Counts of rare constructs that can make parsing expensive.
///
/// They are counted without parsing: the counts may be too high, but never too low.
private struct Oddities {
    /// The number of lines that begin with a percent sign.
    private(set) var directives = 0
    /// The number of keys that are a mapping, a list or an alias.
    private(set) var keys = 0
    private var hasAnchor = false
    private var hasAlias = false
    /// Whether a key begins with a question mark. Such a key may span several lines.
    private var hasLongKey = false
    /// Whether a key is an alias, or a mapping or list on a line with an alias. Keys without a question mark are on
    /// one line.
    private var hasAliasInKey = false

    /// Whether an alias may be a key or part of one.
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

    /// Whether an alias or a question mark may start a token here, outside a text: an indicator precedes it.
    private func isStart(_ index: Int) -> Bool {
        var end = index
        while end > 0, bytes[end - 1] == 0x20 || bytes[end - 1] == 0x09 { end -= 1 }
        // A hyphen and a question mark are indicators only before a blank.
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
