import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Tests of `serve --record` and `replay`.
@Suite struct RecordingTests {
    /// Records the requests of `body` and returns the file's path.
    private func record(
        _ directory: String, _ arguments: [String] = [], _ body: (TestWorld) async throws -> Void
    ) async throws -> String {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let file = directory + "/run.recording"
        let server = try await SimProcess(["--in-memory", "--record", file] + arguments)
        try await body(TestWorld(base: server.baseURL))
        // The server is killed, as in a CI job. All answered requests must be in the file.
        server.kill()
        return file
    }

    private func replay(_ file: String) async throws -> (status: Int32, report: JSONValue) {
        let run = try await SimProcess.run(["replay", file, "--json"])
        return (run.status, (try? WireJSON.decode(JSONValue.self, from: Data(run.output.utf8))) ?? .string(run.output))
    }

    @Test func hundredsOfMixedRequestsAtOnceAreReplayedWithoutADifference() async throws {
        try await Process.withDirectory { directory in
            let receiver = try await WebhookReceiver.open()
            let file = try await record(directory, ["--rate-limits", "off"]) { root in
                _ = try await root.send(
                    "POST", "/v2/webhooks", ["url": .string(receiver.url), "secret_key": "s"], token: TestWorld.apiToken
                )
                _ = try await root.send("PATCH", "/_sim/settings", ["result": ["delay": "0.05s"]])
                for (match, effect, probability) in [
                    (["route": "/sdk/search"], ["status": 503], 0.3),
                    (["route": "/sdk/session"], ["drop_connection": true], 0.2),
                    (["route": "/sdk/results/*"], ["truncate_body": 10], 0.2), (["webhook": "*"], ["drop": true], 0.3),
                ] as [(JSONValue, JSONValue, Double)] {
                    _ = try await root.send(
                        "POST", "/_sim/faults",
                        ["match": match, "effect": effect, "probability": .number(JSONNumber(text: "\(probability)"))])
                }
                await withTaskGroup(of: Void.self) { group in
                    for worker in 0..<8 {
                        group.addTask { await mix(root, worker) }
                    }
                }
                // Waits until an attempt is recorded, whether or not it arrived. Later work does not disturb a replay.
                _ = try await root.send("POST", "/_sim/settle", ["within": "0.5s"])
                var attempts: [JSONValue] = []
                repeat {
                    let told = try await root.send("GET", "/_sim/webhook-deliveries?limit=100")["deliveries"].items
                    attempts = told.flatMap { $0["attempts"].items }
                } while attempts.isEmpty
            }
            #expect((try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int) == 0o600)
            let heard = receiver.deliveries.count
            let (status, report) = try await replay(file)
            #expect(status == 0 && report["difference"] == .null, "\(report)")
            #expect(report["requests"].double ?? 0 >= 500 && report["outcomes"].double ?? 0 > 0, "\(report)")
            // The replay sent nothing to the receiver.
            #expect(receiver.deliveries.count == heard)
        }
    }

    @Test func anAttemptThatARestoreMadeTwiceGetsItsOwnOutcome() async throws {
        try await Process.withDirectory { directory in
            let receiver = try await WebhookReceiver.open()
            receiver.behave(.hang)
            let file = try await record(directory) { root in
                _ = try await root.send("POST", "/_sim/clock/freeze", ["at": "2099-01-05T09:00:00Z"])
                _ = try await root.send(
                    "POST", "/v2/webhooks", ["url": .string(receiver.url), "secret_key": "s"], token: TestWorld.apiToken
                )
                let session = try await root.login()
                _ = try await root.submit(session)
                while receiver.deliveries.isEmpty { await Task.yield() }
                _ = try await root.send("PUT", "/_sim/snapshots/s")
                _ = try await root.send("POST", "/_sim/clock/advance", ["by": "1s", "max_wall": "0.05s"])
                receiver.behave(.answer(200))
                // The attempt is made again, is answered first, and is the one that counts.
                _ = try await root.send("POST", "/_sim/snapshots/s/restore")
                _ = try await root.send("POST", "/_sim/settle", ["within": "10s"])
                try await receiver.hangUp()
                _ = try await root.send("POST", "/_sim/clock/advance", ["by": "5s", "max_wall": "20s"])
                let told = try await root.send("GET", "/_sim/webhook-deliveries?limit=100")["deliveries"].items
                #expect(told.contains { $0["status"] == "delivered" })
            }
            let (status, report) = try await replay(file)
            #expect(status == 0 && report["difference"] == .null, "\(report)")
        }
    }

