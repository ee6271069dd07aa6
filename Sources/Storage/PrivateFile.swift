import Foundation

/// Files and folders for their owner alone: a world holds tokens, passwords and keys.
package enum PrivateFile {
    private static let fileMode: mode_t = 0o600
    private static let folderMode: mode_t = 0o700

    /// Creates an empty file, in place of any that has this path, and opens it for writing.
    ///
    /// A new database is created this way before SQLite opens it: `-wal`, `-shm` and `-journal` take the mode of the database file.
    ///
    /// - Throws: ``StorageError/unavailable(_:)``.
    package static func create(at path: String) throws -> FileHandle {
        // A temporary directory may be everybody's: a link that waits there is not followed.
        let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        var descriptor = open(path, flags, fileMode)
        if descriptor < 0, errno == EEXIST, unlink(path) == 0 { descriptor = open(path, flags, fileMode) }
        guard descriptor >= 0 else { throw cannotWrite(path) }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// Creates an empty file for a database that is not there yet; takes one that is there from all but its owner.
    ///
    /// - Throws: ``StorageError/unavailable(_:)``.
    static func prepareDatabase(at path: String) throws {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, fileMode)
        guard descriptor >= 0 else { throw cannotWrite(path) }
        // Fails for a file of another user, who is then the one to close it.
        _ = fchmod(descriptor, fileMode)
        close(descriptor)
    }

    /// Writes a file, in place of any that has this path.
    ///
    /// - Throws: ``StorageError/unavailable(_:)``, or what the system said of a disk that is full.
    static func write(_ data: Data, to path: String) throws {
        let file = try create(at: path)
        defer { try? file.close() }
        try file.write(contentsOf: data)
    }

    /// Creates a folder, or takes one that is there from all but its owner.
    ///
    /// - Throws: what the system said.
    static func createFolder(at url: URL) throws {
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: Int(folderMode)])
        _ = chmod(url.path, folderMode)
    }

    /// Takes a file that is there from all but its owner. Has no effect on a file of another user.
    static func restrict(_ path: String) {
        _ = chmod(path, fileMode)
    }

    private static func cannotWrite(_ path: String) -> StorageError {
        .unavailable("\(path) cannot be written: \(String(cString: strerror(errno)))")
    }
}
