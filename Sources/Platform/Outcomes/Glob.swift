/// A pattern in which `*` stands for any text, slashes too, and `?` for one character; all else stands for itself [D].
struct Glob: Sendable {
    let pattern: String
    private let parts: [Unicode.Scalar]
    private let matcher: GlobMatcher

    /// The longest pattern, in UTF-8 bytes [D]. Readers of rules and queries refuse longer ones.
    static let longest = 1000

    /// - Parameter pattern: fits no text if it is longer than ``longest``.
    init(_ pattern: String) {
        self.pattern = pattern
        parts = pattern.utf8.count <= Self.longest ? Array(pattern.unicodeScalars) : []
        matcher = GlobMatcher(parts)
    }

    /// Whether the whole text fits. The time grows with the text's length and with every 64 characters of the pattern.
    func matches(_ text: String) -> Bool {
        pattern.utf8.count <= Self.longest && matcher.matches(text.unicodeScalars)
    }

    /// Whether there is a text that both fit.
    func meets(_ other: Glob) -> Bool {
        // Which of the other's beginnings fit what of this was read so far.
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
                // Takes any part of the other, and nothing.
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

/// All places of a pattern that a text's beginning may have reached, a bit for each: no star makes it look at a character twice.
private struct GlobMatcher: Sendable {
    /// For every character of the pattern, the places that it leads on from.
    private var steps: [Unicode.Scalar: [UInt64]] = [:]
    /// The places that any character leads on from: those of question marks.
    private var anyStep: [UInt64]
    /// The places that a star holds.
    private var stays: [UInt64]
    /// How many characters the pattern has besides its stars.
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
