import Foundation
import NIOConcurrencyHelpers

/// Where worlds live: one database file for each namespace below a data directory, or databases in memory.
///
/// Every call blocks; nothing here is called for a single request.
package final class WorldStore: Sendable {
    private let root: URL?
    private let durability: Durability
    private let background: Background?
    /// Held as long as this store lives, so that no other process uses the directory.
    private let directoryLock: DirectoryLock?
    /// Templates in memory, by key; unused with a data directory.
    private let templates = NIOLockedValueBox<[String: WorldDatabase]>([:])
    /// One template is built at a time.
    private let building = NIOLock()

    /// - Parameter root: the data directory, or nil to keep everything in memory.
    /// - Parameter background: runs what blocks on another thread.
    /// - Throws: ``StorageError`` where the directory cannot be made or is a file.
    package init(root: String?, durability: Durability = .process, background: Background? = nil) throws {
        self.background = background
        self.root = root.map { URL(fileURLWithPath: $0, isDirectory: true) }
        self.durability = durability
        guard let root = self.root else {
            directoryLock = nil
            return
        }
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: root.path, isDirectory: &isFolder), !isFolder.boolValue {
            throw StorageError.unavailable(
                "the data directory \(root.path) is a file; give --data-dir a folder, or one that is not there yet")
        }
        do {
            for folder in ["namespaces", "templates", "images"] {
                try FileManager.default.createDirectory(
                    at: root.appendingPathComponent(folder), withIntermediateDirectories: true)
            }
        } catch {
            throw StorageError.unavailable(
                "the data directory \(root.path) cannot be used: \(error.localizedDescription)")
        }
        directoryLock = try DirectoryLock(root)
    }

    /// The names of the worlds on disk.
    package func names() throws -> [String] {
        guard let root else { return [] }
        do {
            return try FileManager.default
                .contentsOfDirectory(atPath: root.appendingPathComponent("namespaces").path)
                .filter { $0.hasSuffix(".sqlite") }
                .map { String($0.dropLast(".sqlite".count)) }
                .sorted()
        } catch {
            throw StorageError.unavailable("the data directory cannot be read: \(error.localizedDescription)")
        }
    }

    /// Opens a world that is on disk.
    package func open(_ name: String) throws -> WorldDatabase {
        try WorldDatabase(path: path(of: name), durability: durability, background: background)
    }

    /// Makes a world from a template, in the place of any that bears the name and is closed.
    ///
    /// The file appears whole or not at all, whenever the process dies.
    ///
    /// - Parameters:
    ///   - template: names the seeded world; built once for each key and schema.
    ///   - build: fills the template; runs only where there is none yet.
    ///   - finish: writes what is the new world's own.
    ///   - closeOld: closes the world that is replaced; called when nothing but a rename is left to do.
    package func make(
        _ name: String, template: String, build: (Transaction) throws -> Void, finish: (Transaction) throws -> Void,
        closeOld: () throws -> Void
    ) throws -> WorldDatabase {
        guard let path = path(of: name) else {
            let world = try WorldDatabase(path: nil)
            try templateInMemory(template, build: build).copy(to: world)
            try world.transaction(finish)
            try closeOld()
            return world
        }
        let source = try templateOnDisk(template, build: build)
        let fresh = path + ".new"
        do {
            Self.removeDatabase(fresh)
            try FileManager.default.copyItem(atPath: source, toPath: fresh)
        } catch {
            throw StorageError.unavailable("\(path) cannot be written: \(error.localizedDescription)")
        }
        let world = try WorldDatabase(path: fresh, durability: durability)
        try world.transaction(finish)
        try world.checkpoint()
        try world.close()
        try closeOld()
        Self.removeDatabase(path, butNotTheFileItself: true)
        try Self.rename(fresh, to: path)
        return try WorldDatabase(path: path, durability: durability, background: background)
    }

    /// Removes a closed world from disk.
    package func remove(_ name: String) {
        guard let path = path(of: name) else { return }
        Self.removeDatabase(path)
        // What was kept of it before a migration.
        for version in 1..<max(2, Schema.migrator.migrations.count) { unlink("\(path).schema-\(version)") }
    }

    private func path(of name: String) -> String? {
        root?.appendingPathComponent("namespaces/\(name).sqlite").path
    }

    private func templateInMemory(
        _ key: String, build: (Transaction) throws -> Void
    ) throws -> WorldDatabase {
        try building.withLock {
            if let template = templates.withLockedValue({ $0[key] }) { return template }
            let template = try WorldDatabase(path: nil)
            try template.transaction(build)
            templates.withLockedValue { $0[key] = template }
            return template
        }
    }

    private func templateOnDisk(_ key: String, build: (Transaction) throws -> Void) throws -> String {
        let path = root!.appendingPathComponent("templates/\(key)-\(Schema.version).sqlite").path
        return try building.withLock {
            if FileManager.default.fileExists(atPath: path) { return path }
            let fresh = path + ".new"
            Self.removeDatabase(fresh)
            let template = try WorldDatabase(path: fresh, durability: durability)
            try template.transaction(build)
            try template.checkpoint()
            try template.close()
            try Self.rename(fresh, to: path)
            return path
        }
    }

    private static func rename(_ source: String, to target: String) throws {
        guard Foundation.rename(source, target) == 0 else {
            throw StorageError.unavailable("\(target) cannot be written: \(String(cString: strerror(errno)))")
        }
    }

    private static func removeDatabase(_ path: String, butNotTheFileItself: Bool = false) {
        for suffix in ["-wal", "-shm", butNotTheFileItself ? nil : ""].compactMap(\.self) {
            unlink(path + suffix)
        }
    }
}
