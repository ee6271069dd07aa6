/// A pattern in which `*` matches any text, and `?` one character. Everything else matches itself [D outcome-rules].
///
/// In the pattern of a route, `*` and `?` match no slash; `**` does.
package struct Glob: Sendable {
    package let pattern: String
    private let steps: [Step]
    private let matcher: GlobMatcher
    private let isRoute: Bool

    /// The longest pattern, in UTF-8 bytes [D linear-time]. Longer ones are refused where rules and queries are read.
    package static let maxBytes = 1000

    /// - Parameter pattern: matches nothing if it is longer than ``maxBytes``.
    package init(_ pattern: String) {
        self.init(pattern, pattern, isRoute: false)
    }

    /// A pattern for paths, in which `*` matches a part of a path or less, and `**` any number of parts. A lone `*` matches all paths.
    ///
    /// - Parameter pattern: matches nothing if it is longer than ``maxBytes``.
    package init(paths pattern: String) {
        self.init(pattern, pattern.isIdentical(to: "*") ? "**" : pattern, isRoute: true)
    }

    /// The pattern of a route's path. Each `{name}` stands for one part of a path: at least one character, and no slash.
    package init(route path: String) {
        let parts = path.split(separator: "/").map { $0.hasPrefix("{") ? "*" : String($0) }
        let text = parts.map { $0 == "*" ? "?*" : $0 }.joined(separator: "/")
        self.init("/" + parts.joined(separator: "/"), "/" + text, isRoute: true)
    }

    private init(_ pattern: String, _ text: String, isRoute: Bool) {
        self.pattern = pattern
        self.isRoute = isRoute
        let parts = pattern.utf8.count <= Self.maxBytes ? Array(text.unicodeScalars) : []
        steps = Self.steps(parts, isRoute: isRoute)
        matcher = GlobMatcher(parts, isRoute: isRoute)
    }

    /// Whether the whole text matches. The time is proportional to the text's length times the pattern's, in words of
    /// 64 characters.
    package func matches(_ text: String) -> Bool {
        pattern.utf8.count <= Self.maxBytes && matcher.matches(text.unicodeScalars)
    }

    /// Whether a part of the pattern matches any number of parts of a path.
    package var crossesSlashes: Bool { pattern.utf8.count > 1 && pattern.firstRange(of: "**") != nil }

    /// The pattern of a route with `**` for each `*`; `nil` if it has no single `*`.
    package var crossingSlashes: Glob? {
        var text = ""
        for part in pattern.unicodeScalars where part != "*" || text.unicodeScalars.last != "*" {
            text += part == "*" ? "**" : String(part)
        }
        return isRoute && text.utf8.count > pattern.utf8.count ? Glob(paths: text) : nil
    }

    /// Whether some text matches both patterns.
    package func overlaps(_ other: Glob) -> Bool {
        let (mine, theirs) = (steps, other.steps)
        // Which positions of `theirs` can be reached together with a position of `mine`, and with the next one.
        var reached = [Bool](repeating: false, count: theirs.count + 1)
        reached[0] = true
        for place in 0...mine.count {
            var next = [Bool](repeating: false, count: theirs.count + 1)
            for index in 0...theirs.count where reached[index] {
                let one = place < mine.count ? mine[place] : nil
                let two = index < theirs.count ? theirs[index] : nil
                if one?.repeats == true { next[index] = true }
                if two?.repeats == true { reached[index + 1] = true }
                guard let one, let two, one.overlaps(two) else { continue }
                // Both stay where they are if both repeat.
                if one.repeats, !two.repeats { reached[index + 1] = true }
                if !one.repeats { next[two.repeats ? index : index + 1] = true }
            }
            if place == mine.count { return reached[theirs.count] }
            guard next.contains(true) else { return false }
            reached = next
        }
        return false
    }

    private static func steps(_ parts: [Unicode.Scalar], isRoute: Bool) -> [Step] {
        parts.indices.map { index in
            let isDouble =
                parts[index] == "*"
                && (index > 0 && parts[index - 1] == "*" || parts[index...].dropFirst().first == "*")
            return switch parts[index] {
            case "*": Step(allowsSlash: !isRoute || isDouble, repeats: true)
            case "?": Step(allowsSlash: !isRoute)
            default: Step(only: parts[index])
            }
        }
    }

    /// One character of a pattern, or any number of them.
    private struct Step {
        /// The only character that it matches; `nil` if it matches any.
        var only: Unicode.Scalar?
        var allowsSlash = true
        /// Whether it matches any number of characters, even none.
        var repeats = false

        func overlaps(_ other: Step) -> Bool {
            if let only, let their = other.only { return only == their }
            guard let only = only ?? other.only else { return true }
            return only != "/" || allowsSlash && other.allowsSlash
        }
    }
}

/// A matcher that tracks all positions of the pattern at once, one bit for each. It reads each character of a text
/// only once.
private struct GlobMatcher: Sendable {
    /// For every character of the pattern, the positions at which it advances the match.
    private var steps: [Unicode.Scalar: [UInt64]] = [:]
    /// The positions at which any character advances the match: those of question marks.
    private var anyStep: [UInt64]
    /// The positions at which a star keeps the match, and those at which it does even if the character is a slash.
    private var stays: [UInt64]
    private var crosses: [UInt64]
    private let isRoute: Bool
    /// The number of characters in the pattern, without stars.
    private let length: Int

    init(_ pattern: [Unicode.Scalar], isRoute: Bool) {
        self.isRoute = isRoute
        length = pattern.count { $0 != "*" }
        let none = [UInt64](repeating: 0, count: length / 64 + 1)
        (anyStep, stays, crosses) = (none, none, none)
        var place = 0
        for (index, character) in pattern.enumerated() {
            let (word, bit) = (place / 64, UInt64(1) << (place % 64))
            switch character {
            case "*":
                stays[word] |= bit
                if !isRoute || index > 0 && pattern[index - 1] == "*" { crosses[word] |= bit }
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
            let isBound = isRoute && character == "/"
            var carry: UInt64 = 0
            var isAlive: UInt64 = 0
            for word in reached.indices {
                let moving = reached[word] & ((isBound ? 0 : anyStep[word]) | (own?[word] ?? 0))
                reached[word] = reached[word] & (isBound ? crosses[word] : stays[word]) | moving << 1 | carry
                carry = moving >> 63
                isAlive |= reached[word]
            }
            if isAlive == 0 { return false }
        }
        return reached[length / 64] & (1 << (length % 64)) != 0
    }
}
