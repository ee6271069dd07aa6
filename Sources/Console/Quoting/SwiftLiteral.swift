import SimulationAPI

/// Writes texts as string literals of Swift.
enum SwiftLiteral {
    /// A literal on one line, with its quotes.
    static func quoted(_ text: String) -> String { "\"\(content(text))\"" }

    /// A literal in which an expression takes the place of each occurrence of a text.
    ///
    /// - Parameter name: a name of the code around the literal. Never a text from outside.
    static func quoted(_ text: String, each part: String, as name: String) -> String {
        "\"" + text.split(atEach: part).map { content(String($0)) }.joined(separator: "\\(\(name))") + "\""
    }

    private static func content(_ text: String) -> String {
        text.escaping { scalar in
            switch scalar {
            case "\\": "\\\\"
            case "\"": "\\\""
            case "\n": "\\n"
            case "\r": "\\r"
            case "\t": "\\t"
            case _ where scalar.isInvisible: "\\u{\(String(scalar.value, radix: 16))}"
            default: nil
            }
        }
    }
}
