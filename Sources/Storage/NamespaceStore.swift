import Foundation
import GRDB
import NIOConcurrencyHelpers

/// The databases of all namespaces: one file each below a data directory, or all in memory.
///
/// Every call blocks. Ordinary requests do not use the store.
package final class NamespaceStore: Sendable {
    private let root: URL?
    private let durability: Durability
    private let checkpoints: Background?
    private let migrator: DatabaseMigrator
    /// Part of the names and notes of files that are valid for one schema.
    let schemaVersion: String
    /// Held for the lifetime of this store, so that no other process uses the directory.
    private let directoryLock: DirectoryLock?
    let templates: DatabaseTemplates
    private let fresh = NIOLockedValueBox(0)
    /// `nil` if everything is in memory.
    private let removedFiles: RemovedFiles?
    /// Sentences about files that other users could access, for the log.
    package let warnings: [String]

    /// - Parameters:
    ///   - root: the data directory; `nil` to keep everything in memory.
    ///   - background: runs blocking work on another thread.
    ///   - checkpoints: runs checkpoints; `nil` for `background`. Each waits for the disk, and there can be one for each namespace.
    ///   - migrations: those of the platforms, in the order of their release. They run after those of ``Schema``.
    /// - Throws: ``StorageError`` if the directory cannot be created or is a file, or if something in it is a link.
    package init(
        root: String?, durability: Durability = .process, background: Background? = nil,
        checkpoints: Background? = nil, migrations: [Migration] = []
    ) throws {
        self.checkpoints = checkpoints ?? background
        migrator = Schema.migrator(appending: migrations)
        schemaVersion = String(migrator.migrations.count)
        self.root = root.map { URL(fileURLWithPath: $0, isDirectory: true) }
        self.durability = durability
        guard let root = self.root else {
            directoryLock = nil
            removedFiles = nil
            warnings = []
            templates = try DatabaseTemplates(folder: nil, durability: durability, migrator: migrator)
            return
        }
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: root.path, isDirectory: &isFolder), !isFolder.boolValue {
            throw StorageError.unavailable(
                "the data directory \(root.path) is a file; give --data-dir a folder, or one that is not there yet")
        }
        var exposure = Exposure(directory: root.path)
        do {
            // An existing folder may be shared on purpose; the folders created in it are private.
            if !FileManager.default.fileExists(atPath: root.path) {
                try PrivateFile.createFolder(at: root.path)
            }
            for folder in ["namespaces", "templates", "images", "snapshots", "scenarios", "removed"] {
                let path = root.appendingPathComponent(folder).path
                exposure.add(try PrivateFile.createFolder(at: path), of: path)
            }
        } catch {
            throw StorageError.unavailable(
                "the data directory \(root.path) cannot be used: \(StorageError.reason(error))")
        }
        let lock = root.appendingPathComponent("lock").path
        exposure.add(try PrivateFile.restrict(lock), of: lock)
        directoryLock = try DirectoryLock(root)
        removedFiles = RemovedFiles(folder: root.appendingPathComponent("removed").path, background: background)
        templates = try DatabaseTemplates(
            folder: root.appendingPathComponent("templates").path, durability: durability, migrator: migrator,
            checkAccess: { exposure.add(try PrivateFile.restrict($0), of: $0) })
        try Self.clean(root.appendingPathComponent("namespaces").path, &exposure)
        warnings = exposure.sentences
    }

    /// Removes files that an earlier process had not yet moved into place, and those beside a removed database.
    /// Restricts the access to the others: a database that was copied there may be one that everyone can read, and databases of idle
    /// namespaces are not opened now.
    private static func clean(_ folder: String, _ exposure: inout Exposure) throws {
        let files = Set(try PrivateFile.names(in: folder))
        for file in files {
            let path = "\(folder)/\(file)"
            // A folder or a pipe in a database's place is reported when that is opened. What was set aside stays.
            if PrivateFile.isFolderOrPipe(path) || file.contains(damagedSuffix) { continue }
            let database = file.prefix { $0 != "." } + suffix
            if file.contains(".new") || !files.contains(String(database)) {
                unlink(path)
            } else {
                exposure.add(try PrivateFile.restrict(path), of: path)
            }
        }
    }

    private static let suffix = ".sqlite"

    /// The names of the namespaces on disk, sorted.
    package func names() throws -> [String] {
        guard let root else { return [] }
        do {
            return try PrivateFile.names(in: root.appendingPathComponent("namespaces").path)
                .filter { $0.hasSuffix(Self.suffix) }
                .map { String($0.dropLast(Self.suffix.count)) }
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
        guard descriptor >= 0 else { return PrivateFile.reason }
        unlink(name)
        let zeros = [UInt8](repeating: 0, count: probeBytes)
        let written = write(descriptor, zeros, zeros.count)
        let reason = written == zeros.count ? nil : written < 0 ? PrivateFile.reason : "the disk is full"
        return close(descriptor) == 0 ? reason : reason ?? PrivateFile.reason
    }

    /// The ending of the name of a database that could not be opened, once another has its place.
    private static let damagedSuffix = ".damaged"

    /// Opens the database of a namespace on disk.
    ///
    /// - Throws: ``StorageError`` that names the file if it is missing, empty, not a database, or not a file.
    package func open(_ name: String) throws -> NamespaceDatabase {
        if let path = path(of: name) { try Self.checkContent(path) }
        return try NamespaceDatabase(
            path: path(of: name), durability: durability, background: checkpoints, migrator: migrator)
    }

    /// Checks that a file has content, before SQLite makes an empty database of one that has none.
    private static func checkContent(_ path: String) throws {
        guard try PrivateFile.exists(at: path) else { throw StorageError.unavailable("\(path) is missing") }
        guard let size = FileIdentity(path)?.size, size == 0, FileIdentity(path + "-wal")?.size ?? 0 == 0 else {
            return
        }
        throw StorageError.unavailable("\(path) is empty")
    }

    /// Gives a database that cannot be opened another name, so that another one can have its place. What is in it can still be looked
    /// for. One that was set aside before is replaced.
    ///
    /// - Throws: ``StorageError/unavailable(_:)``.
    package func setAside(_ name: String) throws {
        guard let path = path(of: name) else { return }
        for suffix in ["", "-wal"] {
            let target = path + Self.damagedSuffix + suffix
            guard Foundation.rename(path + suffix, target) != 0, errno != ENOENT else { continue }
            throw StorageError.unavailable("\(path)\(suffix) cannot be renamed to \(target): \(PrivateFile.reason)")
        }
    }

    /// Whether there is a template of a key, so that a namespace of it is only a copy. Does not block.
    package func hasTemplate(_ key: String) -> Bool { templates.has(key) }

    /// Makes the template of a key, unless there is one. A template of much seed data takes seconds.
    ///
    /// - Parameter build: fills it.
    package func makeTemplate(_ key: String, build: (Transaction) throws -> Void) throws {
        try templates.make(key, build: build)
    }

    /// The source of a new namespace's database.
    package enum Source {
        /// A seeded template. `build` fills it, and runs only if there is no template yet for this key and schema.
        case template(key: String, build: (Transaction) throws -> Void)
        case snapshot(SnapshotRecord)
    }

    /// Creates a database that is not in use yet.
    ///
    /// - Parameter finish: writes the data of this namespace alone.
    /// - Throws: ``StorageError``; any error that `finish` throws.
    package func prepare(
        _ name: String, from source: Source, finish: (Transaction) throws -> Void
    ) throws -> DatabasePlace {
        let place: DatabasePlace
        if let path = path(of: name) {
            // Two databases may be prepared for one name at the same time.
            let fresh = "\(path).new-\(self.fresh.next())"
            Self.removeDatabase(fresh)
            place = .file(fresh)
        } else {
            place = .memory(try NamespaceDatabase(forCopyAt: nil))
        }
        do {
            switch source {
            case .template(let key, let build): try templates.copy(key, to: place, build: build)
            case .snapshot(let snapshot): try snapshot.copy(to: place)
            }
            try change(place) { try $0.transaction(finish) }
            return place
        } catch {
            place.discard()
            throw error
        }
    }

    /// Changes a prepared database. A database on disk is closed again afterwards.
    package func change(_ prepared: DatabasePlace, _ body: (NamespaceDatabase) throws -> Void) throws {
        switch prepared {
        case .memory(let database): try body(database)
        case .file(let fresh):
            let database = try NamespaceDatabase(
                path: fresh, durability: durability, keepsOld: false, migrator: migrator)
            do {
                try body(database)
                try database.checkpoint()
            } catch {
                try? database.close()
                throw error
            }
            try database.close()
        }
    }

    /// Puts a prepared database in place, and replaces a closed database of that name.
    ///
    /// The file appears complete or not at all, even if the process is killed.
    ///
    /// - Parameter closeOld: closes the database that is replaced; called when only a rename remains to be done.
    package func put(
        _ prepared: DatabasePlace, as name: String, closeOld: () throws -> Void
    ) throws -> NamespaceDatabase {
        switch prepared {
        case .memory(let database):
            try closeOld()
            return database
        case .file(let fresh):
            guard let path = path(of: name) else { preconditionFailure("a file has no place in memory") }
            try closeOld()
            Self.removeSidecarFiles(of: path)
            try Self.rename(fresh, to: path)
            // SQLite leaves its index of the log where the file system shares no memory.
            Self.removeSidecarFiles(of: fresh)
            // The database is in its place. A disk that fails here will refuse the first commit too.
            if durability == .powerLoss { try? Disk.synchronizeName(of: path) }
            return try NamespaceDatabase(
                path: path, durability: durability, background: checkpoints, migrator: migrator)
        }
    }

    /// Removes the closed databases of namespaces from disk.
    package func remove(_ names: [String]) {
        guard let root, !names.isEmpty else { return }
        let folder = root.appendingPathComponent("namespaces").path
        // The database first: without it, the others are removed at the next start if the process is killed.
        let beside = [
            "", "-wal", "-shm", "-journal", Self.noteSuffix, Self.damagedSuffix, Self.damagedSuffix + "-wal",
        ]
        // A folder or a pipe in a database's place is nothing that this program made, so it only loses the name.
        for name in names {
            let path = "\(folder)/\(name)\(Self.suffix)"
            if PrivateFile.isFolderOrPipe(path) { _ = Foundation.rename(path, path + Self.damagedSuffix) }
        }
        // Copies made before migrations.
        let copies = (1..<max(2, migrator.migrations.count)).map { ".schema-\($0)" }
        let files = names.flatMap { name in (beside + copies).map { "\(name)\(Self.suffix)\($0)" } }
        removedFiles?.remove(Disk.existing(files, in: folder), in: folder)
        // The files are gone already. A disk that fails here will refuse the next commit, which says why.
        if durability == .powerLoss { try? Disk.synchronize(folder) }
    }

    func path(of name: String) -> String? {
        root?.appendingPathComponent("namespaces/\(name)\(Self.suffix)").path
    }

    /// Puts a file into its place, and replaces any at this path.
    ///
    /// - Throws: ``StorageError/unavailable(_:)``, also if there is a link, which is not replaced.
    static func rename(_ source: String, to target: String) throws {
        try PrivateFile.exists(at: target)
        guard Foundation.rename(source, target) == 0 else {
            throw StorageError.unavailable("\(target) cannot be written: \(PrivateFile.reason)")
        }
    }

    /// Removes a database file and the files that SQLite and the store keep beside it.
    package static func removeDatabase(_ path: String) {
        removeSidecarFiles(of: path)
        unlink(path)
    }

    /// Removes the files that SQLite and the store keep beside a database file.
    static func removeSidecarFiles(of path: String) {
        for suffix in ["-wal", "-shm", "-journal", noteSuffix] { unlink(path + suffix) }
    }
}

