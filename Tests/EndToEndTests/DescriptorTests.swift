import Foundation
import SimulationAPI
import TestSupport
import Testing

/// The files that a process has open. Only Linux lists them by process.
@Suite(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/fd"))) struct DescriptorTests {
    @Test func theCommandOfARunGetsNoDescriptorOfThisProgram() async throws {
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            // The test's own descriptors would be the user's.
            let line = """
                for file in /proc/$$/fd/*; do n=${file##*/}; if [ "$n" -gt 2 ]; then eval "exec $n>&-"; fi; done
                exec \(SimProcess.path) run --artifacts \(directory) -- sh -c 'ls -l /proc/$$/fd'
                """
            let run = try await SimProcess.run(["-c", line], program: "/bin/bash")
            #expect(run.status == 0 && run.output.contains("pipe:"))
            #expect(!run.output.contains("anon_inode") && !run.output.contains("socket:"), "\(run.output)")
        }
    }

    /// What the user of `run` opened for the command still reaches it, such as the job server of make.
    @Test func theCommandOfARunGetsTheDescriptorsOfItsUser() async throws {
        try await Process.withDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let line =
                "exec 7>\(directory)/seven; \(SimProcess.path) run --artifacts \(directory) -- sh -c 'echo x >&7'"
            let run = try await SimProcess.run(["-c", line], program: "/bin/sh")
            #expect(run.status == 0, "\(run.output)")
            #expect(try String(contentsOfFile: directory + "/seven", encoding: .utf8) == "x\n")
        }
    }

    @Test func manyNamespacesWorkWithFewDescriptors() async throws {
        try await Process.withDirectory { directory in
            let server = try await SimProcess(
                ["--data-dir", directory], within: ["/bin/sh", "-c", "ulimit -n 160; exec \"$0\" \"$@\""])
            defer { server.stop() }
            for round in 0..<2 {
                for number in 0..<60 {
                    if round == 0 {
                        let root = TestWorld(base: server.baseURL)
                        #expect(try await root.send("PUT", "/_sim/namespaces/few-\(number)").status == 201)
                    }
                    let world = TestWorld(base: "\(server.baseURL)/ns/few-\(number)")
                    let answer = try await world.send("PATCH", "/_sim/settings", ["quota": 7])
                    #expect(answer.status == 200, "\(number): \(answer.text)")
                }
            }
        }
    }
}
