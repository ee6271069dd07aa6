import EntrupySimTesting
import Foundation
public import Testing

/// A shell at a terminal, into which a test pastes text as a reader would: what a terminal does with control characters, and what
/// the shell does with `!`, `^` and tabs, happens too.
///
/// Only the programs that the text is meant to call can be found. Each writes down its arguments. Texts that break out of their
/// quotes make a file, whose path is in the variable `CANARY`.
public struct PasteShell: Sendable, CustomTestStringConvertible {
    public let name: String
    private let arguments: [String]

    public static let bash = PasteShell(name: "bash", arguments: ["--norc", "--noprofile", "-i"])
    public static let zsh = PasteShell(name: "zsh", arguments: ["-f", "-i"])

    /// What a pasted text did.
    public struct Outcome: Sendable {
        /// The calls of the programs: the name and the arguments of each.
        public let calls: [[String]]
        /// Whether something else was run.
        public let ranOther: Bool
        /// What the terminal showed.
        public let shown: String
    }

    public var testDescription: String { name }

    /// Whether this run is to paste into both shells: it takes minutes.
    public static var isWanted: Bool { ProcessInfo.processInfo.environment["ENTRUPY_SIM_SHELLS"] != nil }

    /// Whether the shell and the terminal to run it in are there.
    public var isInstalled: Bool { Self.find(name) != nil && Self.find("script") != nil }

    /// Pastes a text with a line feed at its end, and leaves the shell.
    ///
    /// - Parameters:
    ///   - variables: variables that the reader has set.
    ///   - names: the programs; one with a slash is in the folder.
    public func paste(
        _ text: String, variables: [String: String] = [:], programs names: Set<String> = ["curl", "entrupy-sim"]
    ) async throws -> Outcome {
        let files = FileManager.default
        let folder = files.temporaryDirectory.appendingPathComponent("entrupy-sim-paste-\(UUID())")
        let programs = folder.appendingPathComponent("bin")
        try files.createDirectory(at: programs, withIntermediateDirectories: true)
        defer { try? files.removeItem(at: folder) }
        for name in names {
            let file = (name.contains("/") ? folder : programs).appendingPathComponent(name)
            try files.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            let path = file.path
            let program = "#!/bin/sh\nprintf '%s\\0' \"$#\" \(name) \"$@\" >> \"$WORDS\"\n"
            try Data(program.utf8).write(to: URL(fileURLWithPath: path))
            try files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        }
        // Names that a pattern without quotes would find.
        for name in ["a", "x", "bin.txt"] { try Data().write(to: folder.appendingPathComponent(name)) }
        let (words, canary) = (folder.appendingPathComponent("words"), folder.appendingPathComponent("canary"))
        try Data().write(to: words)
        let shown = try await enter(
            text, in: folder,
            variables.merging(["PATH": programs.path, "WORDS": words.path, "CANARY": canary.path]) { $1 })
        return Outcome(
            calls: Self.calls(try Data(contentsOf: words)), ranOther: files.fileExists(atPath: canary.path),
            shown: shown)
    }

