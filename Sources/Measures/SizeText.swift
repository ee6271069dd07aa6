/// The text of a size in bytes, as everything here reads and prints it: `512 B`, `1.5 kB`, `64 MB`.
package enum SizeText {
    /// Examples of the valid forms, for messages.
    package static let examples = "500kB, 10MB, 1.5 GB, 64MiB, or a number of bytes"

    /// The units in lower case with their bytes.
    private static let units: [String: Double] = [
        "": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12,
        "kib": 1024, "mib": 1_048_576, "gib": 1_073_741_824, "tib": 1_099_511_627_776,
    ]

    /// Parses a size, in which upper and lower case mean the same; `nil` if the text is anything else, or 2^53 or more.
    package static func bytes(_ text: String) -> Int? {
        let text = Array(text.utf8)
        let digits = text.prefix { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
        let parts = digits.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        var name = text.dropFirst(digits.count)
        if name.first == 0x20 { name = name.dropFirst() }
        guard parts.count <= 2, parts.allSatisfy({ !$0.isEmpty }), name.count <= 3,
            let unit = units[String(decoding: name.map { $0 | 0x20 }, as: UTF8.self)],
            let number = Double(String(decoding: digits, as: UTF8.self))
        else { return nil }
        // A fraction of a byte is a mistake.
        let count = number * unit
        guard count < 9_007_199_254_740_992, unit > 1 || parts.count == 1 else { return nil }
        return Int(count.rounded())
    }

    /// The size in the largest unit that it has one of, with at most one decimal place.
    package static func text(_ bytes: Int) -> String {
        let units = [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)]
        // 999,950 bytes are 1 MB, not 1000 kB.
        guard bytes >= 1000, let (name, unit) = units.first(where: { Double(bytes) >= $0.1 * 0.99995 }) else {
            return "\(bytes) B"
        }
        let tenths = Int((Double(bytes) / unit * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10) \(name)" : "\(tenths / 10).\(tenths % 10) \(name)"
    }
}
