import SimulationAPI
import Storage

/// A duration in microseconds. A duration from a caller is 0 to 100 years; one between two moments may be negative or
/// longer.
///
/// The value is clamped, so that adding it to a moment never overflows.
package struct Span: Hashable, Comparable, Sendable {
    package let microseconds: Int64

    package static let zero = Span(microseconds: 0)
    package static let second = Span(microseconds: 1_000_000)
    package static let minute = Span(microseconds: 60 * 1_000_000)
    package static let hour = Span(microseconds: 3600 * 1_000_000)
    package static let day = Span(microseconds: 86400 * 1_000_000)
    /// The longest duration that a caller may give [D durations].
    package static let limit = Span(microseconds: DurationText.maxMicroseconds)

    package init(microseconds: Int64) {
        self.microseconds = min(max(microseconds, -2 * Instant.bound), 2 * Instant.bound)
    }

    /// A duration of `seconds`; `nil` if it is negative, not finite or over 100 years.
    package init?(seconds: Double) {
        guard seconds >= 0, seconds * 1e6 <= Double(Self.limit.microseconds) else { return nil }
        microseconds = Int64((seconds * 1e6).rounded())
    }

    /// Parses a duration such as `90s`, `1h30m` or `300ms`; `nil` if the text is anything else.
    package init?(_ text: String) {
        guard let microseconds = DurationText.microseconds(text) else { return nil }
        self.microseconds = microseconds
    }

    /// The valid forms of a duration, for error messages.
    package static let form = "must be a duration such as \(DurationText.examples), or a number of seconds"

    /// The duration as text: `1h30m`, `300ms`.
    package var text: String { DurationText.text(microseconds: microseconds) }

    /// Parses a duration of a body: text with a unit, or a number of seconds. `nil` if it is not a valid one.
    package init?(_ value: JSONValue) {
        switch value {
        case .string(let text): self.init(text)
        case .number(let number): self.init(seconds: number.double)
        default: return nil
        }
    }

    package static func < (left: Span, right: Span) -> Bool {
        left.microseconds < right.microseconds
    }

    /// Whole seconds, rounded up, at least 1.
    package var roundedUpSeconds: Int {
        max(1, Int((microseconds + 999_999) / 1_000_000))
    }
}

extension Instant {
    /// The moment after a duration, at most ``end`` [D clock].
    package static func + (moment: Instant, span: Span) -> Instant {
        min(Instant(microseconds: moment.microseconds + span.microseconds), .end)
    }

    package static func - (moment: Instant, span: Span) -> Instant {
        Instant(microseconds: moment.microseconds - span.microseconds)
    }

    /// The duration from `other` to `moment`; negative if `moment` is earlier.
    package static func - (moment: Instant, other: Instant) -> Span {
        Span(microseconds: moment.microseconds - other.microseconds)
    }

    /// Seconds since 1970, with fractions.
    package var epoch: Double { Double(microseconds) / 1e6 }
}
