import Foundation
import GRDB
import Hashes
import Outgoing
import SimulationAPI
import TestSupport
import Testing

/// Tests of `/_sim/snapshots`: save, restore, fork, export and import.
@Suite struct SnapshotTests {
    private static let octets = ["Content-Type": "application/octet-stream"]

    private func save(_ world: TestWorld, _ name: String = "base") async throws {
        try #require(try await world.send("PUT", "/_sim/snapshots/\(name)").status == 201)
    }

    private func restore(_ world: TestWorld, _ name: String = "base") async throws {
        let answer = try await world.send("POST", "/_sim/snapshots/\(name)/restore")
        try #require(answer.status == 200, "\(answer.json)")
    }

    /// Saves a snapshot, forks a namespace from it, and returns that.
    private func fork(_ world: TestWorld, _ name: String = "base", as child: String) async throws -> TestWorld {
        let answer = try await world.send("POST", "/_sim/snapshots/\(name)/fork", ["namespace": .string(child)])
        try #require(answer.status == 201, "\(answer.json)")
        return TestWorld(base: try #require(answer["url"].text))
    }

    private func name(_ world: TestWorld) -> String { String(world.base.split(separator: "/").last!) }

    @Test(arguments: [["--in-memory"], ["--data-dir"]])
    func aRestoreReturnsToTheSavedState(way: [String]) async throws {
        try await Process.withDirectory { directory in
            let server = try SimProcess(way == ["--data-dir"] ? way + [directory] : way)
            defer { server.stop() }
            let world = try await TestWorld.make(in: server)
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
    }

    @Test func aForkIsIndependentAndAnswersAsItsParentWould() async throws {
        let parent = try await TestWorld.make()
        let session = try await parent.login()
        try await save(parent)
        let child = try await fork(parent, as: "branch-\(name(parent))")
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
        let child = try await fork(world, as: "running-\(name(world))")
        #expect(try await child.send("GET", "/_sim/clock")["now"].text?.hasPrefix("2026-01-05T09") == true)
    }

    @Test func aSnapshotIsExportedAndImportedIntoAnotherServer() async throws {
        try await Process.withDirectory { directory in
            let here = try SimProcess(["--data-dir", directory])
            let world = try await TestWorld.make(in: here)
            let session = try await world.login()
            let item = try await world.submit(session)
            try await save(world)
            let archive = try await world.send("GET", "/_sim/snapshots/base")
            #expect(archive.status == 200 && archive.headers.first(name: "content-length") == "\(archive.body.count)")
            let before = try await world.result(item, session)
            here.stop()

            let there = try SimProcess(["--in-memory"])
            defer { there.stop() }
            let other = TestWorld(base: there.baseURL)
            let kept = try await other.send(
                "PUT", "/_sim/snapshots/carried", bytes: archive.body, headers: Self.octets)
            #expect(kept.status == 201 && kept["name"] == "carried" && kept["namespace"] == "default")
            #expect(kept["images"].double ?? 0 > 0)
            try await restore(other, "carried")
            let after = try await other.result(item, session)
            #expect(after.status == 200 && after["status"] == before["status"])
            let v2 = try await other.send(
                "GET", "/v2/authentications/\(item)?include_images=true", token: TestWorld.apiToken)
            let image = try #require(v2.json.firstText { $0.contains("/images/") })
            let picture = try await other.send(
                "GET", String(image.dropFirst(there.baseURL.count)), token: TestWorld.apiToken)
            #expect(picture.status == 200 && picture.body == TestWorld.picture)
            // A second export has the same size.
            let again = try await other.send("GET", "/_sim/snapshots/carried")
            #expect(again.status == 200 && again.body.count == archive.body.count)
        }
    }

    @Test func snapshotsAndTheirPicturesOutliveAKilledServerAndAReset() async throws {
        try await Process.withDirectory { directory in
            let first = try SimProcess(["--data-dir", directory])
            let world = try await TestWorld.make(in: first)
            let session = try await world.login()
            let item = try await world.submit(session)
            try await save(world)
            try #require(try await world.send("POST", "/_sim/reset").status == 200)
            let place = "/ns/\(name(world))"
            first.kill()
            for _ in 1...2 {
                // The start removes unreferenced images; these are referenced by a snapshot.
                let next = try SimProcess(["--data-dir", directory])
                let again = TestWorld(base: next.baseURL + place)
                try #require(try await again.result(item, session).status == 401)
                #expect(try await again.send("GET", "/_sim/snapshots")["snapshots.0.images"].double ?? 0 > 0)
                #expect(try await again.send("GET", "/_sim/snapshots/base").status == 200)
                next.kill()
            }
            let last = try SimProcess(["--data-dir", directory])
            let again = TestWorld(base: last.baseURL + place)
            try await restore(again)
            #expect(try await again.result(item, session).status == 200)
            _ = try await TestWorld(base: last.baseURL).send("DELETE", "/_sim/namespaces/\(name(world))")
            last.stop()
            let left = FileManager.default.enumerator(atPath: directory + "/snapshots")?.allObjects ?? []
            #expect(left.isEmpty)
        }
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

    @Test(arguments: [
        "a%2Fb", "..", "%2E%2E%2Fdefault", ".hidden", "-x", "a b", String(repeating: "x", count: 64), "é",
    ])
    func anInvalidNameIsRefused(name: String) async throws {
        let world = try await TestWorld.make()
        let escaped = name.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? name
        let path = "/_sim/snapshots/\(name.contains("%") ? name : escaped)"
        for (method, path) in [("PUT", path), ("GET", path), ("DELETE", path), ("POST", path + "/restore")] {
            let answer = try await world.send(method, path)
            #expect(answer.status == 400 && answer["details.0.field"] == "name", "\(method) \(path) \(answer.json)")
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

    @Test func anInvalidSnapshotIsRefusedAndLeavesNothing() async throws {
        try await Process.withDirectory { directory in
            let server = try SimProcess(["--data-dir", directory])
            defer { server.stop() }
            let world = try await TestWorld.make(in: server)
            let session = try await world.login()
            _ = try await world.submit(session)
            try await save(world)
            let whole = try TarFile(try await world.send("GET", "/_sim/snapshots/base").body)
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
            let files = FileManager.default.enumerator(atPath: directory + "/snapshots")?.allObjects as? [String]
            #expect(files?.filter { !$0.contains("/base.sqlite") && $0.contains(".") } == [])
            // A valid upload is still accepted.
            let kept = try await world.send("PUT", "/_sim/snapshots/bad", bytes: good.bytes, headers: Self.octets)
            #expect(kept.status == 201, "\(kept.json)")
        }
    }

    @Test func anUploadWithANewerSchemaOrUnknownContentIsRefused() async throws {
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let world = try await TestWorld.make()
            try await save(world)
            let good = try TarFile(try await world.send("GET", "/_sim/snapshots/base").body).withItsChecksum
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
                (
                    "INSERT INTO rules (id, kind, document, created_at, seen, hits) VALUES ('r', 'fault', '{}', 0, 0, 0)",
                    "table rules, row 1, column "
                ),
                (
                    "INSERT INTO rules (id, kind, document, created_at, seen, hits) VALUES ('r', 'outcome', '[1]', 0, 0, 0)",
                    "table rules, row 1, column "
                ),
            ] {
                var changed = good
                let path = directory + "/world.sqlite"
                try changed.entries[1].bytes.write(to: URL(fileURLWithPath: path))
                let queue = try DatabaseQueue(path: path)
                try await queue.write { try $0.execute(sql: sql) }
                try queue.close()
                changed.entries[1].bytes = try Data(contentsOf: URL(fileURLWithPath: path))
                let answer = try await world.send(
                    "PUT", "/_sim/snapshots/bad", bytes: changed.bytes, headers: Self.octets)
                #expect(answer.status == 400 && answer["error"].text?.contains(words) == true, "\(sql): \(answer.json)")
            }
        }
    }

    // MARK: Deleted meanwhile

    /// The world of an archive matches the checksum in its manifest.
    private func isWhole(_ archive: Data) throws -> Bool {
        let file = try TarFile(archive)
        let manifest = try WireJSON.decode(JSONValue.self, from: try #require(file.entries.first).bytes)
        let world = try #require(file.entries.first { $0.name == "world.sqlite" })
        return manifest["world_sha256"].text
            == SHA256.hash(data: world.bytes).map { String(format: "%02x", $0) }.joined()
    }

    @Test(arguments: [["--in-memory"], ["--data-dir"]])
    func aDownloadThatBeganIsWholeAlthoughTheSnapshotIsDeleted(way: [String]) async throws {
        try await Process.withDirectory { directory in
            let server = try SimProcess(way == ["--data-dir"] ? way + [directory] : way)
            defer { server.stop() }
            let world = TestWorld(base: server.baseURL)
            // More than what the sockets hold.
            try #require(try await world.send("POST", "/_sim/authentications", ["count": 10_000]).status == 201)
            try await save(world)
            let request = try OutgoingRequest(.GET, world.base + "/_sim/snapshots/base")
            try await OutgoingClient.patient.exchange(request) { response in
                try #require(response.status == 200)
                var archive = Data()
                for try await part in response.body {
                    if archive.isEmpty {
                        try #require(try await world.send("DELETE", "/_sim/snapshots/base").status == 204)
                        #expect(try await world.send("GET", "/_sim/snapshots/base").status == 404)
                    }
                    archive += part.readableBytesView
                }
                #expect(
                    archive.count > 5_000_000
                        && response.headers.first(name: "content-length") == "\(archive.count)")
                #expect(try isWhole(archive))
            }
        }
    }

    /// Whatever comes first: there is an answer that says so.
    @Test(arguments: [["--in-memory"], ["--data-dir"]])
    func aSnapshotThatIsDeletedWhileItIsUsedIsMissingOrInConflict(way: [String]) async throws {
        try await Process.withDirectory { directory in
            let server = try SimProcess(way == ["--data-dir"] ? way + [directory] : way)
            defer { server.stop() }
            let world = TestWorld(base: server.baseURL)
            for round in 0..<40 {
                _ = try await world.send("PUT", "/_sim/snapshots/base")
                let answers = try await withThrowingTaskGroup(of: (String, Answer).self) { group in
                    group.addTask { ("restore", try await world.send("POST", "/_sim/snapshots/base/restore")) }
                    group.addTask {
                        let child: JSONValue = ["namespace": .string("child-\(round)")]
                        return ("fork", try await world.send("POST", "/_sim/snapshots/base/fork", child))
                    }
                    group.addTask { ("download", try await world.send("GET", "/_sim/snapshots/base")) }
                    group.addTask { ("delete", try await world.send("DELETE", "/_sim/snapshots/base")) }
                    return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
                }
                let restore = try #require(answers["restore"])
                #expect([200, 404, 409].contains(restore.status), "\(restore.status) \(restore.text)")
                let fork = try #require(answers["fork"])
                #expect([201, 404, 409].contains(fork.status), "\(fork.status) \(fork.text)")
                for answer in [restore, fork] where answer.status == 409 {
                    #expect(answer["error"].text?.contains("was deleted or replaced") == true, "\(answer.text)")
                }
                let download = try #require(answers["download"])
                #expect([200, 404].contains(download.status), "\(download.status) \(download.text.prefix(300))")
                if download.status == 200 { #expect(try isWhole(download.body)) }
                #expect(answers["delete"]?.status == 204)
            }
        }
    }

    @Test func theCommandsDoWhatTheRoutesDo() async throws {
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let world = try await TestWorld.make()
            let common = ["-n", name(world), "--url", SimProcess.shared.baseURL]
            func run(_ arguments: String...) async throws -> (status: Int32, output: String) {
                try await SimProcess.run(["snapshot"] + arguments + common)
            }
            #expect(try await run("list").output == "no snapshots\n")
            #expect(try await run("save", "one").output.hasPrefix("one saved: 0 items"))
            #expect(try await run("list").output.contains("one "))
            let file = directory + "/one.tar"
            #expect(try await run("export", "one", "-o", file).output.hasPrefix(file))
            #expect(try await run("import", "two", file).output.hasPrefix("two imported"))
            #expect(try await run("restore", "two").output.contains("restored to two"))
            #expect(
                try await run("fork", "two", "cli-\(name(world))").output
                    == "\(SimProcess.shared.baseURL)/ns/cli-\(name(world))\n")
            #expect(try await run("delete", "one").output == "deleted one\n")
            let gone = try await run("restore", "one")
            #expect(gone.status == 1 && gone.output.contains("there is no snapshot \"one\""))
            let none = try await run("import", "x", directory + "/nothing")
            #expect(none.status == 64 && none.output.contains("cannot be read"))
            let wrong = try await run("import", "x", "/bin/sh")
            #expect(wrong.status == 64 && wrong.output.contains("is not a valid snapshot"), "\(wrong.output)")
            let unwritable = try await run("export", "two", "-o", directory + "/no/such/place")
            #expect(unwritable.status == 64 && unwritable.output.contains("cannot be written"))
        }
    }
}

extension JSONValue {
    /// The first text in this value that `matches`.
    fileprivate func firstText(where matches: @escaping (String) -> Bool) -> String? {
        switch self {
        case .string(let text): matches(text) ? text : nil
        case .array(let elements): elements.lazy.compactMap { $0.firstText(where: matches) }.first
        case .object(let members): members.values.lazy.compactMap { $0.firstText(where: matches) }.first
        default: nil
        }
    }
}
