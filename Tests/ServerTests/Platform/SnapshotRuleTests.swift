import Foundation
import GRDB
import SimulationAPI
import TestSupport
import Testing

/// `/_sim/snapshots`: save, restore, fork, and archives that are wrong.
@Suite struct SnapshotRuleTests {
    private static let octets = ["Content-Type": "application/octet-stream"]

    private func save(_ world: TestWorld, _ name: String = "base") async throws {
        try #require(try await world.send("PUT", "/_sim/snapshots/\(name)").status == 201)
    }

    private func restore(_ world: TestWorld, _ name: String = "base") async throws {
        let answer = try await world.send("POST", "/_sim/snapshots/\(name)/restore")
        try #require(answer.status == 200, "\(answer.json)")
    }

    /// Forks a namespace from a snapshot.
    private func fork(_ world: TestWorld, as child: String) async throws -> TestWorld {
        let answer = try await world.send("POST", "/_sim/snapshots/base/fork", ["namespace": .string(child)])
        try #require(answer.status == 201, "\(answer.json)")
        return world.namespace(child)
    }

    /// An archive of a snapshot with an item and its images.
    private func archive(_ world: TestWorld) async throws -> TarFile {
        _ = try await world.submit(try await world.login())
        try await save(world)
        return try TarFile(try await world.send("GET", "/_sim/snapshots/base").body)
    }

    @Test func aRestoreReturnsToTheSavedState() async throws {
        let world = try await TestWorld.make()
        let session = try await world.login()
        let item = try await world.submit(session)
        let before = try await world.result(item, session).body
        try await save(world)
        try await world.advance("1h")
        _ = try await world.send("PATCH", "/_sim/settings", ["quota": 1])
        _ = try await world.send("POST", "/_sim/authentications", ["count": 10])
        _ = try await world.send("DELETE", "/_sim/sessions")
        try #require(try await world.result(item, session).status == 401)
        try await restore(world)
        #expect(try await world.result(item, session).body == before)
        #expect(try await world.send("GET", "/_sim/clock")["now"].text?.hasPrefix("2026-01-05T09:00:00") == true)
        #expect(try await world.counts()["authentications"] == 1)
        #expect(try await world.send("GET", "/_sim/settings")["quota"] != 1)
        #expect(try await world.send("GET", "/_sim/requests")["requests"].items.count == 1)
        // Pending results still come.
        try await world.advance("1h")
        #expect(try await world.result(item, session)["status.result.final"] == true)
    }

    @Test func aForkIsIndependentAndAnswersAsItsParentWould() async throws {
        let parent = try await TestWorld.make()
        let session = try await parent.login()
        try await save(parent)
        let child = try await fork(parent, as: "branch-\(parent.name)")
        func resume(_ world: TestWorld) async throws -> [Data] {
            let item = try await world.submit(session)
            try await world.advance("10m")
            return [
                Data(item.utf8),
                // URLs contain the namespace's name, which differs.
                Data(
                    String(decoding: try await world.result(item, session).body, as: UTF8.self)
                        .replacing(world.base, with: "").utf8),
                try await world.send("GET", "/sdk/session", token: session).body, Data(try await world.login().utf8),
            ]
        }
        let inChild = try await resume(child)
        #expect(try await parent.counts()["authentications"] == 0)
        let inParent = try await resume(parent)
        #expect(inParent == inChild)
        #expect(try await child.counts()["authentications"] == 1)
        // A fork has its own snapshots.
        #expect(try await child.send("GET", "/_sim/snapshots")["snapshots"].items.isEmpty)
    }

    @Test func aRunningClockContinuesFromTheSavedTime() async throws {
        let world = try await TestWorld.make()
        _ = try await world.send("POST", "/_sim/clock/resume")
        _ = try await world.send("POST", "/_sim/authentications", [:])
        try await save(world)
        try await world.advance("30d")
        try await restore(world)
        let clock = try await world.send("GET", "/_sim/clock")
        #expect(clock["mode"] == "running" && clock["now"].text?.hasPrefix("2026-01-05T09") == true)
        let child = try await fork(world, as: "running-\(world.name)")
        #expect(try await child.send("GET", "/_sim/clock")["now"].text?.hasPrefix("2026-01-05T09") == true)
    }

