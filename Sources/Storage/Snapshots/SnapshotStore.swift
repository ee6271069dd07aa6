import Foundation
import GRDB
import NIOConcurrencyHelpers

/// A saved copy of a namespace's database, under a name.
package struct SnapshotRecord: Sendable {
    /// The namespace that the snapshot was taken of or uploaded to.
    package let namespace: String
    package let name: String
    /// The description recorded when the snapshot was made.
    package fileprivate(set) var facts: String
    /// The size of the database in bytes, without images.
    package let bytes: Int
    let place: DatabasePlace
    /// The identity that the file had when it was found; `nil` in memory. Another request may delete or replace it meanwhile.
    let identity: FileIdentity?

    /// The images that the snapshot refers to.
    package func images() throws -> Set<ImageHash> {
        try read { try $0.images() }
    }

    /// - Throws: ``StorageError/changedMeanwhile(_:)`` if the snapshot was deleted or replaced since it was found.
    package func read<Value>(_ body: (Transaction) throws -> Value) throws -> Value {
        switch place {
        case .memory(let database): return try database.transaction(body)
        case .file(let path): return try unchanged(path) { try SnapshotStore.read(path, body) }
        }
    }

    /// Copies the snapshot into a database in memory, and overwrites it, or to a path where there is no file.
    ///
    /// - Throws: ``StorageError/changedMeanwhile(_:)`` if the snapshot was deleted or replaced since it was found.
    func copy(to target: DatabasePlace) throws {
        guard case .file(let path) = place else { return try place.copy(to: target) }
        try unchanged(path) { try place.copy(to: target) }
    }

    /// Runs `body`, which reads the file. What it read is of this snapshot alone: the file that was found is still there
    /// afterwards.
    private func unchanged<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
        let value: Value
        do {
            value = try body()
        } catch  where FileIdentity(path) != identity {
            throw changed
        }
        guard FileIdentity(path) == identity else { throw changed }
        return value
    }

    private var changed: StorageError {
        .changedMeanwhile("the snapshot \"\(name)\" was deleted or replaced while it was being read")
    }

    /// Removes a snapshot without a name. A reader that has the file open can still read it to its end.
    package func discard() { place.discard() }

    /// Opens the database as a file, which can be read to its end even if the snapshot is deleted. A snapshot in memory is
    /// written to `temporary`, which must not exist yet, and loses that name at once.
    ///
    /// - Throws: ``StorageError/changedMeanwhile(_:)`` if the snapshot was deleted or replaced since it was found.
    package func open(writingTo temporary: @autoclosure () throws -> String) throws -> FileHandle {
        switch place {
        case .file(let path):
            guard let file = try PrivateFile.open(at: path), FileIdentity(file) == identity else { throw changed }
            return file
        case .memory(let database):
            let path = try temporary()
            defer { NamespaceStore.removeDatabase(path) }
            return try StorageError.converting(path) {
                try PrivateFile.create(at: path).close()
                let target = try DatabaseQueue(privateFile: path, configuration: .plainFile)
                try database.queue().backup(to: target)
                try target.close()
                guard let file = try PrivateFile.open(at: path) else {
                    throw StorageError.unavailable("\(path) was removed by another program")
                }
                return file
            }
        }
    }
}

