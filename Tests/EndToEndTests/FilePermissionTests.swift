import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Files hold tokens, so only the owner may read what the server and the command line write.
@Suite struct FilePermissionTests {
    /// Every file and folder below a directory that others may read, with its mode.
    private func openToOthers(below directory: String) throws -> [String] {
        let names = try #require(FileManager.default.enumerator(atPath: directory)?.allObjects as? [String])
        try #require(names.count > 5)
        return try names.compactMap { name in
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(directory)/\(name)")
            let mode = try #require(attributes[.posixPermissions] as? Int)
            let isFolder = attributes[.type] as? FileAttributeType == .typeDirectory
            return mode == (isFolder ? 0o700 : 0o600) ? nil : "\(name) \(String(mode, radix: 8))"
        }
    }

    /// Calls everything that writes a file.
    private func fill(_ world: TestWorld, _ directory: String) async throws {
        let session = try await world.login()
        _ = try await world.submit(session)
        for name in ["one", "two"] {
            try #require(try await world.send("PUT", "/_sim/snapshots/\(name)").status == 201)
        }
        let archive = try await world.send("GET", "/_sim/snapshots/one").body
        try #require(
            try await world.send(
                "PUT", "/_sim/snapshots/carried", bytes: archive, headers: ["Content-Type": "application/octet-stream"]
            ).status == 201)
        try #require(try await world.send("POST", "/_sim/snapshots/two/restore").status == 200)
        try #require(
            try await world.send("POST", "/_sim/snapshots/two/fork", ["namespace": "branch"]).status == 201)
        let scenario = Data("{\"name\": \"mine\", \"description\": \"mine\"}".utf8)
        try #require(
            try await world.send(
                "PUT", "/_sim/scenarios/mine", bytes: scenario, headers: ["Content-Type": "application/json"]
            ).status == 201)
        _ = try await world.submit(session)
    }

    @Test func onlyTheOwnerCanReadTheFilesOfAServer() async throws {
        try await Process.withDirectory { directory in
            let server = try await SimProcess(["--data-dir", directory])
            let world = TestWorld(base: server.baseURL)
            try await fill(world, directory)
            // While the server runs there are also write-ahead logs, locks and images.
            #expect(try openToOthers(below: directory) == [])
            #expect(FileManager.default.fileExists(atPath: directory + "/namespaces/default.sqlite-wal"))
            server.stop()
            #expect(try openToOthers(below: directory) == [])
        }
    }

    @Test func aDirectoryOfAnOlderVersionIsClosedToOthers() async throws {
        try await Process.withDirectory { directory in
            let first = try await SimProcess(["--data-dir", directory])
            try await fill(TestWorld(base: first.baseURL), directory)
            first.stop()
            for name in ["", "/namespaces", "/snapshots", "/images", "/templates", "/scenarios"] {
                chmod(directory + name, 0o755)
            }
            chmod(directory + "/namespaces/default.sqlite", 0o644)
            let second = try await SimProcess(["--data-dir", directory])
            defer { second.stop() }
            #expect(try openToOthers(below: directory) == [])
            // The directory itself may be shared on purpose, so its mode is not changed.
            let attributes = try FileManager.default.attributesOfItem(atPath: directory)
            #expect(attributes[.posixPermissions] as? Int == 0o755)
        }
    }

    @Test func onlyTheOwnerCanReadTheFilesOfTheCommandLine() async throws {
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let world = try await TestWorld.make()
            try #require(try await world.send("PUT", "/_sim/snapshots/one").status == 201)
            let common = ["-n", String(world.base.split(separator: "/").last!), "--url", SimProcess.shared.baseURL]
            for (name, command) in [("one.tar", ["snapshot", "export", "one"]), ("all.tar", ["bundle"])] {
                let file = "\(directory)/\(name)"
                // The file replaces one that everyone could read.
                try #require(FileManager.default.createFile(atPath: file, contents: Data("old".utf8)))
                chmod(file, 0o644)
                let run = try await SimProcess.run(command + ["-o", file] + common)
                try #require(run.status == 0, "\(run.output)")
                let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
                #expect(mode == 0o600, "\(name)")
            }
        }
    }
}
