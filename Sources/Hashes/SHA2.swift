import Foundation

#if canImport(CryptoKit)
    import CryptoKit
#else
    import CHashes
#endif

/// SHA-256 (FIPS 180-4). A copy goes on by itself.
package struct SHA256: Sendable {
    /// The number of bytes that are hashed at once, which HMAC needs.
    static let blockSize = 64

    #if canImport(CryptoKit)
        private var state = CryptoKit.SHA256()
    #else
        private var state: SHA256_CTX = {
            var state = SHA256_CTX()
            SHA256_Init(&state)
            return state
        }()
    #endif

    package init() {}

    package mutating func update(data: some ContiguousBytes) {
        data.withUnsafeBytes { bytes in
            #if canImport(CryptoKit)
                state.update(bufferPointer: bytes)
            #else
                _ = SHA256_Update(&state, bytes.baseAddress, bytes.count)
            #endif
        }
    }

    /// The hash of all bytes so far: 32 bytes.
    package func finalize() -> [UInt8] {
        #if canImport(CryptoKit)
            Array(state.finalize())
        #else
            var state = state
            return [UInt8](unsafeUninitializedCapacity: 32) { bytes, count in
                SHA256_Final(bytes.baseAddress, &state)
                count = 32
            }
        #endif
    }

    package static func hash(data: some ContiguousBytes) -> [UInt8] {
        var hash = SHA256()
        hash.update(data: data)
        return hash.finalize()
    }
}

/// SHA-512 (FIPS 180-4).
package enum SHA512 {
    /// The hash of the bytes: 64 bytes.
    package static func hash(data: some ContiguousBytes) -> [UInt8] {
        #if canImport(CryptoKit)
            data.withUnsafeBytes { bytes in
                var state = CryptoKit.SHA512()
                state.update(bufferPointer: bytes)
                return Array(state.finalize())
            }
        #else
            var state = SHA512_CTX()
            SHA512_Init(&state)
            data.withUnsafeBytes { _ = SHA512_Update(&state, $0.baseAddress, $0.count) }
            return [UInt8](unsafeUninitializedCapacity: 64) { bytes, count in
                SHA512_Final(bytes.baseAddress, &state)
                count = 64
            }
        #endif
    }
}
