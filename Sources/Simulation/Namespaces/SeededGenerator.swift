import Foundation
import Hashes

/// Generates a namespace's ids, tokens and keys, all derived from its random seed and counters [D chance].
///
/// Equal seeds and equal requests give equal ids in every process.
package struct SeededGenerator: Sendable {
    package let randomSeed: Int
    private let keyed: HMACSHA256

    /// - Parameter randomSeed: from 0 to 2^53 - 1, which JSON numbers represent exactly.
    package init(randomSeed: Int) {
        self.randomSeed = randomSeed
        keyed = HMACSHA256(key: SHA256.hash(data: Data("entrupy-sim random seed \(randomSeed)".utf8)))
    }

    package static let maxSeed = (1 << 53) - 1

    /// The random seed of a namespace that was given none.
    package func seed(ofNamespace name: String) -> Int {
        let bytes = code("namespace:\(name)")
        return bytes.prefix(8).reduce(0) { ($0 << 8 | Int($1)) & Self.maxSeed }
    }

    /// The length of ``name(for:)``, in bytes.
    package static let nameLength = 8

    /// A name for a purpose, of the characters `a-z2-7`.
    package func name(for purpose: String) -> String {
        Self.base32(code("name:\(purpose)"), length: Self.nameLength, IDAlphabet.base32.characters)
    }

    /// A 32-byte key for a purpose.
    package func key(for purpose: String) -> HMACSHA256 {
        HMACSHA256(key: code("key:\(purpose)"))
    }

    /// A number for a purpose, at least 0 and less than 1.
    package func fraction(for purpose: String) -> Double {
        let bits = code("fraction:\(purpose)").prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Double(bits >> 11) / Double(UInt64(1) << 53)
    }

    /// The id of a span of a trace, for a purpose: 16 hexadecimal digits, not all of them 0.
    package func span(for purpose: String) -> String {
        let bits = code("span:\(purpose)").prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let digits = String(max(bits, 1), radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }

    /// The id or token for a kind and a counter.
    ///
    /// - Parameter isOfFuture: whether it has the length that the kind may have tomorrow [D future].
    package func text(_ kind: IDKind, counter: Int64, isOfFuture: Bool = false) -> String {
        let length = isOfFuture ? kind.futureLength ?? kind.length : kind.length
        let alphabet = kind.alphabet.characters
        var bytes = code("\(kind.name):\(counter)")
        guard kind.alphabet == .uppercaseAndDigits else {
            if 8 * bytes.count < 5 * length { bytes += code("\(kind.name):\(counter):more") }
            return kind.prefix + Self.base32(bytes, length: length, alphabet)
        }
        // Bytes of the last, incomplete round of the alphabet are passed over: its characters would be likelier than others.
        let rounds = 256 / alphabet.count * alphabet.count
        var text = bytes.filter { $0 < rounds }
        while text.count < length {
            bytes = code("\(kind.name):\(counter):\(text.count)")
            text += bytes.filter { $0 < rounds }
        }
        return kind.prefix
            + String(decoding: text.prefix(length).map { alphabet[Int($0) % alphabet.count] }, as: UTF8.self)
    }

    private func code(_ message: String) -> [UInt8] {
        var message = message
        return message.withUTF8 { keyed.code(for: UnsafeRawBufferPointer($0)) }
    }

    /// RFC 4648 base32 without padding, cut to a length.
    private static func base32(_ bytes: [UInt8], length: Int, _ alphabet: [UInt8]) -> String {
        let text = (0..<min(length, (8 * bytes.count + 4) / 5)).map { index in
            let (byte, bit) = (5 * index).quotientAndRemainder(dividingBy: 8)
            let next = byte + 1 < bytes.count ? bytes[byte + 1] : 0
            return alphabet[(Int(bytes[byte]) << 8 | Int(next)) >> (11 - bit) & 31]
        }
        return String(decoding: text, as: UTF8.self)
    }
}
