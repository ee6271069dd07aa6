import Foundation
import Testing

@testable import Storage

/// Copies of databases that are in use meanwhile.
@Suite struct WorldCopyTests {
    /// A database in memory that takes more than one step to copy: 60 MB.
    private func largeWorld() throws -> NamespaceDatabase {
        let world = try NamespaceDatabase(path: nil)
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
}
