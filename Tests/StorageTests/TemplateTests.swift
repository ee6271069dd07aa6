import Foundation
import GRDB
import NIOConcurrencyHelpers
import Testing

@testable import Storage

/// Templates that several threads ask for at a time.
@Suite struct TemplateTests {
    private func withStore(onDisk: Bool, _ body: (NamespaceStore) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("templates-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(NamespaceStore(root: onDisk ? path : nil))
    }

    @Test(.timeLimit(.minutes(5)), arguments: [true, false])
    func makingATemplateHoldsUpNoOther(onDisk: Bool) throws {
        try withStore(onDisk: onDisk) { store in
            let (began, gate, done) = (
                DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
            )
            Thread.detachNewThread {
                try? store.makeTemplate("large") { _ in
                    began.signal()
                    gate.wait()
                }
                done.signal()
            }
            began.wait()
            try store.makeTemplate("small") { _ in }
            #expect(store.hasTemplate("small") && !store.hasTemplate("large"))
            gate.signal()
            done.wait()
            #expect(store.hasTemplate("large"))
        }
    }

    @Test(arguments: [true, false]) func aTemplateIsMadeOnceForAllWhoAskForIt(onDisk: Bool) throws {
        try withStore(onDisk: onDisk) { store in
            let made = NIOLockedValueBox(0)
            let all = DispatchGroup()
            for _ in 0..<8 {
                all.enter()
                Thread.detachNewThread {
                    try? store.makeTemplate("t") { _ in made.withLockedValue { $0 += 1 } }
                    all.leave()
                }
            }
            all.wait()
            #expect(made.withLockedValue { $0 } == 1 && store.templates.count == 1)
        }
    }

    @Test func aTemplateThatCannotBeMadeIsMadeByTheNextWhoAsks() throws {
        struct Stop: Error {}
        try withStore(onDisk: true) { store in
            #expect(throws: Stop.self) { try store.makeTemplate("t") { _ in throw Stop() } }
            #expect(!store.hasTemplate("t"))
            try store.makeTemplate("t") { _ in }
            #expect(store.hasTemplate("t"))
        }
    }

    /// More templates than are kept, from several threads: whoever copies one finds it.
    @Test func templatesThatAreDroppedAndMadeAgainAreNeverMissing() throws {
        try withStore(onDisk: true) { store in
            let problems = NIOLockedValueBox<[String]>([])
            let all = DispatchGroup()
            for thread in 0..<4 {
                all.enter()
                Thread.detachNewThread {
                    for round in 0..<60 {
                        let key = "t-\((round * 7 + thread * 11) % (DatabaseTemplates.maxCount + 8))"
                        do {
                            try store.prepare("n\(thread)", from: .template(key: key, build: { _ in })) { _ in }
                                .discard()
                        } catch {
                            problems.withLockedValue { $0.append("\(key): \(error)") }
                        }
                    }
                    all.leave()
                }
            }
            all.wait()
            #expect(problems.withLockedValue { $0 } == [])
            #expect(store.templates.count == DatabaseTemplates.maxCount)
        }
    }
}
