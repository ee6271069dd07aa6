import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Snapshots on a disk, their archives, and their commands. `SnapshotRuleTests` has the rules.
@Suite struct SnapshotTests {
    private static let octets = ["Content-Type": "application/octet-stream"]

    private func save(_ world: TestWorld, _ name: String = "base") async throws {
        try #require(try await world.send("PUT", "/_sim/snapshots/\(name)").status == 201)
    }

    private func restore(_ world: TestWorld, _ name: String = "base") async throws {
        let answer = try await world.send("POST", "/_sim/snapshots/\(name)/restore")
        try #require(answer.status == 200, "\(answer.json)")
    }

    private func name(_ world: TestWorld) -> String { String(world.base.split(separator: "/").last!) }

    @Test func aSnapshotIsExportedAndImportedIntoAnotherServer() async throws {
        try await Process.withDirectory { directory in
            let here = try await SimProcess(["--data-dir", directory])
            let world = try await TestWorld.make(in: here)
            let session = try await world.login()
            let item = try await world.submit(session)
            try await save(world)
            let archive = try await world.send("GET", "/_sim/snapshots/base")
            #expect(archive.status == 200 && archive.headers.first(name: "content-length") == "\(archive.body.count)")
            let before = try await world.result(item, session)
            here.stop()

            let there = try await SimProcess(["--in-memory"])
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
            let first = try await SimProcess(["--data-dir", directory])
            let world = try await TestWorld.make(in: first)
            let session = try await world.login()
            let item = try await world.submit(session)
            try await save(world)
            try #require(try await world.send("POST", "/_sim/reset").status == 200)
            let good = try await world.send("GET", "/_sim/snapshots/base").body
            let cut = good.prefix(good.count / 2)
            #expect(try await world.send("PUT", "/_sim/snapshots/bad", bytes: cut, headers: Self.octets).status == 400)
            let files = FileManager.default.enumerator(atPath: directory + "/snapshots")?.allObjects as? [String]
            #expect(
                files?.filter { !$0.contains("/base.sqlite") && $0.contains(".") } == [], "an upload leaves nothing")
            let place = "/ns/\(name(world))"
            first.kill()
            for _ in 1...2 {
                // The start removes unreferenced images; these are referenced by a snapshot.
                let next = try await SimProcess(["--data-dir", directory])
                let again = TestWorld(base: next.baseURL + place)
                try #require(try await again.result(item, session).status == 401)
                #expect(try await again.send("GET", "/_sim/snapshots")["snapshots.0.images"].double ?? 0 > 0)
                #expect(try await again.send("GET", "/_sim/snapshots/base").status == 200)
                next.kill()
            }
            let last = try await SimProcess(["--data-dir", directory])
            let again = TestWorld(base: last.baseURL + place)
            try await restore(again)
            #expect(try await again.result(item, session).status == 200)
            _ = try await TestWorld(base: last.baseURL).send("DELETE", "/_sim/namespaces/\(name(world))")
            last.stop()
            let left = FileManager.default.enumerator(atPath: directory + "/snapshots")?.allObjects ?? []
            #expect(left.isEmpty)
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
