import Foundation

/// The lock that keeps a second server from using a data directory. It ends with the process that holds it, however
/// the process ends.
final class DirectoryLock: Sendable {
    private let descriptor: Int32

    /// - Throws: ``StorageError/unavailable(_:)`` that names the process which uses the directory; or if the lock's file is a
    ///   link or has another name too, because a process id is written into it.
    init(_ directory: URL) throws {
        let path = directory.appendingPathComponent("lock").path
        try PrivateFile.exists(at: path)
        descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, PrivateFile.fileMode)
        guard descriptor >= 0 else {
            throw StorageError.unavailable("\(path) cannot be written: \(PrivateFile.reason)")
        }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_nlink == 1 else {
            throw StorageError.unavailable("\(path) has another name too (a hard link); remove it, and start again")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            // The message does without a holder that cannot be read.
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
