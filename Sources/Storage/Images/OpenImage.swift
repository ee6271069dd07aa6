import Foundation

/// An image that is open for reading. It can be read to its end even if it is removed meanwhile.
package struct OpenImage: Sendable {
    private enum Content: Sendable {
        case memory(Data)
        case file(FileHandle)
    }

    private let content: Content
    /// Its size in bytes.
    package let size: Int

    init(_ bytes: Data) {
        content = .memory(bytes)
        size = bytes.count
    }

    /// - Throws: ``StorageError/unavailable(_:)`` if the file cannot be read.
    init(_ file: FileHandle) throws {
        guard let size = FileIdentity(file)?.size else {
            throw StorageError.unavailable("an image cannot be read: \(PrivateFile.reason)")
        }
        content = .file(file)
        self.size = size
    }

    /// Copies bytes from an offset on. Blocks if the image is on disk. Several readers do not disturb each other.
    ///
    /// - Returns: their number; zero at the end.
    /// - Throws: ``StorageError/unavailable(_:)`` if the file cannot be read.
    package func read(into bytes: UnsafeMutableRawBufferPointer, at offset: Int) throws -> Int {
        switch content {
        case .memory(let data):
            let part = data.dropFirst(offset).prefix(bytes.count)
            bytes.copyBytes(from: part)
            return part.count
        case .file(let file):
            let count = pread(file.fileDescriptor, bytes.baseAddress, bytes.count, off_t(offset))
            guard count >= 0 else {
                throw StorageError.unavailable("an image cannot be read: \(PrivateFile.reason)")
            }
            return count
        }
    }
}
