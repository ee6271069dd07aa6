import Foundation
import Server
import SimulationAPI
import TestSupport
import Testing

/// Recordings of killed servers, and replays that are interrupted.
@Suite struct CutRecordingTests {
    /// The lines of a recording, and the number of requests that a replay of them must make.
    private struct Lines {
        let lines: [String]

        init(file: String) throws {
            lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map(String.init)
        }

        func write(_ count: Int, and rest: String = "", to file: String) throws {
            let text = lines.prefix(count).map { $0 + "\n" }.joined() + rest
            try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        }

        /// The number of requests in the first lines, the number of them before the first missing position, and whether one is
        /// missing.
        func expected(_ count: Int) throws -> (recorded: Int, made: Int, isCut: Bool) {
            let entries = try lines.prefix(count).dropFirst().map {
                try WireJSON.decode(JSONValue.self, from: Data($0.utf8))
            }
            let places = Set(entries.flatMap { Self.places($0) })
            let end = (0...places.count).first { !places.contains($0) } ?? 0
            let requests = entries.filter { $0["request"] != .null }
            let made = requests.count { Self.places($0).allSatisfy { $0 < end } }
            return (requests.count, made, end < places.count)
        }

        private static func places(_ entry: JSONValue) -> [Int] {
            entry["jobs"].items.map { Int($0["0"].double ?? -1) }
        }
    }

    /// Records the requests of eight concurrent clients, and kills the server while they work.
    private func record(_ directory: String, lines wanted: Int) async throws -> String {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let file = directory + "/run.recording"
        let server = try await SimProcess(["--in-memory", "--record", file, "--rate-limits", "off"])
        let root = TestWorld(base: server.baseURL)
        await withTaskGroup(of: Void.self) { group in
            for client in 0..<8 {
                group.addTask {
                    // The last requests fail, because the server is dead.
                    while !Task.isCancelled { try? await work(root, client) }
                }
            }
            while ((try? Lines(file: file).lines.count) ?? 0) < wanted { await Task.yield() }
            server.kill()
            group.cancelAll()
        }
        return file
    }

    private func work(_ root: TestWorld, _ client: Int) async throws {
        let name = ["default", "a", "b"][client % 3]
        let world = TestWorld(base: name == "default" ? root.base : "\(root.base)/ns/\(name)")
        if name != "default" { _ = try await root.send("PUT", "/_sim/namespaces/\(name)") }
        let session = try await world.login("user-number-\(client)")
        _ = try await world.startCapture(session)
        // This request has many jobs, and jobs of other requests run between them. One client is enough: a replay of each
        // prefix makes all its items again.
        if client == 0 { _ = try await world.send("POST", "/_sim/authentications", ["count": 1200]) }
        _ = try await world.send("POST", "/_sim/clock/advance", ["by": "1s"])
        _ = try await root.send("PUT", "/_sim/namespaces/short-lived")
        _ = try await root.send("GET", "/ns/short-lived/v1/health", token: TestWorld.apiToken)
        _ = try await root.send("DELETE", "/_sim/namespaces/short-lived")
        _ = try await world.send("POST", "/sdk/search", [:], token: session)
    }

