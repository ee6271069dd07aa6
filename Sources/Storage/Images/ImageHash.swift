/// The name of an image: the SHA-256 of its bytes. It is small, because every namespace keeps the hashes of its
/// images in memory.
package struct ImageHash: Hashable, Sendable {
    private let words: SIMD4<UInt64>

    /// Reads 64 lower-case hexadecimal digits; `nil` if `text` has another form.
    package init?(_ text: String) {
        let digits = text.utf8
        guard digits.count == 64, digits.allSatisfy(\.isLowerCaseHex) else { return nil }
        var words = SIMD4<UInt64>()
        for (index, digit) in digits.enumerated() {
            let value = digit < UInt8(ascii: "a") ? digit - UInt8(ascii: "0") : digit - UInt8(ascii: "a") + 10
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

extension UInt8 {
    /// Whether the byte is a hexadecimal digit of ASCII, in lower case.
    var isLowerCaseHex: Bool { (0x30...0x39).contains(self) || (0x61...0x66).contains(self) }
}
