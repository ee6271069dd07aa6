import Foundation

/// HMAC-SHA256 (RFC 2104), with its key. A copy goes on by itself, so one with a key and no data yet is the beginning of many codes, and
/// saves each of them two of its four blocks.
package struct HMACSHA256: Sendable {
    private var inner = SHA256()
    private var outer = SHA256()

    /// - Parameter key: of any length; one of more than 64 bytes is hashed first, as the RFC says.
    package init(key: some ContiguousBytes) {
        var block = key.withUnsafeBytes { $0.count > SHA256.blockSize ? SHA256.hash(data: $0) : Array($0) }
        block += repeatElement(0, count: SHA256.blockSize - block.count)
        inner.update(data: block.map { $0 ^ 0x36 })
        outer.update(data: block.map { $0 ^ 0x5c })
    }

    /// A key of 32 bytes from the system's random generator.
    package static func withRandomKey() -> HMACSHA256 {
        HMACSHA256(key: (0..<32).map { _ in UInt8.random(in: 0...255) })
    }

    package mutating func update(data: some ContiguousBytes) {
        inner.update(data: data)
    }

    /// The code of all data so far: 32 bytes.
    package func finalize() -> [UInt8] {
        var outer = outer
        outer.update(data: inner.finalize())
        return outer.finalize()
    }

    /// The code of the data so far and these bytes.
    package func code(for data: some ContiguousBytes) -> [UInt8] {
        var copy = self
        copy.update(data: data)
        return copy.finalize()
    }

    /// Whether a code is the one of the data. Takes the same time for all wrong codes of 32 bytes.
    package func isValid(_ code: some Collection<UInt8>, for data: some ContiguousBytes) -> Bool {
        let right = self.code(for: data)
        return code.count == right.count && zip(code, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
