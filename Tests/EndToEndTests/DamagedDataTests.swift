import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Files of a data directory that were damaged while no server ran, or under one.
@Suite struct DamagedDataTests {
    /// How a namespace's file is damaged.
    enum Damage: String, CaseIterable, Sendable {
        case truncated, empty, garbage, pages, folder, pipe

        func apply(to path: String) throws {
            let url = URL(fileURLWithPath: path)
            let bytes = try Data(contentsOf: url)
            switch self {
            case .truncated: try bytes.prefix(bytes.count / 3).write(to: url)
            case .empty: try Data().write(to: url)
            case .garbage: try Data(repeating: 0x5a, count: 20_000).write(to: url)
            case .pages:
                // The header says what it said.
                try (bytes.prefix(100) + Data(repeating: 0xff, count: bytes.count - 100)).write(to: url)
            case .folder:
                try FileManager.default.removeItem(at: url)
                try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
            case .pipe:
                try FileManager.default.removeItem(at: url)
                #expect(mkfifo(path, 0o600) == 0)
            }
        }
    }

    /// Makes the namespaces `broken` and `whole` with an item each, stops the server, and damages the first.
    ///
    /// - Parameter hasNote: whether the note that stands for an idle namespace stays, so that the file is first opened at its first use.
    private func prepare(_ directory: String, _ damage: Damage, hasNote: Bool) async throws {
        let server = try await SimProcess(["--data-dir", directory])
        for name in ["broken", "whole"] {
            let root = TestWorld(base: server.baseURL)
            #expect(try await root.send("PUT", "/_sim/namespaces/\(name)").status == 201)
            let world = TestWorld(base: "\(server.baseURL)/ns/\(name)")
            let made = try await world.send("POST", "/_sim/authentications", ["template": [:], "count": 3])
            #expect(made.status < 300, "\(made.text)")
        }
        #expect(server.stop() == 0)
        let path = "\(directory)/namespaces/broken.sqlite"
        // There is none for a namespace that was busy.
        if !hasNote { try? FileManager.default.removeItem(atPath: path + ".rest") }
        try damage.apply(to: path)
    }

    private func count(_ world: TestWorld) async throws -> Double? {
        try await world.send("GET", "/_sim/info")["namespace.counts.authentications"].double
    }