    @Test func anAttemptThatARestoreMadeTwiceMayHaveOneOutcome() async throws {
        try await Process.withDirectory { directory in
            let receiver = try await WebhookReceiver.open()
            receiver.behave(.hang)
            let file = try await record(directory) { root in
                _ = try await root.send("POST", "/_sim/clock/freeze", ["at": "2099-01-05T09:00:00Z"])
                _ = try await root.send(
                    "POST", "/v2/webhooks",
                    ["url": .string(receiver.url), "secret_key": "s", "events": ["session.completed"]],
                    token: TestWorld.apiToken)
                let session = try await root.login()
                // One more than the server sends to a subscription at a time. The last one waits.
                for _ in 0..<9 { _ = try await root.submit(session) }
                _ = try await root.send("PUT", "/_sim/snapshots/s")
                _ = try await root.send("POST", "/_sim/clock/advance", ["by": "5s", "max_wall": "0.05s"])
                while receiver.deliveries.count < 8 { await Task.yield() }
                // The one that waits is given up here: it gets no outcome. After the restore all nine are made again, at the
                // same time on the clock.
                _ = try await root.send("POST", "/_sim/snapshots/s/restore")
                try await receiver.hangUp()
                receiver.behave(.answer(200))
                _ = try await root.send("POST", "/_sim/clock/advance", ["by": "5s", "max_wall": "20s"])
                let told = try await root.send("GET", "/_sim/webhook-deliveries?limit=100")["deliveries"].items
                #expect(told.count == 9 && told.someAndAll { $0["status"] == "delivered" })
            }
            let (status, report) = try await replay(file)
            #expect(status == 0 && report["difference"] == .null, "\(report)")
        }
    }

    /// Makes about 80 requests as one client. Broken answers are ignored.
    private func mix(_ root: TestWorld, _ worker: Int) async {
        let name = ["", "a", "b"][worker % 3]
        let world = name.isEmpty ? root : TestWorld(base: "\(root.base)/ns/\(name)")
        if !name.isEmpty { _ = try? await root.send("PUT", "/_sim/namespaces/\(name)") }
        guard let session = try? await world.login("user-number-\(worker)") else { return }
        for turn in 0..<6 {
            // A session ends if another client restores a snapshot from before it.
            var item: String?
            if let capture = try? await world.send(
                "POST", "/sdk/captures", ["item": TestWorld.nike], token: session), let id = capture["capture_id"].text
            {
                for step in capture["steps"].items {
                    _ = try? await world.upload(id, step["region_id"].text ?? "", session)
                }
                item = try? await world.send("POST", "/sdk/captures/\(id)/submit", token: session)["entrupy_id"].text
            }
            for _ in 0..<2 { _ = try? await world.send("POST", "/sdk/search", [:], token: session) }
            _ = try? await world.send("GET", "/sdk/session", token: session)
            if let item { _ = try? await world.result(item, session) }
            switch turn % 6 {
            // These have many jobs, and jobs of other requests run between them.
            case 0:
                let count: JSONValue = worker < 3 ? 1200 : 40
                _ = try? await world.send("POST", "/_sim/authentications", ["count": count])
            case 1: _ = try? await world.send("POST", "/_sim/clock/advance", ["by": "0.1s"])
            case 2: _ = try? await world.send("PUT", "/_sim/snapshots/s")
            case 3 where worker == 0: _ = try? await world.send("POST", "/_sim/snapshots/s/restore")
            case 4: _ = try? await root.send("GET", "/ns/nowhere/v1/health")
            default: _ = try? await world.send("GET", "/v2/authentications/\(item ?? "x")", token: TestWorld.apiToken)
            }
        }
    }

