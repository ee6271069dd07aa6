import Foundation
import NIOConcurrencyHelpers
import SimulationAPI

/// The only way to standard output and standard error: tables and sentences for people, JSON for programs.
///
/// What it prints comes from servers, files and the command line. For people, and for everyone on a terminal, it shows control
/// characters as ``VisibleText``; through a pipe, JSON and files stay as they are. Colours are added after that, and only on a
/// terminal.
struct Terminal: Sendable {
    let isJSON: Bool
    /// Whether no progress is shown.
    var isQuiet = false
    /// The options that the command line gave for the server and the namespace, for the commands of hints.
    var place = ""
    /// Whether standard output is a terminal, and not a pipe or a file.
    let isInteractive = isatty(STDOUT_FILENO) == 1
    /// Whether standard error is a terminal, where a line can be overwritten.
    let showsProgress = isatty(STDERR_FILENO) == 1
    /// Whether a terminal may be coloured: https://no-color.org.
    private static let allowsColour: Bool = {
        let environment = ProcessInfo.processInfo.environment
        return (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }()

    enum Style: String {
        case bold = "1", dim = "2", red = "31", green = "32", yellow = "33"
    }

    /// A piece of a line with a style of its own.
    struct Piece: ExpressibleByStringInterpolation {
        let text: String
        let style: Style?

        init(_ text: String, _ style: Style? = nil) {
            self.text = text
            self.style = style
        }

        init(stringLiteral text: String) { self.init(text) }
    }

    private static func styled(_ text: String, _ style: Style) -> String { "\u{1b}[\(style.rawValue)m\(text)\u{1b}[0m" }

    private func visible(_ piece: Piece, width: Int = 0) -> String {
        let text = VisibleText.line(piece.text)
        let padding = String(repeating: " ", count: max(0, width - text.count))
        guard isInteractive, Self.allowsColour, let style = piece.style else { return text + padding }
        return Self.styled(text, style) + padding
    }

    /// A command for a hint, with the server and the namespace for which it was asked.
    func command(_ text: String) -> String { "entrupy-sim \(text)\(place)" }

    func line(_ text: String, _ style: Style? = nil) { line([Piece(text, style)]) }

    func line(_ pieces: [Piece]) { Self.put(Data((pieces.map { visible($0) }.joined() + "\n").utf8)) }

    /// Prints text that may have several lines, such as a body.
    func lines(_ text: String) { Self.put(Data((VisibleText.lines(text) + "\n").utf8)) }

    /// Prints a document or a part of one: its bytes through a pipe, its text on a terminal.
    func document(_ bytes: Data) {
        guard isInteractive else { return Self.put(bytes) }
        Self.put(Data(VisibleText.lines(String(decoding: bytes, as: UTF8.self)).utf8))
    }

    private static let lostReader = NIOLockedValueBox<(isLost: Bool, then: (@Sendable () -> Void)?)>((false, nil))

    static var hasLostReader: Bool { lostReader.withLockedValue { $0.isLost } }

    /// Calls `then` when the reader of standard output has gone, and does not end the program: for commands that must clean up.
    static func onLostReader(_ then: @escaping @Sendable () -> Void) { lostReader.withLockedValue { $0.then = then } }

    /// Writes to standard output. Blocks. If the reader has gone, as in `| head`, the program ends without a message, unless
    /// ``onLostReader(_:)`` was called. After any other error it prints the error and exits with code 70.
    private static func put(_ data: Data) {
        var rest = data[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EPIPE {
                let then = lostReader.withLockedValue { state in
                    state.isLost = true
                    return state.then
                }
                if let then { return then() }
                // The exit code that a shell reports for a program that SIGPIPE ended.
                exit(128 + SIGPIPE)
            } else if errno != EINTR {
                putError("error: standard output cannot be written: \(String(cString: strerror(errno)))\n")
                exit(Refusal.Code.internalError.rawValue)
            }
        }
    }

    private static func putError(_ text: String) {
        // If this fails, no other place is left to report it.
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }

    /// Prints the server's answer as JSON, or for people as the call says.
    func show(_ answer: ControlClient.Answer, of call: ControlCall) throws {
        isJSON ? json(answer.bytes) : try call.show(answer, self)
    }

    /// Prints a sentence about something that was done, or an empty object.
    func done(_ sentence: String) { isJSON ? json(Data()) : line(sentence) }

    func json(of value: some Encodable) throws { json(try WireJSON.encode(value)) }

    /// Prints encoded JSON.
    func json(_ bytes: Data) {
        // The answer to a deletion is empty.
        let bytes = bytes.isEmpty ? Data("{}".utf8) : bytes
        let shown = isInteractive ? Data(VisibleText.json(String(decoding: bytes, as: UTF8.self)).utf8) : bytes
        Self.put(shown + Data("\n".utf8))
    }

    /// The maximum width of a column. A longer cell stands out of its column: padding all rows to it could make gigabytes of one answer.
    private static let maxColumnWidth = 120

    /// Prints rows under headings, `-` for cells without a value. Each column is as wide as its widest cell.
    ///
    /// - Parameter empty: the line to print if there are no rows.
    func table(_ headings: [String], _ rows: [[String?]], empty: String) {
        table(headings, rows.map { $0.map { Piece($0 ?? "-") } }, empty: empty)
    }

    /// Prints rows of which some cells have a style.
    func table(_ headings: [String], _ rows: [[Piece]], empty: String) {
        guard !rows.isEmpty else { return line(empty) }
        let widths = headings.indices.map { column in
            min(
                rows.map { VisibleText.line($0[column].text).count }.reduce(headings[column].count, max),
                Self.maxColumnWidth)
        }
        for row in [headings.map { Piece($0, .bold) }] + rows {
            let cells = row.enumerated().map { column, cell in
                visible(cell, width: column == row.count - 1 ? 0 : widths[column])
            }
            Self.put(Data((cells.joined(separator: "  ") + "\n").utf8))
        }
    }

    func pairs(_ pairs: [(String, String?)]) {
        let width = pairs.map(\.0.count).max() ?? 0
        for (name, value) in pairs {
            Self.put(Data("\(visible(Piece(name, .dim), width: width))  \(visible(Piece(value ?? "-")))\n".utf8))
        }
    }

    /// Prints an error and what to do next to standard error; for programs also the envelope of the error, the server's if it
    /// answered.
    func show(_ refusal: Refusal) {
        if isJSON, let answer = refusal.answer ?? refusal.envelope { json(answer) }
        let label = showsProgress && Self.allowsColour ? Self.styled("error:", .red) : "error:"
        var text = "\(label) \(refusal.status.map { "\($0): " } ?? "")\(Self.indented(refusal.message))\n"
        for detail in refusal.details where !refusal.says(detail.problem) {
            text += "  \(VisibleText.line(detail.field)): \(Self.indented(detail.problem))\n"
        }
        if let next = refusal.next { text += "  \(Self.indented(next))\n" }
        Self.putError(text)
    }

    /// Text whose later lines are indented, so that none of them looks like the program's own.
    private static func indented(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { VisibleText.line(String($0)) }
            .joined(separator: "\n  ")
    }

    func note(_ text: String) { Self.putError(VisibleText.line(text) + "\n") }

    /// Writes pieces in one line to standard error, without their styles.
    func note(_ pieces: [Piece]) { note(pieces.map(\.text).joined()) }

    /// Writes a line of a log in JSON to standard error.
    static func log(json line: String) { putError((isatty(STDERR_FILENO) == 1 ? VisibleText.json(line) : line) + "\n") }

    /// Replaces the line of standard error, on a terminal, that has `width` characters so far.
    ///
    /// - Returns: the number of characters of the new one.
    func overwrite(_ text: String, width: Int) -> Int {
        var size = winsize()
        // A longer line would be broken, and its start stay.
        let most = ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 1 ? Int(size.ws_col) - 1 : 79
        let line = VisibleText.line(text).prefix(most)
        let rest = String(repeating: " ", count: max(0, min(width, most) - line.count))
        Self.putError("\r\(line)\(rest)\(line.isEmpty ? "\r" : "")")
        return line.count
    }
}

/// Formats values for people.
enum Readable {
    static func count(_ number: Int, _ thing: String) -> String { "\(number) \(thing)\(number == 1 ? "" : "s")" }

    /// How often each value is there, in the order of its type: `20 recovered, 1 doubled`.
    static func counts<Value: CaseIterable & Equatable & RawRepresentable<String>>(_ values: [Value]) -> String {
        Value.allCases.compactMap { value in
            let count = values.count { $0 == value }
            return count > 0 ? "\(count) \(value.rawValue)" : nil
        }.joined(separator: ", ")
    }

    static func json(_ value: JSONValue) throws -> String {
        String(decoding: try WireJSON.encode(value), as: UTF8.self)
    }

    static func clock(_ clock: ClockState) -> String { "\(clock.now.prefix(19))Z \(clock.mode)" }

    /// ISO 8601, UTC, whole seconds.
    static func time(_ epoch: Double) -> String { Date(timeIntervalSince1970: epoch).ISO8601Format() }
}
