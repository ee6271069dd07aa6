import Foundation
import GRDB
import GRDBSQLite

/// Errors of storage: of the disk, of a file, or of the operating system.
package enum StorageError: Error, Sendable, CustomStringConvertible {
    /// Storage cannot be read or written now: the disk is full or read-only, or an I/O error occurred. Holds SQLite's
    /// or the system's message.
    case unavailable(String)
    /// SQLite does not accept a statement or a value, for instance because of a constraint. It never will, so this is not a
    /// failure of the disk. Holds SQLite's message.
    case refused(String)
    /// The database was written by a newer version of this program. Holds its schema version, and the newest one
    /// known here.
    case newerSchema(path: String, found: Int, known: Int)
    /// Uploaded data was not written by this program, or is damaged.
    case foreign(String)
    /// A snapshot was deleted or replaced while it was being used.
    case changedMeanwhile(String)
    /// A row of the server's own has a value that this program never writes there, which no check of an upload lets in.
    case damaged(String)
    /// A row of an uploaded database is not one that this program writes.
    case invalidRow(InvalidRow)

    package var description: String {
        switch self {
        case .unavailable(let reason), .refused(let reason), .foreign(let reason), .changedMeanwhile(let reason),
            .damaged(let reason):
            reason
        case .invalidRow(let row): row.description
        case .newerSchema(let path, let found, let known):
            """
            \(path) was written by a newer version of entrupy-sim: its schema is version \(found), this program knows \
            up to \(known); use that version, or another --data-dir
            """
        }
    }

    /// Whether a newer version of this program wrote the database, so that nothing is wrong with it.
    package var isOfNewerVersion: Bool { if case .newerSchema = self { true } else { false } }

    /// Converts any error of a storage call to a storage error.
    ///
    /// - Parameter path: the database file for the message; `nil` if a caller adds it.
    package static func from(_ error: any Error, _ path: String? = nil) -> StorageError {
        switch error {
        case let error as StorageError: error
        case let error as DatabaseError where refusals.contains(error.resultCode): .refused(text(error))
        case let error as DatabaseError: .unavailable((path.map { "\($0): " } ?? "") + text(error))
        default: .unavailable("\(error)")
        }
    }

    /// Runs `body`, whose errors become storage errors: see ``from(_:_:)``.
    static func converting<Value>(_ path: String?, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch {
            throw from(error, path)
        }
    }

    private static let refusals: [ResultCode] = [
        .SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_ERROR, .SQLITE_RANGE, .SQLITE_TOOBIG,
    ]

    /// Explains SQLite's error to the operator of the server.
    private static func text(_ error: DatabaseError) -> String {
        let code = String(cString: sqlite3_errstr(error.resultCode.rawValue))
        switch error.resultCode {
        case .SQLITE_FULL: return "the disk is full; free some space on it"
        case .SQLITE_IOERR:
            return "the disk cannot be read or written (\(code), SQLite's code \(error.extendedResultCode.rawValue))"
        case .SQLITE_READONLY: return "the file or its folder is read-only"
        default:
            // The connection's last message may belong to another call, for instance "not an error".
            let isOwn = error.message != nil && error.message != "not an error"
            return "SQLite: \(isOwn ? error.message ?? code : code)"
        }
    }

    /// The reason why a file operation failed, in the system's words if it has any: "No space left on device".
    package static func reason(_ error: any Error) -> String {
        if let error = error as? StorageError { return error.description }
        let error = error as NSError
        if error.domain == NSPOSIXErrorDomain { return String(cString: strerror(CInt(error.code))) }
        guard let cause = error.userInfo[NSUnderlyingErrorKey] as? any Error else { return error.localizedDescription }
        return reason(cause)
    }
}
