import Foundation
import GRDB

/// Creates and opens files and folders that only their owner can access: a namespace's database holds tokens, passwords
/// and keys.
///
/// None of these functions follows a symbolic link in the last part of a path. Another user who may write to the data
/// directory, or a mistake of its owner, could otherwise make the server overwrite or publish any file. The folders above
/// are the caller's to check, with ``checkFolder(at:)`` and ``checkFolders(above:)``: a data directory may itself be a link.
package enum PrivateFile {
    package static let fileMode: mode_t = 0o600
    package static let folderMode: mode_t = 0o700
    private static let permissions: mode_t = 0o777
    /// The bits that let other users in.
    private static let others: mode_t = 0o077

    // MARK: Files

    /// Creates an empty file, replacing any at this path, and opens it for writing.
    ///
    /// A new database file is created this way before SQLite opens it: `-wal`, `-shm` and `-journal` take its mode.
    ///
    /// - Throws: ``StorageError/unavailable(_:)``.
    package static func create(at path: String) throws -> FileHandle {
        // Other users may write to a temporary directory, so a link that they left there is not followed.
        let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        var descriptor = Foundation.open(path, flags, fileMode)
        if descriptor < 0, errno == EEXIST, unlink(path) == 0 { descriptor = Foundation.open(path, flags, fileMode) }
        guard descriptor >= 0 else { throw cannotWrite(path) }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// Opens an existing file for reading. Restricts the access to it to its owner.
    ///
    /// - Returns: `nil` if there is none.
    /// - Throws: ``StorageError/unavailable(_:)`` if it is a link or otherwise not a plain file, or cannot be read.
    package static func open(at path: String) throws -> FileHandle? {
        // Without O_NONBLOCK a pipe would wait for a writer.
        let descriptor = Foundation.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw errno == ELOOP ? isLink(path) : .unavailable("\(path) cannot be read: \(reason)")
        }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else {
            throw StorageError.unavailable("\(path) cannot be read: \(reason)")
        }
        guard facts.st_mode & S_IFMT == S_IFREG else { throw isNotAFile(path) }
        // Fails for a file of another user, and where the file system has no modes; the server's start reports that.
        if facts.st_mode & permissions != fileMode { fchmod(descriptor, fileMode) }
        return file
    }

    /// The bytes of an existing file; `nil` if there is none.
    ///
    /// - Throws: ``StorageError/unavailable(_:)`` if it is a link or otherwise not a plain file, or cannot be read.
    package static func contents(at path: String) throws -> Data? {
        guard let file = try open(at: path) else { return nil }
        do {
            return try file.readToEnd() ?? Data()
        } catch {
            throw StorageError.unavailable("\(path) cannot be read: \(StorageError.reason(error))")
        }
    }

    /// Whether there is a plain file at this path. Restricts the access to it to its owner.
    ///
    /// - Throws: ``StorageError/unavailable(_:)`` if it is a link or otherwise not a plain file.
    @discardableResult package static func exists(at path: String) throws -> Bool {
        try restrict(path) != .missing
    }

    /// Creates an empty file for a new database. Restricts the access to an existing file to its owner.
    ///
    /// - Throws: ``StorageError/unavailable(_:)``.
    static func prepareDatabase(at path: String) throws {
        guard try !exists(at: path) else { return }
        let descriptor = Foundation.open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, fileMode)
        guard descriptor >= 0 else { throw cannotWrite(path) }
        close(descriptor)
    }

    /// Writes a file, replacing any at this path.
    ///
    /// - Throws: ``StorageError/unavailable(_:)``, or the system's error, for instance if the disk is full.
    static func write(_ data: Data, to path: String) throws {
        let file = try create(at: path)
        defer { try? file.close() }
        try file.write(contentsOf: data)
    }

    /// Writes a file beside the one at this path, and gives it the path when it is whole: a reader never sees a part.
    ///
    /// - Parameters:
    ///   - number: a part of the name until then, where two threads may write one file at once.
    ///   - durability: with ``Durability/powerLoss``, waits until the file is on the disk.
    /// - Throws: ``StorageError/unavailable(_:)``, or the system's error, for instance if the disk is full.
    package static func replace(
        _ path: String, with data: Data, number: Int? = nil, durability: Durability = .process
    ) throws {
        let fresh = "\(path)\(number.map { ".\($0)" } ?? "").new"
        do {
            try write(data, to: fresh)
            if durability == .powerLoss { try Disk.synchronize(fresh) }
            try NamespaceStore.rename(fresh, to: path)
        } catch {
            unlink(fresh)
            throw error
        }
        if durability == .powerLoss { try Disk.synchronizeName(of: path) }
    }

    // MARK: Folders

    /// Creates a folder, and those above it. Restricts the access to an existing folder to its owner.
    ///
    /// - Throws: ``StorageError/unavailable(_:)`` if there is a link or a file at this path, or the folder cannot be
    ///   created.
    @discardableResult static func createFolder(at path: String) throws -> Access {
        if mkdir(path, folderMode) == 0 { return .own }
        if errno == ENOENT {
            try createFolder(at: URL(fileURLWithPath: path).deletingLastPathComponent().path)
            if mkdir(path, folderMode) == 0 { return .own }
        }
        guard errno == EEXIST else { throw cannotWrite(path) }
        return try restrict(path, isFolder: true)
    }

    /// Checks that a folder is not a link.
    ///
    /// - Throws: ``StorageError/unavailable(_:)`` if it is one, or a file.
    static func checkFolder(at path: String) throws {
        _ = try restrict(path, isFolder: true)
    }

    /// Checks that neither the folder of a file nor the one above it is a link.
    ///
    /// - Throws: ``StorageError/unavailable(_:)`` if one is, or is a file.
    static func checkFolders(above path: String) throws {
        let folder = URL(fileURLWithPath: path, isDirectory: false).deletingLastPathComponent()
        try checkFolder(at: folder.deletingLastPathComponent().path)
        try checkFolder(at: folder.path)
    }

    /// The names in a folder; empty if there is no such folder.
    ///
    /// - Throws: ``StorageError/unavailable(_:)`` if it is a link or a file, or cannot be read.
    static func names(in folder: String) throws -> [String] {
        guard try restrict(folder, isFolder: true) != .missing else { return [] }
        do {
            return try FileManager.default.contentsOfDirectory(atPath: folder)
        } catch {
            throw StorageError.unavailable("\(folder) cannot be read: \(StorageError.reason(error))")
        }
    }

    /// Whether a folder, a pipe, a socket or a device has this path. A link is none of them, wherever it leads.
    static func isFolderOrPipe(_ path: String) -> Bool {
        var facts = stat()
        return lstat(path, &facts) == 0 && ![S_IFREG, S_IFLNK].contains(facts.st_mode & S_IFMT)
    }

    // MARK: Access

    /// Who could access a file or folder.
    enum Access: Equatable, Sendable {
        case missing
        /// Only its owner, as the program makes it.
        case own
        /// Other users too, until now.
        case restricted(from: mode_t)
        /// Other users too. The access cannot be restricted, for this reason.
        case open(mode_t, String)
    }

    /// Restricts the access to an existing file or folder to its owner.
    ///
    /// - Throws: ``StorageError/unavailable(_:)`` if it is a link, or not what it should be.
    static func restrict(_ path: String, isFolder: Bool = false) throws -> Access {
        var facts = stat()
        guard lstat(path, &facts) == 0 else {
            if errno == ENOENT || errno == ENOTDIR { return .missing }
            throw StorageError.unavailable("\(path) cannot be read: \(reason)")
        }
        guard facts.st_mode & S_IFMT != S_IFLNK else { throw isLink(path) }
        guard facts.st_mode & S_IFMT == (isFolder ? S_IFDIR : S_IFREG) else { throw isNotAFile(path, isFolder) }
        let mode = facts.st_mode & permissions
        let wanted = isFolder ? folderMode : fileMode
        guard mode != wanted else { return .own }
        let problem = chmod(path, wanted) == 0 ? "its file system has no modes" : reason
        guard mode & others != 0 else { return .own }
        // Some file systems take the call and ignore it.
        guard lstat(path, &facts) == 0, facts.st_mode & others == 0 else { return .open(mode, problem) }
        return .restricted(from: mode)
    }

    // MARK: Errors

    /// The refusal of a symbolic link.
    package static func isLink(_ path: String) -> StorageError {
        .unavailable(
            """
            \(path) is a symbolic link, and nothing below a data directory is opened through a link: put the file or \
            folder itself there, or remove the link
            """)
    }

    private static func isNotAFile(_ path: String, _ isFolder: Bool = false) -> StorageError {
        .unavailable("\(path) is not a \(isFolder ? "folder" : "plain file"); move it to another place")
    }

    private static func cannotWrite(_ path: String) -> StorageError {
        errno == ELOOP ? isLink(path) : .unavailable("\(path) cannot be written: \(reason)")
    }

    /// The system's words for the last failure: "No space left on device".
    static var reason: String { String(cString: strerror(errno)) }
}

extension DatabaseQueue {
    /// Opens a database that is not a link, nor are the files that SQLite keeps beside it. GRDB cannot pass
    /// `SQLITE_OPEN_NOFOLLOW`, which would also refuse a data directory that is a link; so it is checked before.
    ///
    /// - Throws: ``StorageError/unavailable(_:)``, or the library's error.
    convenience init(privateFile path: String, configuration: Configuration = Configuration()) throws {
        for suffix in ["", "-wal", "-shm", "-journal"] { try PrivateFile.exists(at: path + suffix) }
        try self.init(path: path, configuration: configuration)
    }
}