    /// The number of delivered answers decides a verification, so a replay must know which one was lost, and when.
    @Test func anAnswerThatWasLostIsLostInAReplay() async throws {
        try await Process.withDirectory { directory in
            let file = try await record(directory) { root in
                let token = try await root.login()
                for effect: JSONValue in [["slow_body": 20], ["drop_connection": true], ["lose_request": true]] {
                    _ = try await root.send(
                        "POST", "/_sim/faults",
                        ["match": ["route": "/sdk/session"], "effect": effect, "times": 1])
                }
                let port = try #require(root.base.split(separator: ":").last.flatMap { Int($0) })
                let request = "GET /sdk/session HTTP/1.1\r\nHost: localhost\r\nAuthorization: Token \(token)\r\n\r\n"
                _ = try await RawConnection.open(port: port).exchange(request) { $0.contains("\r\n\r\n") }
                func verify(_ match: JSONValue) async throws -> Int {
                    try await root.send("POST", "/_sim/requests/verify", ["match": match, "times": 1]).status
                }
                let lost: JSONValue = ["route": "/sdk/session", "delivered": false]
                var polls = 0
                while try await verify(lost) != 200, polls < 1_000 { polls += 1 }
                #expect(polls < 1_000)
                for _ in 0..<2 { _ = try? await root.send("GET", "/sdk/session", token: token) }
                #expect(try await verify(["route": "/sdk/session", "status": 200]) == 409)
                #expect(try await verify(lost) == 409, "there are three")
            }
            #expect(try String(contentsOfFile: file, encoding: .utf8).contains("\"undelivered\":{"))
            let (status, report) = try await replay(file)
            #expect(status == 0 && report["difference"] == .null, "\(report)")
        }
    }

    @Test func controlRequestsAreReplayedToo() async throws {
        try await Process.withDirectory { directory in
            let file = try await record(directory) { root in
                let receiver = try await WebhookReceiver.open()
                _ = try await root.send(
                    "POST", "/_sim/seed", bytes: Data("brands: []".utf8), headers: ["Content-Type": "application/yaml"])
                let scenario = "name: mine\ndescription: x\ntimeline: [{at: 1s, insert_items: {customer_item_id: a}}]"
                _ = try await root.send(
                    "PUT", "/_sim/scenarios/mine", bytes: Data(scenario.utf8),
                    headers: ["Content-Type": "application/yaml"])
                // The server picks a random name, which is the same in a replay.
                let fresh = try await root.send("POST", "/_sim/namespaces", ["prefix": "pr-12"])
                let world = TestWorld(base: try #require(fresh["url"].text))
                try #require(try await world.send("GET", "/_sim/users").status == 200)
                _ = try await root.send("POST", "/_sim/scenarios/mine/start", ["run": true, "namespace": "started"])
                // Settles, at first with a frozen clock, when nothing can happen.
                _ = try await world.send("POST", "/_sim/clock/freeze")
                _ = try await world.send("PATCH", "/_sim/settings", ["result": ["delay": "2s"]])
                _ = try await world.send(
                    "POST", "/v2/webhooks", ["url": .string(receiver.url), "secret_key": "s"], token: TestWorld.apiToken
                )
                let session = try await world.login()
                _ = try await world.submit(session)
                #expect(try await world.send("POST", "/_sim/settle", ["within": "0.01s"])["settled"] == false)
                _ = try await world.send("POST", "/_sim/clock/resume")
                #expect(try await world.send("POST", "/_sim/settle", ["within": "10m"])["settled"] == true)
                // A replay rejects an oversized body again.
                let large = Data("{\"limit\": 1, \"x\": \"\(String(repeating: "x", count: 1_500_000))\"}".utf8)
                let refused = try await world.send(
                    "POST", "/sdk/search", bytes: large, token: session, headers: ["Content-Type": "application/json"])
                #expect(refused.status == 413)
                _ = try await world.send("GET", "/_sim/bundle")
                _ = try await root.send("DELETE", "/_sim/namespaces?prefix=pr-12")
                #expect(try await world.send("GET", "/v1/health").status == 404)
            }
            let (status, report) = try await replay(file)
            #expect(status == 0 && report["difference"] == .null, "\(report)")
        }
    }

    @Test func anAnswerThatDiffersIsShown() async throws {
        try await Process.withDirectory { directory in
            let file = try await record(directory) { world in
                let session = try await world.login()
                _ = try await world.send("GET", "/sdk/session", token: session)
                _ = try await world.send(
                    "GET", "/v1/health", token: TestWorld.apiToken, headers: ["Api-Version": "1.3"])
            }
            #expect(try await replay(file).status == 0)
            let text = try String(contentsOfFile: file, encoding: .utf8)
            try Data(
                text.replacing(
                    "\\\"username\\\":\\\"DemoOrg-example-user-id", with: "\\\"username\\\":\\\"DemoOrg-somebody"
                ).utf8
            )
            .write(to: URL(fileURLWithPath: file))
            let run = try await SimProcess.run(["replay", file])
            #expect(run.status == 1)
            // The login and the session both contain the user's name. Only the first difference is shown.
            #expect(run.output.contains("differs: POST") && !run.output.contains("GET /sdk/session"), "\(run.output)")
            #expect(
                run.output.contains("- username: \"DemoOrg-somebody\"")
                    && run.output.contains("+ username: \"DemoOrg-example-user-id\""), "\(run.output)")
        }
    }

