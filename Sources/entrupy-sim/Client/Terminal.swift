import EntrupyAPI
import Foundation

/// Where answers go: tables and sentences for people, JSON for programs; colours on a terminal alone.
struct Terminal: Sendable {
    /// Whether the answer is wanted as JSON.
    let isJSON: Bool
    /// Whether standard output may be coloured.
    private let isColoured: Bool
    private let isErrorColoured: Bool
    /// Whether standard error is a terminal, so that a line can be written over.
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

    /// Prints a line.
    func line(_ text: String) {
        Self.write(Data((text + "\n").utf8))
    }

    /// Writes to standard output. Where nobody reads it any more, as in `| head`, the program ends quietly; where it cannot be
    /// written, with a sentence.
    static func write(_ data: Data) {
        var rest = data[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EPIPE {
                // As the shell says of a program that SIGPIPE ended.
                exit(128 + SIGPIPE)
            } else if errno != EINTR {
                FileHandle.standardError.write(
                    Data("error: standard output cannot be written: \(String(cString: strerror(errno)))\n".utf8))
                exit(Refusal.Code.internalError.rawValue)
            }
        }
    }

    /// Prints the server's answer as JSON, or what `show` makes of it for people.
    func show(_ answer: ControlClient.Answer, _ show: () throws -> Void) rethrows {
        guard isJSON else { return try show() }
        json(answer.bytes)
    }

    /// Prints JSON that is encoded already.
    func json(_ bytes: Data) {
        // Deletions answer nothing.
        line(bytes.isEmpty ? "{}" : String(decoding: bytes, as: UTF8.self))
    }

    /// Prints rows under headings, each column as wide as its widest cell.
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

    /// Says on standard error what was wrong and what to do next.
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

    /// Writes to standard error, as it is.
    func note(_ text: String) {
        // Where that cannot be written there is nobody to tell.
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}

/// How far long work has come: a bar on a terminal, a line now and then elsewhere.
actor Progress {
    private let terminal: Terminal
    private let what: String
    private let total: Int
    private var shown = -1
    private static let width = 30
    /// How often a line is printed where there is no terminal, in per cent.
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

/// Values as people read them.
enum Readable {
    /// A number of things.
    static func count(_ number: Int, _ thing: String) -> String { "\(number) \(thing)\(number == 1 ? "" : "s")" }

    /// ISO 8601, UTC, whole seconds.
    static func time(_ epoch: Double) -> String { Date(timeIntervalSince1970: epoch).ISO8601Format() }

    static func bytes(_ count: Int) -> String {
        count < 1 << 20 ? "\((count + 1023) >> 10) KiB" : "\((count + (1 << 20) - 1) >> 20) MiB"
    }

    /// A value as it stands in a table.
    static func cell(_ value: String?) -> String { value ?? "-" }
}
