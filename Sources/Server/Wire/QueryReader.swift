import EntrupyAPI
import Foundation
import Platform

/// Reads the parameters of a query and collects all their problems.
struct QueryReader {
    private let parameters: [(key: String, value: String?)]
    private var problems: [ErrorDetail] = []
    private var known: [String] = []
    private let isStrict: Bool

    /// - Parameters:
    ///   - query: the text after the `?`, still encoded.
    ///   - isStrict: whether parameters that the route does not read are problems [D unknown-members].
    init(_ query: Substring, isStrict: Bool = false) {
        self.isStrict = isStrict
        parameters = query.split(at: "&").map { pair in
            let parts = pair.split(at: "=", maxSplits: 1, omittingEmpty: false)
            let value = parts.count > 1 ? Self.spaced(parts[1]).removingPercentEncoding : ""
            return (parts[0].removingPercentEncoding ?? String(parts[0]), value)
        }
    }

    /// A text with each plus sign replaced by a space, as in HTML forms.
    private static func spaced(_ text: Substring) -> String {
        String(decoding: text.utf8.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 }, as: UTF8.self)
    }

    /// Throws if a problem was found.
    mutating func finish() throws {
        if isStrict {
            for (key, _) in parameters where !known.contains(where: { $0.utf8.elementsEqual(key.utf8) }) {
                report(
                    key,
                    known.isEmpty
                        ? "is not a parameter of this route, which takes none"
                        : "is not a parameter of this route; known parameters are \(known.joined(separator: ", "))")
            }
        }
        guard problems.isEmpty else { throw PlatformError.invalid(problems) }
    }

    /// A parameter's text. `nil` if it is absent or empty.
    mutating func text(_ key: String) -> String? {
        present(key).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// A parameter's text. `nil` if it is absent. Empty text is a problem: an unset variable in a script causes it.
    ///
    /// - Parameter longest: the maximum length, in UTF-8 bytes.
    mutating func name(_ key: String, longest: Int = .max) -> String? {
        guard let text = present(key) else { return nil }
        if text.isEmpty { report(key, "must not be empty") }
        if text.utf8.count > longest { report(key, "must be at most \(longest) bytes, got \(text.utf8.count)") }
        return text
    }

    /// A parameter converted by `read`. `nil` if it is absent. `expected` is the problem's text: it says what the
    /// value must be.
    mutating func value<Value>(_ key: String, _ expected: String, _ read: (String) -> Value?) -> Value? {
        guard let text = present(key) else { return nil }
        let value = read(text)
        if value == nil { report(key, "\(expected), got \"\(text)\"") }
        return value
    }

    /// A parameter's text, which may be empty. `nil` if it is absent.
    private mutating func present(_ key: String) -> String? {
        known.append(key)
        let found = parameters.filter { $0.key.utf8.elementsEqual(key.utf8) }
        if found.count > 1 { report(key, "is given twice") }
        guard let parameter = found.first else { return nil }
        guard let value = parameter.value else {
            report(key, "is not valid percent-encoding of UTF-8")
            return nil
        }
        return value
    }

    /// One of the words of `type`. `nil` if it is absent.
    mutating func word<Word: RawRepresentable & CaseIterable>(_ key: String, _ type: Word.Type) -> Word?
    where Word.RawValue == String {
        guard let text = present(key) else { return nil }
        let word = Word.allCases.first { $0.rawValue.utf8.elementsEqual(text.utf8) }
        if word == nil {
            report(key, "must be one of \(Word.allCases.map(\.rawValue).joined(separator: ", ")), got \"\(text)\"")
        }
        return word
    }

    /// Whether the parameter is `true`. An absent parameter is false.
    mutating func flag(_ key: String) -> Bool {
        word(key, Truth.self) == .yes
    }

    private enum Truth: String, CaseIterable {
        case yes = "true"
        case no = "false"
    }

    /// A whole number in `range`. `nil` if it is absent.
    mutating func number(_ key: String, in range: ClosedRange<Int>) -> Int? {
        guard let text = present(key) else { return nil }
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text),
            range.contains(number)
        else {
            report(key, "must be a whole number from \(range.lowerBound) to \(range.upperBound), got \"\(text)\"")
            return nil
        }
        return number
    }

    private mutating func report(_ key: String, _ problem: String) {
        problems.append(ErrorDetail(key, problem))
    }
}
