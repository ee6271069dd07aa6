import Foundation
import SimulationAPI
import TestSupport
import Testing

/// The real times of requests, over HTTP, in bundles and in recordings. `RequestVerificationTests` has the rules of sequences.
@Suite struct RequestSequenceTests {
    private func verify(_ world: TestWorld, _ body: JSONValue) async throws -> Answer {
        try await world.send("POST", "/_sim/requests/verify", body)
    }

    /// Seconds of the real times of a request.
    private func times(_ request: JSONValue) throws -> (started: Double, ended: Double) {
        (try #require(request["started_real"].double), try #require(request["ended_real"].double))
    }

    @Test func aRequestHasItsRealTimes() async throws {
        let world = try await TestWorld.make()
        let before = Date().timeIntervalSince1970
        let token = try await world.login()
        _ = try await world.send(
            "POST", "/_sim/faults", ["match": ["route": "/sdk/session"], "effect": ["delay": "200ms"], "times": 1])
        _ = try await world.send("GET", "/sdk/session", token: token)
        let after = Date().timeIntervalSince1970
        let listed = try await world.send("GET", "/_sim/requests")["requests"].items
        let (last, login) = (try times(listed[0]), try times(listed[1]))
        #expect(before - 1 <= login.started && login.started <= login.ended && login.ended <= last.started)
        #expect(last.ended - last.started >= 0.2, "a fault's delay counts")
        #expect(last.ended <= after + 1)
        let archive = try await world.send("GET", "/_sim/requests?format=har")["log.entries"].items
        #expect(archive.last?["_started_real"] == listed[0]["started_real"])
        #expect(archive.last?["_ended_real"] == listed[0]["ended_real"])
    }

    /// A client that asks again at once after the last byte has not waited.
    @Test func aSlowAnswerEndsWithItsLastByte() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        _ = try await world.send(
            "POST", "/_sim/faults", ["match": ["route": "/sdk/session"], "effect": ["slow_body": 100], "times": 1])
        let slow = try await world.send("GET", "/sdk/session", token: token)
        _ = try await world.send("GET", "/sdk/session", token: token)
        let listed = try await world.send("GET", "/_sim/requests?limit=2")["requests"].items
        let (retry, first) = (try times(listed[0]), try times(listed[1]))
        // All bytes but those of the last write, at a hundred bytes a second.
        #expect(first.ended - first.started >= Double(slow.body.count - 11) / 100)
        // The wait that is judged begins there, however long this machine took to ask again.
        let wait = retry.started - first.ended
        for (gap, status) in [(wait / 2, 200), (wait + 0.1, 409)] {
            let answer = try await verify(
                world,
                [
                    "sequence": [["route": "/sdk/session"], ["route": "/sdk/session"]],
                    "min_gap": .string(String(format: "%.6fs", gap)),
                ])
            #expect(answer.status == status, "\(wait): \(answer.json)")
        }
    }

    /// As in a bundle of version 0.2.0, whose journal has no real times.
    @Test func aBundleWithoutRealTimesIsNotJudged() async throws {
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let world = try await TestWorld.make()
            _ = try await world.login()
            let body: JSONValue = [
                "sequence": [["route": "/v2/integrations/authorize-user"], ["route": "/sdk/login"]], "max_gap": "1h",
            ]
            let good = try await world.send("GET", "/_sim/bundle").body
            var older = try TarFile(good)
            let index = try #require(older.entries.firstIndex { $0.name == "journal.json" })
            let journal = String(decoding: older.entries[index].bytes, as: UTF8.self)
            older.entries[index].bytes = Data(journal.replacing(#/"(started|ended)_real":[0-9.]+,/#, with: "").utf8)
            let file = "\(directory)/older.tar"
            try older.bytes.write(to: URL(fileURLWithPath: file))
            let server = try await SimProcess(["--bundle", file])
            defer { server.stop() }
            let opened = TestWorld(base: server.baseURL)
            let answer = try await verify(opened, body)
            let error = answer["error"].text ?? ""
            #expect(answer.status == 409 && error.contains("not judged for 2 requests without real times"), "\(error)")
            #expect(try await opened.send("GET", "/_sim/requests")["requests.0.started_real"] == .null)
        }
    }

    /// A replay does not wait for the delay of a fault, and the gaps are those of the recording.
    @Test func aReplayHasTheRealTimesOfItsRecording() async throws {
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let file = directory + "/run.recording"
            let server = try await SimProcess(["--in-memory", "--record", file])
            let root = TestWorld(base: server.baseURL)
            // A clock that runs has the recorded times in any case.
            _ = try await root.send("POST", "/_sim/clock/freeze", [:])
            _ = try await root.send(
                "POST", "/_sim/faults", ["match": ["route": "/v1/health"], "effect": ["delay": "4s"], "times": 1])
            for _ in 0..<2 { _ = try await root.send("GET", "/v1/health") }
            let listed = try await root.send("GET", "/_sim/requests?limit=2")["requests"].items
            let wait = try times(listed[0]).started - times(listed[1]).ended
            // Without the delay, which a replay leaves out, it would be four seconds more.
            let most = String(format: "%.6fs", wait + 3.5)
            let steps: JSONValue = [["route": "/v1/health"], ["route": "/v1/health"]]
            for (bound, gap, status) in [("max_gap", most, 200), ("min_gap", "1h", 409)] {
                let body = JSONObject([("sequence", steps), (bound, .string(gap))])
                #expect(try await verify(root, .object(body)).status == status)
            }
            server.kill()
            let run = try await SimProcess.run(["replay", file, "--json"])
            #expect(run.status == 0, "\(run.output)")
            // An older recording has no real times, and replays without them.
            let text = try String(contentsOfFile: file, encoding: .utf8)
            #expect(text.matches(of: #/"real":\[[0-9]+,[0-9]+\]/#).count == 2, "\(text)")
        }
    }
}
