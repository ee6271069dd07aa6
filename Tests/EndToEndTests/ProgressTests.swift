import Foundation
import SimulationAPI
import TestSupport
import Testing

@testable import entrupy_sim

/// The line about an operation that takes over a second.
@Suite struct ProgressTests {
    @Test(
        arguments: [
            (0, nil, .things, 1.7, "saving: 1s"), (0, 100, .things, 75, "saving: 1m15s"),
            (25, 100, .things, 5, "saving: 25 of 100 (25%), 5 a second, 15s left"),
            (1_000_000, 10_000_000, .bytes, 2, "saving: 1 MB of 10 MB (10%), 500 kB/s, 18s left"),
            (2_000_000, nil, .bytes, 2, "saving: 2 MB, 1 MB/s, 2s"),
            (1_000_000, 1_000_000, .bytes, 61, "saving: 1 MB of 1 MB, finishing, 1m1s"),
            (1, .max, .things, 1, "saving: 1 of 1000000000000000 (0%), 1 a second, 36525d left"),
        ] as [(Int, Int?, ProgressLine.Unit, Double, String)])
    func theLineHasRateAndTimeLeft(done: Int, total: Int?, unit: ProgressLine.Unit, seconds: Double, line: String) {
        #expect(ProgressLine.line("saving", done, of: total, in: unit, seconds: seconds) == line)
    }

    /// A server whose download of 10 MB stops after the first part.
    private func server() async throws -> HostileServer {
        let part = String(repeating: "x", count: 100_000)
        return try await HostileServer(.stall(HostileServer.head + "Content-Length: 10000000\r\n\r\n" + part))
    }

    private func words(_ server: HostileServer) -> [String] {
        ["bundle", "--url", server.url, "-o", "/tmp/sim-\(UUID()).tar", "--timeout", "3s"]
    }

    @Test func aTerminalShowsItAndNothingIsLeft() async throws {
        let server = try await server()
        let run = try await PseudoTerminal.run(words(server), environment: ["CI": ""])
        #expect(run.status == 69)
        let shown = run.output.split(separator: "\r", omittingEmptySubsequences: false)
        let lines = shown.filter { $0.hasPrefix("exporting: ") }
        #expect(!lines.isEmpty, "\(run.output)")
        #expect(lines.someAndAll { $0.contains("100 kB of 10 MB (1%), ") && $0.contains(" left") }, "\(run.output)")
        // The last one is overwritten with blanks, and the error begins at the start of the line.
        let end = try #require(shown.dropLast().last)
        // A line that is shorter than the one before ends with blanks already.
        let last = lines.last?.trimmingCharacters(in: .whitespaces) ?? ""
        #expect(!end.isEmpty && end.someAndAll { $0 == " " } && end.count >= last.count)
        #expect(shown.last?.contains("error:") == true)
    }

    /// The server tells how much of the database is copied; the answer itself is short.
    @Test func aSaveShowsHowMuchIsCopied() async throws {
        let info = try await TestWorld.make().send("GET", "/_sim/info").json
        let saving = info.merging(["saving": ["bytes": 250_000_000, "total_bytes": 1_000_000_000]])
        let server = try await HostileServer(
            .stall(""), answersPings: true, info: String(decoding: try WireJSON.encode(saving), as: UTF8.self))
        let run = try await PseudoTerminal.run(
            ["snapshot", "save", "s", "--url", server.url, "--timeout", "3s"], environment: ["CI": ""])
        #expect(run.status == 69)
        let lines = run.output.split(separator: "\r").filter { $0.hasPrefix("saving: 250 MB of 1 GB (25%), ") }
        #expect(!lines.isEmpty && lines.someAndAll { $0.contains("/s, ") && $0.contains(" left") }, "\(run.output)")
    }

    @Test func pipesAndQuietTerminalsShowNone() async throws {
        let server = try await server()
        let cases: [([String], [String: String])] = [
            (["--quiet"], ["CI": ""]), (["--json"], ["CI": ""]), ([], ["CI": "true"]),
            ([], ["CI": "", "TERM": "dumb"]),
        ]
        for (flags, environment) in cases {
            let run = try await PseudoTerminal.run(words(server) + flags, environment: environment)
            #expect(run.status == 69 && !run.output.contains("exporting"), "\(flags) \(environment)")
        }
        #expect(!(try await SimProcess.run(words(server)).output.contains("exporting")))
    }

    @Test func aShortOperationShowsNone() {
        #expect(ProgressLine.patience == .seconds(1))
    }
}
