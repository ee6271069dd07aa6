import Foundation

/// The identity of a file's content: it differs after a change, and for another file at the same path.
struct FileIdentity: Hashable, Sendable {
    private let inode: UInt64
    /// In bytes.
    let size: Int
    /// The time of the last change, in nanoseconds.
    let changed: Int64

    var text: String { "\(inode) \(size) \(changed)" }

    /// The identity of the file at `path` now; `nil` if there is none, or a link.
    init?(_ path: String) {
        var info = stat()
        guard lstat(path, &info) == 0, info.st_mode & S_IFMT != S_IFLNK else { return nil }
        self.init(info)
    }

    /// The identity of an open file; `nil` if it cannot be read.
    init?(_ file: FileHandle) {
        var info = stat()
        guard fstat(file.fileDescriptor, &info) == 0 else { return nil }
        self.init(info)
    }

    private init(_ info: stat) {
        #if canImport(Glibc)
            let time = info.st_mtim
        #else
            let time = info.st_mtimespec
        #endif
        inode = UInt64(info.st_ino)
        size = Int(info.st_size)
        changed = Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
