import Foundation
import GRDB
import GRDBSQLite
import NIOConcurrencyHelpers
import Testing

@testable import Storage

/// File systems on which no memory can be shared, such as bind mounts of Docker Desktop, 9p and NFS. Here SQLite's call of `mmap`
/// fails as it does there, for the files below a folder of this name.
@Suite struct SharedMemoryTests {
    private static let folder = "no-shared-memory"

    private typealias Map =
        @convention(c) (UnsafeMutableRawPointer?, Int, Int32, Int32, Int32, off_t) ->
        UnsafeMutableRawPointer?

    private static let map: Map = { address, length, protection, flags, file, offset in
        if SharedMemoryTests.path(of: file).contains("/\(SharedMemoryTests.folder)-") {
            errno = ENODEV
            return MAP_FAILED
        }
        return mmap(address, length, protection, flags, file, offset)
    }

    private static func path(of file: Int32) -> String {
        var name = [CChar](repeating: 0, count: 4096)
        #if os(Linux)
            guard readlink("/proc/self/fd/\(file)", &name, name.count - 1) > 0 else { return "" }
        #else
            guard fcntl(file, F_GETPATH, &name) == 0 else { return "" }
        #endif
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static let isInstalled: Bool = {
        guard let system = sqlite3_vfs_find(nil) else { return false }
        return system.pointee.xSetSystemCall(system, "mmap", unsafeBitCast(map, to: sqlite3_syscall_ptr.self))
            == SQLITE_OK
    }()

    private func withFolder(_ body: (String) throws -> Void) throws {
        try #require(Self.isInstalled)
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("\(Self.folder)-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: root) }
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        try body(root)
    }

    /// The background is never run: nothing may need it.
    private func open(_ path: String) throws -> NamespaceDatabase {
        try NamespaceDatabase(path: path, background: { _ in Issue.record("a checkpoint on another connection") })
    }

    @Test func aDatabaseIsWrittenReadAndOpenedAgain() throws {
        try withFolder { root in
            let database = try open(root + "/a.sqlite")
            #expect(!database.isShared)
            #expect(try database.queue().read { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == "wal")
            try database.transaction { try $0.setNamespaceValue(.randomSeed, "one") }
            // As after a `kill -9`: the log has the write, and the file has not.
            for end in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: root + "/a.sqlite\(end)", toPath: root + "/b.sqlite\(end)")
            }
            let killed = try open(root + "/b.sqlite")
            #expect(try killed.transaction { try $0.namespaceValue(.randomSeed) } == "one")
            try killed.close()
            try database.checkpoint()
            try database.closeIdleConnection()
            #expect(try database.transaction { try $0.namespaceValue(.randomSeed) } == "one")
            for _ in 0..<3 { database.checkpointIfIdle() }
            try database.close()
            #expect(!FileManager.default.fileExists(atPath: root + "/a.sqlite-wal"))
        }
    }

    @Test func aCopyHasTheStateOfItsBeginning() throws {
        try withFolder { root in
            let database = try open(root + "/a.sqlite")
            let store = SnapshotStore(root: root, images: ImageStore(root: root))
            try database.transaction { try $0.setNamespaceValue(.randomSeed, "before") }
            let copy = try database.beginCopy()
            try database.transaction { try $0.setNamespaceValue(.randomSeed, "after") }
            let saved = try store.save(copy, as: "one", of: "a") { _ in "{}" }
            #expect(try saved.snapshot.read { try $0.namespaceValue(.randomSeed) } == "before")
            #expect(try database.transaction { try $0.namespaceValue(.randomSeed) } == "after")
            try database.close()
        }
    }

    @Test func elsewhereMemoryIsShared() throws {
        try #require(Self.isInstalled)
        // The database restricts its folder to its user, so it has one of its own.
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("shared-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: root) }
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        let database = try NamespaceDatabase(path: root + "/a.sqlite")
        #expect(database.isShared)
        try database.close()
    }
}
