import Foundation

/// The lock that keeps a second server from using a data directory. It ends with the process that holds it, however
/// the process ends.
final class DirectoryLock: Sendable {
    private let descriptor: Int32

    /// - Throws: ``StorageError/unavailable(_:)`` that names the process which uses the directory.
    init(_ directory: URL) throws {
        let path = directory.appendingPathComponent("lock").path
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw StorageError.unavailable("\(path) cannot be written: \(String(cString: strerror(errno)))")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let holder = (try? String(contentsOfFile: path, encoding: .utf8))?.trimmingCharacters(
                in: .whitespacesAndNewlines)
            // `deinit` closes the descriptor: it runs, because every property is set.
            throw StorageError.unavailable(
                """
                the data directory \(directory.path) is in use by another server (process \(holder ?? "unknown")); \
                stop that one, or give this one another --data-dir
                """)
        }
        let text = Array("\(getpid())\n".utf8)
        ftruncate(descriptor, 0)
        _ = pwrite(descriptor, text, text.count, 0)
    }

    deinit {
        close(descriptor)
    }
}
