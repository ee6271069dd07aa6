import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Requests that must come in an order, and their real times, over HTTP.
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
        // Less would depend on the speed of this machine.
        #expect(retry.started - first.ended < 1)
        let patient = try await verify(
            world, ["sequence": [["route": "/sdk/session"], ["route": "/sdk/session"]], "min_gap": "1s"])
        #expect(patient.status == 409, "\(patient.json)")
    }

    @Test func aSequenceIsFoundWithOthersBetween() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        for path in ["/sdk/session", "/sdk/config", "/sdk/session"] {
            _ = try await world.send("GET", path, token: token)
        }
        let found = try await verify(
            world,
            [
                "sequence": [
                    ["route": "/sdk/login", "status": 200], ["method": "GET", "route": "/sdk/session"],
                    ["route": "/sdk/session", "username": "DemoOrg-example-user-id"],
                ], "max_gap": "10m",
            ])
        #expect(found.status == 200 && found["verified"] == true, "\(found.json)")
        #expect(found["requests"].items.map { $0["sequence"] } == [2, 3, 5])
        let listed = try await world.send("GET", "/_sim/requests?route=/sdk/login")
        #expect(found["requests.0.id"] == listed["requests.0.id"])
        let missing = try await verify(world, ["sequence": [["route": "/sdk/session"], ["route": "/sdk/login"]]])
        #expect(missing.status == 409 && missing["step"] == 1 && missing["code"] == "conflict", "\(missing.json)")
        #expect(missing["nearest.0.request.path"] == "/sdk/login")
        #expect(missing["nearest.0.differences"] == ["came before the previous step (request 3)"])
        let first = try await verify(world, ["sequence": [["route": "/sdk/login", "status": 429], ["route": "*"]]])
        #expect(first.status == 409 && first["step"] == 0)
        #expect(first["nearest.0.differences"] == ["status is 200, not 429"])
    }

    @Test func aGapIsRealTimeUnlessTheClockWasMoved() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        let token = try await world.login()
        _ = try await world.send("GET", "/sdk/session", token: token)
        _ = try await world.send("GET", "/sdk/session", token: token)
        let body: JSONValue = [
            "sequence": [["route": "/sdk/session"], ["route": "/sdk/session"]], "min_gap": "90m", "max_gap": "3h",
        ]
        let early = try await verify(world, body)
        #expect(early.status == 409 && early["step"] == 1)
        #expect(early["error"].text?.contains("but not with the expected gap (min_gap 1h30m, max_gap 3h)") == true)
        let difference = early["nearest.0.differences.0"].text ?? ""
        #expect(difference.contains("after the previous step (request 3), min_gap is 1h30m"), "\(difference)")
        try await world.advance("2h")
        _ = try await world.send("GET", "/sdk/session", token: token)
        let moved = try await verify(world, body)
        #expect(moved.status == 200 && moved["requests"].items.map { $0["sequence"] } == [3, 5], "\(moved.json)")
    }

    @Test(
        arguments: [
            (["sequence": []], "sequence"), (["sequence": "x"], "sequence"), (["sequence": [nil]], "sequence[0]"),
            (["sequence": .array(Array(repeating: [:], count: 101))], "sequence"),
            (["sequence": [[:], ["rout": "x"]]], "sequence[1].rout"),
            (["sequence": [["route": "/sdk/login"], ["route": "/sdk/logn"]]], "sequence[1].route"),
            (["sequence": [["status": 700]]], "sequence[0].status"),
            (["sequence": [["method": "X"]]], "sequence[0].method"),
            (["sequence": [[:], [:]], "min_gap": "soon"], "min_gap"),
            (["sequence": [[:], [:]], "max_gap": -1], "max_gap"),
            (["sequence": [[:], [:]], "min_gap": "2s", "max_gap": "1s"], "min_gap"),
            (["sequence": [[:]], "min_gap": "2s"], "min_gap"), (["match": [:], "min_gap": "2s"], "min_gap"),
            (["sequence": nil, "max_gap": "2s"], "max_gap"),
            (["sequence": [[:]], "match": [:]], "match"), (["sequence": [[:]], "times": 1], "times"),
            (["sequence": [[:]], "at_least": 1], "at_least"), (["sequence": [[:]], "at_most": 1], "at_most"),
        ] as [(JSONValue, String)])
    func aWrongSequenceIsRefusedWithItsField(body: JSONValue, field: String) async throws {
        let world = try await TestWorld.make()
        let refused = try await verify(world, body)
        #expect(refused.status == 400 && refused["details.0.field"].text == field, "\(refused.json)")
        #expect(refused["details"].items.count == 1)
    }

    @Test func anUnknownRouteOfAStepIsAllowedIfItIsMeant() async throws {
        let world = try await TestWorld.make()
        let steps: JSONValue = [["route": "/old-path"], ["route": "/old-path"]]
        let refused = try await verify(world, ["sequence": steps])
        #expect(refused["details.0.problem"].text?.contains("\"any_route\": true beside sequence") == true)
        for _ in 0..<2 { _ = try await world.send("GET", "/old-path") }
        #expect(try await verify(world, ["sequence": steps, "any_route": true]).status == 200)
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
            for (bytes, status) in [(good, 200), (older.bytes, 409)] {
                let file = "\(directory)/\(status).tar"
                try bytes.write(to: URL(fileURLWithPath: file))
                let server = try SimProcess(["--bundle", file])
                let opened = TestWorld(base: server.baseURL)
                let answer = try await verify(opened, body)
                #expect(answer.status == status, "\(answer.json)")
                let request = try await opened.send("GET", "/_sim/requests")["requests.0"]
                #expect((request["started_real"] == .null) == (status == 409))
                if status == 409 {
                    let error = answer["error"].text ?? ""
                    #expect(error.contains("not judged for 2 requests without real times"), "\(error)")
                }
                server.stop()
            }
        }
    }

    @Test func aScenarioExpectsASequence() async throws {
        let world = try await TestWorld.make()
        let text = """
            name: slow-retry
            description: The client waits before it asks again.
            clock: {freeze: 2026-01-05T09:00:00Z}
            faults:
              - {match: {route: /sdk/search}, effect: {status: 429}, times: 1}
            expect:
              - sequence:
                  - {route: /sdk/search, method: POST, status: 429}
                  - {route: /sdk/search, method: POST, status: 200}
                min_gap: 2s
            """
        _ = try await world.send("POST", "/_sim/scenarios/start", ["scenario": .string(text), "replace": true])
        let token = try await world.login()
        for _ in 0..<2 { _ = try await world.send("POST", "/sdk/search", [:], token: token) }
        let early = try await world.send("POST", "/_sim/scenarios/slow-retry/verify")
        let check = early["scenario.expectations.0"]
        #expect(early.status == 409 && check["found"] == 1, "\(early.json)")
        #expect(
            check["expectation"].text
                == "POST /sdk/search -> 429, then POST /sdk/search -> 200, min_gap 2s")
        let problem = check["problem"].text ?? ""
        #expect(
            problem.contains("sequence[1] (POST /sdk/search -> 200) followed sequence[0], but not with"), "\(problem)")
        #expect(problem.contains("after the previous step (request 3), min_gap is 2s"), "\(problem)")
        #expect(check["nearest.0.sequence"] == 4)
        try await checkBundle(of: world, text, status: 1)
        try await world.advance("2s")
        _ = try await world.send("POST", "/sdk/search", [:], token: token)
        #expect(try await world.send("POST", "/_sim/scenarios/slow-retry/verify").status == 200)
        try await checkBundle(of: world, text, status: 0)
    }

    /// `scenario verify FILE --bundle BUNDLE` says the same.
    private func checkBundle(of world: TestWorld, _ text: String, status: Int32) async throws {
        let bundle = try await world.send("GET", "/_sim/bundle").body
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            try bundle.write(to: URL(fileURLWithPath: directory + "/b.tar"))
            try text.write(toFile: directory + "/case.yaml", atomically: true, encoding: .utf8)
            let run = try await SimProcess.run(
                ["scenario", "verify", directory + "/case.yaml", "--bundle", directory + "/b.tar"])
            #expect(run.status == status, "\(run.output)")
            if status == 1 { #expect(run.output.contains("min_gap is 2s"), "\(run.output)") }
        }
    }

    @Test func theCommandVerifiesASequence() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        _ = try await world.send("GET", "/sdk/session", token: token)
        func verify(_ arguments: String...) async throws -> (status: Int32, output: String) {
            let run = try await SimProcess.run(
                [
                    "requests", "verify", "-n", String(world.base.split(separator: "/").last!), "--url",
                    SimProcess.shared.baseURL,
                ] + arguments)
            return (run.status, run.output)
        }
        let (login, session) = ("post /sdk/login 200", "GET /sdk/session 2xx")
        let good = try await verify("--step", login, "--step", session, "--max-gap", "10m")
        #expect(good.status == 0 && good.output.contains("verified: requests 2, 3 of the journal, in this order"))
        let json = try await verify("--step", login, "--step", session, "--json")
        let printed = try WireJSON.decode(JSONValue.self, from: Data(json.output.utf8))
        #expect(json.status == 0 && printed["requests.1.sequence"] == 3, "\(json.output)")
        let early = try await verify("--step", login, "--step", session, "--min-gap", "600")
        #expect(early.status == 1 && early.output.contains("min_gap is 10m"), "\(early.output)")
        let user = try await verify("--step", session, "--step", "*", "--username", "DemoOrg-example-user-id")
        #expect(user.status == 1 && user.output.contains("did not follow"), "\(user.output)")
        for (arguments, words) in [
            (["--step", "login"], "--step must be a route"), (["--step", "GET /a 200 x"], "--step must be a route"),
            (["--step", login, "--times", "1"], "--times cannot be combined with --step"),
            (["--step", login, "--route", "/a"], "--route cannot be combined with --step"),
            (["--step", login, "--min-gap", "2s"], "--min-gap needs at least two --step"),
            (["--route", "/sdk/login", "--max-gap", "2s"], "--max-gap needs at least two --step"),
            (["--step", login, "--step", "/sdk/logn"], "--any-route allows others"),
            (["--step", login, "--step", session, "--min-gap", "soon"], "min_gap"),
        ] {
            let run = try await SimProcess.run(
                [
                    "requests", "verify", "-n", String(world.base.split(separator: "/").last!), "--url",
                    SimProcess.shared.baseURL,
                ] + arguments)
            #expect(run.status == 64 && run.output.contains(words), "\(arguments): \(run.output)")
        }
    }

    /// A replay does not wait for the delay of a fault, and the gaps are those of the recording.
    @Test func aReplayHasTheRealTimesOfItsRecording() async throws {
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let file = directory + "/run.recording"
            let server = try SimProcess(["--in-memory", "--record", file])
            let root = TestWorld(base: server.baseURL)
            // A clock that runs has the recorded times in any case.
            _ = try await root.send("POST", "/_sim/clock/freeze", [:])
            _ = try await root.send(
                "POST", "/_sim/faults", ["match": ["route": "/v1/health"], "effect": ["delay": "4s"], "times": 1])
            for _ in 0..<2 { _ = try await root.send("GET", "/v1/health") }
            let steps: JSONValue = [["route": "/v1/health"], ["route": "/v1/health"]]
            for (bound, gap, status) in [("max_gap", "3900ms", 200), ("min_gap", "1h", 409)] {
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
