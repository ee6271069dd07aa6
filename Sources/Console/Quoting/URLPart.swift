import SimulationAPI

/// Writes texts as parts of URLs.
package enum URLPart {
    /// Percent-encodes one part of a path or a query.
    package static func escaped(_ text: String) -> String {
        encoded(text) { $0.isLetterOrDigit || "-._~".utf8.contains($0) }
    }

    /// A path with a query as it came from a client, for the end of a URL: percent-encodes only what URLs cannot hold, and `#`,
    /// which would end the query. It begins with a slash, so that it cannot change the host before it.
    package static func target(_ path: String) -> String {
        (path.begins(with: "/") ? "" : "/") + encoded(path) { (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "#") }
    }

    private static func encoded(_ text: String, _ isPlain: (UInt8) -> Bool) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if isPlain(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
