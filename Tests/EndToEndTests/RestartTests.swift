import Foundation
import GRDB
import SimulationAPI
import TestSupport
import Testing

@Suite struct RestartTests {
    @Test(arguments: [true, false]) func everythingSurvivesARestart(killed: Bool) async throws {
        try await Process.withDirectory { directory in
            var server = try await SimProcess(["--data-dir", directory, "--public-url", "http://sim.test"])
            var world = try await TestWorld.make(in: server)
            let path = world.base.dropFirst(server.baseURL.count)
            let token = try await world.login()
            let submitted = try await world.submit(token)
            let started = try await world.readyCapture(token)
            for _ in 0..<4 { _ = try await world.login() }
            _ = try await world.send("PATCH", "/_sim/settings", ["quota": 7])
            let before = try await world.result(submitted, token)
            let info = try await world.counts()
            if killed { server.kill() } else { #expect(server.stop() == 0) }

            server = try await SimProcess(["--data-dir", directory, "--public-url", "http://sim.test"])
            defer { server.stop() }
            world = TestWorld(base: server.baseURL + path)
            #expect(try await world.counts() == info)
            #expect(try await world.send("GET", "/_sim/clock")["now"] == "2026-01-05T09:00:00.000000Z")
            #expect(try await world.send("GET", "/_sim/settings")["quota"].double == 7)
            #expect(try await world.result(submitted, token).body == before.body)
            let image = try #require(before["images.item_photo"].text).dropFirst("http://sim.test".count + path.count)
            #expect(try await world.send("GET", String(image)).body == TestWorld.picture)
            #expect(try await world.send("POST", "/sdk/captures/\(started)/submit", token: token).status == 200)
            // The sliding windows of logins survive too.
            let signed = try await world.signedRequest()
            #expect(try await world.send("POST", "/sdk/login", ["signed_authorization_request": signed]).status == 429)
        }
    }

    /// Counts stay without the things that a restore took out of them.
    @Test func aRestartForgetsNoRestore() async throws {
        try await Process.withDirectory { directory in
            var server = try await SimProcess(["--data-dir", directory])
            var world = TestWorld(base: server.baseURL)
            let scenario = """
                {name: x, description: x, faults: [{match: {route: /sdk/session}, effect: {status: 503}}],
                 expect: [{fault: {route: /sdk/session}, times: 0}, {webhook: {event: session.completed}, times: 0}]}
                """
            _ = try await world.send("POST", "/_sim/scenarios/start", ["scenario": .string(scenario)])
            try await world.subscribe(url: "http://127.0.0.1:9/x")
            _ = try await world.send("PUT", "/_sim/snapshots/s")
            _ = try await world.send("GET", "/sdk/session")
            try await world.generatedItem()
            try #require(try await world.send("POST", "/_sim/snapshots/s/restore").status == 200)
            server.kill()
            server = try await SimProcess(["--data-dir", directory])
            defer { server.stop() }
            world = TestWorld(base: server.baseURL)
            let verified = try await world.send("POST", "/_sim/scenarios/x/verify")
            let checks = verified["scenario.expectations"].items
            #expect(checks.map { $0["passed"] } == [false, false], "\(verified.json)")
            #expect(try await world.send("GET", "/_sim/webhook-deliveries")["forgotten_before"] != .null)
        }
    }

    @Test func workDueWhileTheServerWasDownKeepsItsDueTime() async throws {
        try await Process.withDirectory { directory in
            var server = try await SimProcess(["--data-dir", directory])
            var world = TestWorld(base: server.baseURL)
            _ = try await world.send("PATCH", "/_sim/settings", ["result": ["delay": "0.2s"]])
            let token = try await world.login()
            let id = try await world.submit(token)
            let submitted = try #require(try await world.result(id, token)["timestamp.epoch"].double)
            server.kill()
            server = try await SimProcess(["--data-dir", directory])
            defer { server.stop() }
            world = TestWorld(base: server.baseURL)
            var answer = try await world.result(id, token)
            while answer["status.result.final"] != true { answer = try await world.result(id, token) }
            let set = try #require(answer["event_times.result_returned_at.epoch"].double)
            #expect(abs(set - submitted - 0.2) < 0.000002)
        }
    }

    /// As a program of a later version leaves it that this one does not know.
    @Test func workThatFailsIsNamedByTheDoctorAndHoldsUpNothing() async throws {
        try await Process.withDirectory { directory in
            var server = try await SimProcess(["--data-dir", directory])
            var world = try await TestWorld.make(in: server)
            let path = String(world.base.dropFirst(server.baseURL.count))
            _ = try await world.send("PATCH", "/_sim/settings", ["result": ["delay": "1h"]])
            let token = try await world.login()
            let id = try await world.submit(token)
            server.stop()
            let name = path.dropFirst("/ns/".count)
            let queue = try DatabaseQueue(path: "\(directory)/namespaces/\(name).sqlite")
            try await queue.write {
                try $0.execute(
                    sql: """
                        INSERT INTO due (due_at, kind, subject)
                            SELECT due_at - 1, 'of.later', 'thing' FROM due WHERE kind = 'result'
                        """)
            }
            try queue.close()
            for isFirst in [true, false] {
                server = try await SimProcess(["--data-dir", directory])
                defer { server.stop() }
                world = TestWorld(base: server.baseURL + path)
                let doctor = { try await SimProcess.run(["doctor", "--url", server.baseURL, "-n", String(name)]) }
                if isFirst {
                    #expect(try await doctor().status == 0)
                    let advanced = try await world.send("POST", "/_sim/clock/advance", ["by": "1h"])
                    #expect(advanced.status == 200 && advanced["reached"] == true, "\(advanced.json)")
                }
                #expect(try await world.result(id, token)["status.result.final"] == true)
                let kinds = try await world.send("GET", "/_sim/due")["due"].items.compactMap { $0["kind"].text }
                #expect(!kinds.contains("of.later") && !kinds.contains("result"), "\(kinds)")
                let failed = try await world.send("GET", "/_sim/event-log?kind=due_work.failed")["events"].items
                #expect(failed.count == 1 && failed.first?["subject"] == "thing", "\(failed)")
                #expect(failed.first?["data.kind"] == "of.later", "\(failed)")
                let ill = try await doctor()
                #expect(ill.status == 1 && ill.output.contains("1 failed and will not run"), "\(ill.output)")
                #expect(ill.output.contains("of.later of thing: internal error"), "\(ill.output)")
            }
        }
    }
}

@Suite struct CommandLineTests {
    @Test func aStartThatCannotBeIsReported() async throws {
        try await Process.withDirectory { path in
            try Data("organizations:\n  - name: A\n    tokens: [x]\n".utf8).write(to: URL(fileURLWithPath: path))
            let port = try #require(SimProcess.shared.baseURL.split(separator: ":").last)
            let place = "\(URL(fileURLWithPath: path).lastPathComponent):3: organizations[0].tokens: is not known here"
            for (arguments, status, words) in [
                (["--port", String(port), "--in-memory"], 1, "port \(port) is in use"),
                (["--port", "0", "--data-dir", path], 1, "data directory"),
                (["--port", "0", "--in-memory", "--seed", path], 64, place),
                (["--in-memory", "--seed", "/no/such/file.yaml"], 64, "/no/such/file.yaml"),
                (["--log-level", "loud"], 64, "Usage:"), (["--no-such-flag"], 64, "serve --help lists its options"),
            ] as [([String], Int32, String)] {
                let run = try await SimProcess.run(["serve"] + arguments)
                #expect(run.status == status && run.output.contains(words), "\(arguments): \(run.output)")
            }
        }
    }
}
