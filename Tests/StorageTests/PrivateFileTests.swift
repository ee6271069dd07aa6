import Foundation
import GRDB
import Testing

@testable import Storage

/// Nothing below a data directory is opened through a link, and only the owner can access it.
@Suite struct PrivateFileTests {
    private static let hash = "ab" + String(repeating: "0", count: 62)
    /// A file or folder elsewhere that a link leads to, and what is in the file.
    private static let precious = "precious"

    private func withDirectory(_ body: (_ data: String, _ elsewhere: String) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("links-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        for folder in ["data", "elsewhere"] {
            try FileManager.default.createDirectory(atPath: "\(path)/\(folder)", withIntermediateDirectories: true)
        }
        try body("\(path)/data", "\(path)/elsewhere")
    }

    /// All stores of a data directory.
    private struct Stores {
        let namespaces: NamespaceStore
        let images: ImageStore
        let snapshots: SnapshotStore
        let scenarios: ScenarioStore

        init(_ root: String) throws {
            namespaces = try NamespaceStore(root: root)
            images = ImageStore(root: root)
            snapshots = SnapshotStore(root: root, images: images)
            scenarios = ScenarioStore(root: root)
        }

        func make(_ name: String) throws -> NamespaceDatabase {
            let prepared = try namespaces.prepare(name, from: .template(key: "t", build: { _ in })) { _ in }
            return try namespaces.put(prepared, as: name) {}
        }

        func saveSnapshot(of database: NamespaceDatabase) throws {
            _ = try snapshots.save(database.beginCopy(), as: "one", of: "a") { _ in "{}" }
        }
    }

    /// Makes one of everything, and closes it.
    private func fill(_ root: String) throws {
        let stores = try Stores(root)
        let database = try stores.make("a")
        try stores.saveSnapshot(of: database)
        try stores.images.hold(Data(Self.precious.utf8), sha256: Self.hash)
        stores.images.release(sha256: Self.hash, isKept: true)
        _ = try stores.scenarios.save("a", "mine", Self.precious)
        try database.close()
        stores.namespaces.saveNote(Data("note".utf8), of: "a")
    }

    /// Replaces a file or folder of a data directory by a link to what was there, or to a new file if there was nothing.
    private func link(_ name: String, in data: String, to elsewhere: String) throws -> String {
        let target = "\(elsewhere)/target"
        if FileManager.default.fileExists(atPath: "\(data)/\(name)") {
            try FileManager.default.moveItem(atPath: "\(data)/\(name)", toPath: target)
        } else {
            try Data(Self.precious.utf8).write(to: URL(fileURLWithPath: target))
        }
        try FileManager.default.createSymbolicLink(atPath: "\(data)/\(name)", withDestinationPath: target)
        return target
    }

    /// The bytes and the mode of a file, or of all files in a folder.
    private func state(of path: String) throws -> [String] {
        let inside = (FileManager.default.enumerator(atPath: path)?.allObjects as? [String] ?? []).map {
            "\(path)/\($0)"
        }
        return try ([path] + inside).sorted().map { path in
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            let bytes = FileManager.default.contents(atPath: path) ?? Data()
            return "\(path) \(attributes[.posixPermissions] ?? "") \(attributes[.type] ?? "") \(bytes.hashValue)"
        }
    }

