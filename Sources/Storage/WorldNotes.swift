import Foundation

// A note beside the file of a world that is closed: what must be known of it, without opening it, when the server starts.

extension NamespaceStore {
    static let noteSuffix = ".rest"

    /// Keeps a note beside a world that was just closed. It is good as long as the file is as it is now. Failure is ignored: without
    /// a note the world is opened at the next start.
    package func saveNote(_ note: Data, of name: String) {
        guard let path = path(of: name), let head = Self.head(path) else { return }
        let fresh = path + ".new" + Self.noteSuffix
        let descriptor = Foundation.open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        let bytes = Array(head.utf8) + note
        let isWhole = write(descriptor, bytes, bytes.count) == bytes.count
        close(descriptor)
        if !isWhole || Foundation.rename(fresh, path + Self.noteSuffix) != 0 { unlink(fresh) }
    }

    /// The note of a world; nil if there is none, or if the world may have changed since.
    package func note(of name: String) -> Data? {
        // A log beside the file: the process died with the world open.
        guard let path = path(of: name), access(path + "-wal", F_OK) != 0,
            let note = FileManager.default.contents(atPath: path + Self.noteSuffix), let head = Self.head(path),
            note.starts(with: head.utf8)
        else { return nil }
        return note.dropFirst(head.utf8.count)
    }

    /// The first line of a note: the schema and the file it is about.
    private static func head(_ path: String) -> String? {
        FileIdentity(path).map { "\(Schema.version) \($0.text)\n" }
    }
}
