/// Finds the known name that is most similar to a wrong one [D unknown-routes].
package enum NearestName {
    /// The maximum length of a name that is compared, in bytes. The rest of a longer name is ignored.
    private static let maxBytes = 63

    /// The edit distance of two names: the number of bytes that are changed, missing, added or swapped with the next one.
    package static func distance(_ one: some StringProtocol, _ other: some StringProtocol) -> Int {
        let (one, other) = (Array(one.utf8.prefix(maxBytes)), Array(other.utf8.prefix(maxBytes)))
        var (before, last) = ([Int](), Array(0...other.count))
        for (index, byte) in one.enumerated() {
            var row = [index + 1]
            for column in other.indices {
                var least = min(last[column] + (byte == other[column] ? 0 : 1), last[column + 1] + 1, row[column] + 1)
                if index > 0, column > 0, byte == other[column - 1], one[index - 1] == other[column] {
                    least = min(least, before[column - 1] + 1)
                }
                row.append(least)
            }
            (before, last) = (last, row)
        }
        return last[other.count]
    }

    /// The most similar name; `nil` if none is near.
    ///
    /// - Parameter maxDistance: the most bytes in which a near name differs; `nil` for two, or a third of the longer name.
    package static func nearest(
        to name: String, among names: [String], maxDistance most: Int? = nil
    ) -> String? {
        let length = min(name.utf8.count, maxBytes)
        var best: (distance: Int, name: String)?
        for candidate in names {
            let maxDistance = most ?? max(2, max(length, candidate.utf8.count) / 3)
            // Names whose lengths differ by more cannot be near. Most names are skipped here.
            guard abs(candidate.utf8.count - length) <= min(maxDistance, best?.distance ?? .max) else { continue }
            let distance = distance(name, candidate)
            if distance <= maxDistance, distance < best?.distance ?? .max { best = (distance, candidate) }
        }
        return best?.name
    }
}