    private func template(in data: String) throws -> String {
        "templates/" + (try #require(FileManager.default.contentsOfDirectory(atPath: data + "/templates").first))
    }

    @Test(arguments: [
        "lock", "namespaces", "templates", "images", "snapshots", "scenarios", "removed", "namespaces/a.sqlite",
        "namespaces/a.sqlite-wal", "namespaces/a.sqlite-shm", "namespaces/a.sqlite-journal", "namespaces/a.sqlite.rest",
        "templates/*",
    ])
    func aDirectoryWithALinkIsNotOpened(place: String) throws {
        try withDirectory { data, elsewhere in
            try fill(data)
            let name = place == "templates/*" ? try template(in: data) : place
            let target = try link(name, in: data, to: elsewhere)
            chmod(target, name.contains("/") || name == "lock" ? 0o644 : 0o755)
            let before = try state(of: elsewhere)
            let problem = #expect(throws: StorageError.self) { _ = try NamespaceStore(root: data) }
            #expect(problem?.description.contains("\(data)/\(name) is a symbolic link") == true, "\(problem as Any)")
            #expect(problem?.description.contains("remove the link") == true)
            #expect(try state(of: elsewhere) == before)
        }
    }

    @Test func theDataDirectoryItselfMayBeALink() throws {
        try withDirectory { data, elsewhere in
            try FileManager.default.removeItem(atPath: data)
            try FileManager.default.createSymbolicLink(atPath: data, withDestinationPath: elsewhere)
            try fill(data)
            let stores = try Stores(data)
            #expect(try stores.namespaces.names() == ["a"])
            #expect(try stores.images.bytes(sha256: Self.hash) != nil)
            #expect(try stores.snapshots.find("a", "one") != nil)
            #expect(try stores.scenarios.text("a", "mine") == Self.precious)
        }
    }

    /// What an open store does with a place that became a link: reads, writes and removes.
    private static let uses: [(place: String, use: @Sendable (Stores, NamespaceDatabase) throws -> Void)] = [
        ("namespaces/a.sqlite", { stores, _ in _ = try stores.namespaces.open("a") }),
        ("namespaces/a.sqlite-wal", { stores, _ in _ = try stores.namespaces.open("a") }),
        ("namespaces", { stores, _ in _ = try stores.namespaces.open("a") }),
        ("namespaces/b.sqlite", { stores, _ in _ = try stores.make("b") }),
        ("images", { stores, _ in _ = try stores.images.bytes(sha256: hash) }),
        ("images/ab", { stores, _ in _ = try stores.images.bytes(sha256: hash) }),
        ("images/ab/\(hash)", { stores, _ in _ = try stores.images.bytes(sha256: hash) }),
        ("images/ab/\(hash)", { stores, _ in _ = try stores.images.entry("picture", sha256: hash) }),
        ("images/ab/\(hash)", { stores, _ in try stores.images.hold(Data("x".utf8), sha256: hash) }),
        (
            "images/ab",
            { stores, _ in try stores.images.hold(Data("x".utf8), sha256: "ab" + hash.dropFirst(2).dropLast() + "1") }
        ),
        ("images/cd", { stores, _ in try stores.images.hold(Data("x".utf8), sha256: "cd" + hash.dropFirst(2)) }),
        ("snapshots/a/one.sqlite", { stores, _ in _ = try stores.snapshots.find("a", "one") }),
        ("snapshots/a/one.sqlite", { stores, _ in _ = try stores.snapshots.list("a") }),
        ("snapshots/a/one.sqlite", { stores, _ in _ = try stores.snapshots.remove("a", "one") }),
        ("snapshots/a/one.sqlite", { stores, database in try stores.saveSnapshot(of: database) }),
        ("snapshots/a/one.sqlite-journal", { stores, _ in _ = try stores.snapshots.find("a", "one") }),
        ("snapshots/a", { stores, _ in _ = try stores.snapshots.find("a", "one") }),
        ("snapshots/a", { stores, _ in _ = try stores.snapshots.remove("a", "one") }),
        ("snapshots/a", { stores, database in try stores.saveSnapshot(of: database) }),
        ("snapshots/a", { stores, _ in try stores.snapshots.removeOrphans(except: ["a"]) }),
        ("snapshots", { stores, database in try stores.saveSnapshot(of: database) }),
        ("scenarios/a/mine.yaml", { stores, _ in _ = try stores.scenarios.text("a", "mine") }),
        ("scenarios/a/mine.yaml", { stores, _ in _ = try stores.scenarios.save("a", "mine", "other") }),
        ("scenarios/a", { stores, _ in _ = try stores.scenarios.names("a") }),
        ("scenarios/a", { stores, _ in _ = try stores.scenarios.save("a", "mine", "other") }),
        ("scenarios/a", { stores, _ in _ = try stores.scenarios.remove("a", "mine") }),
        ("scenarios/a", { stores, _ in try stores.scenarios.removeOrphans(except: ["a"]) }),
        ("scenarios", { stores, _ in _ = try stores.scenarios.save("a", "mine", "other") }),
        ("templates/*", { stores, _ in _ = try stores.make("b") }),
    ]

    @Test(arguments: uses.indices) func aLinkIsNeitherReadNorWrittenThroughNorReplaced(index: Int) throws {
        let (place, use) = Self.uses[index]
        try withDirectory { data, elsewhere in
            try fill(data)
            let stores = try Stores(data)
            let database = try stores.namespaces.open("a")
            let name = place == "templates/*" ? try template(in: data) : place
            if name.hasPrefix("namespaces") { try database.close() }
            let target = try link(name, in: data, to: elsewhere)
            let before = try state(of: elsewhere)
            let problem = #expect(throws: StorageError.self, "\(name)") { try use(stores, database) }
            #expect(problem?.description.contains("\(data)/\(name) is a symbolic link") == true, "\(problem as Any)")
            #expect(try state(of: elsewhere) == before)
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: "\(data)/\(name)") == target)
        }
    }

    /// Removal takes the link away, and nothing behind it.
    @Test func whatARemovedNamespaceHadBehindLinksStays() throws {
        try withDirectory { data, elsewhere in
            try fill(data)
            let stores = try Stores(data)
            for (number, name) in ["snapshots/a", "scenarios/a", "images/ab"].enumerated() {
                try FileManager.default.createDirectory(
                    atPath: "\(elsewhere)/\(number)", withIntermediateDirectories: true)
                _ = try link(name, in: data, to: "\(elsewhere)/\(number)")
            }
            let before = try state(of: elsewhere)
            stores.snapshots.removeAll(["a"])
            stores.scenarios.removeAll(["a"])
            let sweep = try #require(stores.images.beginSweep(isFull: true))
            stores.images.endSweep(sweep, used: [])
            #expect(try state(of: elsewhere) == before)
        }
    }

    @Test func aPipeOrAFolderInPlaceOfAFileIsRefusedAndNothingWaits() throws {
        try withDirectory { data, _ in
            try fill(data)
            let stores = try Stores(data)
            let image = "\(data)/images/ab/\(Self.hash)"
            try FileManager.default.removeItem(atPath: image)
            try #require(mkfifo(image, 0o600) == 0)
            let pipe = #expect(throws: StorageError.self) { _ = try stores.images.bytes(sha256: Self.hash) }
            #expect(pipe?.description.contains("\(image) is not a plain file") == true)
            let scenario = "\(data)/scenarios/a/mine.yaml"
            try FileManager.default.removeItem(atPath: scenario)
            try FileManager.default.createDirectory(atPath: scenario, withIntermediateDirectories: true)
            let folder = #expect(throws: StorageError.self) { _ = try stores.scenarios.save("a", "mine", "x") }
            #expect(folder?.description.contains("\(scenario) is not a plain file") == true)
        }
    }

    /// The lock is written, so a second name of a file that matters must not be one.
    @Test func aLockWithASecondNameIsRefused() throws {
        try withDirectory { data, elsewhere in
            try Data(Self.precious.utf8).write(to: URL(fileURLWithPath: elsewhere + "/target"))
            try #require(Foundation.link(elsewhere + "/target", data + "/lock") == 0)
            let problem = #expect(throws: StorageError.self) { _ = try NamespaceStore(root: data) }
            #expect(problem?.description.contains("\(data)/lock has another name") == true)
            #expect(FileManager.default.contents(atPath: elsewhere + "/target") == Data(Self.precious.utf8))
        }
    }

    // MARK: Modes

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test func modesAreRepairedAndReported() throws {
        try withDirectory { data, _ in
            try fill(data)
            #expect(try NamespaceStore(root: data).warnings == [])
            let files = ["lock", "namespaces/a.sqlite", "namespaces/a.sqlite.rest", try template(in: data)]
            let folders = ["namespaces", "templates", "images", "snapshots", "scenarios", "removed"]
            for name in files + folders { chmod("\(data)/\(name)", files.contains(name) ? 0o666 : 0o777) }
            let warnings = try NamespaceStore(root: data).warnings
            #expect(warnings.count == 1 && warnings.first?.contains(": 10 of them, for instance \(data)/") == true)
            #expect(warnings.first?.contains("(mode 777)") == true, "\(warnings)")
            for name in files { #expect(try mode("\(data)/\(name)") == 0o600, "\(name)") }
            for name in folders { #expect(try mode("\(data)/\(name)") == 0o700, "\(name)") }
            #expect(try NamespaceStore(root: data).warnings == [])
        }
    }

    @Test func modesOfOtherFilesAreRepairedWhereTheyAreOpened() throws {
        try withDirectory { data, _ in
            try fill(data)
            let stores = try Stores(data)
            let files = ["images/ab/\(Self.hash)", "snapshots/a/one.sqlite", "scenarios/a/mine.yaml"]
            let folders = ["images/ab", "snapshots/a", "scenarios/a"]
            for name in files + folders { chmod("\(data)/\(name)", files.contains(name) ? 0o666 : 0o777) }
            _ = try stores.images.bytes(sha256: Self.hash)
            _ = try stores.snapshots.find("a", "one")
            _ = try stores.scenarios.text("a", "mine")
            for name in files { #expect(try mode("\(data)/\(name)") == 0o600, "\(name)") }
            for name in folders { #expect(try mode("\(data)/\(name)") == 0o700, "\(name)") }
        }
    }

    #if os(Linux)
        /// The modes of files below /proc cannot be changed, not even by root.
        @Test func aModeThatCannotBeChangedIsReported() throws {
            guard case .open(let mode, let reason) = try PrivateFile.restrict("/proc/self/status") else {
                Issue.record("the mode was changed")
                return
            }
            #expect(mode == 0o444 && reason == "Operation not permitted")
        }
    #endif
}
