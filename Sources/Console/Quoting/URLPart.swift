import SimulationAPI

/// Writes texts as parts of URLs.
package enum URLPart {
    /// Percent-encodes one part of a path or a query.
    package static func escaped(_ text: String) -> String {
        text.percentEncoded { $0.isLetterOrDigit || "-._~".utf8.contains($0) }
    }

    /// A path with a query as it came from a client, for the end of a URL: percent-encodes only what URLs cannot hold, and `#`,
    /// which would end the query. It begins with a slash, so that it cannot change the host before it.
    package static func target(_ path: String) -> String {
        (path.begins(with: "/") ? "" : "/")
            + path.percentEncoded { (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "#") }
    }
}
