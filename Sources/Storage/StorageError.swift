import Foundation
import GRDB
import GRDBSQLite

/// What can go wrong below the rules: the disk, the file, the operating system.
package enum StorageError: Error, Sendable, CustomStringConvertible {
    /// Storage cannot be read or written now: full, read-only, an I/O error. What SQLite or the system said.
    case unavailable(String)
    /// The database was written by a newer version of this program: the number of its schema, and of ours.
    case newerSchema(path: String, found: Int, known: Int)
    /// What was carried here is not what this program makes, or is damaged.
    case foreign(String)
    /// A row of what was carried here is not one that this program writes.
    case invalidRow(InvalidRow)

    package var description: String {
        switch self {
        case .unavailable(let reason), .foreign(let reason): reason
        case .invalidRow(let row): row.description
        case .newerSchema(let path, let found, let known):
            """
            \(path) was written by a newer version of entrupy-sim: its schema is version \(found), this program knows \
            up to \(known); use that version, or another --data-dir
            """
        }
    }

    /// A storage error from whatever a storage call threw.
    ///
    /// - Parameter path: the database it is about; nil if the caller of the caller says that.
    static func from(_ error: any Error, _ path: String? = nil) -> StorageError {
        switch error {
        case let error as StorageError: error
        case let error as DatabaseError: .unavailable((path.map { "\($0): " } ?? "") + text(error))
        default: .unavailable("\(error)")
        }
    }

    /// What SQLite's error means, in words for whoever runs the server.
    private static func text(_ error: DatabaseError) -> String {
        let code = String(cString: sqlite3_errstr(error.resultCode.rawValue))
        switch error.resultCode {
        case .SQLITE_FULL: return "the disk is full; free some space on it"
        case .SQLITE_IOERR:
            return "the disk cannot be read or written (\(code), SQLite's code \(error.extendedResultCode.rawValue))"
        case .SQLITE_READONLY: return "the file or its folder is read-only"
        default:
            // The connection's last message may be of another call, for instance "not an error".
            let isOwn = error.message != nil && error.message != "not an error"
            return "SQLite: \(isOwn ? error.message ?? code : code)"
        }
    }

    /// Why a file operation failed, in the system's words where it has some: "No space left on device".
    package static func reason(_ error: any Error) -> String {
        let error = error as NSError
        if error.domain == NSPOSIXErrorDomain { return String(cString: strerror(CInt(error.code))) }
        guard let cause = error.userInfo[NSUnderlyingErrorKey] as? any Error else { return error.localizedDescription }
        return reason(cause)
    }
}
