import Console
import SimulationAPI

/// Renders the Markdown of the description: paragraphs, `code` and **bold**.
enum Prose {
    static func html(_ text: String) -> String {
        text.split(separator: "\n\n").map { "<p>\(line(String($0)))</p>" }.joined(separator: "\n")
    }

    static func line(_ text: String) -> String {
        EscapedHTML.escaped(text)
            .replacing(/`([^`]+)`/) { "<code>\($0.1)</code>" }
            .replacing(/\*\*([^*]+)\*\*/) { "<strong>\($0.1)</strong>" }
    }

    /// A path whose lines break only before its slashes, not in words.
    static func breakable(_ path: String) -> String {
        "/" + EscapedHTML.escaped(path).split(atEach: "/").dropFirst().joined(separator: "<wbr>/")
    }
}