    @Test func aRecordingThatIsCutAnywhereIsMadeAgainAsFarAsItIsWhole() async throws {
        try await Process.withDirectory { directory in
            let recorded = try Lines(file: try await record(directory, lines: 50))
            // `make test-fuzz` cuts after every line.
            let step = ProcessInfo.processInfo.environment["FUZZ_ROUNDS"] == nil ? 5 : 1
            let file = directory + "/cut.recording"
            var cuts = 0
            for count in stride(from: 1, through: min(recorded.lines.count, 60), by: step) + [10, 20, 30, 40] {
                let (requests, made, isCut) = try recorded.expected(count)
                try recorded.write(count, to: file)
                let report = try await ReplayServer.run(ReplayPlan(path: file, version: "0"))
                #expect(report.difference == nil && report.recorded == requests, "\(count) lines: \(report)")
                // A request may have all its jobs and still wait for a missing one of another request.
                #expect(report.requests <= made && report.requests + 8 > made, "\(count) lines: \(report), not \(made)")
                #expect((report.incomplete != nil) == (isCut || requests == 0), "\(count) lines: \(report)")
                cuts += isCut ? 1 : 0
                guard count % 10 == 0, count < recorded.lines.count else { continue }
                let next = recorded.lines[count]
                try recorded.write(count, and: String(next.prefix(next.count / 2)), to: file)
                let half = try await ReplayServer.run(ReplayPlan(path: file, version: "0"))
                #expect(
                    half.incomplete == "the recording is truncated: entries are missing" && half.recorded == requests,
                    "\(half)")
            }
            #expect(cuts > 0, "eight clients at once leave gaps")
            // The command's exit code and output.
            let last = try #require(try (1...recorded.lines.count).last { try recorded.expected($0).isCut })
            try recorded.write(last, to: file)
            let run = try await SimProcess.run(["replay", file])
            let requests = try recorded.expected(last).recorded
            #expect(run.status == 2 && !run.output.contains("no difference"), "\(run.output)")
            #expect(
                run.output.contains("the recording is truncated: entries are missing; ")
                    && run.output.contains(" of \(requests) requests"))
        }
    }

    @Test(arguments: [SIGTERM, SIGINT]) func anInterruptedReplayReportsItsProgress(signal: Int32) async throws {
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let file = directory + "/run.recording"
            let server = try await SimProcess(["--in-memory", "--record", file])
            _ = try await TestWorld(base: server.baseURL).send("GET", "/_sim/health")
            server.kill()
            let lines = try Lines(file: file).lines
            try #require(lines.count > 1)
            let count = 12_000
            let many = (0..<count).map { lines[1].replacing("\"jobs\":[[0,", with: "\"jobs\":[[\($0),") + "\n" }
            try Data((lines[0] + "\n" + many.joined()).utf8).write(to: URL(fileURLWithPath: file))
            let process = Process()
            process.executableURL = URL(fileURLWithPath: SimProcess.path)
            process.arguments = ["replay", file]
            let output = Pipe()
            process.standardOutput = output
            process.standardError = output
            try process.startSerially()
            var text = ""
            while !text.contains(" requests\n") {
                let part = output.fileHandleForReading.availableData
                try #require(!part.isEmpty, "\(text)")
                text += String(decoding: part, as: UTF8.self)
            }
            kill(process.processIdentifier, signal)
            text += String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            #expect(process.terminationReason == .exit && process.terminationStatus == 2, "\(text)")
            let said = try #require(
                text.firstMatch(of: /the replay was interrupted; ([0-9]+) of 12000 requests/), "\(text)")
            #expect(Int(said.1)! < count)
        }
    }

    @Test func aStartThatIsRefusedLeavesNoRecording() async throws {
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let file = directory + "/run.recording"
            let server = try await SimProcess(["--data-dir", directory + "/data"])
            defer { server.stop() }
            let port = try #require(server.baseURL.split(separator: ":").last)
            for (arguments, status) in [
                (["--port", String(port), "--in-memory"], 1 as Int32),
                (["--port", "0", "--data-dir", directory + "/data"], 1),
                (["--port", "0", "--in-memory", "--seed", directory + "/none.yaml"], 64),
                (["--port", "0", "--in-memory", "--host", "no.such.host.invalid"], 64),
            ] {
                let run = try await SimProcess.run(["serve", "--record", file] + arguments)
                #expect(run.status == status, "\(arguments): \(run.output)")
                #expect(!FileManager.default.fileExists(atPath: file), "\(arguments)")
            }
            let unwritable = try await SimProcess.run(
                ["serve", "--in-memory", "--port", "0", "--record", directory + "/none/run.recording"])
            #expect(unwritable.status == 64 && unwritable.output.contains("cannot be written"), "\(unwritable.output)")
        }
    }

    @Test func requestsThatAURLCannotExpressAreReplayed() async throws {
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let file = directory + "/run.recording"
            let server = try await SimProcess(["--in-memory", "--record", file])
            _ = try await TestWorld(base: server.baseURL).send("PUT", "/_sim/namespaces/x")
            for (target, host) in [
                ("/sdk/results/a|b#c?d#e", "127.0.0.1"), ("/v1/health", "x.localhost"), ("//_sim/clock", "127.0.0.1"),
                ("http://127.0.0.1/v1/health", "127.0.0.1"), ("http://x.localhost/v1/health", "127.0.0.1"),
            ] {
                let answer = try await RawConnection.open(server).exchange(
                    "GET \(target) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
                #expect(answer.hasPrefix("HTTP/1.1 4") || answer.hasPrefix("HTTP/1.1 2"))
            }
            server.kill()
            let report = try await ReplayServer.run(ReplayPlan(path: file, version: "0"))
            #expect(report.difference == nil && report.incomplete == nil && report.requests == 6, "\(report)")
        }
    }
}
