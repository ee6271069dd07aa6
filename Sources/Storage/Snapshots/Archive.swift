import Foundation
import NIOConcurrencyHelpers

/// An archive of files in the tar format (POSIX ustar), which every `tar` reads.
package struct Archive: Sendable {
    /// A file in an archive.
    package struct Entry: Sendable {
        /// The bytes of a file. Files on disk are read as the archive is written, so that their size costs no memory.
        package enum Content: Sendable {
            case bytes(Data)
            /// A file that neither changes nor disappears. It is opened when it is read.
            case file(String)
            /// A file that is already open, so that it may be removed or replaced meanwhile.
            case opened(FileHandle)
        }

        /// At most 100 bytes.
        package let name: String
        package let content: Content
        package let size: Int

        package init(_ name: String, _ bytes: Data) {
            self.name = name
            content = .bytes(bytes)
            size = bytes.count
        }

        /// - Throws: ``StorageError`` if the file does not exist.
        package init(_ name: String, file path: String) throws {
            self.name = name
            content = .file(path)
            guard let file = try PrivateFile.open(at: path), let size = try? file.seekToEnd() else {
                throw StorageError.unavailable("\(path) cannot be read")
            }
            self.size = Int(size)
        }

        /// Opens the file at once.
        ///
        /// - Throws: ``StorageError`` if it cannot be read.
        package init(_ name: String, opening path: String) throws {
            guard let file = try PrivateFile.open(at: path) else {
                throw StorageError.unavailable("\(path) cannot be read")
            }
            try self.init(name, opened: file)
        }

        /// - Throws: ``StorageError`` if the file cannot be read.
        package init(_ name: String, opened file: FileHandle) throws {
            self.name = name
            guard let size = try? file.seekToEnd(), (try? file.seek(toOffset: 0)) != nil else {
                throw StorageError.unavailable("\(name) cannot be read")
            }
            content = .opened(file)
            self.size = Int(size)
        }

        /// Passes the bytes of an already open file to `body`, from its beginning, up to 1 MiB at a time. Blocks.
        ///
        /// - Throws: ``StorageError`` if it cannot be read.
        package func forEachPiece(_ body: (Data) -> Void) throws {
            guard case .opened(let handle) = content else { return }
            do {
                while let bytes = try handle.read(upToCount: 1 << 20), !bytes.isEmpty { body(bytes) }
                try handle.seek(toOffset: 0)
            } catch {
                throw StorageError.unavailable("\(name) cannot be read: \(error.localizedDescription)")
            }
        }
    }

    package let entries: [Entry]
    /// The modification time of every file, in seconds since 1970.
    private let modified: Int

    package init(_ entries: [Entry], modified: Int) {
        self.entries = entries
        self.modified = modified
    }

    /// The length of the archive in bytes.
    package var size: Int {
        entries.reduce(2 * Self.block) { $0 + Self.block + $1.size + Self.padding($1.size) }
    }

    static let block = 512

    static func padding(_ size: Int) -> Int { (block - size % block) % block }

    /// The header before a file's bytes.
    func header(of entry: Entry) throws -> Data {
        guard entry.name.utf8.count <= 100, entry.size < 1 << 33 else {
            throw StorageError.unavailable("\(entry.name) does not fit into an archive")
        }
        var header = Data(count: Self.block)
        func put(_ text: String, at offset: Int) {
            header.replaceSubrange(offset..<offset + text.utf8.count, with: text.utf8)
        }
        func octal(_ value: Int, _ width: Int) -> String {
            let digits = String(value, radix: 8)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        put(entry.name, at: 0)
        put("0000644", at: 100)
        put("0000000", at: 108)
        put("0000000", at: 116)
        put(octal(entry.size, 11), at: 124)
        put(octal(max(0, modified), 11), at: 136)
        put("        ", at: 148)
        put("0", at: 156)
        put("ustar\u{0}00", at: 257)
        put(octal(header.reduce(0) { $0 + Int($1) }, 6) + "\u{0} ", at: 148)
        return header
    }
}

/// Produces an archive's bytes from beginning to end, piece by piece. Blocks.
package final class ArchiveStream: Sendable {
    private struct State {
        var index = 0
        var file: FileHandle?
        /// The bytes left of the current entry; `nil` before its header.
        var left: Int?
        var isOver = false
    }

    private let archive: Archive
    private let state = NIOLockedValueBox(State())

    /// The maximum size of a piece in bytes.
    private static let piece = 262_144

    package init(_ archive: Archive) {
        self.archive = archive
    }

    /// The next piece; `nil` at the end.
    ///
    /// - Throws: ``StorageError`` if a file is shorter than it was.
    package func next() throws -> Data? {
        try state.withLockedValue(next)
    }

    private func next(_ state: inout State) throws -> Data? {
        guard state.index < archive.entries.count else {
            guard !state.isOver else { return nil }
            state.isOver = true
            return Data(count: 2 * Archive.block)
        }
        let entry = archive.entries[state.index]
        guard let left = state.left else {
            switch entry.content {
            case .file(let path): state.file = try PrivateFile.open(at: path)
            case .opened(let handle): state.file = handle
            case .bytes: break
            }
            state.left = entry.size
            return try archive.header(of: entry)
        }
        guard left > 0 else {
            try? state.file?.close()
            state = State(index: state.index + 1)
            let padding = Archive.padding(entry.size)
            return padding > 0 ? Data(count: padding) : try next(&state)
        }
        switch entry.content {
        case .bytes(let bytes):
            state.left = 0
            return bytes
        case .file, .opened:
            guard let bytes = try? state.file?.read(upToCount: min(left, Self.piece)), !bytes.isEmpty else {
                throw StorageError.unavailable("\(entry.name) cannot be read")
            }
            state.left = left - bytes.count
            return bytes
        }
    }
}

/// Bytes that are read once, from beginning to end. Reading blocks.
package protocol ByteSource: AnyObject {
    /// The next bytes: as many as `count`, fewer only at the end; empty after it.
    func read(upTo count: Int) throws -> Data
}

extension FileHandle: ByteSource {
    package func read(upTo count: Int) throws -> Data { try read(upToCount: count) ?? Data() }
}

/// Reads an archive file by file, without trusting its content. Blocks.
///
/// It reads no further than it was asked, so what is not an archive is refused at its first block.
package struct ArchiveReader {
    /// A file of the archive whose bytes are read next.
    package struct Entry {
        package let name: String
        package let size: Int
    }

    private let source: any ByteSource
    private var left = 0
    private var padding = 0
    private var name = ""
    /// The maximum number of bytes after the archive's end. `tar` fills the last record, of 10,240 bytes unless told otherwise.
    private static let maxFilling = 1 << 20

    /// - Throws: ``StorageError`` if the file cannot be read.
    package init(path: String) throws {
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw StorageError.unavailable("\(path) cannot be read")
        }
        self.init(file)
    }

    /// - Parameter source: the bytes of the archive. Its errors are passed on.
    package init(_ source: any ByteSource) {
        self.source = source
    }

    /// The next plain file; `nil` at the end. Unread bytes of the file before are skipped.
    ///
    /// - Throws: ``StorageError/foreign(_:)`` if the file is not an archive, or an entry is not a plain file.
    package mutating func next() throws -> Entry? {
        while true {
            try skip()
            let header = try source.read(upTo: Archive.block)
            if header.isEmpty || header.count == Archive.block && header.allSatisfy({ $0 == 0 }) { return nil }
            guard header.count == Archive.block else { throw StorageError.foreign("the archive is truncated") }
            guard header[257..<262] == Data("ustar".utf8), Self.isSummedUp(header),
                let size = Self.number(header[124..<136]), let name = Self.text(header[0..<100]),
                let prefix = Self.text(header[345..<500])
            else { throw StorageError.foreign("this is not an archive that entrupy-sim wrote") }
            let path = prefix.isEmpty || header[257..<265] == Data("ustar  \u{0}".utf8) ? name : "\(prefix)/\(name)"
            (left, padding, self.name) = (size, Archive.padding(size), path)
            switch header[156] {
            case UInt8(ascii: "0"), 0:
                return Entry(name: path.hasPrefix("./") ? String(path.dropFirst(2)) : path, size: size)
            // Folders and extended headers, as other programs write them.
            case UInt8(ascii: "5"), UInt8(ascii: "x"), UInt8(ascii: "g"): continue
            default: throw StorageError.foreign("\"\(path)\" in the archive is not a plain file")
            }
        }
    }

    /// The next bytes of the current file; `nil` when all were read.
    ///
    /// - Throws: ``StorageError/foreign(_:)`` if the archive ends before the file does.
    package mutating func read(upTo count: Int = 262_144) throws -> Data? {
        guard left > 0 else { return nil }
        let bytes = try source.read(upTo: min(left, count))
        guard !bytes.isEmpty else {
            throw StorageError.foreign(
                "the archive is truncated: it ends within \"\(name)\", \(left) bytes are missing")
        }
        left -= bytes.count
        return bytes
    }

    /// All remaining bytes of the current file.
    package mutating func all() throws -> Data {
        var whole = Data()
        while let bytes = try read() { whole.append(bytes) }
        return whole
    }

    /// Writes the current file to a new file at `path`.
    ///
    /// - Parameter look: receives the bytes before they are written.
    package mutating func extract(to path: String, _ look: (Data) throws -> Void) throws {
        let target = try PrivateFile.create(at: path)
        defer { try? target.close() }
        while let bytes = try read() {
            try look(bytes)
            do {
                try target.write(contentsOf: bytes)
            } catch {
                throw StorageError.unavailable("\(path) cannot be written: \(StorageError.reason(error))")
            }
        }
    }

    /// Reads what follows the last file, so that the source can check its own end.
    ///
    /// - Throws: ``StorageError/foreign(_:)`` if much follows.
    package func finish() throws {
        var count = 0
        while case let bytes = try source.read(upTo: 65_536), !bytes.isEmpty {
            count += bytes.count
            guard count <= Self.maxFilling else { throw StorageError.foreign("the archive continues after its end") }
        }
    }

    private mutating func skip() throws {
        while try read() != nil {}
        var rest = padding
        padding = 0
        while rest > 0 {
            let bytes = try source.read(upTo: rest)
            guard !bytes.isEmpty else {
                throw StorageError.foreign("the archive is truncated: it ends within \"\(name)\"")
            }
            rest -= bytes.count
        }
    }

    private static func isSummedUp(_ header: Data) -> Bool {
        let sum = header.enumerated().reduce(0) { $0 + ((148..<156).contains($1.offset) ? 32 : Int($1.element)) }
        return number(header[148..<156]) == sum
    }

    /// An octal number; `nil` if the field does not hold one. tar writes sizes above 8 GB in another form, so they
    /// are `nil` too.
    private static func number(_ field: Data) -> Int? {
        let digits = field.drop { $0 == 0x20 }.prefix { (0x30...0x37).contains($0) }
        guard !digits.isEmpty,
            field.drop(while: { $0 == 0x20 }).dropFirst(digits.count).allSatisfy({ $0 == 0 || $0 == 0x20 })
        else { return nil }
        return Int(String(decoding: digits, as: UTF8.self), radix: 8)
    }

    private static func text(_ field: Data) -> String? {
        String(validating: field.prefix { $0 != 0 }, as: UTF8.self)
    }
}
