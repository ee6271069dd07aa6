import HTTPTypes
import Hummingbird
import Simulation
import SimulationAPI

/// The part of a file that `Range` asks for (RFC 9110, section 14), as players of videos and resumed downloads do [P, D ranges].
enum ByteRange {
    /// The range of a request for a file; `nil` for all of it, also where several parts are asked for at once, another unit than bytes,
    /// or a part under `If-Range`: files have no tag.
    ///
    /// - Parameter size: of the file, in bytes.
    /// - Throws: ``PlatformError`` if the range cannot be read, ends before it begins, or begins at the end or behind it.
    static func of(_ method: HTTPRequest.Method, _ fields: HTTPFields, size: Int) throws(PlatformError) -> Range<Int>? {
        // Other methods have no ranges. HEAD is answered as without one.
        guard method == .get, fields[.ifRange] == nil, fields[values: .range].count == 1, let text = fields[.range]
        else { return nil }
        let parts = text.split(at: "=", maxSplits: 1, omittingEmpty: false)
        guard parts[0].trimmed.lowercased().isIdentical(to: "bytes"), !text.contains(ascii: ",") else { return nil }
        let bounds = parts.count < 2 ? [] : parts[1].split(at: "-", omittingEmpty: false).map(\.trimmed)
        // Twenty digits and more are larger than any file.
        guard bounds.count == 2, bounds.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            bounds.contains(where: { !$0.isEmpty })
        else { throw refused(text, "must be bytes=FROM-TO, bytes=FROM- or bytes=-COUNT", size) }
        let numbers = bounds.map { $0.isEmpty ? nil : Int($0) ?? .max }
        let from = numbers[0] ?? max(0, size - (numbers[1] ?? 0))
        let last = numbers[0] == nil ? size - 1 : numbers[1] ?? .max
        guard from < size else { throw refused(text, "begins behind the last byte", size) }
        guard last >= from else { throw refused(text, "ends before it begins", size) }
        return from..<min(last, size - 1) + 1
    }

    private static func refused(_ text: String, _ problem: String, _ size: Int) -> PlatformError {
        PlatformError(
            .rangeNotSatisfiable, "the range \"\(text.excerpt)\" cannot be sent: the file has \(size) bytes",
            [ErrorDetail("Range", problem)], payload: .size(size))
    }
}
