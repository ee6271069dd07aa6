/// A problem in a JSON body, with its place. Lines and columns count from 1, columns in bytes.
package struct JSONProblem: Error, CustomStringConvertible {
    package let line: Int
    package let column: Int
    /// The path of the wrong value, for instance `item.brand`; empty if the whole document is wrong.
    package let path: String
    package let text: String

    package var description: String { "malformed JSON at line \(line), column \(column): \(text)" }
}

/// A strict JSON reader (RFC 8259) [D strict-json]. Its time is linear in the length of the text [D linear-time].
///
/// The reader rejects trailing commas unless they are allowed, repeated keys, invalid UTF-8, unpaired surrogates, numbers beyond the range of a
/// double, and nesting deeper than 64 levels.
package struct StrictJSON {
    /// The maximum nesting of arrays and objects in a request.
    package static let maxDepth = 64

    private let bytes: [UInt8]
    private let maxDepth: Int
    private let maxValues: Int
    private let allowsTrailingCommas: Bool
    private var index = 0
    private var depth = 0
    private var count = 0
    private var path: [PathPart] = []

    /// One part of a value's path: a member's name or an element's index.
    private enum PathPart {
        case member(String)
        case element(Int)
    }

    /// Reads a whole document.
    ///
    /// - Parameters:
    ///   - maxDepth: the maximum nesting of arrays and objects.
    ///   - maxValues: the maximum number of values, those within others too.
    ///   - allowsTrailingCommas: whether a comma may stand before the end of an array or object.
    /// - Throws: ``JSONProblem`` for the first problem in the text.
    package static func parse(
        _ bytes: [UInt8], maxDepth: Int = Self.maxDepth, maxValues: Int = .max, allowsTrailingCommas: Bool = false
    ) throws(JSONProblem) -> JSONValue {
        try read(bytes, maxDepth: maxDepth, maxValues: maxValues, allowsTrailingCommas: allowsTrailingCommas).value
    }

    /// Reads a whole document, see ``parse(_:maxDepth:maxValues:allowsTrailingCommas:)``.
    ///
    /// - Returns: also the number of values, those within others too.
    package static func read(
        _ bytes: [UInt8], maxDepth: Int = Self.maxDepth, maxValues: Int, allowsTrailingCommas: Bool
    ) throws(JSONProblem) -> (value: JSONValue, count: Int) {
        var reader = StrictJSON(
            bytes: bytes, maxDepth: maxDepth, maxValues: maxValues, allowsTrailingCommas: allowsTrailingCommas)
        try reader.checkEncoding()
        reader.skipWhitespace()
        let value = try reader.value()
        reader.skipWhitespace()
        guard reader.index == bytes.count else { throw reader.problem("expected the end, found \(reader.found)") }
        return (value, reader.count)
    }

    // MARK: Values

    private mutating func value() throws(JSONProblem) -> JSONValue {
        guard let next = peek else { throw problem("expected a value, found the end") }
        count += 1
        guard count <= maxValues else { throw problem("more than \(maxValues) values") }
        switch next {
        case UInt8(ascii: "{"): return try object()
        case UInt8(ascii: "["): return try array()
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case UInt8(ascii: "-"), 0x30...0x39: return .number(try number())
        default: throw problem("expected a value, found \(found)")
        }
    }

    private mutating func object() throws(JSONProblem) -> JSONValue {
        try enter()
        var members = JSONObject()
        skipWhitespace()
        if take("}") { return leave(.object(members)) }
        while true {
            guard peek == UInt8(ascii: "\"") else { throw problem("expected a key in quotes or }, found \(found)") }
            let start = index
            let key = try string()
            path.append(.member(key))
            if members[key] != nil {
                index = start
                throw problem("the key \"\(key)\" appears twice")
            }
            skipWhitespace()
            guard take(":") else { throw problem("expected : after a key, found \(found)") }
            skipWhitespace()
            members[key] = try value()
            path.removeLast()
            skipWhitespace()
            if take("}") { return leave(.object(members)) }
            guard take(",") else { throw problem("expected , or }, found \(found)") }
            skipWhitespace()
            if allowsTrailingCommas, take("}") { return leave(.object(members)) }
        }
    }

    private mutating func array() throws(JSONProblem) -> JSONValue {
        try enter()
        var elements: [JSONValue] = []
        skipWhitespace()
        if take("]") { return leave(.array(elements)) }
        while true {
            path.append(.element(elements.count))
            elements.append(try value())
            path.removeLast()
            skipWhitespace()
            if take("]") { return leave(.array(elements)) }
            guard take(",") else { throw problem("expected , or ], found \(found)") }
            skipWhitespace()
            if allowsTrailingCommas, take("]") { return leave(.array(elements)) }
        }
    }

    /// Enters an array or object.
    private mutating func enter() throws(JSONProblem) {
        guard depth < maxDepth else { throw problem("nested deeper than \(maxDepth)") }
        depth += 1
        index += 1
    }

    private mutating func leave(_ value: JSONValue) -> JSONValue {
        depth -= 1
        return value
    }

    private mutating func word(_ text: StaticString, _ value: JSONValue) throws(JSONProblem) -> JSONValue {
        let end = index + text.utf8CodeUnitCount
        let matches = text.withUTF8Buffer { end <= bytes.count && bytes[index..<end].elementsEqual($0) }
        guard matches else { throw problem("expected \(text), found \(found)") }
        index = end
        return value
    }

    private mutating func number() throws(JSONProblem) -> JSONNumber {
        let start = index
        _ = take("-")
        if !take("0") {
            guard takeDigits() else { throw problem("expected a digit, found \(found)") }
        } else if let next = peek, (0x30...0x39).contains(next) {
            throw problem("a number must not begin with 0")
        }
        if take(".") {
            guard takeDigits() else { throw problem("expected a digit after the point, found \(found)") }
        }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            guard takeDigits() else { throw problem("expected a digit in the exponent, found \(found)") }
        }
        guard index - start <= JSONNumber.maxBytes,
            let number = JSONNumber(finite: String(decoding: bytes[start..<index], as: UTF8.self))
        else {
            index = start
            throw problem("the number is too large")
        }
        return number
    }

    private mutating func takeDigits() -> Bool {
        let start = index
        while let next = peek, (0x30...0x39).contains(next) { index += 1 }
        return index > start
    }

    // MARK: Strings

    private mutating func string() throws(JSONProblem) -> String {
        index += 1
        let start = index
        while let next = peek, next != UInt8(ascii: "\""), next != UInt8(ascii: "\\"), next >= 0x20 { index += 1 }
        if peek == UInt8(ascii: "\"") {
            defer { index += 1 }
            return String(decoding: bytes[start..<index], as: UTF8.self)
        }
        var content = Array(bytes[start..<index])
        while let next = peek {
            switch next {
            case UInt8(ascii: "\""):
                index += 1
                return String(decoding: content, as: UTF8.self)
            case UInt8(ascii: "\\"):
                content.append(contentsOf: UTF8.encode(try escape())!)
            case ..<0x20:
                throw problem("a string must not contain a control character; write it as an escape")
            default:
                content.append(next)
                index += 1
            }
        }
        throw problem("the string is not closed")
    }

    private mutating func escape() throws(JSONProblem) -> Unicode.Scalar {
        let start = index
        index += 1
        guard let item = peek else { throw problem("the string is not closed") }
        index += 1
        switch item {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(item)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            let first = try hexadecimal()
            if let scalar = Unicode.Scalar(first) { return scalar }
            // A surrogate is half a character; the other half must follow.
            if (0xd800...0xdbff).contains(first), take("\\"), take("u") {
                let second = try hexadecimal()
                if (0xdc00...0xdfff).contains(second) {
                    return Unicode.Scalar(0x10000 + (first - 0xd800) << 10 + (second - 0xdc00))!
                }
            }
            index = start
            throw problem("an unpaired surrogate in \\u escapes")
        default:
            index = start
            throw problem("not a valid JSON escape")
        }
    }

    private mutating func hexadecimal() throws(JSONProblem) -> UInt32 {
        var value: UInt32 = 0
        for offset in 0..<4 {
            guard index + offset < bytes.count else { throw problem("expected four hexadecimal digits after \\u") }
            let byte = bytes[index + offset]
            let digit: UInt8
            switch byte {
            case 0x30...0x39: digit = byte - 0x30
            case 0x41...0x46, 0x61...0x66: digit = (byte | 0x20) - 0x61 + 10
            default: throw problem("expected four hexadecimal digits after \\u")
            }
            value = value << 4 | UInt32(digit)
        }
        index += 4
        return value
    }

    // MARK: Bytes

    private var peek: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard peek == UInt8(character.value) else { return false }
        index += 1
        return true
    }

    private mutating func skipWhitespace() {
        while let next = peek, next == 0x20 || next == 0x0a || next == 0x0d || next == 0x09 { index += 1 }
    }

    /// A description of the next byte for error messages.
    private var found: String {
        guard let next = peek else { return "the end" }
        return next >= 0x20 && next < 0x7f ? "'\(Character(Unicode.Scalar(next)))'" : "byte \(next)"
    }

    private func problem(_ text: String) -> JSONProblem {
        let before = bytes[..<min(index, bytes.count)]
        let line = before.count { $0 == 0x0a } + 1
        let column = before.count - (before.lastIndex(of: 0x0a).map { $0 + 1 } ?? 0) + 1
        var name = ""
        for part in path {
            switch part {
            case .member(let key): name += name.isEmpty ? key : "." + key
            case .element(let number): name += "[\(number)]"
            }
        }
        return JSONProblem(line: line, column: column, path: name, text: text)
    }

    /// Checks that the whole body is UTF-8 without a byte order mark.
    private mutating func checkEncoding() throws(JSONProblem) {
        if bytes.starts(with: [0xef, 0xbb, 0xbf]) {
            throw problem("the body begins with a byte order mark; send plain UTF-8")
        }
        if String(validating: bytes, as: UTF8.self) != nil { return }
        // The problem is at the end of the longest valid prefix.
        var decoder = UTF8()
        var iterator = bytes.makeIterator()
        while true {
            switch decoder.decode(&iterator) {
            case .scalarValue(let scalar): index += UTF8.width(scalar)
            case .emptyInput, .error: throw problem("not UTF-8")
            }
        }
    }
}