    @Test(arguments: zip(Damage.allCases, [true, false, true, false, true, false]))
    func aBrokenNamespaceIsSetAsideAndTheOthersOpen(damage: Damage, hasNote: Bool) async throws {
        try await Process.withDirectory { directory in
            try await prepare(directory, damage, hasNote: hasNote)
            let server = try await SimProcess(["--data-dir", directory])
            defer { server.stop() }
            let (broken, whole) = (
                TestWorld(base: "\(server.baseURL)/ns/broken"), TestWorld(base: "\(server.baseURL)/ns/whole")
            )
            let refused = try await broken.send("GET", "/_sim/users")
            #expect(
                refused.status == 503 && refused["error"].text?.contains("broken.sqlite") == true, "\(refused.text)")
            #expect(try await count(whole) == 3)
            let info = try await whole.send("GET", "/_sim/info")
            #expect(info["damaged.0.name"] == "broken" && info["damaged.1"] == .null, "\(info["damaged"])")
            #expect(info["damaged.0.problem"].text?.contains("broken.sqlite") == true)
            let list = try await whole.send("GET", "/_sim/namespaces")
            let listed = (list["namespaces"].elements ?? []).compactMap { $0["name"].text }
            #expect(list["damaged.0.name"] == "broken" && listed == ["default", "whole"], "\(listed)")
            let doctor = try await SimProcess.run(["doctor", "--url", server.baseURL])
            #expect(doctor.output.contains("namespaces: broken cannot be opened"), "\(doctor.output)")
            #expect(FileManager.default.fileExists(atPath: "\(directory)/namespaces/broken.sqlite"))

            // A reset begins anew, and keeps the file under another name.
            let reset = try await broken.send("POST", "/_sim/reset")
            #expect(reset.status == 200, "\(reset.text)")
            #expect(try await broken.send("GET", "/_sim/users").status == 200)
            #expect(FileManager.default.fileExists(atPath: "\(directory)/namespaces/broken.sqlite.damaged"))
            #expect(try await whole.send("GET", "/_sim/info")["damaged.0"] == .null)
        }
    }

    /// The server's own routes need no namespace, though one without a name in its path is about the default one.
    @Test func aBrokenDefaultNamespaceAnswersForItselfAlone() async throws {
        try await Process.withDirectory { directory in
            try await prepare(directory, .garbage, hasNote: false)
            try Damage.garbage.apply(to: "\(directory)/namespaces/default.sqlite")
            let server = try await SimProcess(["--data-dir", directory])
            defer { server.stop() }
            let world = TestWorld(base: server.baseURL)
            #expect(try await world.send("GET", "/_sim/users").status == 503)
            let list = try await world.send("GET", "/_sim/namespaces")
            #expect(list["namespaces.0.name"] == "whole" && list["damaged.1.name"] == "default", "\(list.text)")
            for path in ["/openapi.yaml", "/_sim/docs", "/_sim/metrics"] {
                #expect(try await world.send("GET", path).status == 200, "\(path)")
            }
            #expect(try await world.send("DELETE", "/_sim/namespaces/broken").status == 204)
            let doctor = try await SimProcess.run(["doctor", "--url", server.baseURL])
            #expect(doctor.status == 1 && doctor.output.contains("default.sqlite"), "\(doctor.output)")
            #expect(try await world.send("POST", "/_sim/reset").status == 200)
            #expect(try await world.send("GET", "/_sim/users").status == 200)
        }
    }

    /// A file that was brought back is reset as any other: with the values of its namespace, and without another file.
    @Test func aNamespaceThatWasBroughtBackKeepsItsValuesAtAReset() async throws {
        try await Process.withDirectory { directory in
            var server = try await SimProcess(["--data-dir", directory])
            let made = try await TestWorld(base: server.baseURL).send(
                "PUT", "/_sim/namespaces/broken", ["random_seed": 77])
            #expect(made.status == 201)
            #expect(server.stop() == 0)
            let path = "\(directory)/namespaces/broken.sqlite"
            let whole = try Data(contentsOf: URL(fileURLWithPath: path))
            try Damage.garbage.apply(to: path)
            server = try await SimProcess(["--data-dir", directory])
            defer { server.stop() }
            let world = TestWorld(base: "\(server.baseURL)/ns/broken")
            #expect(try await world.send("GET", "/_sim/users").status == 503)
            // It opens without a restart.
            try whole.write(to: URL(fileURLWithPath: path))
            #expect(try await count(world) == 0)
            #expect(try await world.send("GET", "/_sim/info")["damaged.0"] == .null)
            #expect(try await world.send("POST", "/_sim/reset")["random_seed"] == 77)
            #expect(!FileManager.default.fileExists(atPath: path + ".damaged"))
        }
    }

    @Test(arguments: [Damage.garbage, .folder])
    func aBrokenNamespaceIsDeleted(damage: Damage) async throws {
        try await Process.withDirectory { directory in
            try await prepare(directory, damage, hasNote: false)
            var server = try await SimProcess(["--data-dir", directory])
            let root = TestWorld(base: server.baseURL)
            #expect(try await root.send("DELETE", "/_sim/namespaces/broken").status == 204)
            #expect(try await root.send("GET", "/_sim/info")["damaged.0"] == .null)
            let made = try await root.send("PUT", "/_sim/namespaces/broken")
            #expect(made.status == 201 && made["counts.authentications"].double == 0, "\(made.text)")
            #expect(server.stop() == 0)
            server = try await SimProcess(["--data-dir", directory])
            defer { server.stop() }
            #expect(try await count(TestWorld(base: "\(server.baseURL)/ns/broken")) == 0)
        }
    }

    @Test func aBrokenSnapshotIsNamedBesideTheOthersAndDeleted() async throws {
        try await Process.withDirectory { directory in
            let server = try await SimProcess(["--data-dir", directory])
            defer { server.stop() }
            let root = TestWorld(base: server.baseURL)
            for name in ["one", "two", "three"] {
                #expect(try await root.send("PUT", "/_sim/snapshots/\(name)").status == 201)
            }
            for name in ["one", "two"] { try Damage.garbage.apply(to: "\(directory)/snapshots/default/\(name).sqlite") }
            let list = try await root.send("GET", "/_sim/snapshots")
            #expect(list["snapshots.0.name"] == "three" && list["snapshots.1"] == .null, "\(list.text)")
            #expect(list["damaged.0.name"] == "one" && list["damaged.1.name"] == "two")
            #expect(list["damaged.0.problem"].text?.contains("one.sqlite") == true)
            #expect(try await root.send("POST", "/_sim/snapshots/one/restore").status == 503)
            #expect(try await root.send("DELETE", "/_sim/snapshots/one").status == 204)
            // One of the same name takes its place.
            #expect(try await root.send("PUT", "/_sim/snapshots/two").status < 300)
            let after = try await root.send("GET", "/_sim/snapshots")
            #expect(after["snapshots.1.name"] == "two" && after["damaged.0"] == .null, "\(after.text)")
        }
    }
}
