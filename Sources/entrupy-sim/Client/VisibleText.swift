/// Text from a server, a file or the command line in a form that is safe to print.
///
/// A terminal obeys control characters: they move the cursor, change colours, retitle the window, or ring. Format characters are
/// invisible, and some reverse the order of the text around them. Both could make one text look like another. So each is shown as
/// an escape: `\x1b` up to U+00FF, `\u{202e}` above. Backslashes stay as they are, so the form is for reading, not for reading back.
enum VisibleText {
    /// Whether a scalar is shown as an escape: control characters (C0, DEL, C1), format characters (such as bidirectional ones and
    /// those without a width), and Unicode's separators of lines and paragraphs.
    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.value >= 0x7f else { return scalar.value < 0x20 }
        return switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    /// The text in one line.
    static func line(_ text: String) -> String { escaped(text) { _ in false } }

    /// The text with its newlines and tabs.
    static func lines(_ text: String) -> String { escaped(text) { $0 == "\n" || $0 == "\t" } }

    private static func escaped(_ text: String, keeping isKept: (Unicode.Scalar) -> Bool) -> String {
        replaced(text) { scalar in
            guard isHidden(scalar), !isKept(scalar) else { return nil }
            let digits = String(scalar.value, radix: 16)
            return scalar.value <= 0xff
                ? "\\x\(String(repeating: "0", count: 2 - digits.count))\(digits)" : "\\u{\(digits)}"
        }
    }

    /// JSON text with JSON's own escapes, so that it stays the same JSON.
    static func json(_ text: String) -> String {
        replaced(text) { scalar in
            guard isHidden(scalar), scalar != "\n", scalar != "\t" else { return nil }
            // In valid JSON a carriage return stands only between values, where an escape would be wrong.
            guard scalar != "\r" else { return " " }
            return String(scalar).utf16.map { unit in
                let digits = String(unit, radix: 16)
                return "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)"
            }.joined()
        }
    }

    private static func replaced(_ text: String, _ replacement: (Unicode.Scalar) -> String?) -> String {
        guard text.unicodeScalars.contains(where: isHidden) else { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if let replacement = replacement(scalar) {
                result.append(contentsOf: replacement.unicodeScalars)
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }
}
