/// The name of a picture: the SHA-256 of its bytes. As small as can be, since every namespace keeps those it refers to in memory.
package struct ImageHash: Hashable, Sendable {
    private let words: SIMD4<UInt64>

    /// Reads 64 hexadecimal digits; nil if `text` is not that.
    package init?(_ text: String) {
        let digits = text.utf8
        guard digits.count == 64 else { return nil }
        var words = SIMD4<UInt64>()
        for (index, digit) in digits.enumerated() {
            let value: UInt8
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = digit - UInt8(ascii: "a") + 10
            default: return nil
            }
            words[index / 16] = words[index / 16] << 4 | UInt64(value)
        }
        self.words = words
    }

    /// 64 digits in lower case.
    package var text: String {
        (0..<4).map { index in
            let digits = String(words[index], radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
