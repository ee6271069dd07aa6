import Foundation
import NIOConcurrencyHelpers

/// The pictures of every namespace, each under the SHA-256 of its bytes: files below the data directory, or memory.
///
/// Every call blocks.
package final class ImageStore: Sendable {
    private let root: URL?
    private let memory = NIOLockedValueBox<[String: Data]>([:])
    private let temporaries = NIOLockedValueBox(0)

    /// - Parameter root: the data directory, or nil to keep pictures in memory.
    package init(root: String?) {
        self.root = root.map { URL(fileURLWithPath: $0, isDirectory: true).appendingPathComponent("images") }
    }

    /// Stores bytes under their hash, unless they are there.
    ///
    /// The file appears whole or not at all: it is written under a temporary name, then renamed.
    ///
    /// - Parameter sha256: lower-case hex.
    /// - Throws: ``StorageError/unavailable(_:)`` where the disk is full or read-only.
    package func put(_ bytes: Data, sha256: String) throws {
        guard let root else {
            memory.withLockedValue { $0[sha256] = bytes }
            return
        }
        let folder = root.appendingPathComponent(String(sha256.prefix(2)))
        let target = folder.appendingPathComponent(sha256)
        if FileManager.default.fileExists(atPath: target.path) { return }
        let number = temporaries.withLockedValue { count in
            count += 1
            return count
        }
        let temporary = folder.appendingPathComponent("\(sha256).\(getpid()).\(number).new")
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try bytes.write(to: temporary)
        } catch {
            unlink(temporary.path)
            throw StorageError.unavailable("the image cannot be stored: \(error.localizedDescription)")
        }
        guard rename(temporary.path, target.path) == 0 else {
            let reason = String(cString: strerror(errno))
            unlink(temporary.path)
            throw StorageError.unavailable("the image cannot be stored: \(reason)")
        }
    }

    /// The bytes under a hash, or nil where there are none.
    package func bytes(sha256: String) throws -> Data? {
        guard let root else { return memory.withLockedValue { $0[sha256] } }
        let file = root.appendingPathComponent("\(sha256.prefix(2))/\(sha256)")
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        do {
            return try Data(contentsOf: file)
        } catch {
            throw StorageError.unavailable("the image cannot be read: \(error.localizedDescription)")
        }
    }
}
