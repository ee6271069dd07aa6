import Foundation
import GRDB
import NIOConcurrencyHelpers

/// Seeded databases that new namespaces are copied from, one for each seed. They are files that survive a restart, or
/// databases in memory.
///
/// The least recently used are removed: a client may give each namespace seed data of its own. Every call blocks.
final class DatabaseTemplates: Sendable {
    static let maxCount = 32

    /// The folder of the files; `nil` to keep templates in memory.
    private let folder: String?
    private let durability: Durability
    private let migrator: DatabaseMigrator
    /// A database in memory that has the schema and no rows; `nil` until the first template is built. Migrations take
    /// ten times as long as a copy.
    private let blank = NIOLockedValueBox<NamespaceDatabase?>(nil)
    /// The end of the names of usable templates: another schema has another one.
    private let suffix: String
    /// Held while the template of a key is built, copied or removed. So it is built once, and the others do not wait.
    private let locks = KeyedLocks()
    private let known: NIOLockedValueBox<RecentValues<String, DatabasePlace>>
    /// The files that were found whole, as they were then.
    private let sound = NIOLockedValueBox<[String: FileIdentity]>([:])

    /// Removes the files that cannot be used: those of another schema, and those that an earlier process had not
    /// finished.
    ///
    /// - Parameters:
    ///   - folder: a folder that no other process uses; `nil` to keep templates in memory.
    ///   - checkAccess: called with the path of each usable file.
    /// - Throws: ``StorageError/unavailable(_:)`` if a usable file is a link, or the folder cannot be read.
    init(
        folder: String?, durability: Durability, migrator: DatabaseMigrator,
        checkAccess: (String) throws -> Void = { _ in }
    ) throws {
        self.migrator = migrator
        suffix = "-\(migrator.migrations.count).sqlite"
        self.folder = folder
        self.durability = durability
        var known = RecentValues<String, DatabasePlace>(maxCount: Self.maxCount)
        if let folder {
            let files = try PrivateFile.names(in: folder)
                .map { (name: $0, changed: FileIdentity("\(folder)/\($0)")?.changed ?? 0) }
            for file in files.sorted(by: { $0.changed < $1.changed }) {
                let path = "\(folder)/\(file.name)"
                // A folder or a pipe in a template's place is moved when the template is made.
                if PrivateFile.isFolderOrPipe(path) { continue }
                if file.name.hasSuffix(suffix) {
                    try checkAccess(path)
                    for case .file(let old) in known.insert(.file(path), for: path) {
                        NamespaceStore.removeDatabase(old)
                    }
                } else {
                    unlink(path)
                }
            }
        }
        self.known = NIOLockedValueBox(known)
    }

    var count: Int { known.withLockedValue { $0.count } }

    /// Copies the template of a key into a database in memory, and overwrites it, or to a path where there is no file.
    ///
    /// - Parameter build: fills a template that does not exist yet.
    func copy(_ key: String, to place: DatabasePlace, build: (Transaction) throws -> Void) throws {
        try withTemplate(key, build) { try $0.copy(to: place) }
    }

    /// Whether there is a usable template of a key. There is none where its file is a link; ``make(_:build:)`` says so.
    func has(_ key: String) -> Bool {
        // The caller makes a template that is not usable, and gets the error then.
        (try? place(of: key)) != nil
    }

    /// Builds the template of a key, unless there is one.
    func make(_ key: String, build: (Transaction) throws -> Void) throws {
        try withTemplate(key, build) { _ in }
    }

    private func path(of key: String) -> String? { folder.map { "\($0)/\(key)\(suffix)" } }

    /// The usable template of a key; `nil` if it must be built.
    private func place(of key: String) throws -> DatabasePlace? {
        let path = path(of: key)
        guard try path.map({ try PrivateFile.exists(at: $0) }) ?? true else { return nil }
        return known.withLockedValue { $0.value(of: path ?? key) }
    }

    private func withTemplate(
        _ key: String, _ build: (Transaction) throws -> Void, _ body: (DatabasePlace) throws -> Void
    ) throws {
        let path = path(of: key)
        var dropped: [DatabasePlace] = []
        defer { for case .file(let old) in dropped { remove(old) } }
        try locks.withLock(path ?? key) {
            if let path { try Self.makeRoom(at: path) }
            if let place = try place(of: key), isSound(place) { return try body(place) }
            let place = try path.map { try buildFile($0, build) } ?? buildInMemory(build)
            dropped = known.withLockedValue { $0.insert(place, for: path ?? key) }
            try body(place)
        }
    }

    /// Moves a folder or a pipe out of a template's place.
    private static func makeRoom(at path: String) throws {
        guard PrivateFile.isFolderOrPipe(path) else { return }
        guard Foundation.rename(path, path + ".damaged") == 0 else {
            throw StorageError.unavailable("\(path) is not a plain file and cannot be moved: \(PrivateFile.reason)")
        }
    }

    /// Whether a template is whole. A file is read once in a process, and again after any change: the copy of a damaged one would be
    /// a namespace without data, or none. A template is a cache, so a damaged one is made anew.
    private func isSound(_ place: DatabasePlace) -> Bool {
        guard case .file(let path) = place else { return true }
        let identity = FileIdentity(path)
        guard identity == nil || sound.withLockedValue({ $0[path] }) != identity else { return true }
        // Whatever cannot be read is made anew, and an error of the disk is reported then.
        guard (try? isWhole(path)) == true else { return false }
        sound.withLockedValue { $0[path] = identity }
        return true
    }

    private func isWhole(_ path: String) throws -> Bool {
        // SQLite makes a database of an empty file.
        guard FileIdentity(path)?.size ?? 0 > 0 else { return false }
        let queue = try DatabaseQueue(privateFile: path)
        defer {
            // A connection that only read has nothing to lose.
            try? queue.close()
        }
        return try queue.read { database in
            let applied = try migrator.appliedIdentifiers(database).count
            guard applied == migrator.migrations.count else { return false }
            return try String.fetchOne(database, sql: "PRAGMA quick_check(1)") == "ok"
        }
    }

    /// Removes the file of a template that was dropped, unless it was built again.
    private func remove(_ path: String) {
        locks.withLock(path) {
            guard known.withLockedValue({ !$0.has(path) }) else { return }
            sound.withLockedValue { $0[path] = nil }
            NamespaceStore.removeDatabase(path)
        }
    }

    private func buildInMemory(_ build: (Transaction) throws -> Void) throws -> DatabasePlace {
        let template = try NamespaceDatabase(forCopyAt: nil)
        try copySchema(to: template)
        try template.transaction(build)
        return .memory(template)
    }

    private func buildFile(_ path: String, _ build: (Transaction) throws -> Void) throws -> DatabasePlace {
        let fresh = path + ".new"
        NamespaceStore.removeDatabase(fresh)
        let template = try NamespaceDatabase(forCopyAt: fresh, durability: durability)
        try copySchema(to: template)
        try template.transaction(build)
        try template.checkpoint()
        try template.close()
        NamespaceStore.removeSidecarFiles(of: path)
        try NamespaceStore.rename(fresh, to: path)
        sound.withLockedValue { $0[path] = FileIdentity(path) }
        return .file(path)
    }

    private func copySchema(to template: NamespaceDatabase) throws {
        try blank.withLockedValue { blank in
            let source = try blank ?? NamespaceDatabase(path: nil, migrator: migrator)
            blank = source
            try source.copy(to: template)
        }
    }
}
