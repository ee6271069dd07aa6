import Foundation

// A note beside the file of a closed database. It holds what the server must know at its start without opening the
// database.

extension NamespaceStore {
    static let noteSuffix = ".rest"

    /// Saves a note beside a database that was just closed. The note is valid as long as the file does not change.
    package func saveNote(_ note: Data, of name: String) {
        guard let path = path(of: name), let head = head(path) else { return }
        // Without a note, the next start opens the database.
        try? PrivateFile.replace(path + Self.noteSuffix, with: Data(head.utf8) + note)
    }

    /// The note of a namespace; `nil` if there is none, or if the database may have changed since.
    package func note(of name: String) -> Data? {
        // A write-ahead log beside the file means that the process ended while the database was open.
        guard let path = path(of: name), access(path + "-wal", F_OK) != 0,
            let note = try? PrivateFile.contents(at: path + Self.noteSuffix), let head = head(path),
            note.starts(with: head.utf8)
        else { return nil }
        return note.dropFirst(head.utf8.count)
    }

    /// The first line of a note: the schema, and the identity of the file.
    private func head(_ path: String) -> String? {
        FileIdentity(path).map { "\(schemaVersion) \($0.text)\n" }
    }
}
