/// Paths as the router reads them.
package enum RoutePath {
    /// The path without redundant slashes: doubled ones, and one at the end.
    package static func plain(_ path: String) -> String {
        let slash = UInt8(ascii: "/")
        let isPlain = path.withBytes { bytes in
            var last: UInt8 = 0
            for byte in bytes {
                if byte == slash, last == slash { return false }
                last = byte
            }
            return last != slash || bytes.count == 1
        }
        return isPlain ? path : "/" + path.split(at: "/").joined(separator: "/")
    }
}
