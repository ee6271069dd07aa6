import Foundation
import SimulationAPI
import Testing

/// Every command, as the client of servers that answer with extreme numbers, texts and lists.
@Suite struct ExtremeServerTests {
    /// The lines of commands that ask a server, and `FILE` for a file that there is. Each `OUT` is a file of its own.
    private static let lines = """
        doctor
        reset
        settle --within 1ms
        wait session.completed --within 1ms
        clock show
        clock freeze
        clock advance 1h
        clock resume
        namespace list
        namespace make a
        namespace drop a
        snapshot save a
        snapshot restore a
        snapshot fork a b
        snapshot list
        snapshot delete a
        snapshot export a --output OUT
        snapshot import a FILE
        diff now namespace:a
        diff a b
        scenario list
        scenario show a
        scenario start a
        scenario verify a
        scenario verify a --junit OUT
        seed load FILE
        seed export
        users list
        users show a
        users set a --email a@example.com
        users login a
        sessions list
        sessions revoke --all
        items generate --count 10
        items list
        items show a
        items set a --result authentic
        items resolve-flag a --note a
        items retake a
        items message a b
        items rules a
        capture run --sku a
        capture component document
        settings show
        settings set a 1
        choices
        fault add --route /sdk/search --status 500
        fault list
        fault clear
        held list
        held release a
        held release --all
        outcome add authentic
        outcome list
        outcome clear
        requests list
        requests list --har
        users list --json
        doctor --json
        requests tail --count 1
        requests verify --route /sdk/search
        requests show a
        requests resend a
        requests rules a
        requests clear
        api GET /_sim/info
        events
        events --limit 100
        explain a
        audit
        audit --junit OUT --summary OUT
        coverage show
        coverage show --all --html OUT --junit OUT --summary OUT --save OUT
        webhooks list
        webhooks add http://127.0.0.1:1/ --secret a
        webhooks remove a
        webhooks listen
        deliveries list
        deliveries show a
        deliveries redeliver a
        deliveries trigger session.completed a
        bundle --output OUT
        """.split(separator: "\n").map { String($0) }

    /// The commands that ask no server of others, and how the others are tried.
    private static let withoutServer: Set = [
        "serve", "run", "sweep", "scenario from", "coverage merge", "webhooks probe", "webhooks verify", "report",
        "replay",
        "trust", "untrust", "mcp", "llms", "fidelity", "help",
    ]

    /// The names of all commands that have no commands of their own.
    private func commands() async throws -> Set<String> {
        let dump = try await SimProcess.run(["--experimental-dump-help"]).output
        func leaves(_ command: JSONValue, _ path: [String]) -> [String] {
            let inner = command["subcommands"].elements ?? []
            guard !inner.isEmpty else { return [path.joined(separator: " ")] }
            return inner.flatMap { leaves($0, path + [$0["commandName"].text ?? ""]) }
        }
        return Set(leaves(try WireJSON.decode(JSONValue.self, from: Data(dump.utf8))["command"], []))
    }

    @Test func everyCommandIsTried() async throws {
        let untried = try await commands().subtracting(Self.withoutServer).filter { name in
            // `show` is the command of `coverage` that is taken where none is named.
            !Self.lines.contains { $0 == name || $0.hasPrefix(name + " ") }
        }
        #expect(untried.isEmpty)
    }

    /// A signal is the status of a trap, and a line of the runtime comes with it.
    private func isTrap(_ status: Int32, _ output: String) -> Bool {
        (status > 128 && status != 128 + SIGPIPE)
            || [SIGTRAP, SIGILL, SIGSEGV, SIGABRT, SIGBUS, SIGKILL].contains(status)
            || output.contains("Fatal error") || output.contains("Program crashed")
    }

    /// Whether each command is tried with all values, as each night. Else it is with a sixth of them: the next one with the next sixth.
    private static let triesAll = ProcessInfo.processInfo.environment["ENTRUPY_SIM_ALL_VALUES"] != nil

    @Test(arguments: Array(ExtremeServer.Values.allCases.enumerated()))
    func noCommandTraps(place: Int, values: ExtremeServer.Values) async throws {
        let server = try await ExtremeServer(values)
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let file = directory + "/file"
            try Data("users: []\n".utf8).write(to: URL(fileURLWithPath: file))
            for (number, line) in Self.lines.enumerated() where Self.triesAll || (number + place) % 6 == 0 {
                let words = line.split(separator: " ").enumerated().map { index, word in
                    word == "FILE" ? file : word == "OUT" ? "\(directory)/out-\(number)-\(index)" : String(word)
                }
                let (status, output) = try await SimProcess.run(words + ["--url", server.url])
                let end = "\(values): \(line): \(status)\n\(output.suffix(1500))"
                #expect(!isTrap(status, output), "\(end)")
                // A command that fails says why.
                let says = ["error", "wrong", "FAILED", "failed", "missing"].contains { output.contains($0) }
                #expect(status == 0 || says, "\(end)")
            }
        }
        server.stop()
    }

    /// Each tool of coding agents, over one server of the protocol.
    @Test(arguments: [ExtremeServer.Values.counts, .smallest, .mixed, .negative, .empty, .bare, .refused])
    func noToolTraps(values: ExtremeServer.Values) async throws {
        let server = try await ExtremeServer(values)
        let calls = [
            ("start_case", "{}"), ("what_happened", #"{"namespace":"a"}"#), ("why", #"{"namespace":"a","id":"a"}"#),
            ("check", #"{"namespace":"a"}"#), ("diff", #"{"namespace":"a","from":"now"}"#),
            ("set_result", #"{"namespace":"a","result":"authentic"}"#),
            ("break_next", #"{"namespace":"a","route":"/sdk/search","status":500}"#),
            ("move_clock", #"{"namespace":"a","by":"1h"}"#), ("drop", #"{"namespace":"a"}"#),
        ]
        let lines = calls.enumerated().map { number, call in
            #"{"jsonrpc":"2.0","id":\#(number),"method":"tools/call","params":{"name":"\#(call.0)","arguments":\#(call.1)}}"#
        }
        let agent = try RunningProgram(["mcp", "--url", server.url])
        let finished = await agent.finish(Data((lines.joined(separator: "\n") + "\n").utf8))
        #expect(finished.status == 0, "\(values): \(finished.errors.suffix(1500))")
        #expect(finished.text.split(separator: "\n").count == calls.count, "\(values): \(finished.text.prefix(3000))")
        server.stop()
    }
}
