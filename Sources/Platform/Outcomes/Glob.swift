/// A pattern in which `*` stands for any text, slashes too, and `?` for one character; all else stands for itself [D].
struct Glob: Sendable, Hashable {
    let pattern: String
    private let parts: [Unicode.Scalar]

    init(_ pattern: String) {
        self.pattern = pattern
        parts = Array(pattern.unicodeScalars)
    }

    /// Whether the whole text fits. Takes time in proportion to the product of the two lengths at worst.
    func matches(_ text: String) -> Bool {
        let text = Array(text.unicodeScalars)
        var (pattern, place) = (0, 0)
        // Where the last `*` stands, and how much of the text it has taken.
        var star: (pattern: Int, place: Int)?
        while place < text.count {
            if pattern < parts.count, parts[pattern] == "*" {
                star = (pattern, place)
                pattern += 1
            } else if pattern < parts.count, parts[pattern] == "?" || parts[pattern] == text[place] {
                pattern += 1
                place += 1
            } else if let last = star {
                star = (last.pattern, last.place + 1)
                (pattern, place) = (last.pattern + 1, last.place + 1)
            } else {
                return false
            }
        }
        return parts[pattern...].allSatisfy { $0 == "*" }
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
