import Foundation
import NIOConcurrencyHelpers

/// Files of a data directory.
enum Disk {
    /// Copies a file to a path where there is none. Blocks.
    ///
    /// - Throws: ``StorageError/unavailable(_:)``, also if the source is a link.
    static func copy(_ source: String, to target: String) throws {
        // A link would be copied as a link.
        try PrivateFile.exists(at: source)
        do {
            try FileManager.default.copyItem(atPath: source, toPath: target)
        } catch {
            throw StorageError.unavailable("\(target) cannot be written: \(StorageError.reason(error))")
        }
    }

    /// The number of names from which listing a folder is faster than asking for each name.
    private static let listedFrom = 200

    /// The names that exist in a folder, in the given order; none if the folder is a link. Blocks.
    static func existing(_ names: [String], in folder: String) -> [String] {
        guard (try? PrivateFile.checkFolder(at: folder)) != nil else { return [] }
        guard names.count >= listedFrom else { return names.filter { access("\(folder)/\($0)", F_OK) == 0 } }
        // A folder that does not exist has no files.
        let all = Set((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
        return names.filter(all.contains)
    }

    /// Waits until the content of a file, or the names in a folder, are on the disk. Blocks.
    ///
    /// - Throws: ``StorageError/unavailable(_:)`` if the disk cannot be synchronized.
    static func synchronize(_ path: String) throws {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        defer { close(descriptor) }
        guard descriptor >= 0, fsync(descriptor) == 0 else {
            throw StorageError.unavailable("\(path) cannot be synchronized: \(PrivateFile.reason)")
        }
    }

    /// Waits until the creation or removal of a file's name is on the disk. Blocks.
    ///
    /// - Throws: ``StorageError/unavailable(_:)`` if the disk cannot be synchronized.
    static func synchronizeName(of path: String) throws {
        try synchronize(URL(fileURLWithPath: path).deletingLastPathComponent().path)
    }
}

extension NIOLockedValueBox<Int> {
    /// The next number of a count.
    package func next() -> Int {
        withLockedValue { count in
            count += 1
            return count
        }
    }
}
