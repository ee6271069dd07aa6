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
