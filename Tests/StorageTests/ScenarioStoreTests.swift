import Foundation
import Synchronization
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
            // Threads of their own: tasks share as many as there are cores, and would hardly meet.
            let problems = Mutex<[String]>([])
            let group = DispatchGroup()
            for text in texts {
                group.enter()
                Thread {
                    do {
                        _ = try store.save("default", "one", text)
                    } catch {
                        problems.withLock { $0.append("\(error)") }
                    }
                    group.leave()
                }.start()
            }
            await withCheckedContinuation { done in group.notify(queue: .global()) { done.resume() } }
            #expect(problems.withLock { $0 } == [])
            let saved = try #require(try store.text("default", "one"))
            #expect(texts.contains(saved), "\(saved.utf8.count) bytes")
        }
        #expect(try store.names("default") == ["one"])
        let folder = root + "/scenarios/default"
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["one.yaml"])
        // A process that was killed while it saved left this.
        try Data("half".utf8).write(to: URL(fileURLWithPath: folder + "/one.yaml.3.new"))
        try store.removeOrphans(except: ["default"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["one.yaml"])
    }
}
