import Foundation

/// Finds secrets in the bytes of a text, in one pass.
///
/// Written by hand: equivalent regular expressions took most of the 1.5 ms of exporting one request.
package struct SecretScanner: Sendable {
    private let known: [[UInt8]]
    /// The known secrets in the order of their bytes; `nil` if there are few. A search for each of many would take their
    /// number times the length of the text.
    private let ordered: [[UInt8]]?
    private let mask = Array(Secrets.mask.utf8)
    /// Whether a known secret has non-ASCII characters.
    private let hasOtherCharacters: Bool
    /// The beginnings of tokens. Each ends with `_`, and letters and digits of base32 follow.
    private let tokenPrefixes: [[UInt8]]

    init(known: [[UInt8]], tokenPrefixes: [[UInt8]]) {
        self.tokenPrefixes = tokenPrefixes
        // The longest first: one may be a prefix of another.
        self.known = known.sorted { $0.count > $1.count }
        ordered =
            known.count > Self.maxSearched
            ? known.filter { !$0.isEmpty }.sorted { $0.lexicographicallyPrecedes($1) } : nil
        hasOtherCharacters = known.contains { $0.contains { $0 >= 0x80 } }
    }

    /// Masks the secrets of a text.
    ///
    /// - Parameter isJSON: whether to check the members of JSON. The JSON text may be cut off.
    package func masked(_ text: String, isJSON: Bool) -> String {
        var text = text
        let masked: [UInt8]? = text.withUTF8 { bytes in
            let withoutKnown = withoutKnown(bytes)
            guard let withoutKnown else { return replaced(bytes, isJSON: isJSON) }
            return withoutKnown.withUnsafeBufferPointer { replaced($0, isJSON: isJSON) } ?? withoutKnown
        }
        return masked.map { String(decoding: $0, as: UTF8.self) } ?? text
    }

    /// Whether a JSON text may hold secrets that are found only by decoding it: unnecessarily escaped letters, and
    /// objects or lists under a secret's name.
    package func needsDecoding(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            var index = 0
            while index < bytes.count {
                switch bytes[index] {
                case UInt8(ascii: "\\"):
                    guard index + 1 < bytes.count else { return false }
                    if bytes[index + 1] == UInt8(ascii: "u"), isUnneededEscape(bytes, at: index) { return true }
                    index += 2
                case UInt8(ascii: "\""):
                    if let value = Self.secretMember(bytes, at: index), bytes[value] | 0x20 == UInt8(ascii: "{") {
                        return true
                    }
                    index += 1
                default: index += 1
                }
            }
            return false
        }
    }

    /// Whether the `\u` escape is a printable ASCII character, or one that a known secret may hold.
    private func isUnneededEscape(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> Bool {
        guard !hasOtherCharacters else { return true }
        return index + 4 < bytes.count && bytes[index + 2] == UInt8(ascii: "0") && bytes[index + 3] == UInt8(ascii: "0")
            && (UInt8(ascii: "2")...UInt8(ascii: "7")).contains(bytes[index + 4])
    }

    /// The number of bytes from which the end of a text is taken for the beginning of a known secret.
    private static let minCutLength = 4

    /// Masks the beginning of a secret at the end of a cut-off text.
    package func maskedEnd(of text: String) -> String {
        let bytes = Array(text.utf8)
        for secret in known {
            let longest = min(secret.count - 1, bytes.count)
            for length in stride(from: longest, through: Self.minCutLength, by: -1)
            where bytes.suffix(length).elementsEqual(secret.prefix(length)) {
                return String(decoding: bytes.dropLast(length) + mask, as: UTF8.self)
            }
        }
        let start = bytes.count - bytes.reversed().prefix(while: Self.isBase32).count
        let isToken =
            start < bytes.count && tokenPrefixes.contains { bytes[..<start].suffix($0.count).elementsEqual($0) }
        return isToken ? String(decoding: bytes[..<start] + mask, as: UTF8.self) : text
    }

    // MARK: Known secrets

    /// The number of secrets that are searched for one after another.
    private static let maxSearched = 32

    /// Masks known secrets; `nil` if the text holds none.
    private func withoutKnown(_ bytes: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        guard let ordered else {
            return known.reduce(nil as [UInt8]?) { text, secret in
                guard let text else { return without(secret, bytes) }
                return text.withUnsafeBufferPointer { without(secret, $0) } ?? text
            }
        }
        // In one pass: at each place the longest. Takes time proportional to the text, in the worst case times the longest
        // secret's length.
        return Self.replacing(bytes) { start in
            for index in start..<bytes.count {
                guard let length = Self.longest(of: ordered, at: index, in: bytes) else { continue }
                return (index..<index + length, mask)
            }
            return nil
        }
    }

    /// Replaces parts of a text; `nil` if there are none.
    ///
    /// - Parameter next: the next part from an index on, and its replacement; `nil` if there is none.
    private static func replacing(
        _ bytes: UnsafeBufferPointer<UInt8>, _ next: (_ start: Int) -> (range: Range<Int>, text: [UInt8])?
    ) -> [UInt8]? {
        var output: [UInt8] = []
        var copied = 0
        while let (range, text) = next(copied) {
            output += bytes[copied..<range.lowerBound]
            output += text
            copied = range.upperBound
        }
        return copied == 0 ? nil : output + bytes[copied...]
    }

    /// The length of the longest secret at a place of a text; `nil` if there is none.
    private static func longest(
        of ordered: [[UInt8]], at index: Int, in bytes: UnsafeBufferPointer<UInt8>
    ) -> Int? {
        var found: Int?
        // The secrets that begin like the text at this place, for one byte more in each round.
        var (candidates, depth) = (ordered[...], 0)
        while true {
            // The shortest comes first: it is a prefix of the others.
            while let first = candidates.first, first.count == depth {
                found = depth
                candidates = candidates.dropFirst()
            }
            guard !candidates.isEmpty, index + depth < bytes.count else { return found }
            let byte = bytes[index + depth]
            candidates = candidates[candidates.firstPlace { $0[depth] >= byte }...]
            candidates = candidates[..<candidates.firstPlace { $0[depth] > byte }]
            depth += 1
        }
    }

    private func without(_ secret: [UInt8], _ bytes: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        Self.replacing(bytes) { start in
            Self.firstIndex(of: secret, in: bytes, from: start).map { ($0..<$0 + secret.count, mask) }
        }
    }

    /// The position of a secret in a text; `nil` if it is not there. Takes time proportional to the text, in the
    /// worst case times the secret's length.
    private static func firstIndex(
        of secret: [UInt8], in bytes: UnsafeBufferPointer<UInt8>, from index: Int
    ) -> Int? {
        guard let start = bytes.baseAddress else { return nil }
        var index = index
        while bytes.count - index >= secret.count,
            let found = memchr(start + index, CInt(secret[0]), bytes.count - index - secret.count + 1)
        {
            index = UnsafeRawPointer(found) - UnsafeRawPointer(start)
            if memcmp(start + index, secret, secret.count) == 0 { return index }
            index += 1
        }
        return nil
    }

    // MARK: Secrets by form and by name

    /// Masks secrets that are recognized by their form or, in JSON, by their name; `nil` if the text holds none.
    private func replaced(_ bytes: UnsafeBufferPointer<UInt8>, isJSON: Bool) -> [UInt8]? {
        // No web token can begin before this index: the text up to it was searched and holds no complete one.
        var tokenLimit = 0
        return Self.replacing(bytes) { start in
            for index in start..<bytes.count {
                let found: (Range<Int>, [UInt8])? =
                    switch bytes[index] {
                    case UInt8(ascii: "_"): token(bytes, at: index)
                    case UInt8(ascii: "e") where index >= tokenLimit: webToken(bytes, at: index, &tokenLimit)
                    case UInt8(ascii: ":"): userInformation(bytes, at: index)
                    case UInt8(ascii: "\"") where isJSON: memberValue(bytes, at: index)
                    default: nil
                    }
                if let found { return found }
            }
            return nil
        }
    }

    private static func starts(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int, with text: StaticString) -> Bool {
        bytes.count - index >= text.utf8CodeUnitCount
            && memcmp(bytes.baseAddress! + index, text.utf8Start, text.utf8CodeUnitCount) == 0
    }

    /// The minimum length of a text after a token's prefix to count as a token.
    private static let minTokenLength = 20

    /// The text after a token's prefix that ends at `index`.
    private func token(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> (Range<Int>, [UInt8])? {
        let start = index + 1
        let end = Self.end(of: bytes, from: start, while: Self.isBase32)
        guard end - start >= Self.minTokenLength,
            tokenPrefixes.contains(where: { start >= $0.count && bytes[start - $0.count..<start].elementsEqual($0) })
        else { return nil }
        return (start..<end, mask)
    }

    private static func isBase32(_ byte: UInt8) -> Bool { (0x61...0x7a).contains(byte) || (0x32...0x37).contains(byte) }

    /// A JSON web token: three parts in base64url, the first of which is an object.
    private func webToken(
        _ bytes: UnsafeBufferPointer<UInt8>, at index: Int, _ limit: inout Int
    ) -> (Range<Int>, [UInt8])? {
        guard Self.starts(bytes, at: index, with: "eyJ") else { return nil }
        func isBase64URL(_ byte: UInt8) -> Bool {
            (0x61...0x7a).contains(byte | 0x20) || (0x30...0x39).contains(byte) || byte == 0x2d || byte == 0x5f
        }
        func isPart(_ start: Int, _ end: Int) -> Bool {
            limit = end
            return end > start && end < bytes.count && bytes[end] == UInt8(ascii: ".")
        }
        let header = Self.end(of: bytes, from: index + 3, while: isBase64URL)
        guard isPart(index + 3, header) else { return nil }
        let payload = Self.end(of: bytes, from: header + 1, while: isBase64URL)
        guard isPart(header + 1, payload) else { return nil }
        return (index..<Self.end(of: bytes, from: payload + 1, while: isBase64URL), mask)
    }

    /// The user and password in a URL: the text between `://`, which JSON may escape, and `@`.
    private func userInformation(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> (Range<Int>, [UInt8])? {
        let start: Int
        if Self.starts(bytes, at: index, with: "://") {
            start = index + 3
        } else if Self.starts(bytes, at: index, with: #":\/\/"#) {
            start = index + 5
        } else {
            return nil
        }
        let end = Self.end(of: bytes, from: start) { byte in
            byte != UInt8(ascii: "/") && byte != UInt8(ascii: "@") && byte != UInt8(ascii: "\"") && !Self.isSpace(byte)
        }
        return end > start && end < bytes.count && bytes[end] == UInt8(ascii: "@") ? (start..<end, mask) : nil
    }

    private static func end(
        of bytes: UnsafeBufferPointer<UInt8>, from start: Int, while isMeant: (UInt8) -> Bool
    ) -> Int {
        bytes[start...].firstIndex { !isMeant($0) } ?? bytes.count
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }

    // MARK: Members of JSON

    /// The value of a member that begins at `index` and has a secret's name: a string, which may be cut off, or a
    /// number.
    private func memberValue(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> (Range<Int>, [UInt8])? {
        guard let start = Self.secretMember(bytes, at: index) else { return nil }
        let quote = [UInt8(ascii: "\"")]
        switch bytes[start] {
        case UInt8(ascii: "\""):
            let end = Self.endOfString(bytes, from: start + 1)
            // A cut-off string stays cut off.
            return end < bytes.count ? (start..<end + 1, quote + mask + quote) : (start..<bytes.count, quote + mask)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            let end = Self.end(of: bytes, from: start) {
                $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "}") && !Self.isSpace($0)
            }
            return (start..<end, quote + mask + quote)
        default: return nil
        }
    }

    /// The index of the quote that ends a string; not less than the number of bytes if the string is cut off.
    ///
    /// - Parameter start: the index of its first character.
    private static func endOfString(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        var end = start
        while end < bytes.count, bytes[end] != UInt8(ascii: "\"") {
            end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1
        }
        return end
    }

    /// The index of the value of a member with a secret's name; `nil` if `index` has no such name, or the value is
    /// missing.
    private static func secretMember(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> Int? {
        // Most names begin otherwise.
        guard index + 1 < bytes.count, mayBeginName[Int(bytes[index + 1])] else { return nil }
        var nameEnd = index + 1
        let last = min(bytes.count - 1, nameEnd + maxNameLength)
        while nameEnd <= last, bytes[nameEnd] != UInt8(ascii: "\"") { nameEnd += 1 }
        guard nameEnd <= last, isSecretName(bytes[index + 1..<nameEnd]) else { return nil }
        let colon = end(of: bytes, from: nameEnd + 1, while: isSpace)
        guard colon < bytes.count, bytes[colon] == UInt8(ascii: ":") else { return nil }
        let value = end(of: bytes, from: colon + 1, while: isSpace)
        return value < bytes.count ? value : nil
    }

    private static let receiverMember = Array("\"url\"".utf8)

    /// A JSON text with its members `url` as ``SimulationAPI/Swift/String/maskingQuery`` shows them. It may be cut off within one.
    static func maskingReceivers(_ text: String) -> String {
        var text = text
        let masked = text.withUTF8 { bytes in
            replacing(bytes) { start in
                var index = start
                while let name = firstIndex(of: receiverMember, in: bytes, from: index) {
                    index = name + receiverMember.count
                    let colon = end(of: bytes, from: index) { $0 <= 0x20 }
                    guard colon < bytes.count, bytes[colon] == UInt8(ascii: ":") else { continue }
                    let quote = end(of: bytes, from: colon + 1) { $0 <= 0x20 }
                    guard quote < bytes.count, bytes[quote] == UInt8(ascii: "\"") else { continue }
                    let value = quote + 1..<min(endOfString(bytes, from: quote + 1), bytes.count)
                    return (value, Array(String(decoding: bytes[value], as: UTF8.self).maskingQuery.utf8))
                }
                return nil
            }
        }
        return masked.map { String(decoding: $0, as: UTF8.self) } ?? text
    }

    /// Names of members and parameters that hold secrets, in lower case, without `_` and `-`.
    private static let names = [
        "token", "apitoken", "accesstoken", "controltoken", "signedauthorizationrequest", "secret", "secretkey",
        "password", "passwd", "authorization", "apikey", "jwt",
    ].map { Array($0.utf8) }

    /// For each byte, whether the name of a secret may begin with it.
    private static let mayBeginName: [Bool] = (0...UInt8.max).map { byte in
        byte == UInt8(ascii: "_") || names.contains { $0[0] == byte | 0x20 }
    }

    /// The maximum length of a name, in bytes, including `_` and `-`.
    private static let maxNameLength = 32

    /// Whether a member or parameter of this name holds a secret. Case, `_` and `-` are ignored.
    package static func isSecretName(_ name: some Collection<UInt8>) -> Bool {
        guard let first = name.first, (0x41...0x7a).contains(first), name.count <= maxNameLength else { return false }
        return names.contains { spells(name, $0) }
    }

    private static func spells(_ name: some Collection<UInt8>, _ secret: [UInt8]) -> Bool {
        var place = 0
        for byte in name where byte != UInt8(ascii: "_") && byte != UInt8(ascii: "-") {
            let lower = (0x41...0x5a).contains(byte) ? byte | 0x20 : byte
            guard place < secret.count, secret[place] == lower else { return false }
            place += 1
        }
        return place == secret.count
    }

    /// Whether a query has a parameter whose name is a secret's.
    static func hasSecretName(query: String) -> Bool {
        var query = query
        return query.withUTF8 { bytes in
            bytes.split(separator: UInt8(ascii: "&")).contains { pair in
                pair.firstIndex(of: UInt8(ascii: "=")).map { isSecretName(pair[..<$0]) } ?? false
            }
        }
    }
}
