/// A pattern in which `*` matches any text, including slashes, and `?` one character. Everything else matches itself
/// [D outcome-rules].
package struct Glob: Sendable {
    package let pattern: String
    private let parts: [Unicode.Scalar]
    private let matcher: GlobMatcher

    /// The longest pattern, in UTF-8 bytes [D linear-time]. Longer ones are refused where rules and queries are read.
    package static let maxBytes = 1000

    /// - Parameter pattern: matches nothing if it is longer than ``maxBytes``.
    package init(_ pattern: String) {
        self.pattern = pattern
        parts = pattern.utf8.count <= Self.maxBytes ? Array(pattern.unicodeScalars) : []
        matcher = GlobMatcher(parts)
    }

    /// Whether the whole text matches. The time is proportional to the text's length times the pattern's, in words of
    /// 64 characters.
    package func matches(_ text: String) -> Bool {
        pattern.utf8.count <= Self.maxBytes && matcher.matches(text.unicodeScalars)
    }

    /// Whether some text matches both patterns.
    package func meets(_ other: Glob) -> Bool {
        // The prefixes of `other` that match what has been read of this pattern.
        var reachable = [true] + other.parts.map { _ in false }
        func spread() {
            for index in other.parts.indices where other.parts[index] == "*" && reachable[index] {
                reachable[index + 1] = true
            }
        }
        spread()
        for part in parts {
            var next = other.parts.map { _ in false } + [false]
            if part == "*" {
                // A star matches any part of the other pattern, even an empty one.
                var isReached = false
                for index in reachable.indices {
                    isReached = isReached || reachable[index]
                    next[index] = isReached
                }
            } else {
                for index in other.parts.indices where reachable[index] {
                    let theirs = other.parts[index]
                    if theirs == "*" {
                        next[index] = true
                    } else if theirs == part || theirs == "?" || part == "?" {
                        next[index + 1] = true
                    }
                }
            }
            reachable = next
            spread()
        }
        return reachable[other.parts.count]
    }
}

/// A matcher that tracks all positions of the pattern at once, one bit for each. It reads each character of a text
/// only once.
private struct GlobMatcher: Sendable {
    /// For every character of the pattern, the positions at which it advances the match.
    private var steps: [Unicode.Scalar: [UInt64]] = [:]
    /// The positions at which any character advances the match: those of question marks.
    private var anyStep: [UInt64]
    /// The positions at which a star keeps the match.
    private var stays: [UInt64]
    /// The number of characters in the pattern, without stars.
    private let length: Int

    init(_ pattern: [Unicode.Scalar]) {
        length = pattern.count { $0 != "*" }
        let none = [UInt64](repeating: 0, count: length / 64 + 1)
        (anyStep, stays) = (none, none)
        var place = 0
        for character in pattern {
            let (word, bit) = (place / 64, UInt64(1) << (place % 64))
            switch character {
            case "*":
                stays[word] |= bit
                continue
            case "?": anyStep[word] |= bit
            default: steps[character, default: none][word] |= bit
            }
            place += 1
        }
    }

    func matches(_ text: String.UnicodeScalarView) -> Bool {
        var reached = [UInt64](repeating: 0, count: stays.count)
        reached[0] = 1
        for character in text {
            let own = steps[character]
            var carry: UInt64 = 0
            var isAlive: UInt64 = 0
            for word in reached.indices {
                let moving = reached[word] & (anyStep[word] | (own?[word] ?? 0))
                reached[word] = reached[word] & stays[word] | moving << 1 | carry
                carry = moving >> 63
                isAlive |= reached[word]
            }
            if isAlive == 0 { return false }
        }
        return reached[length / 64] & (1 << (length % 64)) != 0
    }
}
