import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Tests of `/_sim/bundle` and `serve --bundle`.
@Suite struct BundleTests {
    @Test func aBundleOpensWithItsStateAndJournal() async throws {
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            // The clock runs, and the result must not come before the bundle is made.
            let world = try await TestWorld.make(settings: ["result": ["delay": "12h"]])
            _ = try await world.send(
                "POST", "/_sim/faults", ["match": ["route": "/sdk/search"], "effect": ["status": 503], "times": 1])
            let session = try await world.login()
            let item = try await world.submit(session)
            _ = try await world.send("POST", "/sdk/search", [:], token: session, headers: ["X-Sim-Test": "mine"])
            // An answer that is lost, and a request that is not handled.
            for effect in ["drop_connection", "lose_request"] {
                _ = try await world.send(
                    "POST", "/_sim/faults",
                    ["match": ["route": "/sdk/config"], "effect": [effect: true], "times": 1])
                _ = try? await world.send("GET", "/sdk/config", token: session)
            }
            _ = try await world.send("POST", "/_sim/clock/resume")
            let before = try await world.send("GET", "/_sim/requests?limit=1000")["requests"].items
            let result = try await world.result(item, session)["status"]

            let file = directory + "/case.bundle.tar"
            let name = String(world.base.split(separator: "/").last!)
            let written = try await SimProcess.run(
                ["bundle", "-o", file, "-n", name, "--url", SimProcess.shared.baseURL])
            #expect(written.status == 0 && written.output.hasPrefix(file), "\(written.output)")
            let archive = try TarFile(try Data(contentsOf: URL(fileURLWithPath: file)))
            let names = archive.entries.map(\.name).filter { !$0.hasPrefix("images/") }
            #expect(
                names == [
                    "manifest.json", "world.sqlite", "settings.json", "seed.yaml", "journal.json", "journal.har",
                    "events.ndjson",
                ])
            let events = try #require(archive.entries.last).bytes.split(separator: UInt8(ascii: "\n"))
            #expect(events.count == Int(try await world.counts()["events"].double ?? 0))
            let journal = String(
                decoding: try #require(archive.entries.first { $0.name == "journal.json" }).bytes, as: UTF8.self)
            #expect(!journal.contains(session) && !journal.contains(TestWorld.apiToken))

            let server = try await SimProcess(["--bundle", file])
            defer { server.stop() }
            let opened = TestWorld(base: server.baseURL)
            let after = try await opened.send("GET", "/_sim/requests?limit=1000")["requests"].items
            #expect(after.suffix(before.count) == before[...])
            let failed = try #require(before.first { $0["path"] == "/sdk/search" }?["id"].text)
            let shown = try await opened.send("GET", "/_sim/requests/\(failed)")
            #expect(shown["status"] == 503 && shown["test"] == "mine" && shown["decided_by.fault"] != .null)
            #expect(shown["request.headers"].items.contains { $0["0"].text?.lowercased() == "authorization" })
            let lost = try await opened.send("GET", "/_sim/requests?delivered=false")["requests"].items
            #expect(lost.map { $0["status"] } == [nil, 200])
            #expect(lost.map { $0["effect"] } == [["lose_request": true], ["drop_connection": true]])
            let page = directory + "/report.html"
            #expect(try await SimProcess.run(["report", file, "-o", page]).status == 0)
            let report = try String(contentsOfFile: page, encoding: .utf8)
            #expect(report.contains("not delivered: connection reset<"))
            #expect(report.contains("not delivered: connection reset before the request was handled<"))
            // The opened clock is frozen, even if the original was running.
            let clock = try await opened.send("GET", "/_sim/clock")
            #expect(clock["mode"] == "frozen" && clock["now"].text?.hasPrefix("2026-01-05T") == true)
            #expect(try await opened.result(item, session)["status"] == result)
            #expect(try await opened.send("GET", "/_sim/faults")["faults.0.hits"] == 1)
            #expect(
                try await opened.send("GET", "/_sim/requests?format=har")["log.entries"].items.count >= before.count)
            // The bundle's state can be restored.
            try await opened.advance("12h")
            #expect(try await opened.result(item, session)["status.result.final"] == true)
            _ = try await opened.send("POST", "/_sim/snapshots/bundle/restore")
            #expect(try await opened.result(item, session)["status.result.final"] == false)
        }
    }

    @Test func anInvalidBundleIsReportedAndNoServerStarts() async throws {
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let world = try await TestWorld.make()
            let good = try await world.send("GET", "/_sim/bundle").body
            func start(_ bytes: Data, _ arguments: [String] = [], status: Int32 = 64) async throws -> String {
                let file = directory + "/b.tar"
                try bytes.write(to: URL(fileURLWithPath: file))
                let run = try await SimProcess.run(["serve", "--port", "0", "--bundle", file] + arguments)
                #expect(run.status == status)
                return run.output
            }
            // `ScenarioOfBundleTests` has what else may be wrong.
            #expect(try await start(good.prefix(9000)).contains("truncated"))
            let missing = try await SimProcess.run(["serve", "--port", "0", "--bundle", directory + "/none.tar"])
            #expect(missing.status == 64 && missing.output.contains("none.tar"), "\(missing.output)")
            let byEnvironment = try await SimProcess.run(
                ["serve", "--port", "0"], environment: ["ENTRUPY_SIM_BUNDLE": directory + "/other.tar"])
            #expect(byEnvironment.status == 64 && byEnvironment.output.contains("other.tar"))
            // A bundle never replaces the namespace in a data directory.
            let first = try await SimProcess(["--data-dir", directory + "/data"])
            first.stop()
            #expect(try await start(good, ["--data-dir", directory + "/data"], status: 1).contains("has namespaces"))
        }
    }

    @Test func aSnapshotsArchiveOpensToo() async throws {
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let world = try await TestWorld.make()
            let session = try await world.login()
            _ = try await world.send("PUT", "/_sim/snapshots/s")
            let file = directory + "/s.tar"
            try await world.send("GET", "/_sim/snapshots/s").body.write(to: URL(fileURLWithPath: file))
            let server = try await SimProcess(["--bundle", file, "--data-dir", directory + "/data"])
            let opened = TestWorld(base: server.baseURL)
            #expect(try await opened.send("GET", "/sdk/session", token: session).status == 200)
            server.stop()
            // From then on it is a normal data directory.
            let again = try await SimProcess(["--data-dir", directory + "/data"])
            defer { again.stop() }
            #expect(try await TestWorld(base: again.baseURL).send("GET", "/sdk/session", token: session).status == 200)
        }
    }
}
