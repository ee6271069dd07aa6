import Foundation
import Hashes
import Testing

/// The vectors of the standards: SHA-2 of FIPS 180-4's examples, HMAC of RFC 4231.
struct HashTests {
    private func hex(_ bytes: [UInt8]) -> String { bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }

    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (
            String(repeating: "a", count: 1_000_000),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        ),
    ])
    func sha256(text: String, expected: String) {
        #expect(hex(SHA256.hash(data: Data(text.utf8))) == expected)
    }

    @Test func sha256OfPiecesIsThatOfTheWhole() {
        let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        for size in [1, 3, 63, 64, 65, 200] {
            var hash = SHA256()
            for start in stride(from: 0, to: bytes.count, by: size) {
                hash.update(data: bytes[start..<min(start + size, bytes.count)])
            }
            #expect(hash.finalize() == SHA256.hash(data: bytes))
        }
    }

    @Test func aCopyGoesOnByItself() {
        var hash = SHA256()
        hash.update(data: Data("ab".utf8))
        var other = hash
        other.update(data: Data("x".utf8))
        hash.update(data: Data("c".utf8))
        #expect(hash.finalize() == SHA256.hash(data: Data("abc".utf8)))
        #expect(other.finalize() == SHA256.hash(data: Data("abx".utf8)))
        #expect(hash.finalize() == hash.finalize())
    }

    @Test func sha512() {
        #expect(
            hex(SHA512.hash(data: Data("abc".utf8)))
                == "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
        )
    }

    /// Cases 1, 2, 3, 4, 6 and 7 of RFC 4231: short and long keys, short and long data.
    @Test(arguments: [
        (
            Data(repeating: 0x0b, count: 20), Data("Hi There".utf8),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Data("Jefe".utf8), Data("what do ya want for nothing?".utf8),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            Data(repeating: 0xaa, count: 20), Data(repeating: 0xdd, count: 50),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
        ),
        (
            Data(1...25), Data(repeating: 0xcd, count: 50),
            "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"
        ),
        (
            Data(repeating: 0xaa, count: 131), Data("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
        (
            Data(repeating: 0xaa, count: 131),
            Data(
                "This is a test using a larger than block-size key and a larger than block-size data. The key needs to be hashed before being used by the HMAC algorithm."
                    .utf8),
            "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
        ),
    ])
    func hmac(key: Data, data: Data, expected: String) {
        let keyed = HMACSHA256(key: key)
        #expect(hex(keyed.code(for: data)) == expected)
        // In pieces, and from a key that was used before.
        var code = keyed
        for byte in data { code.update(data: [byte]) }
        #expect(hex(code.finalize()) == expected)
    }

    @Test func onlyTheWholeCodeIsValid() {
        let keyed = HMACSHA256(key: Data("key".utf8))
        let data = Data("message".utf8)
        let right = keyed.code(for: data)
        #expect(keyed.isValid(right, for: data))
        #expect(!keyed.isValid(right.dropLast(), for: data))
        #expect(!keyed.isValid(right + [0], for: data))
        #expect(!keyed.isValid([UInt8](), for: data))
        for index in right.indices {
            var wrong = right
            wrong[index] ^= 1
            #expect(!keyed.isValid(wrong, for: data))
        }
        #expect(!keyed.isValid(right, for: Data("Message".utf8)))
        #expect(!HMACSHA256(key: Data("other".utf8)).isValid(right, for: data))
    }
}
