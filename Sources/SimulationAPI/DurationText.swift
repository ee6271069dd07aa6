/// The text of a duration, as everything here reads and prints it: `90s`, `1h30m`, `300ms`.
///
/// One or more numbers, each with one of the units `d`, `h`, `m`, `s`, `ms`, the larger unit first and each at most once. Only
/// the last number may have a fraction.
package enum DurationText {
    /// Examples of the valid forms, for messages.
    package static let examples = "90s, 1h30m, 300ms, 1.5d"
    /// The longest duration, 100 years of 365.25 days, in microseconds [D durations].
    package static let maxMicroseconds: Int64 = 36525 * 86400 * 1_000_000

    /// The units with their seconds, the largest first.
    private static let units: [(name: [UInt8], seconds: Double)] = [
        (Array("d".utf8), 86400), (Array("h".utf8), 3600), (Array("m".utf8), 60), (Array("s".utf8), 1),
        (Array("ms".utf8), 0.001),
    ]

    /// Parses a duration in time proportional to its length; `nil` if the text is anything else, or longer than the maximum.
    package static func microseconds(_ text: some StringProtocol) -> Int64? {
        var rest = Array(text.utf8)[...]
        var left = units[...]
        var total = 0.0
        repeat {
            let digits = rest.prefix { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
            rest = rest.dropFirst(digits.count)
            let name = rest.prefix { (0x61...0x7a).contains($0) }
            rest = rest.dropFirst(name.count)
            guard let number = decimal(digits, isWhole: !rest.isEmpty),
                let unit = left.firstIndex(where: { $0.name.elementsEqual(name) })
            else { return nil }
            total += (number * left[unit].seconds * 1e6).rounded()
            left = left[(unit + 1)...]
        } while !rest.isEmpty
        // Microseconds up to the maximum are exact in a double.
        return total <= Double(maxMicroseconds) ? Int64(total) : nil
    }

    private static func decimal(_ digits: ArraySlice<UInt8>, isWhole: Bool) -> Double? {
        let parts = digits.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count <= (isWhole ? 1 : 2), parts.allSatisfy({ !$0.isEmpty }) else { return nil }
        return Double(String(decoding: digits, as: UTF8.self))
    }

    /// The one text of a duration, without units that are zero: `1h30m` for 90 minutes, `300ms`, `1m0.5s`, `0s`.
    package static func text(microseconds: Int64) -> String {
        let magnitude = microseconds.magnitude
        let sign = microseconds < 0 ? "-" : ""
        if magnitude != 0, magnitude < 1_000_000, magnitude % 1000 == 0 { return "\(sign)\(magnitude / 1000)ms" }
        let (seconds, fraction) = magnitude.quotientAndRemainder(dividingBy: 1_000_000)
        var text = [("d", seconds / 86400), ("h", seconds / 3600 % 24), ("m", seconds / 60 % 60)]
            .filter { $0.1 > 0 }.map { "\($0.1)\($0.0)" }.joined()
        if seconds % 60 > 0 || fraction > 0 || text.isEmpty {
            var digits = "\(fraction + 1_000_000)".dropFirst()
            while digits.last == "0" { digits = digits.dropLast() }
            text += "\(seconds % 60)\(digits.isEmpty ? "" : ".")\(digits)s"
        }
        return sign + text
    }

    /// The text of a number of seconds, rounded to microseconds, and to the maximum.
    package static func text(seconds: Double) -> String {
        let bound = Double(maxMicroseconds)
        return text(microseconds: Int64(min(max((seconds * 1e6).rounded(), -bound), bound)))
    }
}

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
