import Foundation
import Testing

@testable import Storage

@Suite struct ScenarioStoreTests {
    /// Requests that save one scenario at once run on several threads.
    @Test func savesOfOneScenarioAtOnceLeaveOneOfTheTexts() async throws {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("scenarios-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: root) }
        let store = ScenarioStore(root: root)
        let texts = (0..<8).map { String(repeating: "\($0)", count: 2_000_000) }
        for _ in 0..<10 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for text in texts { group.addTask { _ = try store.save("default", "one", text) } }
                try await group.waitForAll()
            }
            let saved = try #require(try store.text("default", "one"))
            #expect(texts.contains(saved), "\(saved.utf8.count) bytes")
        }
        #expect(store.names("default") == ["one"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: root + "/scenarios/default") == ["one.yaml"])
    }
}
