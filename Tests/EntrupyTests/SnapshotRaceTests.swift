import Foundation
import Hashes
import SimulationAPI
import Testing

@testable import Entrupy
@testable import Simulation
@testable import Storage

/// Snapshots that another request deletes or replaces between the moment when they are found and the moment when they are
/// read.
@Suite struct SnapshotRaceTests {
    private let control = RequestHead(isControl: true)

    enum Change: CaseIterable {
        case deleted, replaced
    }

    /// A namespace on disk, and a snapshot that was found before it was changed.
    private func withChangedSnapshot(
        _ change: Change, _ body: (Namespaces, Namespace, SnapshotRecord) async throws -> Void
    ) async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("race-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let bench = try NamespaceTests.Bench(directory: path)
        let namespace = try await bench.open()
        _ = try await namespace.saveSnapshot("base", control).result.get()
        let found = try await namespace.snapshot("base")
        _ = try await NamespaceTests().login(namespace)
        switch change {
        case .deleted: _ = try await namespace.deleteSnapshot("base", control).result.get()
        case .replaced: _ = try await namespace.saveSnapshot("base", control).result.get()
        }
        try await body(bench.namespaces, namespace, found)
    }

    /// The number of users, which differs before and after the snapshot.
    private func users(_ namespace: Namespace) async throws -> Int {
        try await namespace.run(control, .reads) { try $0.transaction.namespaceCounts().users }.result.get()
    }

    @Test(arguments: Change.allCases) func aRestoreOfAChangedSnapshotIsAConflictAndChangesNothing(change: Change)
        async throws
    {
        try await withChangedSnapshot(change) { _, namespace, found in
            let before = try await users(namespace)
            let error = await #expect(throws: StorageError.self) { try await namespace.restore(found) }
            let answer = PlatformError(carrying: try #require(error))
            #expect(answer.kind == .wrongState && answer.message.contains("\"base\" was deleted or replaced"))
            #expect(try await users(namespace) == before)
        }
    }

    @Test(arguments: Change.allCases) func aForkOfAChangedSnapshotIsAConflictAndMakesNothing(change: Change)
        async throws
    {
        try await withChangedSnapshot(change) { namespaces, _, found in
            let error = await #expect(throws: PlatformError.self) {
                _ = try await namespaces.fork(found, as: "child", ttl: nil)
            }
            #expect(error?.kind == .wrongState)
            #expect(namespaces.find("child") == nil)
            let stored = try namespaces.environment.store.names()
            #expect(stored == ["default"])
        }
    }

    /// Before its first byte, a download begins again with what is there now.
    @Test(arguments: Change.allCases) func aDownloadOfAChangedSnapshotIsNotBegun(change: Change) async throws {
        try await withChangedSnapshot(change) { _, namespace, found in
            let error = await #expect(throws: StorageError.self) { _ = try await namespace.pack(found, version: "1") }
            guard case .changedMeanwhile = error else {
                Issue.record("\(error as Any)")
                return
            }
            let answer = await namespace.downloadSnapshot("base", version: "1", control).result
            switch change {
            case .deleted: #expect(throws: PlatformError.self) { try answer.get() }
            case .replaced:
                let size = try answer.get().size
                #expect(size > 0)
            }
        }
    }

    /// The bytes of an archive's file, by name.
    private func file(_ name: String, of download: SnapshotDownload) throws -> Data {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("download-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        var archive = Data()
        while let piece = try download.next() { archive += piece }
        #expect(archive.count == download.size)
        try archive.write(to: URL(fileURLWithPath: path))
        var reader = try ArchiveReader(path: path)
        while let entry = try reader.next() {
            if entry.name == name { return try reader.all() }
        }
        throw StorageError.foreign("no \(name)")
    }

    @Test(arguments: Change.allCases) func aDownloadThatBeganIsWhole(change: Change) async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("race-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let bench = try NamespaceTests.Bench(directory: path)
        let namespace = try await bench.open()
        _ = try await namespace.saveSnapshot("base", control).result.get()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path + "/snapshots/default/base.sqlite"))
        let download = try await namespace.downloadSnapshot("base", version: "1", control).result.get()
        _ = try await NamespaceTests().login(namespace)
        switch change {
        case .deleted: _ = try await namespace.deleteSnapshot("base", control).result.get()
        case .replaced: _ = try await namespace.saveSnapshot("base", control).result.get()
        }
        #expect(try file(ArchiveNames.world, of: download) == bytes)
    }
}
