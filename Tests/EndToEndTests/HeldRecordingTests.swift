import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Recordings with held requests, and their replays [D hold] [D recording].
@Suite struct HeldRecordingTests {
    /// Records the requests of `body`, which are answered or held when the server is killed.
    private func record(_ directory: String, _ body: (TestWorld) async throws -> Void) async throws -> String {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let file = directory + "/run.recording"
        let server = try SimProcess(["--in-memory", "--record", file, "--rate-limits", "off"])
        try await body(TestWorld(base: server.baseURL))
        server.kill()
        return file
    }

    private func replay(_ file: String) async throws -> (status: Int32, report: JSONValue) {
        let run = try await SimProcess.run(["replay", file, "--json"])
        return (run.status, (try? WireJSON.decode(JSONValue.self, from: Data(run.output.utf8))) ?? .string(run.output))
    }

    private func hold(_ world: TestWorld, _ route: String, _ effect: JSONValue = true, times: JSONValue = 1)
        async throws
    {
        _ = try await world.send(
            "POST", "/_sim/faults",
            ["match": ["route": .string(route)], "effect": ["hold": effect], "times": times])
    }

    private func held(_ world: TestWorld, count: Int = 1) async throws -> [JSONValue] {
        while true {
            let list = try await world.send("GET", "/_sim/held")["held"].items
            if list.count >= count { return list }
            await Task.yield()
        }
    }

    private func release(_ world: TestWorld, _ held: JSONValue, _ body: JSONValue? = nil) async throws {
        _ = try await world.send("POST", "/_sim/held/\(held["id"].text ?? "")/release", body)
    }

    /// Every end of a hold, before and after, in two namespaces at once.
    private func everyEnd(_ world: TestWorld, _ when: String) async throws {
        let token = try await world.login()
        let item: JSONValue = ["item": TestWorld.nike]
        for body: JSONValue? in [nil, ["status": 418, "body": "tea"], ["drop_connection": true]] {
            try await hold(world, "/sdk/captures", ["when": .string(when)])
            let sent = Task { try await world.send("POST", "/sdk/captures", item, token: token) }
            let request = try await held(world)[0]
            _ = try await world.send("GET", "/sdk/captures", token: token)
            try await release(world, request, body)
            _ = try? await sent.value
            try await release(world, request, body)
        }
        try await hold(world, "/sdk/session", ["when": .string(when), "for": "0.02s"])
        _ = try await world.send("GET", "/sdk/session", token: token)
        try await hold(world, "/sdk/session", ["when": .string(when)])
        let port = try #require(world.base.split(separator: ":").last?.split(separator: "/").first.flatMap { Int($0) })
        let prefix = world.base.contains("/ns/") ? "/ns/b" : ""
        let text = "GET \(prefix)/sdk/session HTTP/1.1\r\nHost: localhost\r\nAuthorization: Token \(token)\r\n\r\n"
        let connection = try await RawConnection.open(port: port, resets: true)
        struct Gone: Error {}
        let clock = "GET \(prefix)/_sim/clock HTTP/1.1\r\nHost: localhost\r\n\r\n"
        _ = try? await connection.exchange(clock + text, orUntil: "never", until: { $0.contains("200 OK") }) {
            _ = try await held(world)
            throw Gone()
        }
        while try await !world.send("GET", "/_sim/held")["held"].items.isEmpty { await Task.yield() }
        try await hold(world, "/sdk/session", ["when": .string(when)])
        async let replaced = world.send("GET", "/sdk/session", token: token)
        _ = try await held(world)
        _ = try await world.send("POST", "/_sim/reset")
        #expect(try await replaced.status == 503)
    }

    @Test(arguments: ["before", "after"]) func everyEndOfAHoldIsReplayed(when: String) async throws {
        try await Process.withDirectory { directory in
            let file = try await record(directory) { root in
                _ = try await root.send("PUT", "/_sim/namespaces/b")
                let other = TestWorld(base: root.base + "/ns/b")
                async let first: Void = everyEnd(root, when)
                async let second: Void = everyEnd(other, when)
                _ = try await (first, second)
            }
            let (status, report) = try await replay(file)
            #expect(status == 0, "\(report)")
            #expect(report["difference"] == .null)
            #expect(report["requests"] == report["recorded"])
        }
    }

    @Test func theBoundIsReplayed() async throws {
        try await Process.withDirectory { directory in
            let file = try await record(directory) { root in
                let token = try await root.login()
                try await hold(root, "/sdk/session", true, times: nil)
                let waiting = Task {
                    try await withThrowingTaskGroup(of: Int.self) { group in
                        for _ in 0..<100 {
                            group.addTask { try await root.send("GET", "/sdk/session", token: token).status }
                        }
                        return try await group.reduce(into: [Int]()) { $0.append($1) }
                    }
                }
                _ = try await held(root, count: 100)
                #expect(try await root.send("GET", "/sdk/session", token: token).status == 503)
                _ = try await root.send("DELETE", "/_sim/held")
                #expect(try await waiting.value.someAndAll { $0 == 200 })
            }
            let (status, report) = try await replay(file)
            #expect(status == 0, "\(report)")
        }
    }

    /// The recording has the hold from its beginning on, so what came after it is replayed too.
    @Test(arguments: ["before", "after"]) func aKilledServersRecordingDoesNotEndAtItsHolds(when: String) async throws {
        try await Process.withDirectory { directory in
            var later = 0
            let file = try await record(directory) { root in
                let token = try await root.login()
                try await hold(root, "/sdk/captures", ["when": .string(when), "for": "10m"])
                let open = Task { try await root.send("POST", "/sdk/captures", ["item": TestWorld.nike], token: token) }
                defer { open.cancel() }
                _ = try await held(root)
                for _ in 0..<5 {
                    #expect(try await root.send("GET", "/sdk/session", token: token).status == 200)
                    later += 1
                }
                let captures = try await root.send("GET", "/_sim/captures?status=all")["captures"].items.count
                #expect(captures == (when == "before" ? 0 : 1))
            }
            let (status, report) = try await replay(file)
            #expect(status == 0, "\(report)")
            #expect(report["incomplete"] == .null)
            #expect(report["requests"] == report["recorded"])
            #expect(report["requests"].integer ?? 0 > later)
            let bundle = try await SimProcess.run(["replay", file, "--bundle", directory + "/end.tar"])
            #expect(bundle.status == 0, "\(bundle.output)")
        }
    }
}
