import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Tests of `replay --serve` and `replay --bundle`: what a killed server leaves is opened.
@Suite struct ReplayedStateTests {
    /// Runs `body` with a directory and the recording of a server that was killed after `make`.
    private func withRecording(
        _ make: (TestWorld) async throws -> Void, _ body: (_ directory: String, _ file: String) async throws -> Void
    ) async throws {
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let file = directory + "/run.recording"
            let server = try await SimProcess(["--in-memory", "--record", file])
            try await make(TestWorld(base: server.baseURL))
            server.kill()
            try await body(directory, file)
        }
    }

    private func append(_ text: String, to file: String) throws {
        let handle = try #require(FileHandle(forWritingAtPath: file))
        defer { try? handle.close() }
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(text.utf8))
    }

    /// Namespace, method and path of each request, and its sequence.
    private func journal(_ world: TestWorld) async throws -> [String] {
        try await world.send("GET", "/_sim/requests?limit=1000")["requests"].items.map {
            "\($0["id"].text ?? "") \($0["sequence"].double ?? 0) \($0["method"].text ?? "") \($0["path"].text ?? "")"
        }
    }

    @Test func aKilledServerIsOpenedAsItWas() async throws {
        let (before, now) = (Locked<[[String]]>([]), Locked<[JSONValue]>([]))
        try await withRecording { root in
            _ = try await root.send("PUT", "/_sim/namespaces/a", ["ttl": "2m"])
            let world = TestWorld(base: "\(root.base)/ns/a")
            for world in [root, world] { _ = try await world.submit(try await world.login()) }
            _ = try await world.send("PUT", "/_sim/snapshots/s")
            _ = try await world.send(
                "POST", "/_sim/faults", ["match": ["route": "/sdk/search"], "effect": ["status": 503]])
            _ = try await root.send("POST", "/_sim/clock/advance", ["by": "3h"])
            for world in [root, world] {
                before.value.append(try await journal(world))
                now.value.append(try await world.send("GET", "/_sim/clock")["now"])
            }
        } _: { _, file in
            // A process that is killed while it writes leaves half a line.
            try append("{\"jobs\":[[99", to: file)
            let server = try await SimProcess([], replaying: file)
            let root = TestWorld(base: server.baseURL)
            let world = TestWorld(base: "\(root.base)/ns/a")
            #expect(server.greeting.contains("the recording is truncated: entries are missing"), "\(server.greeting)")
            for (index, world) in [root, world].enumerated() {
                #expect(try await journal(world) == before.value[index])
                let clock = try await world.send("GET", "/_sim/clock")
                // The clock stands at the last recorded moment, which is later for the namespace that was asked first.
                let isLater = clock["now"].text ?? "" >= now.value[index].text ?? "none"
                #expect(clock["mode"] == "frozen" && isLater, "\(clock)")
                if index == 1 { #expect(clock["now"] == now.value[index]) }
            }
            let names = try await root.send("GET", "/_sim/namespaces")["namespaces"].items.map { $0["name"] }
            #expect(names == ["a", "default"])
            #expect(try await world.send("GET", "/_sim/snapshots")["snapshots.0.name"] == "s")
            #expect(try await world.send("GET", "/_sim/console").status == 200)
            // Faults count, clocks advance, and snapshots are restored, as on any server.
            let session = try await world.login("another-user")
            #expect(try await world.send("POST", "/sdk/search", [:], token: session).status == 503)
            #expect(try await root.send("POST", "/_sim/clock/advance", ["by": "1h"])["reached"] == true)
            #expect(try await world.send("POST", "/_sim/snapshots/s/restore").status == 200)
            #expect(try await world.send("GET", "/sdk/session", token: session).status == 401)
            #expect(try await root.send("DELETE", "/_sim/namespaces/a").status == 204)
            #expect(server.stop() == 2, "the recording is cut")
        }
    }

    @Test func aWholeRecordingIsServedAndExits0() async throws {
        let receiver = try await WebhookReceiver.open()
        receiver.behave(.hang)
        try await withRecording { root in
            _ = try await root.send("PATCH", "/_sim/settings", ["result": ["delay": "0s"]])
            _ = try await root.send(
                "POST", "/v2/webhooks", ["url": .string(receiver.url), "secret_key": "s"], token: TestWorld.apiToken)
            _ = try await root.submit(try await root.login())
            while receiver.deliveries.isEmpty { await Task.yield() }
        } _: { _, file in
            let heard = receiver.deliveries.count
            // Every option of the server is also a variable.
            let server = try await SimProcess(
                ["--ready-json", "--control-token", "ctl-mine"], replaying: file,
                environment: ["ENTRUPY_SIM_LOG_FORMAT": "json", "ENTRUPY_SIM_RECORD": file])
            let root = TestWorld(base: server.baseURL)
            #expect(try await root.send("GET", "/_sim/clock").status == 401)
            let control = ["X-Sim-Control-Token": "ctl-mine"]
            // The attempt that was in flight is given up, not made again.
            let settled = try await root.send("POST", "/_sim/settle", ["within": "10s"], headers: control)
            #expect(settled["settled"] == true, "\(settled)")
            #expect(receiver.deliveries.count == heard)
            // Absolute URLs lead to this server, not to the killed one.
            let item = try await root.send("GET", "/_sim/namespaces", headers: control)["namespaces.0.url"].text ?? ""
            #expect(item.hasPrefix(server.baseURL), "\(item)")
            // The header of replays has no meaning any more.
            let answer = try await root.send(
                "GET", "/_sim/clock", headers: control.merging(["X-Sim-Replay": "0"]) { $1 })
            #expect(answer["mode"] == "frozen")
            #expect(server.stop() == 0)
        }
        try await receiver.hangUp()
    }

    @Test func aBundleIsANamespaceAtTheEndOrAtARequest() async throws {
        let journals = Locked<[String]>([])
        try await withRecording { root in
            _ = try await root.send("PUT", "/_sim/namespaces/a", ["random_seed": 7])
            _ = try await root.send("PUT", "/_sim/namespaces/b", ["random_seed": 7])
            for name in ["a", "b"] {
                let world = TestWorld(base: "\(root.base)/ns/\(name)")
                let session = try await world.login()
                for _ in 0..<3 { _ = try await world.submit(session) }
                journals.value = try await journal(world)
            }
        } _: { directory, file in
            let out = directory + "/out.tar"
            func opened(_ arguments: [String], status: Int32 = 0) async throws -> (journal: [String], items: Int) {
                let run = try await SimProcess.run(["replay", file, "--bundle", out, "-n", "a"] + arguments)
                #expect(run.status == status, "\(run.output)")
                #expect((try FileManager.default.attributesOfItem(atPath: out)[.posixPermissions] as? Int) == 0o600)
                let server = try await SimProcess(["--bundle", out])
                defer { server.stop() }
                let world = TestWorld(base: server.baseURL)
                let items = try await world.send("GET", "/_sim/authentications?limit=25")["authentications"].items
                return (try await journal(world), items.count)
            }
            let all = try await opened([])
            #expect(all.journal.count == journals.value.count && all.items == 3)
            // Newest first. Both namespaces have the same ids, and the same sequences.
            let submit = try #require(all.journal.last { $0.hasSuffix("/submit") }?.split(separator: " "))
            let (id, sequence) = (String(submit[0]), Int(Double(submit[1]) ?? 0))
            for until in [id, "sequence:\(sequence)"] {
                let part = try await opened(["--until", until])
                #expect(part.items == 1, "\(until)")
                #expect(part.journal == Array(all.journal.suffix(sequence)), "\(until)")
            }
            let run = try await SimProcess.run(["replay", file, "--bundle", out, "-n", "b", "--until", id, "--json"])
            let told = try WireJSON.decode(JSONValue.self, from: Data(run.output.utf8))
            #expect(told["file"] == .string(out) && told["bytes"].double ?? 0 > 10_000, "\(run.output)")
            #expect(told["replay.incomplete"] == .null && told["replay.difference"] == .null)
            #expect((told["replay.requests"].double ?? 0) < (told["replay.recorded"].double ?? 0), "\(run.output)")
            // The state of a request can be looked at, too.
            let server = try await SimProcess(["-n", "a", "--until", "sequence:\(sequence)"], replaying: file)
            #expect(try await journal(TestWorld(base: "\(server.baseURL)/ns/a")).count == sequence)
            #expect(server.stop() == 0)
            try await unknown(file, out, id)
        }
    }

    /// Requests and namespaces that a recording lacks, and requests behind its first gap.
    private func unknown(_ file: String, _ out: String, _ id: String) async throws {
        try FileManager.default.removeItem(atPath: out)
        for (arguments, status, words) in [
            (["--until", "req_none"], 1, "has no request req_none"), (["--until", id], 1, "--namespace a"),
            (["-n", "a", "--until", "sequence:999"], 1, "has no request sequence:999"),
            (["-n", "none"], 1, "no namespace \"none\""), (["--until", "sequence:0"], 64, "a number from 1"),
            (["--until", "sequence:x"], 64, "a number from 1"), (["--until", ""], 64, "request's id"),
        ] as [([String], Int32, String)] {
            let run = try await SimProcess.run(["replay", file, "--bundle", out] + arguments)
            #expect(run.status == status && run.output.contains(words), "\(arguments): \(run)")
            #expect(!FileManager.default.fileExists(atPath: out), "\(arguments)")
        }
        // Without one line in the middle, what follows cannot be replayed.
        var lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map(String.init)
        let first = try #require(lines.firstIndex { $0.contains("/ns/a/") })
        lines.remove(at: first)
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: file))
        let behind = try await SimProcess.run(["replay", file, "--bundle", out, "-n", "a", "--until", id])
        #expect(behind.status == 2 && behind.output.contains("after the first missing entry"), "\(behind)")
        let cut = try await SimProcess.run(["replay", file, "--bundle", out])
        #expect(cut.status == 2 && FileManager.default.fileExists(atPath: out), "\(cut)")
        #expect(cut.output.contains("the recording is truncated: entries are missing"), "\(cut)")
    }

    @Test func anIDOfSeveralRequestsIsAnErrorThatListsThem() async throws {
        try await withRecording { root in
            for _ in 0..<2 { _ = try await root.send("GET", "/v1/health", headers: ["X-Request-Id": "mine"]) }
            // Requests to the control API have no sequence.
            _ = try await root.send("GET", "/_sim/clock", headers: ["X-Request-Id": "mine"])
            for _ in 0..<2 { _ = try await root.send("GET", "/_sim/clock", headers: ["X-Request-Id": "control"]) }
        } _: { directory, file in
            let out = directory + "/out.tar"
            let run = try await SimProcess.run(["replay", file, "--bundle", out, "--until", "mine"])
            #expect(run.status == 1 && run.output.contains("2 requests have the id mine"), "\(run)")
            #expect(
                run.output.contains("sequence:1 (GET /v1/health, ") && run.output.contains("sequence:2 ("), "\(run)")
            let control = try await SimProcess.run(["replay", file, "--bundle", out, "--until", "control"])
            #expect(control.status == 0, "\(control)")
        }
    }

    @Test func aDifferenceLeavesNoBundleAndNoServer() async throws {
        try await withRecording { root in
            let headers = ["Api-Version": "1.4"]
            let answer = try await root.send("GET", "/v1/health", token: TestWorld.apiToken, headers: headers)
            #expect(answer.status == 200)
        } _: { directory, file in
            let text = try String(contentsOfFile: file, encoding: .utf8)
            try Data(text.replacing("\"status\":200", with: "\"status\":201").utf8).write(
                to: URL(fileURLWithPath: file))
            let out = directory + "/out.tar"
            for arguments in [["--bundle", out], ["--serve", "--port", "0"]] {
                let run = try await SimProcess.run(["replay", file] + arguments)
                #expect(run.status == 1 && run.output.contains("of the recording differs"), "\(run)")
            }
            let left = try FileManager.default.contentsOfDirectory(atPath: directory)
            #expect(left == ["run.recording"])
        }
    }

    @Test func wrongFilesAndOptionsAreUsageErrors() async throws {
        try await withRecording { root in
            _ = try await root.send("GET", "/v1/health")
        } _: { directory, file in
            let out = directory + "/out.tar"
            for (arguments, words) in [
                (["replay", file, "--serve", "--bundle", out], "--serve and --bundle exclude each other"),
                (["replay", file, "--bundle", file], "would replace the recording"),
                (["replay", file, "--bundle", directory + "/none/x"], "cannot be written"),
                (["replay", "/nowhere", "--serve", "--port", "0"], "/nowhere"),
                (["report", file], "is a recording, not a bundle"),
                (["serve", "--port", "0", "--bundle", file], "is a recording, not a bundle"),
            ] {
                let run = try await SimProcess.run(arguments)
                // With --json the envelope comes first.
                let isError = ("\n" + run.output).contains("\nerror: ")
                #expect(run.status == 64 && isError && run.output.contains(words), "\(run)")
                guard words.contains("a recording") else { continue }
                #expect(run.output.contains("entrupy-sim replay \(file) --serve"), "\(run)")
                #expect(run.output.contains("entrupy-sim replay \(file) --bundle OUT"), "\(run)")
            }
            try Data("not a recording".utf8).write(to: URL(fileURLWithPath: out))
            let wrong = try await SimProcess.run(["replay", out, "--bundle", directory + "/other"])
            #expect(wrong.status == 64 && wrong.output.contains("is not a recording"), "\(wrong)")
        }
    }
}

/// A value that a closure sets.
private final class Locked<Value>: @unchecked Sendable {
    // Set by one task, and read after it.
    var value: Value

    init(_ value: Value) { self.value = value }
}
