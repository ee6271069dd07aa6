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

    @Test(.timeLimit(.minutes(15)), arguments: [true, false])
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

    /// Damages of a template's file, before a process starts and under one.
    private static let damages: [(name: String, apply: @Sendable (URL) throws -> Void)] = [
        ("truncated", { try Data(contentsOf: $0).prefix(5000).write(to: $0) }), ("empty", { try Data().write(to: $0) }),
        ("garbage", { try Data(repeating: 0x5a, count: 20_000).write(to: $0) }),
        (
            "pages",
            {
                let bytes = try Data(contentsOf: $0)
                try (bytes.prefix(100) + Data(repeating: 0xff, count: bytes.count - 100)).write(to: $0)
            }
        ),
        (
            "without a schema",
            {
                try FileManager.default.removeItem(at: $0)
                try DatabaseQueue(path: $0.path).write { try $0.execute(sql: "CREATE TABLE other (x)") }
            }
        ),
        (
            "a folder",
            {
                try FileManager.default.removeItem(at: $0)
                try FileManager.default.createDirectory(at: $0, withIntermediateDirectories: false)
            }
        ),
    ]

    @Test(arguments: 0..<damages.count, [true, false])
    func aDamagedTemplateIsMadeAnew(damage: Int, whileRunning: Bool) throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("templates-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        func insert(_ transaction: Transaction) throws {
            _ = try transaction.insertOrganization(name: "Org", sdkFlagging: true)
        }
        var store: NamespaceStore? = try NamespaceStore(root: path)
        try store?.makeTemplate("t", build: insert)
        let file = try #require(FileManager.default.contentsOfDirectory(atPath: path + "/templates").first)
        let url = URL(fileURLWithPath: "\(path)/templates/\(file)")
        // Once copied, it is known to be whole.
        try store?.prepare("a", from: .template(key: "t", build: insert)) { _ in }.discard()
        if !whileRunning { store = nil }
        try Self.damages[damage].apply(url)
        let later = try store ?? NamespaceStore(root: path)
        let place = try later.prepare("n", from: .template(key: "t", build: insert)) { transaction in
            let count = try transaction.first("SELECT COUNT(*) FROM organizations") { try $0[0] as Int }
            #expect(count == 1, "\(Self.damages[damage].name)")
        }
        place.discard()
    }

}
