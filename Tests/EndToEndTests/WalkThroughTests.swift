import Foundation
import TestSupport
import Testing

/// Runs the walk-through of docs/walk-through.md, docs/backend.md and docs/components.md as a newcomer would paste it. `make demo` does the same with the release binary.
struct WalkThroughTests {
    /// Whether the programs in the documents' commands are installed.
    static let isPossible = ["python3", "curl", "bash"].allSatisfy { name in
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
            .contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(name)") }
    }

    @Test(.enabled(if: isPossible, "needs python3, curl and bash"))
    func everyStepAnswersWhatIsExpected() async throws {
        let script = TestWorld.root.appendingPathComponent("demo/walk.py").path
        let (status, output) = try await SimProcess.run(
            ["python3", script, "--binary", SimProcess.path], program: "/usr/bin/env")
        #expect(status == 0, "\(output)")
        #expect(output.contains("24 of 24 steps as expected"))
    }
}
