import Foundation
import Testing

@testable import Storage

/// Copies of databases that are in use meanwhile.
@Suite struct WorldCopyTests {
    /// A database that takes more than one step to copy: 60 MB.
    ///
    /// - Parameter path: its file; `nil` for a database in memory.
    private func largeWorld(at path: String? = nil) throws -> NamespaceDatabase {
        let world = try NamespaceDatabase(path: path)
        try world.transaction { transaction in
            let text = String(repeating: "x", count: 500_000)
            for number in 0..<60 {
                // The name is stored in its index too.
                _ = try transaction.insertOrganization(name: "\(number)\(text)", sdkFlagging: true)
            }
        }
        return world
    }

    @Test func aLargeDatabaseInMemoryIsCopiedInStepsWithWritesInBetween() throws {
        let world = try largeWorld()
        let copy = try world.beginCopy()
        #expect(!copy.usesSecondConnection)
        try #require(try !copy.step())
        #expect(throws: StorageError.self) { try copy.finished() }
        try world.transaction { try $0.setNamespaceValue(.randomSeed, "between") }
        while try !copy.step() {}
        try world.transaction { try $0.setNamespaceValue(.randomSeed, "afterwards") }
        let copied = try copy.finished()
        #expect(try copied.transaction { try $0.namespaceValue(.randomSeed) } == "between")
        #expect(try copied.transaction { try $0.organizations().count } == 60)
        try world.close()
        #expect(try copied.transaction { try $0.organizations().count } == 60)
    }

    @Test func aSaveTellsHowMuchIsCopied() throws {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("save-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: root) }
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        let world = try largeWorld(at: root + "/a.sqlite")
        let store = SnapshotStore(root: root, images: ImageStore(root: root))
        let copy = try world.beginCopy()
        #expect(copy.usesSecondConnection && copy.progress == nil && store.progress(of: "a") == nil)
        let saved = try store.save(copy, as: "one", of: "a") { _ in
            // The pages are copied, and the description is written.
            let progress = try #require(store.progress(of: "a"))
            #expect(progress.total > 60_000_000 && progress.done == progress.total)
            #expect(store.progress(of: "b") == nil)
            return "{}"
        }
        #expect(store.progress(of: "a") == nil)
        #expect(saved.snapshot.bytes >= copy.progress?.total ?? .max, "the description may need a page more")
        #expect(try saved.snapshot.read { try $0.organizations().count } == 60)
        try world.close()
    }

    @Test func closingADatabaseDuringACopyFailsTheCopy() throws {
        let world = try largeWorld()
        let copy = try world.beginCopy()
        try #require(try !copy.step())
        try world.close()
        #expect(throws: StorageError.self) { try copy.step() }
        #expect(throws: StorageError.self) { try copy.finished() }
    }

    @Test func aDatabaseOnDiskIsCopiedAsItWasWhenTheCopyBegan() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("world-copy-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let world = try NamespaceDatabase(path: folder.appendingPathComponent("world.sqlite").path)
        try world.transaction { try $0.setNamespaceValue(.randomSeed, "before") }
        let copy = try world.beginCopy()
        #expect(copy.usesSecondConnection)
        try world.transaction { try $0.setNamespaceValue(.randomSeed, "meanwhile") }
        let file = folder.appendingPathComponent("copy.sqlite").path
        try copy.finish(to: file)
        let copied = try NamespaceDatabase(path: file)
        #expect(try copied.transaction { try $0.namespaceValue(.randomSeed) } == "before")
        #expect(try world.transaction { try $0.namespaceValue(.randomSeed) } == "meanwhile")
        try world.close()
        try copied.close()
    }

    /// Two servers may run in one process.
    @Test func twoStoresInMemoryHaveFilesOfTheirOwn() throws {
        let stores = (0..<2).map { _ in SnapshotStore(root: nil, images: ImageStore(root: nil)) }
        #expect(Set(try stores.map { try $0.temporaryPath() }).count == 2)
    }
}
