import Foundation
import Logging
import NIOConcurrencyHelpers
import SimulationAPI
import TestSupport
import Testing

@testable import Server
@testable import Simulation

/// Recordings of servers of this process, and their replays [D recording] [D hold].
@Suite struct ReplayedRunTests: HoldSteps {
    /// Records the requests of `body`, and replays them. `change` edits the lines after the first one.
    private func replayed(
        changing change: ([JSONValue]) throws -> [JSONValue] = { $0 }, _ body: (HeldServer) async throws -> Void
    ) async throws -> ReplayReport {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("run-\(UUID()).recording")
        defer { try? FileManager.default.removeItem(at: url) }
        try await body(try await HeldServer.open(recordsTo: url.path))
        let lines = try String(contentsOf: url, encoding: .utf8).split(separator: "\n")
        let entries = try lines.dropFirst().map { try WireJSON.decode(JSONValue.self, from: Data($0.utf8)) }
        let changed = try change(entries).map { String(decoding: try WireJSON.encode($0), as: UTF8.self) }
        try Data(([String(lines[0])] + changed).map { $0 + "\n" }.joined().utf8).write(to: url)
        return try await ReplayServer.run(
            ReplayPlan(path: url.path, version: "test", log: { _ in SwiftLogNoOpLogHandler() }))
    }

    private func isWhole(_ report: ReplayReport, atLeast count: Int = 1) -> Bool {
        report.difference == nil && report.incomplete == nil && report.requests == report.recorded
            && report.requests >= count
    }

    /// The entry with new positions for its jobs.
    private func moved(_ entry: JSONValue, to places: [Int]) -> JSONValue {
        entry.merging([
            "jobs": .array(zip(entry["jobs"].items, places).map { .array([.number(JSONNumber($1)), $0["1"]]) })
        ])
    }

    @Test func requestsForHeadsAreReplayedWithoutADifference() async throws {
        let report = try await replayed { server in
            let root = server.world
            let session = try await root.login()
            for path in [
                "/sdk/session", "/v1/health", "/sdk/nothing", "/_sim/clock", "/_sim/openapi.json", "/_sim/ui",
            ] {
                _ = try await root.send("HEAD", path, token: session)
            }
            _ = try await root.send("GET", "/sdk/session", token: session)
        }
        #expect(isWhole(report, atLeast: 8), "\(report)")
    }

    // MARK: Order

