/// The name of an image: the SHA-256 of its bytes. It is small, because every namespace keeps the hashes of its
/// images in memory.
package struct ImageHash: Hashable, Sendable {
    private let words: SIMD4<UInt64>

    /// Reads 64 lower-case hexadecimal digits; `nil` if `text` has another form.
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

    /// The hash as 64 lower-case hexadecimal digits.
    package var text: String {
        (0..<4).map { index in
            let digits = String(words[index], radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
