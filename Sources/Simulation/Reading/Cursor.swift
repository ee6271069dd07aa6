import Foundation
import Hashes
import SimulationAPI

/// A cursor, which carries a position and a seal [D search-cursor].
///
/// A cursor is opaque to clients. It is bound to the namespace's key and the query, and does not expire.
package enum Cursor {
    /// The problem of a cursor that cannot be used.
    package static let damaged = ErrorDetail(
        "cursor", "is damaged or comes from another query; send the next_cursor of the page before")

    /// - Parameter query: the parts of the query that the cursor is bound to: surface, caller, filters.
    package static func seal(_ position: String, of query: [String], _ job: JobContext) -> String {
        sealed(position, of: query, job).joined(separator: ".")
    }

    /// Seals positions after the job has ended.
    package static func sealer(of query: [String], _ job: JobContext) -> @Sendable (_ position: String) -> String {
        let (key, isOfFuture) = (job.state.cursorCode, job.settings.future.lengthensOpaque)
        return { sealed($0, of: query, key, isOfFuture).joined(separator: ".") }
    }

    /// The two parts of a cursor: the position and its seal.
    package static func sealed(_ position: String, of query: [String], _ job: JobContext) -> [String] {
        sealed(position, of: query, job.state.cursorCode, job.settings.future.lengthensOpaque)
    }

    /// - Parameter isOfFuture: whether the seal is longer [D future].
    private static func sealed(
        _ position: String, of query: [String], _ key: HMACSHA256, _ isOfFuture: Bool
    ) -> [String] {
        // Each part is prefixed with its length, so that no two queries give the same message.
        var message = LengthPrefixed()
        message.append(position)
        // A longer seal that is cut is not the shorter one.
        if isOfFuture { message.append("future") }
        for part in query { message.append(part) }
        return [
            Base64URL.encode(Data(position.utf8)),
            Hex.string(key.code(for: message.bytes).prefix(isOfFuture ? 32 : 16)),
        ]
    }

    /// The parts of a cursor as a JSON array, which is empty if there are none. They need no escapes.
    package static func array(_ parts: [String]?) -> String {
        "[\((parts ?? []).map { "\"\($0)\"" }.joined(separator: ","))]"
    }

    /// A cursor as a JSON string; null if there is none.
    package static func text(_ parts: [String]?) -> String {
        parts.map { "\"\($0.joined(separator: "."))\"" } ?? "null"
    }

    /// The position a cursor carries; `nil` if it is damaged or belongs to another query.
    package static func open(_ cursor: String, of query: [String], _ job: JobContext) -> String? {
        guard cursor.utf8.count <= 1000, let dot = cursor.utf8.firstIndex(of: UInt8(ascii: ".")) else { return nil }
        guard let data = Base64URL.decode(cursor[..<dot]), let position = String(data: data, encoding: .utf8),
            // Those from before a change of the setting stay valid.
            [false, true].contains(where: {
                sealed(position, of: query, job.state.cursorCode, $0).joined(separator: ".").isIdentical(to: cursor)
            })
        else { return nil }
        return position
    }

    /// A page of a list that is shown newest first, and the cursor of the next page; `nil` on the last one.
    ///
    /// - Parameters:
    ///   - cursor: the cursor that the caller sent; `nil` for the first page.
    ///   - position: the place of a record in the order of the list, which grows with time.
    ///   - records: reads at most so many records before a position, newest first.
    /// - Throws: ``PlatformError/invalid(_:_:)`` if the cursor is damaged or belongs to another query.
    package static func page<Record>(
        _ cursor: String?, of query: [String], limit: Int, _ job: JobContext, position: (Record) -> Int64,
        records: (_ before: Int64, _ limit: Int) throws -> [Record]
    ) throws -> (records: ArraySlice<Record>, next: String?) {
        let found = try records(Self.position(cursor, of: query, job), limit + 1)
        let page = found.prefix(limit)
        guard found.count > limit, let last = page.last else { return (page, nil) }
        return (page, seal(String(position(last)), of: query, job))
    }

    /// The position before which a page of a list begins. Positions grow with time, and lists are shown newest first.
    /// Without a cursor, the largest position.
    ///
    /// - Throws: ``PlatformError/invalid(_:_:)``.
    package static func position(_ cursor: String?, of query: [String], _ job: JobContext) throws -> Int64 {
        guard let cursor else { return .max }
        guard let position = open(cursor, of: query, job).flatMap({ Int64($0) }) else {
            throw PlatformError.invalid([damaged])
        }
        return position
    }
}

/// Texts, each behind its length in bytes: no two lists of texts have the same form.
package struct LengthPrefixed {
    package private(set) var bytes: [UInt8] = []

    package init() { bytes.reserveCapacity(128) }

    package mutating func append(_ text: String) {
        bytes.append(contentsOf: String(text.utf8.count).utf8)
        bytes.append(UInt8(ascii: ":"))
        bytes.append(contentsOf: text.utf8)
    }

    package var text: String { String(decoding: bytes, as: UTF8.self) }
}