/// The snapshots of all namespaces: databases in memory, or files below the data directory. A file appears complete
/// or not at all.
///
/// Every call blocks.
package final class SnapshotStore: Sendable {
    let root: URL?
    private let durability: Durability
    let memory = NIOLockedValueBox<[String: [String: SnapshotRecord]]>([:])
    /// Counts temporary files. The stores of a process have one folder for those: two servers may run in it.
    private static let temporaries = NIOLockedValueBox(0)
    /// The copies of databases on disk that are being saved, by their namespaces.
    private let copies = NIOLockedValueBox<[String: DatabaseCopy]>([:])
    /// The store of the images that snapshots refer to.
    let images: ImageStore
    /// The images of each snapshot, read once. A file with the same identity has the same content.
    let knownImages = NIOLockedValueBox<[String: (file: FileIdentity, images: Set<ImageHash>)]>([:])

    /// - Parameters:
    ///   - root: the data directory; `nil` to keep snapshots in memory.
    ///   - images: is notified of references that are lost with a snapshot.
    package init(root: String?, images: ImageStore, durability: Durability = .process) {
        self.images = images
        self.root = root.map { URL(fileURLWithPath: $0, isDirectory: true).appendingPathComponent("snapshots") }
        self.durability = durability
        guard let root = self.root else { return }
        // Files that an earlier process was writing when it ended.
        // What cannot be listed is removed at another start.
        for name in (try? PrivateFile.names(in: root.path)) ?? [] where name.hasPrefix(".new-") {
            unlink(root.appendingPathComponent(name).path)
        }
    }

    /// A path for a new file, on the file system of the snapshots so that it can be renamed into place.
    package func temporaryPath() throws -> String {
        let number = Self.temporaries.next()
        guard let root else {
            return FileManager.default.temporaryDirectory.appendingPathComponent(
                "entrupy-sim-\(ProcessInfo.processInfo.processIdentifier)-\(number)"
            ).path
        }
        try PrivateFile.createFolder(at: root.path)
        return root.appendingPathComponent(".new-\(number)").path
    }

    /// A namespace's snapshots, sorted by name, and what is wrong with those whose files cannot be read.
    ///
    /// - Throws: ``StorageError/unavailable(_:)`` if a folder or a file is a link, or a folder cannot be read.
    package func list(
        _ namespace: String
    ) throws -> (snapshots: [SnapshotRecord], damaged: [(name: String, problem: String)]) {
        guard root != nil else {
            return (memory.withLockedValue { $0[namespace, default: [:]].values.sorted { $0.name < $1.name } }, [])
        }
        var (found, damaged): ([SnapshotRecord], [(name: String, problem: String)]) = ([], [])
        for file in try files(namespace).sorted() {
            let name = String(file.dropLast(Self.suffix.count))
            do {
                if let snapshot = try find(namespace, name) { found.append(snapshot) }
            } catch {
                // A link is a mistake of another kind, and no file of the server's.
                guard let path = path(namespace, name), FileIdentity(path) != nil else { throw error }
                damaged.append((name, "\(error)"))
            }
        }
        return (found, damaged)
    }

    /// The names of a namespace's snapshot files.
    ///
    /// - Throws: ``StorageError/unavailable(_:)`` if a folder is a link, or cannot be read.
    func files(_ namespace: String) throws -> [String] {
        guard let root else { return [] }
        try PrivateFile.checkFolder(at: root.path)
        return try PrivateFile.names(in: root.appendingPathComponent(namespace).path).filter {
            $0.hasSuffix(Self.suffix)
        }
    }

    /// A snapshot; `nil` if there is none of this name.
    package func find(_ namespace: String, _ name: String) throws -> SnapshotRecord? {
        guard let path = path(namespace, name) else { return memory.withLockedValue { $0[namespace]?[name] } }
        try PrivateFile.checkFolders(above: path)
        while try PrivateFile.exists(at: path) {
            do {
                return try Self.record(namespace, name, at: path)
            } catch StorageError.changedMeanwhile {
                // Deleted while it was being read, or replaced: then the new one is found.
                continue
            }
        }
        return nil
    }

    /// Saves a copy of a namespace's database under a name, and replaces any snapshot of that name.
    ///
    /// - Parameter describe: makes the description to be recorded.
    /// - Returns: the snapshot, and whether there was none of this name.
    package func save(
        _ copy: DatabaseCopy, as name: String, of namespace: String, describe: (Transaction) throws -> String
    ) throws -> (snapshot: SnapshotRecord, isNew: Bool) {
        guard copy.usesSecondConnection else {
            return try save(try copy.finished(), as: name, of: namespace, describe)
        }
        copies.withLockedValue { $0[namespace] = copy }
        defer { copies.withLockedValue { if $0[namespace] === copy { $0[namespace] = nil } } }
        let fresh = try temporaryPath()
        defer { NamespaceStore.removeDatabase(fresh) }
        try copy.finish(to: fresh)
        return try save(file: fresh, as: name, of: namespace, describe: describe)
    }

    /// How much of a namespace's database the newest save has copied; `nil` if none is in progress, or the databases are in memory.
    package func progress(of namespace: String) -> DatabaseCopy.Progress? {
        copies.withLockedValue { $0[namespace] }?.progress
    }

    /// A snapshot without a name. The caller discards it.
    package func unnamed(
        _ copy: DatabaseCopy, of namespace: String, describe: (Transaction) throws -> String
    ) throws -> SnapshotRecord {
        guard copy.usesSecondConnection else {
            let database = try copy.finished()
            let (facts, bytes) = try database.transaction { (try describe($0), try $0.databaseBytes()) }
            return SnapshotRecord(
                namespace: namespace, name: "", facts: facts, bytes: bytes, place: .memory(database),
                identity: nil)
        }
        let fresh = try temporaryPath()
        do {
            try copy.finish(to: fresh)
            try Self.change(fresh) { try $0.setNamespaceValue(.snapshot, describe($0)) }
            return try Self.record(namespace, "", at: fresh)
        } catch {
            NamespaceStore.removeDatabase(fresh)
            throw error
        }
    }

    /// Saves an uploaded database that ``UploadedDatabase`` has accepted. The file at `fresh` is moved or removed.
    package func save(
        file fresh: String, as name: String, of namespace: String, describe: (Transaction) throws -> String
    ) throws -> (snapshot: SnapshotRecord, isNew: Bool) {
        guard let path = path(namespace, name) else {
            defer { NamespaceStore.removeDatabase(fresh) }
            let database = try NamespaceDatabase(forCopyAt: nil)
            try Self.load(fresh, into: database)
            return try save(database, as: name, of: namespace, describe)
        }
        try Self.change(fresh) { try $0.setNamespaceValue(.snapshot, describe($0)) }
        // Independent of the durability: a power cut may lose a snapshot, but must not leave part of one under its
        // name.
        try Disk.synchronize(fresh)
        try PrivateFile.createFolder(at: URL(fileURLWithPath: path).deletingLastPathComponent().path)
        let isNew = try !PrivateFile.exists(at: path)
        try releasing(isNew ? [] : imagesIfWhole(at: path)) { try NamespaceStore.rename(fresh, to: path) }
        if durability == .powerLoss { try Disk.synchronizeName(of: path) }
        return (try Self.record(namespace, name, at: path), isNew)
    }

    private func save(
        _ database: NamespaceDatabase, as name: String, of namespace: String, _ describe: (Transaction) throws -> String
    ) throws -> (snapshot: SnapshotRecord, isNew: Bool) {
        let (facts, bytes) = try database.transaction { transaction in
            let facts = try describe(transaction)
            try transaction.setNamespaceValue(.snapshot, facts)
            return (facts, try transaction.databaseBytes())
        }
        let record = SnapshotRecord(
            namespace: namespace, name: name, facts: facts, bytes: bytes, place: .memory(database), identity: nil)
        let old = memory.withLockedValue { $0[namespace]?[name] }
        return try releasing(old?.images() ?? []) {
            let isNew = memory.withLockedValue { $0[namespace, default: [:]].updateValue(record, forKey: name) == nil }
            return (record, isNew)
        }
    }

    /// Removes a snapshot; `false` if there was none.
    package func remove(_ namespace: String, _ name: String) throws -> Bool {
        guard let path = path(namespace, name) else {
            let old = memory.withLockedValue { $0[namespace]?[name] }
            return try releasing(old?.images() ?? []) {
                memory.withLockedValue { memory in
                    defer { if memory[namespace]?.isEmpty == true { memory[namespace] = nil } }
                    return memory[namespace]?.removeValue(forKey: name) != nil
                }
            }
        }
        try PrivateFile.checkFolders(above: path)
        guard try PrivateFile.exists(at: path) else { return false }
        defer { forgetImages(ofMissing: [path]) }
        return try releasing(imagesIfWhole(at: path)) {
            if unlink(path) == 0 {
                if durability == .powerLoss { try Disk.synchronizeName(of: path) }
                return true
            }
            guard errno == ENOENT else {
                throw StorageError.unavailable("\(path) cannot be removed: \(PrivateFile.reason)")
            }
            return false
        }
    }

    /// The images of a snapshot that is replaced or removed, none if its file cannot be read: one that is damaged must not stay for ever.
    private func imagesIfWhole(at path: String) -> Set<ImageHash> {
        // The sweep of the next start finds those that nothing else refers to.
        (try? images(at: path)) ?? []
    }

    /// Removes all snapshots of namespaces.
    package func removeAll(_ namespaces: [String]) {
        let present = root.map { Disk.existing(namespaces, in: $0.path) } ?? namespaces
        for namespace in present { removeAll(namespace) }
    }

    /// Removes the snapshots of namespaces that do not exist. A process that is killed while it deletes a namespace
    /// leaves them.
    ///
    /// - Throws: ``StorageError/unavailable(_:)`` if the folder of a namespace is a link.
    package func removeOrphans(except namespaces: Set<String>) throws {
        guard let root else { return }
        let folders = try PrivateFile.names(in: root.path)
        removeAll(folders.filter { !namespaces.contains($0) })
        for folder in folders where namespaces.contains(folder) {
            try PrivateFile.checkFolder(at: root.appendingPathComponent(folder).path)
        }
    }

    private func removeAll(_ namespace: String) {
        guard let root else {
            // The images of an unreadable snapshot stay until the process ends.
            let old = memory.withLockedValue { $0[namespace] }?.values.compactMap { try? $0.images() } ?? []
            return releasing(old.reduce(into: []) { $0.formUnion($1) }) {
                memory.withLockedValue { $0[namespace] = nil }
            }
        }
        let folder = root.appendingPathComponent(namespace).path
        // The images of an unreadable snapshot are found by the sweep of the next start.
        let paths = ((try? files(namespace)) ?? []).map { "\(folder)/\($0)" }
        // Those that can be read are released now.
        let old = paths.compactMap { try? images(at: $0) }
        defer { forgetImages(ofMissing: paths) }
        // What stays is removed at the next start, as the snapshots of no namespace.
        releasing(old.reduce(into: []) { $0.formUnion($1) }) { try? FileManager.default.removeItem(atPath: folder) }
    }

    // MARK: Files

    private static let suffix = ".sqlite"

    private func path(_ namespace: String, _ name: String) -> String? {
        root?.appendingPathComponent("\(namespace)/\(name)\(Self.suffix)").path
    }

    /// - Throws: ``StorageError/changedMeanwhile(_:)`` if the file was deleted or replaced while it was being read.
    private static func record(_ namespace: String, _ name: String, at path: String) throws -> SnapshotRecord {
        guard let identity = FileIdentity(path) else {
            throw StorageError.changedMeanwhile("the snapshot \"\(name)\" was deleted")
        }
        var found = SnapshotRecord(
            namespace: namespace, name: name, facts: "{}", bytes: identity.size, place: .file(path),
            identity: identity)
        if let facts = try found.read({ try $0.namespaceValue(.snapshot) }) { found.facts = facts }
        return found
    }

    /// Reads a database file on a read-only connection.
    package static func read<Value>(_ path: String, _ body: (Transaction) throws -> Value) throws -> Value {
        try withFile(path) { file in try file.read { try body(Transaction(database: $0)) } }
    }

    private static func withFile<Value>(_ path: String, _ body: (DatabaseQueue) throws -> Value) throws -> Value {
        try StorageError.converting(path) {
            let queue = try DatabaseQueue(privateFile: path, configuration: .reading)
            defer { try? queue.close() }
            return try body(queue)
        }
    }

    /// Changes a database file, and leaves no write-ahead log beside it.
    private static func change(_ path: String, _ body: (Transaction) throws -> Void) throws {
        do {
            let queue = try DatabaseQueue(privateFile: path, configuration: .plainFile)
            defer { try? queue.close() }
            try queue.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA journal_mode = DELETE")
                try database.inTransaction {
                    try body(Transaction(database: database))
                    return .commit
                }
            }
        } catch {
            throw error is DatabaseError ? StorageError.from(error, path) : error
        }
    }

    static func load(_ path: String, into database: NamespaceDatabase) throws {
        try withFile(path) { try $0.backup(to: database.queue()) }
        database.contentReplaced()
    }
}
