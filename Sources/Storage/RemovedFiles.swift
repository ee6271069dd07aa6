import Foundation
import NIOConcurrencyHelpers

/// Files that have lost their names and still occupy the disk.
///
/// The kernel takes about 0.1 ms to free a file, and a fraction of that to rename it. Many files at once are
/// therefore renamed into one folder, and freed after the answer. What a killed process leaves is freed at the next
/// start.
struct RemovedFiles: Sendable {
    private let folder: String
    private let background: Background?
    private let number = NIOLockedValueBox(0)

    /// The number of files from which renaming them pays.
    static let renamedFrom = 100

    /// - Parameters:
    ///   - folder: an existing folder for renamed files, on the file system of the files.
    ///   - background: runs blocking work on another thread; `nil` to free files at once.
    init(folder: String, background: Background?) {
        self.folder = folder
        self.background = background
        free()
    }

    /// Removes files of a folder, in the given order. Blocks.
    func remove(_ files: [String], in place: String) {
        guard files.count >= Self.renamedFrom, background != nil else {
            for file in files { unlink("\(place)/\(file)") }
            return
        }
        let first = number.withLockedValue { number in
            defer { number += files.count }
            return number
        }
        for (index, file) in files.enumerated() {
            // A file that cannot be renamed is on another file system, or gone.
            if rename("\(place)/\(file)", "\(folder)/\(first + index)") != 0 { unlink("\(place)/\(file)") }
        }
        free()
    }

    private func free() {
        let folder = folder
        let free: @Sendable () -> Void = {
            // What cannot be listed is freed at another start.
            for file in (try? PrivateFile.names(in: folder)) ?? [] {
                unlink("\(folder)/\(file)")
            }
        }
        if let background { background(free) } else { free() }
    }
}