    @Test func restoringUnderLoadAnswersEveryRequest() async throws {
        let world = try await TestWorld.make(settings: ["rate_limits": "off"])
        let session = try await world.login()
        try await save(world)
        let statuses = try await withThrowingTaskGroup(of: [Int].self) { group in
            for _ in 0..<4 {
                group.addTask {
                    var seen: [Int] = []
                    for _ in 0..<5 { seen.append(try await world.submit(session).isEmpty ? 0 : 200) }
                    return seen
                }
            }
            group.addTask {
                var seen: [Int] = []
                for _ in 0..<10 {
                    seen.append(try await world.send("PUT", "/_sim/snapshots/next").status)
                }
                return seen
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(statuses.someAndAll { [200, 201].contains($0) })
        #expect(try await world.counts()["authentications"] == 20)
        // Restores the snapshot repeatedly, while other clients send requests.
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for _ in 0..<10 { try await restore(world) } }
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<50 {
                        let status = try await world.send("GET", "/sdk/session", token: session).status
                        #expect(status == 200)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await world.counts()["authentications"] == 0)
    }

    @Test func anInvalidNameIsRefused() async throws {
        let world = try await TestWorld.make()
        let long = String(repeating: "x", count: 64)
        for name in ["a%2Fb", "..", "%2E%2E%2Fdefault", ".hidden", "-x", "a%20b", long, "%C3%A9"] {
            let path = "/_sim/snapshots/\(name)"
            for (method, path) in [("PUT", path), ("GET", path), ("DELETE", path), ("POST", path + "/restore")] {
                let answer = try await world.send(method, path)
                #expect(answer.status == 400 && answer["details.0.field"] == "name", "\(method) \(path)")
            }
        }
        #expect(try await world.send("GET", "/_sim/snapshots")["snapshots"].items.isEmpty)
    }

    @Test func aWrongRequestIsRefusedWithItsStatus() async throws {
        let world = try await TestWorld.make()
        try await save(world)
        for (method, path, body, status) in [
            ("POST", "nope/restore", nil, 404), ("POST", "nope/fork", ["namespace": "x-y"], 404),
            ("DELETE", "nope", nil, 404),
            ("GET", "nope", nil, 404), ("POST", "base/fork", [:], 400),
            ("POST", "base/fork", ["namespace": "A/b"], 400),
            ("POST", "base/fork", ["namespace": "default"], 409), ("PUT", "base", ["name": "x"], 400),
            ("POST", "base/fork", ["namespace": "x", "tll": "3m"], 400), ("POST", "base/restore?force=1", nil, 400),
        ] as [(String, String, JSONValue?, Int)] {
            let answer = try await world.send(method, "/_sim/snapshots/\(path)", body)
            #expect(answer.status == status, "\(method) \(path) \(answer.json)")
        }
        let text = try await world.send(
            "PUT", "/_sim/snapshots/base", bytes: Data("x".utf8), headers: ["Content-Type": "text/plain"])
        #expect(text.status == 415)
    }

    @Test func anInvalidArchiveIsRefusedAndLeavesNothing() async throws {
        let world = try await TestWorld.make()
        let whole = try await archive(world)
        let good = whole.withItsChecksum
        var damaged = whole
        damaged.entries[1].bytes[5000] ^= 1
        let first = try #require(good.entries.first)
        func with(_ change: (inout TarFile) -> Void) -> Data {
            var changed = good
            change(&changed)
            return changed.bytes
        }
        func saying(_ old: String, _ new: String) -> Data {
            with {
                $0.entries[0].bytes = Data(
                    String(decoding: first.bytes, as: UTF8.self).replacing(old, with: new).utf8)
            }
        }
        let cases: [(Data, String)] = [
            (damaged.bytes, "world.sqlite is damaged: its SHA-256 is "), (Data(), "manifest.json"),
            (Data(count: 10_000), "manifest.json"), (Data("hello".utf8), "truncated"),
            (good.bytes.prefix(good.bytes.count / 2), "truncated"),
            (Data(repeating: 7, count: 4096), "not an archive"),
            (with { $0.entries.removeFirst() }, "must begin with manifest.json"),
            (with { $0.entries.remove(at: 1) }, "world.sqlite"),
            (with { $0.entries.append($0.entries[1]) }, "twice"),
            (with { $0.entries.append(.init("../../etc/passwd", Data("x".utf8))) }, "../../etc/passwd"),
            (with { $0.entries.append(.init("images/../../x", Data("x".utf8))) }, "images/../../x"),
            (with { $0.entries[1].bytes = Data("SELECT".utf8) }, "not an SQLite"),
            (with { $0.entries[1].bytes.replaceSubrange(8192..<60000, with: Data(count: 51808)) }, "world.sqlite"),
            (with { $0.entries[1].bytes = $0.entries[1].bytes.prefix(40_000) }, "world.sqlite"),
            (with { $0.entries.removeLast() }, "lacks the image"),
            (with { $0.entries[2].bytes[100] ^= 1 }, "does not match the hash"),
            (with { $0.entries[1].type = "2" }, "not a plain file"),
            (saying("\"format_version\":1", "\"format_version\":2"), "newer version"),
            (saying("entrupy-sim snapshot", "a snapshot"), "not a manifest of entrupy-sim"),
            (saying("{", "["), "not a manifest of entrupy-sim"), (saying("frozen", "stopped"), "no valid clock"),
        ]
        for (bytes, words) in cases {
            let answer = try await world.send(
                "PUT", "/_sim/snapshots/bad", bytes: bytes, headers: Self.octets)
            #expect(
                answer.status == 400 && answer["error"].text?.contains(words) == true, "\(words): \(answer.json)")
        }
        #expect(try await world.send("GET", "/_sim/snapshots")["snapshots"].items.map { $0["name"] } == ["base"])
        // A valid upload is still accepted.
        let kept = try await world.send("PUT", "/_sim/snapshots/bad", bytes: good.bytes, headers: Self.octets)
        #expect(kept.status == 201, "\(kept.json)")
    }

    @Test func anUploadWithANewerSchemaOrUnknownContentIsRefused() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("snapshot-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let world = try await TestWorld.make()
        try await save(world)
        let good = try TarFile(try await world.send("GET", "/_sim/snapshots/base").body).withItsChecksum
        let rule = "INSERT INTO rules (id, kind, document, created_at, seen, hits) VALUES"
        for (sql, words) in [
            ("INSERT INTO grdb_migrations VALUES ('of tomorrow')", "newer version"),
            ("CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM items; END", "trigger t"),
            ("CREATE TABLE mine (x)", "table mine"), ("DROP INDEX due_by_time", "index due_by_time"),
            ("DROP TABLE world", "not of a namespace"),
            ("DELETE FROM world WHERE key = 'settings'", "row settings, column key: is missing"),
            ("UPDATE world SET value = '{\"quota\": -1}' WHERE key = 'settings'", "row settings, column value"),
            ("UPDATE world SET value = 'no: [seed' WHERE key = 'seed_text'", "row seed_text, column value"),
            ("UPDATE world SET value = 'x' WHERE key = 'random_seed'", "row random_seed, column value"),
            (
                "INSERT INTO due (due_at, kind, subject) VALUES (0, 'explosion', 'x')",
                "table due, row 1, column kind: must be one of"
            ),
            ("\(rule) ('r', 'fault', '{}', 0, 0, 0)", "table rules, row 1, column "),
            ("\(rule) ('r', 'outcome', '[1]', 0, 0, 0)", "table rules, row 1, column "),
        ] {
            var changed = good
            try changed.entries[1].bytes.write(to: URL(fileURLWithPath: path))
            let queue = try DatabaseQueue(path: path)
            try await queue.write { try $0.execute(sql: sql) }
            try queue.close()
            changed.entries[1].bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            let answer = try await world.send("PUT", "/_sim/snapshots/bad", bytes: changed.bytes, headers: Self.octets)
            #expect(answer.status == 400 && answer["error"].text?.contains(words) == true, "\(sql): \(answer.json)")
        }
    }
}
