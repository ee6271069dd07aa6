/// A moment on a namespace's clock, in microseconds since 1970-01-01T00:00:00Z.
///
/// The value is clamped to ``bound``. So the sum and the difference of two moments never overflow, even for values
/// from a damaged file or recording.
package struct Instant: Hashable, Comparable, Sendable {
    package let microseconds: Int64

    /// The maximum distance of a moment from 1970 in both directions, in microseconds: more than 30,000 years.
    package static let bound: Int64 = 1_000_000_000_000_000_000

    /// The last microsecond of the year 9999. ISO 8601 cannot name a later moment. No clock passes it, and nothing is
    /// scheduled later [D clock].
    package static let end = Instant(microseconds: 253_402_300_799_999_999)

    /// 1970-01-01T00:00:00Z.
    package static let epoch = Instant(microseconds: 0)

    package init(microseconds: Int64) {
        self.microseconds = min(max(microseconds, -Self.bound), Self.bound)
    }

    package static func < (left: Instant, right: Instant) -> Bool {
        left.microseconds < right.microseconds
    }
}
