/// A path in two parts: where it has no space, the first part is cut at its end, which is in the middle of the path. The end, such as
/// `/submit`, stays.
struct PathParts: Encodable, Sendable {
    let head, tail: String

    /// Longer ends are cut like the rest, or they would leave no space for the beginning.
    private static let maxTail = 32

    /// An id with a prefix is at least this long. A region such as `box_label` is shorter.
    private static let minID = 16

    init(_ path: String) {
        let parts = path.split(at: "/", omittingEmpty: false)
        // The end begins after the last id, or with the last part.
        let id = parts.lastIndex { Self.isID($0) && ($0.utf8.count == 8 || $0.utf8.count >= Self.minID) }
        let first = id.map { $0 + 1 } ?? parts.count - 1
        let end = first > 1 && first < parts.count ? "/" + parts[first...].joined(separator: "/") : ""
        tail = end.utf8.count <= Self.maxTail ? end : ""
        head = String(decoding: path.utf8.dropLast(tail.utf8.count), as: UTF8.self)
    }

    /// Whether a part of a path is the id of a thing: `cap_…`, or that of an item.
    static func isID(_ part: Substring) -> Bool {
        part.contains(ascii: "_") && part.prefix(before: "_").utf8.count == 3
            || part.utf8.count == 8
                && part.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) }
    }
}
