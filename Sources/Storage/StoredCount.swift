/// How large a number that storage counts with can be.
///
/// What is read is clamped to ``range``, so that adding to it never overflows, whatever a file says.
package enum StoredCount {
    /// Every whole number from 0 that JSON carries unharmed.
    package static let range: ClosedRange<Int64> = 0...(1 << 53)

    /// A count as it was stored, or the nearest one.
    static func clamped(_ stored: Int) -> Int {
        min(max(stored, Int(range.lowerBound)), Int(range.upperBound))
    }
}
