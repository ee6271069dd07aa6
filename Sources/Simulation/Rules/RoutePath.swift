/// Paths as the router reads them.
package enum RoutePath {
    /// The path without redundant slashes: doubled ones, and one at the end.
    package static func plain(_ path: String) -> String {
        let bytes = path.utf8.span
        var last: UInt8 = 0
        var isPlain = true
        for index in bytes.indices {
            if bytes[index] == UInt8(ascii: "/"), last == bytes[index] { isPlain = false }
            last = bytes[index]
        }
        if last == UInt8(ascii: "/"), bytes.count > 1 { isPlain = false }
        return isPlain ? path : "/" + path.split(at: "/").joined(separator: "/")
    }
}
