import Crypto
import Foundation

/// A cursor that carries a position and the seal of the query it belongs to.
///
/// Opaque to clients. Bound to the namespace's key and the query; does not age.
enum Cursor {
    /// - Parameter query: what the cursor must not be used without: surface, caller, filters.
    static func seal(_ position: String, of query: [String], _ job: JobContext) -> String {
        sealed(position, of: query, job).joined(separator: ".")
    }

    /// The two parts of a cursor: the position, and its seal.
    static func sealed(_ position: String, of query: [String], _ job: JobContext) -> [String] {
        [Base64URL.encode(Data(position.utf8)), Hex.string(code(position, query, job))]
    }

    /// The parts of a cursor as a JSON array, empty where there are none. They need no escape.
    static func array(_ parts: [String]?) -> String {
        "[\((parts ?? []).map { "\"\($0)\"" }.joined(separator: ","))]"
    }

    /// A cursor as a JSON string, null where there is none.
    static func text(_ parts: [String]?) -> String {
        parts.map { "\"\($0.joined(separator: "."))\"" } ?? "null"
    }

    /// The position a cursor carries; nil where it is damaged or belongs to another query.
    static func open(_ cursor: String, of query: [String], _ job: JobContext) -> String? {
        guard cursor.utf8.count <= 1000, let dot = cursor.utf8.firstIndex(of: UInt8(ascii: ".")) else { return nil }
        guard let data = Base64URL.decode(cursor[..<dot]), let position = String(data: data, encoding: .utf8),
            seal(position, of: query, job).isIdentical(to: cursor)
        else { return nil }
        return position
    }

    /// Where a page of a list begins that goes by an ever growing position, newest first; without a cursor, at its end.
    ///
    /// - Throws: ``PlatformError/invalid(_:_:)``.
    static func position(_ cursor: String?, of query: [String], _ job: JobContext) throws -> Int64 {
        guard let cursor else { return .max }
        guard let position = open(cursor, of: query, job).flatMap({ Int64($0) }) else {
            throw PlatformError.invalid(
                field: "cursor", "is damaged or comes from another query; send the next_cursor of the page before")
        }
        return position
    }

    private static func code(_ position: String, _ query: [String], _ job: JobContext) -> [UInt8] {
        // Each part is counted, so that no two queries read alike.
        let message = ([position] + query).map { "\($0.utf8.count):\($0)" }.joined()
        var code = job.state.cursorCode
        code.update(data: Data(message.utf8))
        return Array(code.finalize().prefix(16))
    }
}
