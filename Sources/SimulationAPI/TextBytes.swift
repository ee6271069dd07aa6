import Foundation

// Texts from requests and files are compared, searched and split as UTF-8 bytes [D linear-time].
//
// `==`, `hasPrefix`, `split` and dictionaries of `String` use canonical equivalence. They treat a composed and a
// decomposed é as equal, and their time grows with the square of the length of a run of combining marks.

extension StringProtocol {
    /// Whether it is a token of HTTP, as methods and the names of headers are (RFC 9110, section 5.6.2).
    package var isHTTPToken: Bool {
        !isEmpty && utf8.allSatisfy { $0.isLetterOrDigit || "!#$%&'*+-.^_`|~".utf8.contains($0) }
    }

    /// Whether two texts have the same UTF-8 bytes.
    @inlinable package func isIdentical(to other: some StringProtocol) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        return withBytes { bytes in other.withBytes { bytes.isEqual(to: $0) } }
    }

    /// Calls `body` with the UTF-8 bytes. A loop over them is several times as fast as over the text's own view in a debug build.
    @inlinable package func withBytes<Value>(_ body: (UnsafeRawBufferPointer) -> Value) -> Value {
        utf8.withContiguousStorageIfAvailable { body(UnsafeRawBufferPointer($0)) } ?? Array(utf8).withUnsafeBytes(body)
    }

    /// Whether the text has the same UTF-8 bytes as one of several others.
    @inlinable package func isOne(of others: some Sequence<String>) -> Bool {
        others.contains { isIdentical(to: $0) }
    }

    /// Whether both name the same header field: ASCII letters of either case do (RFC 9110, section 5.1).
    package func isSameField(as other: some StringProtocol) -> Bool {
        utf8.count == other.utf8.count
            && zip(utf8, other.utf8).allSatisfy { one, other in
                one == other || one ^ other == 0x20 && (0x61...0x7a).contains(one | 0x20)
            }
    }

    /// Whether the bytes of the text begin with those of another.
    @inlinable package func begins(with beginning: some StringProtocol) -> Bool {
        let count = beginning.utf8.count
        guard utf8.count >= count else { return false }
        return withBytes { bytes in
            beginning.withBytes { UnsafeRawBufferPointer(rebasing: bytes[..<count]).isEqual(to: $0) }
        }
    }

    /// Whether the bytes of the text end with those of another.
    @inlinable package func ends(with end: some StringProtocol) -> Bool {
        let count = end.utf8.count
        guard utf8.count >= count else { return false }
        return withBytes { bytes in
            end.withBytes { UnsafeRawBufferPointer(rebasing: bytes[(bytes.count - count)...]).isEqual(to: $0) }
        }
    }

    /// Whether the text comes before another one in the order of their bytes.
    @inlinable package func precedes(_ other: some StringProtocol) -> Bool {
        withBytes { bytes in other.withBytes { bytes.precedes($0) } }
    }

    /// Whether the text contains an ASCII character.
    @inlinable package func contains(ascii character: Unicode.Scalar) -> Bool {
        withBytes { $0.firstIndex(of: UInt8(ascii: character), from: 0) != nil }
    }

    /// The parts between the occurrences of an ASCII character.
    @inlinable package func split(
        at separator: Unicode.Scalar, maxSplits: Int = .max, omittingEmpty: Bool = true
    ) -> [Substring] {
        let byte = UInt8(ascii: separator)
        var ranges: [Range<Int>] = []
        withBytes { bytes in
            var start = 0
            while ranges.count < maxSplits, let found = bytes.firstIndex(of: byte, from: start) {
                if found > start || !omittingEmpty { ranges.append(start..<found) }
                start = found + 1
            }
            if start < bytes.count || !omittingEmpty { ranges.append(start..<bytes.count) }
        }
        return parts(ranges)
    }

    /// The parts with these positions of bytes.
    @inlinable func parts(_ ranges: [Range<Int>]) -> [Substring] {
        let text = Substring(self).utf8
        return ranges.map { range in
            let start = text.index(text.startIndex, offsetBy: range.lowerBound)
            return Substring(text[start..<text.index(start, offsetBy: range.count)])
        }
    }

    /// The parts between the occurrences of a text.
    @inlinable package func split(atEach separator: String) -> [Substring] {
        var ranges: [Range<Int>] = []
        withBytes { bytes in
            separator.withBytes { wanted in
                var (start, index) = (0, 0)
                while let found = bytes.firstIndex(of: wanted[0], from: index), found + wanted.count <= bytes.count {
                    index = found + 1
                    let part = UnsafeRawBufferPointer(rebasing: bytes[found..<found + wanted.count])
                    guard part.isEqual(to: wanted) else { continue }
                    ranges.append(start..<found)
                    (start, index) = (found + wanted.count, found + wanted.count)
                }
                ranges.append(start..<bytes.count)
            }
        }
        return parts(ranges)
    }

    /// The text with every occurrence of another text replaced.
    @inlinable package func replacing(each text: String, with replacement: String) -> String {
        split(atEach: text).joined(separator: replacement)
    }

    /// The text up to the first occurrence of an ASCII character, or all of it.
    @inlinable package func prefix(before separator: Unicode.Scalar) -> Substring {
        let text = Substring(self).utf8
        let count = withBytes { $0.firstIndex(of: UInt8(ascii: separator), from: 0) ?? $0.count }
        return Substring(text[..<text.index(text.startIndex, offsetBy: count)])
    }

    /// The text without the spaces and tabs around it.
    @inlinable package var trimmed: Substring {
        let bytes = Substring(self).utf8
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        guard let start = bytes.firstIndex(where: { !isBlank($0) }),
            let last = bytes.lastIndex(where: { !isBlank($0) })
        else { return "" }
        return Substring(bytes[start...last])
    }

    /// The text with each percent-encoded byte decoded, if it is wanted. Everything else is left as it is.
    @inlinable package func percentDecoded(where isWanted: (UInt8) -> Bool = { _ in true }) -> String {
        let bytes = Array(utf8)
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
                let high = Character(Unicode.Scalar(bytes[index + 1])).hexDigitValue,
                let low = Character(Unicode.Scalar(bytes[index + 2])).hexDigitValue,
                isWanted(UInt8(high << 4 | low))
            {
                decoded.append(UInt8(high << 4 | low))
                index += 3
            } else {
                decoded.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: decoded, as: UTF8.self)
    }

    /// The text with each byte percent-encoded that is not to stay.
    @inlinable package func percentEncoded(except stays: (UInt8) -> Bool) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var encoded: [UInt8] = []
        encoded.reserveCapacity(utf8.count)
        for byte in utf8 {
            if stays(byte) {
                encoded.append(byte)
            } else {
                encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// The first hundred scalars, for a message that quotes the text.
    @inlinable package var excerpt: String {
        String(String.UnicodeScalarView(unicodeScalars.prefix(100)))
    }
}

extension UnsafeRawBufferPointer {
    /// Whether the bytes are the same.
    @usableFromInline package func isEqual(to other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        guard let left = baseAddress, let right = other.baseAddress else { return true }
        return memcmp(left, right, count) == 0
    }

    /// Whether the bytes come before `other` in byte order. A proper prefix of `other` comes before it.
    @usableFromInline package func precedes(_ other: UnsafeRawBufferPointer) -> Bool {
        let length = Swift.min(count, other.count)
        guard length > 0, let left = baseAddress, let right = other.baseAddress else { return count < other.count }
        let order = memcmp(left, right, length)
        return order != 0 ? order < 0 : count < other.count
    }

    /// The index of the first occurrence of a byte from an index on; `nil` if there is none.
    @usableFromInline package func firstIndex(of byte: UInt8, from index: Int) -> Int? {
        guard index < count, let start = baseAddress, let found = memchr(start + index, Int32(byte), count - index)
        else { return nil }
        return UnsafeRawPointer(found) - start
    }
}

/// A text as a dictionary key. Equality and hashing use its UTF-8 bytes.
package struct TextKey: Sendable, Hashable {
    package let text: String

    package init(_ text: some StringProtocol) {
        self.text = String(text)
    }

    package static func == (left: TextKey, right: TextKey) -> Bool {
        left.text.isIdentical(to: right.text)
    }

    package func hash(into hasher: inout Hasher) {
        text.withBytes { hasher.combine(bytes: $0) }
    }
}

extension Sequence<String> {
    /// The texts in the order of their bytes.
    @inlinable package func sortedByBytes() -> [String] {
        sorted { $0.precedes($1) }
    }
}

extension UInt8 {
    /// Whether the byte is a letter or a digit of ASCII.
    @inlinable package var isLetterOrDigit: Bool {
        (0x30...0x39).contains(self) || (0x61...0x7a).contains(self | 0x20)
    }
}