    /// Pastes a text into the shell in a folder, leaves the shell, and returns what the terminal showed.
    ///
    /// - Parameter variables: the whole environment, but for what keeps the shell apart from the user's own.
    public func enter(_ text: String, in folder: URL, _ variables: [String: String]) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            // On a thread of its own: tests share few, and a shell takes long.
            Thread.detachNewThread {
                continuation.resume(with: Result { try session(text, in: folder, variables) })
            }
        }
    }

    private func session(_ text: String, in folder: URL, _ variables: [String: String]) throws -> String {
        let (input, output) = (folder.appendingPathComponent("input"), folder.appendingPathComponent("output"))
        try Data().write(to: output)
        try Data((text + "\nexit\n").utf8).write(to: input)
        let process = Process()
        let shell = [Self.find(name) ?? name] + arguments
        #if os(macOS)
            let terminal = ["-q", "/dev/null"] + shell
        #else
            let terminal = ["-qec", shell.joined(separator: " "), "/dev/null"]
        #endif
        // A text that opens a quote and does not close it takes the end of the session as its own.
        let limit = Self.find("timeout").map { [$0, "--foreground", "--signal=KILL", "900"] } ?? []
        let command = limit + [Self.find("script") ?? "script"] + terminal
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        process.currentDirectoryURL = folder
        process.environment = variables.merging([
            "HOME": folder.path, "TERM": "dumb", "LC_ALL": "C.UTF-8", "SHELL": "/bin/sh", "HISTFILE": "/dev/null",
        ]) { $1 }
        // Files and no pipes: another process that is started now would inherit a pipe and hold it open.
        process.standardInput = try FileHandle(forReadingFrom: input)
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = FileHandle.nullDevice
        try process.startSerially()
        process.waitUntilExit()
        let shown = String(decoding: try Data(contentsOf: output), as: UTF8.self)
        let isKilled = [SIGKILL, 128 + SIGKILL].contains(process.terminationStatus)
        return isKilled ? shown + "\nThe shell was killed; it may take 15 minutes.\n" : shown
    }

    /// Reads the records of the programs: the number of arguments, the name, the arguments, each with a NUL after it.
    private static func calls(_ data: Data) -> [[String]] {
        var words = data.split(separator: 0, omittingEmptySubsequences: false).dropLast()
            .map { String(decoding: $0, as: UTF8.self) }[...]
        var calls: [[String]] = []
        while let count = words.popFirst().flatMap({ Int($0) }) {
            calls.append(Array(words.prefix(count + 1)))
            words = words.dropFirst(count + 1)
        }
        return calls
    }

    private static func find(_ program: String) -> String? {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { "\($0)/\(program)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}

/// Texts that clients, bundles and seed data may hold, to break out of whatever they are pasted into.
public enum HostileTexts {
    public static let all: [String] = [
        "POST", "/sdk/login", "", " ", "a b", " a", "a ", "a\tb", "-x", "-", "--", "--config=a", "--output",
        "@/etc/hostname", "=curl",
        "==", "a=b", "~", "~root", "a~b", "*", "?", "[a-z]*", "{a,x}", "$TOKEN", "${TOKEN}", "$(: > \"$CANARY\")",
        "`: > \"$CANARY\"`", "; : > \"$CANARY\" ;", "& : > $CANARY &", "| : > $CANARY", "> $CANARY", "<(: > $CANARY)",
        "=(: > $CANARY)",
        "'; : > \"$CANARY\"; '", "'\u{301}; : > \"$CANARY\"; '\u{301}", "\"; : > \"$CANARY\"; \"",
        "\\'; : > \"$CANARY\"; '", "'",
        "''", "it's", "\\", "a\\", "\\\\'", "$'a'", "\"", "a\nb", "\n", "a\n", "\n: > $CANARY\n", "'\n: > $CANARY\n'",
        "!!", "!echo", "a!b'!c\"!d", "a\n!echo\nb", "a\n^b^: > $CANARY^\nc", "^a^b", "#a", "a #b", "%1", "%s", "\\n",
        "\\0101",
        "a\rb", "\r: > $CANARY\r", "\u{1}", "\u{3}\n: > $CANARY\n", "\u{4}", "\u{8}\u{8}\u{8}", "\u{9}\u{9}", "\u{12}a",
        "\u{15}: > $CANARY\n",
        "\u{17}", "\u{1a}", "\u{1b}[201~\n: > $CANARY\n", "\u{1b}]0;x\u{7}", "\u{7f}\u{7f}", "\u{85}", "\u{9b}31m",
        "a\u{a0}b",
        "\u{202e}abc\u{2066}", "\u{2028}a\u{2029}", "\u{feff}", "a\u{feff}b", "\u{200b}", "\u{fffe}", "\u{10ffff}",
        "e\u{301}", "\u{301}", "\u{1f469}\u{200d}\u{1f52c}", "日本語", "***", "a***b", "{match.route}",
        "[--route {match.route}]",
        "</pre><script>alert(1)</script>", "&amp;&#39;", "no", "null", "true", "1e3", "0x1F", "012", "1_000",
        "12:30:45",
        "2026-01-01", "2026-01-01T00:00:00Z", "<<", "=", "- a", "a: b", "a:", "key: [", "? a", "&a", "*a", "!!str a",
        "|", ">", "%a", "`a`",
        "---", "...", "a, b", ".inf", ".nan",
    ]

    /// Those that an argument of a program can hold.
    public static let withoutNUL = all.filter { !$0.utf8.contains(0) }
}
