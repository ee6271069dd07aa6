/// Finds the known name that is most similar to a wrong one [D unknown-routes].
package enum NearestName {
    /// The maximum length of a name that is compared, in bytes. The rest of a longer name is ignored.
    private static let maxBytes = 63

    /// The edit distance of two names: the number of bytes that are changed, missing or added.
    package static func distance(_ one: some StringProtocol, _ other: some StringProtocol) -> Int {
        let (one, other) = (Array(one.utf8.prefix(maxBytes)), Array(other.utf8.prefix(maxBytes)))
        var row = Array(0...other.count)
        for (index, byte) in one.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in other.indices {
                let changed = diagonal + (byte == other[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(changed, diagonal + 1, row[column] + 1)
            }
        }
        return row[other.count]
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
