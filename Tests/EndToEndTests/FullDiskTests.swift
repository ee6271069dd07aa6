import Foundation
import SimulationAPI
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc

    /// Answers and `/_sim/ready` while the data directory cannot be written, and that the server continues afterwards.
    @Suite struct FullDiskTests {
        /// Runs a program of the system. Returns whether it succeeded.
        private static func runs(_ program: String, _ arguments: [String]) -> Bool {
            (try? SimProcess.runBlocking(arguments, program: program))?.status == 0
        }

        /// Makes ever smaller writes until even the smallest fails, and returns its answer.
        private func fill(_ root: TestWorld) async throws -> Answer {
            func write(_ request: () async throws -> Answer) async throws -> Answer {
                while true {
                    let answer = try await request()
                    if answer.status >= 300 { return answer }
                }
            }
            for count in [500, 1] {
                _ = try await write {
                    try await root.send("POST", "/_sim/authentications", ["count": .number(JSONNumber(count))])
                }
            }
            return try await write { try await root.send("PATCH", "/_sim/settings", ["quota": 7]) }
        }

        private static let prlimit = "/usr/bin/prlimit"

        /// Limits the size of files, which needs no privileges and no mount.
        @Test(.enabled(if: runs(prlimit, ["--version"]), "there is no prlimit"))
        func aDatabaseThatCannotGrowMakesTheServerUnready() async throws {
            try await Process.withDirectory { directory in
                let server = try await SimProcess(["--data-dir", directory])
                defer { server.stop() }
                let root = TestWorld(base: server.baseURL)
                func limit(_ size: String) throws {
                    try #require(
                        Self.runs(Self.prlimit, ["--pid", "\(server.processID)", "--fsize=\(size):unlimited"]))
                }
                #expect(try await root.send("GET", "/_sim/ready").status == 200)
                // Smaller than the database, so a checkpoint into it fails too.
                try limit("100000")
                let refused = try await fill(root)
                let items = try await root.counts()["authentications"]
                #expect(refused.status == 503)
                #expect(
                    refused["error"].text?.contains("\(directory)/namespaces/default.sqlite") == true, "\(refused.json)"
                )
                #expect(refused["error"].text?.contains("not an error") == false, "\(refused.json)")
                let unready = try await root.send("GET", "/_sim/ready")
                #expect(unready.status == 503 && unready["error"].text?.contains(directory) == true, "\(unready.json)")
                #expect(try await root.send("GET", "/_sim/health").status == 200, "it is alive, and can be asked")
                #expect(try await root.counts()["authentications"] == items)
                try limit("unlimited")
                #expect(try await root.send("GET", "/_sim/ready").status == 200)
                #expect(try await root.send("POST", "/_sim/authentications", ["count": 500]).status == 201)
            }
        }

        private static let unshare = "/usr/bin/unshare"
        private static let canMount = runs(unshare, ["-m", "mount", "-t", "tmpfs", "none", "/mnt"])

        @Test(.enabled(if: canMount, "this user may not mount"))
        func aFullDiskIsNamedAndTheServerIsReadyOnceThereIsRoom() async throws {
            try await Process.withDirectory { directory in
                try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
                // Only the server sees the mount. Its files are reached through its process.
                let mount = "mount -t tmpfs -o size=8m none '\(directory)' && exec \"$@\""
                let server = try await SimProcess(
                    ["--data-dir", directory], within: [Self.unshare, "-m", "sh", "-c", mount, "sh"])
                defer { server.stop() }
                let root = TestWorld(base: server.baseURL)
                let session = try await root.login()
                let capture = try await root.startCapture(session)
                let filler = "/proc/\(server.processID)/root\(directory)/filler"
                try fill(filler)
                for (method, path, body) in [
                    ("POST", "/_sim/authentications", ["count": 500]), ("PUT", "/_sim/snapshots/full", [:]),
                    ("PUT", "/_sim/namespaces/full", [:]),
                    ("PUT", "/_sim/scenarios/full", ["name": "full", "description": "x"]),
                ] as [(String, String, JSONValue)] {
                    let answer = try await root.send(method, path, body)
                    let error = answer["error"].text ?? ""
                    #expect(answer.status == 503, "\(path): \(answer.json)")
                    #expect(error.contains(directory), "\(path): \(error)")
                    #expect(error.contains("full") || error.contains("No space left"), "\(path): \(error)")
                }
                // The refused requests left room for a picture, some of it only when their files are freed in the background. The
                // error of a picture that finds room names the database.
                var picture: Answer
                var tries = 0
                repeat {
                    try fill(filler)
                    picture = try await root.upload(capture.id, capture.regions[0], session)
                    tries += 1
                } while picture["error"].text?.contains("\(directory)/images") != true && tries < 50
                #expect(picture.status == 503, "\(picture.json)")
                #expect(picture["error"].text?.contains("\(directory)/images") == true, "\(picture.json)")
                #expect(picture["error"].text?.contains("No space left") == true, "\(picture.json)")
                let unready = try await root.send("GET", "/_sim/ready")
                #expect(unready.status == 503 && unready["error"].text?.contains(directory) == true, "\(unready.json)")
                try FileManager.default.removeItem(atPath: filler)
                #expect(try await root.send("GET", "/_sim/ready").status == 200)
                #expect(try await root.upload(capture.id, capture.regions[0], session).status == 200)
                #expect(try await root.send("PUT", "/_sim/snapshots/full").status == 201)
                #expect(try await root.send("GET", "/sdk/session", token: session).status == 200)
            }
        }

        /// Appends to a file until the disk is full.
        private func fill(_ path: String) throws {
            let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
            try #require(descriptor >= 0)
            defer { close(descriptor) }
            let zeros = [UInt8](repeating: 0, count: 4096)
            while write(descriptor, zeros, zeros.count) > 0 {}
        }

        @Test func aDataDirectoryThatIsGoneMakesTheServerUnready() async throws {
            try await Process.withDirectory { directory in
                let server = try await SimProcess(["--data-dir", directory])
                defer { server.stop() }
                let root = TestWorld(base: server.baseURL)
                try FileManager.default.moveItem(atPath: "\(directory)/images", toPath: "\(directory)/elsewhere")
                let unready = try await root.send("GET", "/_sim/ready")
                #expect(unready.status == 503 && unready["error"].text?.contains("\(directory)/images") == true)
                try FileManager.default.moveItem(atPath: "\(directory)/elsewhere", toPath: "\(directory)/images")
                #expect(try await root.send("GET", "/_sim/ready").status == 200)
            }
        }
    }
#endif
