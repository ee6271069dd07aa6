import Foundation
import SimulationAPI

/// Prints answers: tables and sentences for people, JSON for programs. Colours are only for a terminal.
struct Terminal: Sendable {
    /// Whether to print JSON.
    let isJSON: Bool
    /// Whether standard output may be coloured.
    private let isColoured: Bool
    private let isErrorColoured: Bool
    /// Whether standard error is a terminal, where a line can be overwritten.
    let showsProgress: Bool

    enum Style: String {
        case bold = "1"
        case red = "31"
        case green = "32"
        case yellow = "33"
        case dim = "2"
    }

    init(isJSON: Bool) {
        self.isJSON = isJSON
        let environment = ProcessInfo.processInfo.environment
        // https://no-color.org
        let wanted = (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
        isColoured = wanted && isatty(STDOUT_FILENO) == 1
        isErrorColoured = wanted && isatty(STDERR_FILENO) == 1
        showsProgress = isatty(STDERR_FILENO) == 1
    }

    func styled(_ text: String, _ style: Style) -> String { isColoured ? Self.styled(text, style) : text }

    private static func styled(_ text: String, _ style: Style) -> String { "\u{1b}[\(style.rawValue)m\(text)\u{1b}[0m" }

    func line(_ text: String) {
        Self.write(Data((text + "\n").utf8))
    }

    /// Writes to standard output. Blocks. If the reader has gone, as in `| head`, the program ends without a message. After any
    /// other error it prints the error and exits with code 70.
    static func write(_ data: Data) {
        var rest = data[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EPIPE {
                // The exit code that a shell reports for a program that SIGPIPE ended.
                exit(128 + SIGPIPE)
            } else if errno != EINTR {
                FileHandle.standardError.write(
                    Data("error: standard output cannot be written: \(String(cString: strerror(errno)))\n".utf8))
                exit(Refusal.Code.internalError.rawValue)
            }
        }
    }

    /// Prints the server's answer as JSON, or calls `show` to print it for people.
    func show(_ answer: ControlClient.Answer, _ show: () throws -> Void) rethrows {
        guard isJSON else { return try show() }
        json(answer.bytes)
    }

    /// Prints encoded JSON.
    func json(_ bytes: Data) {
        // The answer to a deletion is empty.
        line(bytes.isEmpty ? "{}" : String(decoding: bytes, as: UTF8.self))
    }

    /// Prints rows under headings. Each column is as wide as its widest cell.
    ///
    /// - Parameter empty: the line to print if there are no rows.
    func table(_ headings: [String], _ rows: [[String]], empty: String) {
        guard !rows.isEmpty else { return line(empty) }
        let widths = headings.indices.map { column in
            ([headings] + rows).map { $0[column].count }.max() ?? 0
        }
        func text(_ row: [String]) -> String {
            let cells = row.enumerated().map { column, cell in
                column == row.count - 1 ? cell : cell + String(repeating: " ", count: widths[column] - cell.count)
            }
            return cells.joined(separator: "  ")
        }
        line(styled(text(headings), .bold))
        for row in rows { line(text(row)) }
    }

    /// Prints names and values, one pair a line.
    func pairs(_ pairs: [(String, String)]) {
        let width = pairs.map(\.0.count).max() ?? 0
        for (name, value) in pairs {
            line(styled(name + String(repeating: " ", count: width - name.count), .dim) + "  " + value)
        }
    }

    /// Prints an error and what to do next to standard error.
    func show(_ refusal: Refusal) {
        if isJSON, let answer = refusal.answer { json(answer) }
        let label = isErrorColoured ? Self.styled("error:", .red) : "error:"
        var text = "\(label) \(refusal.message)\n"
        for detail in refusal.details where !refusal.says(detail.problem) {
            text += "  \(detail.field): \(detail.problem)\n"
        }
        if let next = refusal.next { text += "  \(next)\n" }
        note(text)
    }

    /// Writes text to standard error, unchanged.
    func note(_ text: String) {
        // If this fails, no other place is left to report it.
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}

/// The progress of a long operation: a bar on a terminal, a line after every 25 % elsewhere.
actor Progress {
    private let terminal: Terminal
    private let what: String
    private let total: Int
    private var shown = -1
    private static let width = 30
    /// The progress between two printed lines if there is no terminal, in per cent.
    private static let step = 25

    init(_ terminal: Terminal, _ what: String, of total: Int) {
        self.terminal = terminal
        self.what = what
        self.total = total
    }

    func show(_ done: Int) {
        let share = min(100, max(0, total == 0 ? 100 : done * 100 / total))
        if terminal.showsProgress {
            let filled = share * Self.width / 100
            let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: Self.width - filled)
            terminal.note("\r\(what) [\(bar)] \(share)% of \(total)")
        } else if share / Self.step > shown / Self.step || shown < 0 {
            terminal.note("\(what): \(share)% of \(total)\n")
        }
        shown = share
    }

    func end() {
        if shown < 100 { show(total) }
        if terminal.showsProgress { terminal.note("\n") }
    }
}

/// Formats values for people.
enum Readable {
    /// A number and its noun, in the plural unless the number is 1.
    static func count(_ number: Int, _ thing: String) -> String { "\(number) \(thing)\(number == 1 ? "" : "s")" }

    /// ISO 8601, UTC, whole seconds.
    static func time(_ epoch: Double) -> String { Date(timeIntervalSince1970: epoch).ISO8601Format() }

    static func bytes(_ count: Int) -> String {
        count < 1 << 20 ? "\((count + 1023) >> 10) KiB" : "\((count + (1 << 20) - 1) >> 20) MiB"
    }

    /// The text of a table cell, `-` if there is no value.
    static func cell(_ value: String?) -> String { value ?? "-" }
}
