import Foundation
import NIOConcurrencyHelpers

/// The databases of all namespaces: one file each below a data directory, or all in memory.
///
/// Every call blocks. Ordinary requests do not use the store.
package final class NamespaceStore: Sendable {
    private let root: URL?
    private let durability: Durability
    private let background: Background?
    /// Held for the lifetime of this store, so that no other process uses the directory.
    private let directoryLock: DirectoryLock?
    /// Templates in memory, by key; empty with a data directory.
    private let templates = NIOLockedValueBox<[String: NamespaceDatabase]>([:])
    /// Serializes the building of templates.
    private let building = NIOLock()
    private let fresh = NIOLockedValueBox(0)

    /// - Parameter root: the data directory; `nil` to keep everything in memory.
    /// - Parameter background: runs blocking work on another thread.
    /// - Throws: ``StorageError`` if the directory cannot be created or is a file.
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
            // An existing folder may be shared on purpose; the folders created in it are private.
            if !FileManager.default.fileExists(atPath: root.path) { try PrivateFile.createFolder(at: root) }
            for folder in ["namespaces", "templates", "images", "snapshots", "scenarios"] {
                try PrivateFile.createFolder(at: root.appendingPathComponent(folder))
            }
        } catch {
            throw StorageError.unavailable(
                "the data directory \(root.path) cannot be used: \(StorageError.reason(error))")
        }
        directoryLock = try DirectoryLock(root)
        // Files that an earlier process had not yet moved into place when it ended.
        let folder = root.appendingPathComponent("namespaces").path
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
            // An older version made databases that everyone could read. Databases of idle namespaces are not opened
            // now.
            if name.contains(".new") { unlink("\(folder)/\(name)") } else { PrivateFile.restrict("\(folder)/\(name)") }
        }
    }

    /// The names of the namespaces on disk, sorted.
    package func names() throws -> [String] {
        guard let root else { return [] }
        do {
            return try FileManager.default
                .contentsOfDirectory(atPath: root.appendingPathComponent("namespaces").path)
                .filter { $0.hasSuffix(".sqlite") }
                .map { String($0.dropLast(".sqlite".count)) }
                .sorted()
        } catch {
            throw StorageError.unavailable("the data directory cannot be read: \(StorageError.reason(error))")
        }
    }

    /// Checks whether the data directory can be written, by writing a small file beside the databases and one beside
    /// the images.
    ///
    /// - Throws: ``StorageError/unavailable(_:)`` that names the folder and the reason.
    package func probe() throws {
        guard let root else { return }
        for folder in ["namespaces", "images"] {
            let path = root.appendingPathComponent(folder).path
            if let reason = Self.writeProblem(in: path) {
                throw StorageError.unavailable("the data directory cannot be written: \(path): \(reason)")
            }
        }
    }

    /// The bytes that a probe writes: about as many as a commit.
    private static let probeBytes = 65_536

    /// The reason why a folder cannot be written; `nil` if it can.
    private static func writeProblem(in folder: String) -> String? {
        // Unlinked at once, so that no file is left over.
        var name = Array("\(folder)/probe.new-XXXXXX".utf8CString)
        let descriptor = mkstemp(&name)
        guard descriptor >= 0 else { return String(cString: strerror(errno)) }
        unlink(name)
        let zeros = [UInt8](repeating: 0, count: probeBytes)
        let written = write(descriptor, zeros, zeros.count)
        let reason = written == zeros.count ? nil : written < 0 ? String(cString: strerror(errno)) : "the disk is full"
        return close(descriptor) == 0 ? reason : reason ?? String(cString: strerror(errno))
    }

    /// Opens the database of a namespace on disk.
    package func open(_ name: String) throws -> NamespaceDatabase {
        try NamespaceDatabase(path: path(of: name), durability: durability, background: background)
    }

    /// The source of a new namespace's database.
    package enum Source {
        /// A seeded template. `build` fills it, and runs only if there is no template yet for this key and schema.
        case template(key: String, build: (Transaction) throws -> Void)
        case snapshot(SnapshotRecord)
    }

    /// A new database that is not in its place yet.
    package struct Prepared: Sendable {
        fileprivate enum Place: Sendable {
            case memory(NamespaceDatabase)
            case file(String)
        }

        fileprivate let place: Place

        /// Removes a database that will not be used.
        package func discard() {
            switch place {
            case .memory(let world): try? world.close()
            case .file(let path): NamespaceStore.removeDatabase(path)
            }
        }
    }

    /// Creates a database that is not in use yet.
    ///
    /// - Parameters:
    ///   - finish: writes the data of this namespace alone.
    /// - Throws: ``StorageError``; any error that `finish` throws.
    package func prepare(
        _ name: String, from source: Source, finish: (Transaction) throws -> Void
    ) throws -> Prepared {
        guard let path = path(of: name) else {
            let world = try NamespaceDatabase(path: nil)
            switch source {
            case .template(let key, let build): try templateInMemory(key, build: build).copy(to: world)
            case .snapshot(let snapshot): try snapshot.copy(to: world)
            }
            try world.transaction(finish)
            return Prepared(place: .memory(world))
        }
        let number = fresh.withLockedValue { count in
            count += 1
            return count
        }
        // Two databases may be prepared for one name at the same time.
        let fresh = "\(path).new-\(number)"
        do {
            let file =
                switch source {
                case .template(let key, let build): try templateOnDisk(key, build: build)
                case .snapshot(let snapshot): try snapshot.file()
                }
            Self.removeDatabase(fresh)
            do {
                try FileManager.default.copyItem(atPath: file, toPath: fresh)
            } catch {
                throw StorageError.unavailable("\(path) cannot be written: \(StorageError.reason(error))")
            }
            let world = try NamespaceDatabase(path: fresh, durability: durability, keepsOld: false)
            try world.transaction(finish)
            try world.checkpoint()
            try world.close()
            return Prepared(place: .file(fresh))
        } catch {
            Self.removeDatabase(fresh)
            throw error
        }
    }

    /// Changes a prepared database. A database on disk is closed again afterwards.
    package func change(_ prepared: Prepared, _ body: (NamespaceDatabase) throws -> Void) throws {
        switch prepared.place {
        case .memory(let world): try body(world)
        case .file(let fresh):
            let world = try NamespaceDatabase(path: fresh, durability: durability)
            do {
                try body(world)
                try world.checkpoint()
            } catch {
                try? world.close()
                throw error
            }
            try world.close()
        }
    }

    /// Puts a prepared database in place, and replaces a closed database of that name.
    ///
    /// The file appears complete or not at all, even if the process is killed.
    ///
    /// - Parameter closeOld: closes the database that is replaced; called when only a rename remains to be done.
    package func put(_ prepared: Prepared, as name: String, closeOld: () throws -> Void) throws -> NamespaceDatabase {
        switch prepared.place {
        case .memory(let world):
            try closeOld()
            return world
        case .file(let fresh):
            guard let path = path(of: name) else { preconditionFailure("a file has no place in memory") }
            try closeOld()
            Self.removeDatabase(path, butNotTheFileItself: true)
            try Self.rename(fresh, to: path)
            // The database is in its place. A disk that fails here will refuse the first commit too.
            if durability == .powerLoss { try? Disk.synchronizeName(of: path) }
            return try NamespaceDatabase(path: path, durability: durability, background: background)
        }
    }

    /// Removes the closed database of a namespace from disk.
    package func remove(_ name: String) {
        guard let path = path(of: name) else { return }
        Self.removeDatabase(path)
        // Copies made before migrations.
        for version in 1..<max(2, Schema.migrator.migrations.count) { unlink("\(path).schema-\(version)") }
        if durability == .powerLoss { try? Disk.synchronizeName(of: path) }
    }

    func path(of name: String) -> String? {
        root?.appendingPathComponent("namespaces/\(name).sqlite").path
    }

    private func templateInMemory(
        _ key: String, build: (Transaction) throws -> Void
    ) throws -> NamespaceDatabase {
        try building.withLock {
            if let template = templates.withLockedValue({ $0[key] }) { return template }
            let template = try NamespaceDatabase(path: nil)
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
            let template = try NamespaceDatabase(path: fresh, durability: durability)
            try template.transaction(build)
            try template.checkpoint()
            try template.close()
            try Self.rename(fresh, to: path)
            return path
        }
    }

    static func rename(_ source: String, to target: String) throws {
        guard Foundation.rename(source, target) == 0 else {
            throw StorageError.unavailable("\(target) cannot be written: \(String(cString: strerror(errno)))")
        }
    }

    /// Removes a database file and the files that SQLite and the store keep beside it.
    package static func removeDatabase(_ path: String, butNotTheFileItself: Bool = false) {
        let itself = butNotTheFileItself ? [] : [""]
        for suffix in ["-wal", "-shm", "-journal", noteSuffix] + itself {
            unlink(path + suffix)
        }
    }
}
