import Foundation

/// Waits for the disk of a data directory.
enum Disk {
    /// Waits until the content of a file, or the names in a folder, are on the disk. Blocks.
    ///
    /// - Throws: ``StorageError/unavailable(_:)`` if the disk cannot be synchronized.
    static func synchronize(_ path: String) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        guard descriptor >= 0, fsync(descriptor) == 0 else {
            throw StorageError.unavailable("\(path) cannot be synchronized: \(String(cString: strerror(errno)))")
        }
    }

    /// Waits until the creation or removal of a file's name is on the disk. Blocks.
    ///
    /// - Throws: ``StorageError/unavailable(_:)`` if the disk cannot be synchronized.
    static func synchronizeName(of path: String) throws {
        try synchronize(URL(fileURLWithPath: path).deletingLastPathComponent().path)
    }
}
