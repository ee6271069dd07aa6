import SimulationAPI

/// Writes words of a command line that a reader pastes into bash or zsh.
///
/// Texts of clients, bundles and seed data become part of a command only through these functions. `console.js` has the same
/// function for what a reader types into a form; a test compares both.
package enum Shell {
    /// One word of a command line: the shell gives the text to the command, byte for byte, and does nothing else.
    ///
    /// Plain words stay as they are. Others stand in single quotes, which every POSIX shell reads, and within which neither bash
    /// nor zsh expand `!`. `$'…'` stands for what is not safe there: a terminal acts on control characters when they are pasted,
    /// also within quotes; invisible ones hide what a command does; and bash replaces `^a^b` at the beginning of a line even
    /// within quotes. A shell without `$'…'`, such as dash, reads another text then, but still runs nothing else.
    ///
    /// The first character of a plain word is not `=`, which zsh replaces by the path of a command. A leading `-` is up to the
    /// command: see ``option(_:_:)`` and ``operand(_:)``. No argument can hold NUL: U+FFFD stands for it.
    package static func quoted(_ text: String) -> String {
        if isPlain(text) { return text }
        let scalars = text.unicodeScalars
        let hasLines = scalars.contains("\n")
        let needsEscapes = scalars.contains { scalar in
            scalar.isInvisible && scalar != "\n" || hasLines && (scalar == "!" || scalar == "^")
        }
        guard needsEscapes else { return "'" + text.replacing(each: "'", with: "'\\''") + "'" }
        let content = text.escaping { scalar in
            guard scalar.isInvisible || "'\\!^".unicodeScalars.contains(scalar) else { return nil }
            return (scalar == "\0" ? "\u{fffd}" : scalar).utf8.map { byte in
                let digits = String(byte, radix: 8)
                return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
            }.joined()
        }
        return "$'\(content)'"
    }

    /// A long option and its value. A value that begins with `-` would be read as another option after a blank.
    package static func option(_ name: String, _ value: String) -> String {
        name + (value.begins(with: "-") ? "=" : " ") + quoted(value)
    }

    /// The last argument of a command: after `--` if it would be read as an option.
    package static func operand(_ value: String) -> String {
        (value.begins(with: "-") ? "-- " : "") + quoted(value)
    }

    /// A line that does nothing when it is pasted, for a remark. zsh reads no comments on its command line.
    package static func remark(_ text: String) -> String { ": " + quoted(text) }

    /// Whether bash and zsh read a word as it is.
    private static func isPlain(_ text: String) -> Bool {
        guard let first = text.utf8.first, first != UInt8(ascii: "=") else { return false }
        return text.utf8.allSatisfy { $0.isLetterOrDigit || "-_./:@%+=,".utf8.contains($0) }
    }
}

extension Unicode.Scalar {
    /// Whether a reader cannot see the character, or it changes how others are shown: controls, formats such as the marks of
    /// direction, line separators and noncharacters. The line feed is one of them.
    var isInvisible: Bool {
        if value < 0x7f { return value < 0x20 }
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return true
        default: return properties.isNoncharacterCodePoint
        }
    }
}

extension String {
    /// The text with `\u{202e}` for each character that a reader cannot see, or that changes how others are shown. Ends of lines and
    /// tabs stay. For texts of others that are read and not copied.
    var showingInvisible: String {
        escaping { scalar in
            scalar.isInvisible && scalar != "\n" && scalar != "\t" ? "\\u{\(String(scalar.value, radix: 16))}" : nil
        }
    }
}