    /// Scenarios are files, names are a list, and the journal is in memory: no database orders what is read of them.
    @Test func whatIsReadBesideTheDatabasesIsReplayedInItsOrder() async throws {
        let report = try await replayed { server in
            let root = server.world
            let verified = NIOLockedValueBox(0)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for worker in 0..<8 {
                    group.addTask { for turn in 0..<12 { try await readAndWrite(root, worker, turn, verified) } }
                }
                try await group.waitForAll()
            }
        }
        #expect(isWhole(report, atLeast: 200), "\(report)")
    }

    /// Makes two or three requests, of which some change what the others read. Which ones succeed depends on the order.
    private func readAndWrite(
        _ root: TestWorld, _ worker: Int, _ turn: Int, _ verified: NIOLockedValueBox<Int>
    ) async throws {
        let name = "n-\((worker + turn) % 3)"
        let scenario = Data("name: mine\ndescription: x\(worker)-\(turn)".utf8)
        switch (worker % 4, turn % 3) {
        case (0, 0), (0, 1):
            _ = try await root.send(
                "PUT", "/_sim/scenarios/mine", bytes: scenario, headers: ["Content-Type": "application/yaml"])
            _ = try await root.send("PUT", "/_sim/namespaces/\(name)", .object([:]))
        case (0, _):
            _ = try await root.send("DELETE", "/_sim/scenarios/mine")
            _ = try await root.send("DELETE", turn == 2 ? "/_sim/namespaces?prefix=n-" : "/_sim/namespaces/\(name)")
        case (1, _):
            for path in ["", "/mine"] { _ = try await root.send("GET", "/_sim/scenarios\(path)") }
            let body: JSONValue = ["namespace": .string("started-\(worker)"), "replace": true]
            _ = try await root.send("POST", "/_sim/scenarios/mine/start", body)
        case (2, _):
            _ = try await root.send("GET", "/_sim/namespaces")
            _ = try await root.send("GET", "/ns/\(name)x/_sim/clock")
            _ = try await root.send("PUT", "/ns/\(name)/_sim/namespaces/\(name)", .object([:]))
        default:
            _ = try await root.send("GET", "/v1/health")
            let count = verified.withLockedValue { count in
                count += 1
                return count
            }
            _ = try await root.send(
                "POST", "/_sim/requests/verify",
                ["match": ["route": "/v1/health"], "at_least": .number(JSONNumber(count))])
        }
    }

    @Test func aRequestThatWaitsForOneThatIsCutIsLeftOut() async throws {
        let report = try await replayed(changing: { entries in
            try #require(entries.count == 3)
            // The last request comes before the deletion's last job, and the position between them is missing.
            let last = entries[1]["jobs"].items.count - 1
            let start = try #require(entries[1]["jobs.0.0"].integer)
            return [
                entries[0], moved(entries[1], to: (0..<last).map { start + $0 } + [start + last + 2]),
                moved(entries[2], to: [start + last]),
            ]
        }) { server in
            let root = server.world
            _ = try await root.send("PUT", "/_sim/namespaces/x")
            _ = try await root.send("DELETE", "/_sim/namespaces/x")
            _ = try await root.send("GET", "/ns/x/v1/health", token: TestWorld.apiToken)
        }
        #expect(report.incomplete == "the recording is truncated: entries are missing" && report.difference == nil)
        #expect(report.requests == 1 && report.recorded == 3, "\(report)")
    }

    @Test func twoAdvancesAreReplayedInTheOrderOfTheirJobs() async throws {
        let report = try await replayed(changing: { entries in
            try #require(entries.count == 3)
            // The second advance comes first, but the first one reaches the clock before it.
            let (first, second) = (entries[1]["jobs"].items.count, entries[2]["jobs"].items.count)
            let start = try #require(entries[1]["jobs.0.0"].integer)
            return [
                entries[0], moved(entries[1], to: (0..<first).map { start + 1 + $0 }),
                moved(entries[2], to: [start] + (1..<second).map { start + first + $0 }),
            ]
        }) { server in
            let root = server.world
            _ = try await root.send("POST", "/_sim/clock/freeze", ["at": "2100-01-05T09:00:00Z"])
            for by: JSONValue in ["1h", "2h"] { _ = try await root.send("POST", "/_sim/clock/advance", ["by": by]) }
        }
        #expect(isWhole(report, atLeast: 3), "\(report)")
    }

    @Test func aWaitThatIsNotInTheRecordingEnds() async throws {
        let report = try await replayed(changing: { entries in
            try #require(entries.contains { $0["request.waits"] != .null })
            return entries.map { $0["request"] == .null ? $0 : $0.merging(["request": ["waits": .null]]) }
        }) { server in
            let root = server.world
            _ = try await root.send("PATCH", "/_sim/settings", ["result": ["delay": "2h"]])
            _ = try await root.submit(try await root.login())
            _ = try await root.send("POST", "/_sim/settle", ["within": "0.01s"])
        }
        #expect(report.recorded > 3 && report.requests == report.recorded, "\(report)")
    }

    // MARK: Holds

    /// Every end of a hold.
    private func everyEnd(_ server: HeldServer, _ world: TestWorld, _ when: JSONValue) async throws {
        let token = try await world.login()
        let item: JSONValue = ["item": TestWorld.nike]
        for body: JSONValue? in [nil, ["status": 418, "body": "tea"], ["drop_connection": true]] {
            try await hold(world, "/sdk/captures", ["when": when])
            async let sent = world.send("POST", "/sdk/captures", item, token: token)
            let request = try await held(world)[0]
            _ = try await world.send("GET", "/sdk/captures", token: token)
            _ = try await release(world, request, body)
            _ = try await sent
            _ = try await release(world, request, body)
        }
        try await hold(world, "/sdk/session", ["when": when, "for": "0.02s"])
        _ = try await world.send("GET", "/sdk/session", token: token)
        try await hold(world, "/sdk/session", ["when": when])
        let caller = HeldServer.Caller()
        async let left = server.ask(
            .get, world.path + "/sdk/session", headers: [.authorization: "Token \(token)"], as: caller)
        _ = try await held(world)
        caller.leave()
        _ = try await left
        try await hold(world, "/sdk/session", ["when": when])
        async let replaced = world.send("GET", "/sdk/session", token: token)
        _ = try await held(world)
        _ = try await world.send("POST", "/_sim/reset")
        #expect(try await replaced.status == 503)
    }

    @Test(arguments: ["before", "after"]) func everyEndOfAHoldIsReplayed(when: String) async throws {
        let report = try await replayed { server in
            let root = server.world
            _ = try await root.send("PUT", "/_sim/namespaces/b")
            async let first: Void = everyEnd(server, root, .string(when))
            async let second: Void = everyEnd(server, root.namespace("b"), .string(when))
            _ = try await (first, second)
        }
        #expect(isWhole(report, atLeast: 30), "\(report)")
    }

    @Test func theBoundIsReplayed() async throws {
        let report = try await replayed { server in
            let root = server.world
            _ = try await root.send("PATCH", "/_sim/settings", ["rate_limits": "off"])
            let token = try await root.login()
            try await hold(root, "/sdk/session", true, times: nil)
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<100 {
                    group.addTask { try await root.send("GET", "/sdk/session", token: token).status }
                }
                _ = try await held(root, count: 100)
                #expect(try await root.send("GET", "/sdk/session", token: token).status == 503)
                _ = try await root.send("DELETE", "/_sim/held")
                for try await status in group { #expect(status == 200) }
            }
        }
        #expect(isWhole(report, atLeast: 103), "\(report)")
    }
}
