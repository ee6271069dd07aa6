import Foundation

// Texts from requests and files are compared, searched and split as UTF-8 bytes [D linear-time].
//
// `==`, `hasPrefix`, `split` and dictionaries of `String` use canonical equivalence. They treat a composed and a
// decomposed é as equal, and their time grows with the square of the length of a run of combining marks.

extension StringProtocol {
    /// Whether two texts have the same UTF-8 bytes.
    @inlinable package func isIdentical(to other: some StringProtocol) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
    }

    /// Whether the text has the same UTF-8 bytes as one of several others.
    @inlinable package func isOne(of others: some Sequence<String>) -> Bool {
        others.contains { isIdentical(to: $0) }
    }

    /// Whether the bytes of the text begin with those of another.
    @inlinable package func begins(with beginning: some StringProtocol) -> Bool {
        utf8.starts(with: beginning.utf8)
    }

    /// Whether the bytes of the text end with those of another.
    @inlinable package func ends(with end: some StringProtocol) -> Bool {
        utf8.count >= end.utf8.count && utf8.suffix(end.utf8.count).elementsEqual(end.utf8)
    }

    /// Whether the text contains an ASCII character.
    @inlinable package func holds(_ character: Unicode.Scalar) -> Bool {
        utf8.contains(UInt8(ascii: character))
    }

    /// The parts between the occurrences of an ASCII character.
    @inlinable package func split(
        at separator: Unicode.Scalar, maxSplits: Int = .max, omittingEmpty: Bool = true
    ) -> [Substring] {
        Substring(self).utf8.split(
            separator: UInt8(ascii: separator), maxSplits: maxSplits, omittingEmptySubsequences: omittingEmpty
        ).map { Substring($0) }
    }

    /// The parts between the occurrences of a text.
    @inlinable package func split(atEach separator: String) -> [Substring] {
        let (bytes, wanted) = (Array(utf8), Array(separator.utf8))
        var parts: [Substring] = []
        var (start, index) = (0, 0)
        func part(_ range: Range<Int>) -> Substring { Substring(String(decoding: bytes[range], as: UTF8.self)) }
        while index + wanted.count <= bytes.count {
            if bytes[index] == wanted[0], bytes[index..<index + wanted.count].elementsEqual(wanted) {
                parts.append(part(start..<index))
                index += wanted.count
                start = index
            } else {
                index += 1
            }
        }
        return parts + [part(start..<bytes.count)]
    }

    /// The text with every occurrence of another text replaced.
    @inlinable package func replacing(each text: String, with replacement: String) -> String {
        split(atEach: text).joined(separator: replacement)
    }

    /// The text up to the first occurrence of an ASCII character, or all of it.
    @inlinable package func prefix(before separator: Unicode.Scalar) -> Substring {
        let byte = UInt8(ascii: separator)
        return Substring(Substring(self).utf8.prefix { $0 != byte })
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

    /// The first hundred scalars, for a message that quotes the text.
    @inlinable package var excerpt: String {
        String(String.UnicodeScalarView(unicodeScalars.prefix(100)))
    }
}

/// A text as a dictionary key. Equality and hashing use its UTF-8 bytes.
package struct TextKey: Sendable, Hashable {
    package let text: String

    package init(_ text: some StringProtocol) {
        self.text = String(text)
    }

    package static func == (left: TextKey, right: TextKey) -> Bool {
        let (left, right) = (left.text.utf8.span, right.text.utf8.span)
        guard left.count == right.count else { return false }
        return left.withUnsafeBufferPointer { left in
            right.withUnsafeBufferPointer { right in
                guard let first = left.baseAddress, let second = right.baseAddress else { return true }
                return memcmp(first, second, left.count) == 0
            }
        }
    }

    package func hash(into hasher: inout Hasher) {
        text.utf8.span.withUnsafeBufferPointer { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension Sequence<String> {
    /// The texts in the order of their bytes.
    @inlinable package func sortedByBytes() -> [String] {
        sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}
