import Foundation
import SimulationAPI
import TestSupport
import Testing

/// One test for each bug of a process or a disk that was found, so that it cannot return unnoticed. `RegressionRuleTests` has the others.
@Suite struct RegressionTests {
    @Test func requestsToANamespaceThatIsBeingDroppedAreAnswered() async throws {
        let server = try await SimProcess(["--in-memory", "--auto-create-namespaces"])
        defer { server.stop() }
        let world = TestWorld(base: "\(server.baseURL)/ns/z")
        let root = TestWorld(base: server.baseURL)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<40 {
                        let status = try await world.send("GET", "/_sim/clock").status
                        #expect([200, 404].contains(status))
                    }
                }
            }
            group.addTask {
                for _ in 0..<40 {
                    let status = try await root.send("DELETE", "/_sim/namespaces/z").status
                    #expect([204, 404].contains(status))
                }
            }
            try await group.waitForAll()
        }
        #expect(try await root.send("GET", "/_sim/health").status == 200)
    }

    @Test func anUploadThatIsRefusedLeavesNoFile() async throws {
        try await Process.withDirectory { directory in
            let server = try await SimProcess(["--data-dir", directory])
            defer { server.stop() }
            let world = try await TestWorld.make(in: server)
            let token = try await world.login()
            let capture = try await world.startCapture(token)
            func files() throws -> [String] {
                try FileManager.default.subpathsOfDirectory(atPath: "\(directory)/images").filter { $0.contains("/") }
            }
            #expect(try await world.upload("cap_none", "heel", token).status == 404)
            #expect(try await world.upload(capture.id, "heel", "nope").status == 401)
            #expect(try files() == [])
            #expect(try await world.upload(capture.id, "heel", token).status == 200)
            #expect(try await world.upload(capture.id, "heel", "nope").status == 401)
            #expect(try files().count == 1)
        }
    }

    @Test func aSecondServerCannotUseTheDirectory() async throws {
        try await Process.withDirectory { directory in
            let server = try await SimProcess(["--data-dir", directory])
            defer { server.stop() }
            let (status, output) = try await SimProcess.run(["serve", "--port", "0", "--data-dir", directory])
            #expect(status == 1)
            #expect(output.contains("in use by another server (process "))
        }
    }
}
