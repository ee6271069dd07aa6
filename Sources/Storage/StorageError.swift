import GRDB

/// What can go wrong below the rules: the disk, the file, the operating system.
package enum StorageError: Error, Sendable, CustomStringConvertible {
    /// Storage cannot be read or written now: full, read-only, an I/O error. What SQLite or the system said.
    case unavailable(String)
    /// The database was written by a newer version of this program: the number of its schema, and of ours.
    case newerSchema(path: String, found: Int, known: Int)
    /// What was carried here is not what this program makes, or is damaged.
    case foreign(String)

    package var description: String {
        switch self {
        case .unavailable(let reason), .foreign(let reason): reason
        case .newerSchema(let path, let found, let known):
            """
            \(path) was written by a newer version of entrupy-sim: its schema is version \(found), this program knows \
            up to \(known); use that version, or another --data-dir
            """
        }
    }

    /// A storage error from whatever a storage call threw.
    static func from(_ error: any Error) -> StorageError {
        switch error {
        case let error as StorageError: error
        case let error as DatabaseError: .unavailable("SQLite: \(error.message ?? "error \(error.resultCode)")")
        default: .unavailable("\(error)")
        }
    }
}
