import Foundation

/// A duration as people write it: `90s`, `1h30m`, `300ms`, or a number of seconds.
enum DurationText {
    private static let units = ["ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86_400]

    /// The duration in seconds; `nil` if the text is not one.
    static func seconds(_ text: String) -> Double? {
        if text.wholeMatch(of: #/[0-9]+(?:\.[0-9]+)?/#) != nil { return Double(text) }
        guard text.wholeMatch(of: #/(?:[0-9]+(?:\.[0-9]+)?(?:ms|s|m|h|d))+/#) != nil else { return nil }
        return text.matches(of: #/([0-9]+(?:\.[0-9]+)?)(ms|s|m|h|d)/#).reduce(0) { sum, part in
            sum + (Double(part.1) ?? 0) * (units[String(part.2)] ?? 0)
        }
    }
}
