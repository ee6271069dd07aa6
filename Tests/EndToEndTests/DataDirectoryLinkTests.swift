import Foundation
import SimulationAPI
import TestSupport
import Testing

/// Links in a data directory, and files that other users can access. Storage's own tests have a table of all places.
@Suite struct DataDirectoryLinkTests {
    /// A data directory that a server has used, with an authority and one of everything, and a folder beside it.
    private func withUsedDirectory(_ body: (_ data: String, _ elsewhere: String) async throws -> Void) async throws {
        try await Process.withDirectory { directory in
            let (data, elsewhere) = (directory + "/data", directory + "/elsewhere")
            try FileManager.default.createDirectory(atPath: elsewhere, withIntermediateDirectories: true)
            let server = try await SimProcess(["--data-dir", data] + SimProcess.securePort)
            let world = TestWorld(base: server.baseURL)
            let session = try await world.login()
            _ = try await world.submit(session)
            try #require(try await world.send("PUT", "/_sim/snapshots/one").status == 201)
            let scenario: JSONValue = ["name": "mine", "description": "mine"]
            try #require(try await world.send("PUT", "/_sim/scenarios/mine", scenario).status == 201)
            server.stop()
            try await body(data, elsewhere)
        }
    }

    /// Moves a file or folder away, and puts a link to it in its place.
    private func link(_ name: String, in data: String, to elsewhere: String) throws -> String {
        let target = elsewhere + "/target"
        try FileManager.default.moveItem(atPath: "\(data)/\(name)", toPath: target)
        try FileManager.default.createSymbolicLink(atPath: "\(data)/\(name)", withDestinationPath: target)
        return target
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    private static let places =
        ["lock", "namespaces/default.sqlite"]
        + (SimProcess.hasHTTPS ? ["authority", "authority/authority-key.pem", "authority/authority.pem"] : [])

    @Test(arguments: places)
    func aServerWithALinkInItsDataDirectoryDoesNotStart(name: String) async throws {
        try await withUsedDirectory { data, elsewhere in
            let target = try link(name, in: data, to: elsewhere)
            var isFolder: ObjCBool = false
            try #require(FileManager.default.fileExists(atPath: target, isDirectory: &isFolder))
            chmod(target, isFolder.boolValue ? 0o755 : 0o644)
            let before = isFolder.boolValue ? nil : FileManager.default.contents(atPath: target)
            let names = try FileManager.default.subpathsOfDirectory(atPath: elsewhere)
            let refused = await #expect(throws: SimProcess.NotStarted.self) {
                _ = try await SimProcess(["--data-dir", data] + SimProcess.securePort)
            }
            #expect(refused?.status == 1)
            #expect(refused?.output.contains("\(data)/\(name) is a symbolic link") == true, "\(refused?.output ?? "")")
            #expect(refused?.output.contains("remove the link") == true)
            #expect(try mode(target) == (isFolder.boolValue ? 0o755 : 0o644))
            if let before { #expect(FileManager.default.contents(atPath: target) == before) }
            #expect(try FileManager.default.subpathsOfDirectory(atPath: elsewhere) == names)
        }
    }

    @Test func aLinkThatAppearsLaterIsAnsweredWith503() async throws {
        try await withUsedDirectory { data, elsewhere in
            let server = try await SimProcess(["--data-dir", data])
            defer { server.stop() }
            let world = TestWorld(base: server.baseURL)
            for (name, method, path) in [
                ("snapshots/default/one.sqlite", "GET", "/_sim/snapshots/one"),
                ("snapshots/default/one.sqlite", "DELETE", "/_sim/snapshots/one"),
                ("scenarios/default/mine.yaml", "POST", "/_sim/scenarios/mine/start"),
            ] {
                let target = try link(name, in: data, to: elsewhere)
                let before = FileManager.default.contents(atPath: target)
                let answer = try await world.send(method, path)
                #expect(answer.status == 503, "\(method) \(path): \(answer.text)")
                #expect(answer["error"].text?.contains("\(data)/\(name) is a symbolic link") == true, "\(answer.text)")
                #expect(FileManager.default.contents(atPath: target) == before)
                try FileManager.default.removeItem(atPath: "\(data)/\(name)")
                try FileManager.default.moveItem(atPath: target, toPath: "\(data)/\(name)")
            }
            #expect(try await world.send("GET", "/_sim/snapshots/one").status == 200)
        }
    }

    // MARK: Modes

    @Test(.enabled(if: SimProcess.hasHTTPS, SimProcess.needsHTTPS)) func modesAreRepairedAndTheLogSaysSo() async throws
    {
        try await withUsedDirectory { data, _ in
            let key = data + "/authority/authority-key.pem"
            let database = data + "/namespaces/default.sqlite"
            for path in [key, database] { chmod(path, 0o666) }
            for path in [data + "/authority", data + "/namespaces"] { chmod(path, 0o777) }
            let server = try await SimProcess(["--data-dir", data] + SimProcess.securePort)
            server.stop()
            for path in [key, database] { #expect(try mode(path) == 0o600, "\(path)") }
            for path in [data + "/authority", data + "/namespaces"] { #expect(try mode(path) == 0o700, "\(path)") }
            let lines = server.greeting.split(separator: "\n").filter { $0.contains(" warning ") }
            #expect(lines.contains { $0.contains(data) && $0.contains("(mode 777)") }, "\(server.greeting)")
            #expect(
                lines.contains { $0.contains("\(key) was open to other users") && $0.contains("mode 666") },
                "\(server.greeting)")
            #expect(
                lines.contains { $0.contains("\(data)/authority was open to other users") && $0.contains("mode 777") })
            let next = try await SimProcess(["--data-dir", data] + SimProcess.securePort)
            next.stop()
            #expect(!next.greeting.contains(" warning "), "\(next.greeting)")
        }
    }

    #if os(Linux)
        private static let setpriv = "/usr/bin/setpriv"
        private static let asNobody = [setpriv, "--reuid=65534", "--regid=65534", "--clear-groups"]
        /// Whether a program runs as another user and can read its arguments then, which is not so where /proc is closed to it.
        static let canBecomeNobody =
            geteuid() == 0
            && (try? SimProcess.runBlocking(
                Array(asNobody.dropFirst()) + [SimProcess.path, "--version"], program: setpriv))?
                .output.first?.isNumber == true

        /// Files of root, which the server's user may read and cannot restrict.
        @Test(
            .enabled(if: canBecomeNobody, "this user cannot run a program as another"),
            .enabled(if: SimProcess.hasHTTPS, SimProcess.needsHTTPS))
        func modesThatCannotBeSetAreReported() async throws {
            try await Process.withDirectory { directory in
                let data = directory + "/data"
                try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
                for path in [directory, data] { try #require(chown(path, 65_534, 65_534) == 0) }
                let arguments = ["--data-dir", data, "--tls-port", "0"]
                let first = try await SimProcess(arguments, within: Self.asNobody)
                #expect(!first.greeting.contains(" warning "), "\(first.greeting)")
                first.stop()
                let key = data + "/authority/authority-key.pem"
                for (path, mode) in [(key, 0o644), (data + "/templates", 0o777)] as [(String, mode_t)] {
                    try #require(chown(path, 0, 0) == 0 && chmod(path, mode) == 0)
                }
                let second = try await SimProcess(arguments, within: Self.asNobody)
                second.stop()
                let lines = second.greeting.split(separator: "\n").filter { $0.contains(" warning ") }
                #expect(
                    lines.contains {
                        $0.contains("\(data)/templates (mode 777): Operation not permitted")
                            && $0.contains("cannot be set")
                    }, "\(second.greeting)")
                #expect(
                    lines.contains { $0.contains(key) && $0.contains("cannot be changed: Operation not permitted") })
            }
        }
    #endif
}