/// A database that no namespace uses: a new one, a template, or a snapshot.
package enum DatabasePlace: Sendable {
    case memory(NamespaceDatabase)
    /// Its path.
    case file(String)

    /// Copies the database into one in memory, and overwrites it, or to a path where there is no file.
    func copy(to target: DatabasePlace) throws {
        switch (self, target) {
        case (.memory(let source), .memory(let database)): try source.copy(to: database)
        case (.file(let path), .memory(let database)): try SnapshotStore.load(path, into: database)
        case (.file(let path), .file(let target)): try Disk.copy(path, to: target)
        case (.memory, .file): preconditionFailure("a database in memory has no file")
        }
    }

    /// Removes a database that will not be used.
    package func discard() {
        switch self {
        // A database in memory is gone with its connection.
        case .memory(let database): try? database.close()
        case .file(let path): NamespaceStore.removeDatabase(path)
        }
    }
}

/// Files and folders of a data directory that other users could access when it was opened.
private struct Exposure {
    let directory: String
    var restricted: [String] = []
    var open: [String] = []

    mutating func add(_ access: PrivateFile.Access, of path: String) {
        switch access {
        case .missing, .own: break
        case .restricted(let mode): restricted.append("\(path) (mode \(String(mode, radix: 8)))")
        case .open(let mode, let reason): open.append("\(path) (mode \(String(mode, radix: 8))): \(reason)")
        }
    }

    /// At most one sentence for those whose access is restricted now, and one for those where that failed.
    var sentences: [String] {
        let now = restricted.first.map {
            """
            other users of this machine could access files in \(directory) that hold tokens: \(restricted.count) of them, \
            for instance \($0). Now only their owner can
            """
        }
        let still = open.first.map {
            """
            other users of this machine may access files in \(directory) that hold tokens, and their modes cannot be set: \
            \(open.count) of them, for instance \($0). Use a --data-dir of your own on a file system with modes
            """
        }
        return [now, still].compactMap(\.self)
    }
}
