import Foundation

/// Creates files and folders that only their owner can access: a namespace's database holds tokens, passwords and
/// keys.
package enum PrivateFile {
    private static let fileMode: mode_t = 0o600
    private static let folderMode: mode_t = 0o700

    /// Creates an empty file, replacing any at this path, and opens it for writing.
    ///
    /// A new database file is created this way before SQLite opens it: `-wal`, `-shm` and `-journal` take its mode.
    ///
    /// - Throws: ``StorageError/unavailable(_:)``.
    package static func create(at path: String) throws -> FileHandle {
        // Other users may write to a temporary directory, so a link that they left there is not followed.
        let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        var descriptor = open(path, flags, fileMode)
        if descriptor < 0, errno == EEXIST, unlink(path) == 0 { descriptor = open(path, flags, fileMode) }
        guard descriptor >= 0 else { throw cannotWrite(path) }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// Creates an empty file for a new database. Restricts the access to an existing file to its owner.
    ///
    /// - Throws: ``StorageError/unavailable(_:)``.
    static func prepareDatabase(at path: String) throws {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, fileMode)
        guard descriptor >= 0 else { throw cannotWrite(path) }
        // Fails for a file of another user, who has to restrict it.
        _ = fchmod(descriptor, fileMode)
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

    /// Creates a folder. Restricts the access to an existing folder to its owner.
    ///
    /// - Throws: the system's error.
    static func createFolder(at url: URL) throws {
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: Int(folderMode)])
        _ = chmod(url.path, folderMode)
    }

    /// Restricts the access to an existing file to its owner. Has no effect on a file of another user.
    static func restrict(_ path: String) {
        _ = chmod(path, fileMode)
    }

    private static func cannotWrite(_ path: String) -> StorageError {
        .unavailable("\(path) cannot be written: \(String(cString: strerror(errno)))")
    }
}
