import Foundation
import NIOConcurrencyHelpers

/// The images of all namespaces, each under the SHA-256 of its bytes: files below the data directory, or memory.
///
/// Every call blocks.
package final class ImageStore: Sendable {
    let root: URL?
    private let durability: Durability
    private let temporaries = NIOLockedValueBox(0)
    let state = NIOLockedValueBox(State())

    struct State {
        /// Images that are held, for instance by an upload that is not answered yet.
        var held: [String: Hold] = [:]
        /// The images themselves, without a data directory.
        var memory: [String: Data] = [:]
        /// The images that were added or held since a sweep began; `nil` while there is none.
        var touched: Set<String>?
        /// The number of events so far. Sweeps use it to compare the order of events.
        var events = 0
        /// Images that lost a reference, with the event number of the last loss.
        var lost: [ImageHash: Int] = [:]
        /// The event numbers at which the copies of references in progress began.
        var copies: Set<Int> = []
        /// Sweeps that wait for copies that began before them.
        var waiting: [(number: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    struct Hold {
        var holders = 0
        /// Whether the image did not exist before its first holder.
        var isNew: Bool
        var isKept = false
    }

    /// - Parameter root: the data directory; `nil` to keep images in memory.
    package init(root: String?, durability: Durability = .process) {
        self.root = root.map { URL(fileURLWithPath: $0, isDirectory: true).appendingPathComponent("images") }
        self.durability = durability
    }

    /// Stores bytes under their hash, unless they are stored already, and holds them until
    /// ``release(sha256:isKept:)``.
    ///
    /// The file appears complete or not at all: it is written under a temporary name, then renamed.
    ///
    /// - Parameter sha256: lower-case hex.
    /// - Throws: ``StorageError/unavailable(_:)`` if the disk is full or read-only, or a link is in the image's place; the
    ///   image is not held then.
    package func hold(_ bytes: Data, sha256: String) throws {
        let isNew = try state.withLockedValue { state in
            let path = try root.map { try Self.checkedPath(sha256, in: $0) }
            let isThere = try path.map { try PrivateFile.exists(at: $0) } ?? (state.memory[sha256] != nil)
            state.held[sha256, default: Hold(isNew: !isThere)].holders += 1
            state.touched?.insert(sha256)
            return !isThere
        }
        guard isNew else { return }
        do {
            try write(bytes, sha256: sha256)
        } catch {
            release(sha256: sha256, isKept: false)
            throw error
        }
    }

    /// Ends a hold. A new image that no holder keeps is removed.
    package func release(sha256: String, isKept: Bool) {
        state.withLockedValue { state in
            guard var hold = state.held[sha256] else { return }
            hold.holders -= 1
            hold.isKept = hold.isKept || isKept
            state.held[sha256] = hold.holders > 0 ? hold : nil
            guard hold.holders == 0, hold.isNew, !hold.isKept else { return }
            if let root {
                unlink(Self.file(sha256, in: root).path)
            } else {
                state.memory[sha256] = nil
            }
        }
    }

    /// Holds existing images that are in use, until each is released. They stay readable even if they lose their last
    /// reference.
    package func hold(_ hashes: some Sequence<String>) {
        state.withLockedValue { state in
            for sha256 in hashes { state.held[sha256, default: Hold(isNew: false)].holders += 1 }
        }
    }

    /// The bytes under a hash; `nil` if there are none.
    package func bytes(sha256: String) throws -> Data? {
        guard let root else { return state.withLockedValue { $0.memory[sha256] } }
        return try PrivateFile.contents(at: Self.checkedPath(sha256, in: root))
    }

    /// Opens an image for reading; `nil` if there is none.
    ///
    /// - Throws: ``StorageError/unavailable(_:)`` if its file is a link or otherwise not a plain file, or cannot be read.
    package func open(sha256: String) throws -> OpenImage? {
        guard let root else { return state.withLockedValue { $0.memory[sha256] }.map { OpenImage($0) } }
        return try PrivateFile.open(at: Self.checkedPath(sha256, in: root)).map { try OpenImage($0) }
    }

    /// An image as a file of an archive.
    ///
    /// - Throws: ``StorageError`` if it does not exist.
    package func entry(_ name: String, sha256: String) throws -> Archive.Entry {
        guard let root else {
            guard let bytes = try bytes(sha256: sha256) else {
                throw StorageError.unavailable("the image \(sha256) is missing")
            }
            return Archive.Entry(name, bytes)
        }
        return try Archive.Entry(name, file: Self.checkedPath(sha256, in: root))
    }

    private func write(_ bytes: Data, sha256: String) throws {
        guard let root else {
            state.withLockedValue { $0.memory[sha256] = bytes }
            return
        }
        let target = Self.file(sha256, in: root)
        do {
            try PrivateFile.createFolder(at: root.path)
            try PrivateFile.createFolder(at: target.deletingLastPathComponent().path)
            try PrivateFile.replace(target.path, with: bytes, number: temporaries.next(), durability: durability)
        } catch {
            throw StorageError.unavailable("the image cannot be stored in \(root.path): \(StorageError.reason(error))")
        }
    }

    /// The path of an image. Checks that no folder above it is a link.
    private static func checkedPath(_ sha256: String, in root: URL) throws -> String {
        let path = file(sha256, in: root).path
        try PrivateFile.checkFolders(above: path)
        return path
    }

    private static func file(_ sha256: String, in root: URL) -> URL {
        root.appendingPathComponent("\(sha256.prefix(2))/\(sha256)")
    }
}
