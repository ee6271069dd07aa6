import Foundation

/// The disk below a data directory.
enum Disk {
    /// Waits until the disk has what was written to a file, or the names in a folder. Blocks.
    ///
    /// - Throws: ``StorageError/unavailable(_:)`` if the disk cannot be waited for.
    static func synchronize(_ path: String) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        guard descriptor >= 0, fsync(descriptor) == 0 else {
            throw StorageError.unavailable("\(path) cannot be synchronized: \(String(cString: strerror(errno)))")
        }
    }

    /// Waits until the disk has the name of a file, or no longer has it. Blocks.
    ///
    /// - Throws: ``StorageError/unavailable(_:)`` if the disk cannot be waited for.
    static func synchronizeName(of path: String) throws {
        try synchronize(URL(fileURLWithPath: path).deletingLastPathComponent().path)
    }
}