    @Test func anInvalidRecordingIsReportedAndNoFileIsOverwritten() async throws {
        try await Process.withDirectory { directory in
            let file = try await record(directory) { world in _ = try await world.login() }
            let good = try String(contentsOfFile: file, encoding: .utf8)
            func refused(_ text: String) async throws -> String {
                try Data(text.utf8).write(to: URL(fileURLWithPath: file))
                let run = try await SimProcess.run(["replay", file])
                #expect(run.status == 64, "\(run.output)")
                return run.output
            }
            // `RecordingFileTests` has what else may be wrong.
            #expect(try await refused("{\"a\":1}\n").contains(":1: is not a recording"))
            // A killed process leaves half a line at the end.
            try Data((good + "{\"jobs\":[[7").utf8).write(to: URL(fileURLWithPath: file))
            #expect(try await SimProcess.run(["replay", file]).status == 2)
            #expect(try await SimProcess.run(["replay", directory + "/none"]).status == 64)
            // A recording overwrites no file and begins with a fresh namespace.
            let again = try await SimProcess.run(["serve", "--in-memory", "--port", "0", "--record", file])
            #expect(again.status == 1 && again.output.contains("already exists"), "\(again.output)")
            let byEnvironment = try await SimProcess.run(
                ["serve", "--in-memory", "--port", "0"], environment: ["ENTRUPY_SIM_RECORD": file])
            #expect(byEnvironment.status == 1 && byEnvironment.output.contains("already exists"))
            let world = try await SimProcess(["--data-dir", directory + "/data"])
            world.stop()
            let old = try await SimProcess.run(
                ["serve", "--port", "0", "--data-dir", directory + "/data", "--record", directory + "/new"])
            #expect(old.status == 1 && old.output.contains("fresh namespace"), "\(old.output)")
            #expect(!FileManager.default.fileExists(atPath: directory + "/new"))
        }
    }

    /// The recording has the hold from its beginning on, so what came after it is replayed too.
    @Test(arguments: ["before", "after"]) func aKilledServersRecordingDoesNotEndAtItsHolds(when: String) async throws {
        try await Process.withDirectory { directory in
            var later = 0
            let file = try await record(directory, ["--rate-limits", "off"]) { root in
                let token = try await root.login()
                _ = try await root.send(
                    "POST", "/_sim/faults",
                    [
                        "match": ["route": "/sdk/captures"], "times": 1,
                        "effect": ["hold": ["when": .string(when), "for": "10m"]],
                    ])
                let open = Task { try await root.send("POST", "/sdk/captures", ["item": TestWorld.nike], token: token) }
                defer { open.cancel() }
                while try await root.send("GET", "/_sim/held")["held"].items.isEmpty { await Task.yield() }
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
