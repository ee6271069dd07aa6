/// Paths as the router reads them.
package enum RoutePath {
    /// The path without the slashes that make no difference: doubled ones, and one at its end.
    package static func plain(_ path: String) -> String {
        let bytes = path.utf8
        var last: UInt8 = 0
        var isPlain = bytes.count == 1 || bytes.last != UInt8(ascii: "/")
        for byte in bytes {
            if byte == UInt8(ascii: "/"), last == byte { isPlain = false }
            last = byte
        }
        return isPlain ? path : "/" + path.split(separator: "/").joined(separator: "/")
    }
}
