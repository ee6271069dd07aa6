import Foundation

/// A file that is being written. Only its owner may read it, because it may hold tokens. It gets its name when it is whole.
final class OutputFile: Sendable {
    private let path: String
    private let option: String
    private let part: String
    private let handle: FileHandle

    /// - Parameter option: the option that names the file, for messages.
    /// - Throws: ``Refusal`` if the file cannot be written.
    init(_ path: String, option: String) throws {
        var name = Array("\(path).XXXXXX".utf8CString)
        let descriptor = mkstemp(&name)
        guard descriptor >= 0 else { throw Self.refusal(path, String(cString: strerror(errno)), option) }
        self.path = path
        self.option = option
        part = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    func write(_ data: Data) throws { try Self.refusing(path, option) { try handle.write(contentsOf: data) } }

    /// Closes the file and gives it its name.
    ///
    /// - Returns: its size in bytes.
    func finish() throws -> Int {
        let size = try Self.refusing(path, option) {
            let size = Int(try handle.offset())
            try handle.close()
            return size
        }
        guard rename(part, path) == 0 else { throw Self.refusal(path, String(cString: strerror(errno)), option) }
        return size
    }

    /// Removes the file, unless it has its name.
    func discard() { unlink(part) }

    private static func refusing<Value>(_ path: String, _ option: String, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch {
            throw refusal(path, error.localizedDescription, option)
        }
    }

    private static func refusal(_ path: String, _ reason: String, _ option: String) -> Refusal {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        let reason = FileManager.default.fileExists(atPath: folder) ? reason : "there is no folder \(folder)"
        return Refusal(.usage, "\(path) cannot be written: \(reason)", next: "name another place with \(option)")
    }

    /// Makes the folder of a file that is written later.
    ///
    /// - Throws: ``Refusal`` if that fails, or the file cannot be written.
    static func prepare(_ path: String, option: String) throws {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        try refusing(path, option) {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        }
        var isFolder: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
        guard !isFolder.boolValue else { throw refusal(path, "it is a folder", option) }
        guard access(exists ? path : folder, W_OK) == 0 else {
            throw refusal(path, String(cString: strerror(errno)), option)
        }
    }

    /// Adds to the end of a file that others may read. Makes it if there is none.
    static func append(_ data: Data, to path: String, option: String) throws {
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw refusal(path, String(cString: strerror(errno)), option) }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try refusing(path, option) { try handle.write(contentsOf: data) }
    }

    /// Writes a file that others may read, as a whole.
    static func write(_ data: Data, to path: String, option: String) throws {
        try refusing(path, option) { try data.write(to: URL(fileURLWithPath: path), options: .atomic) }
    }
}
