/// The range of stored counts.
///
/// Values are clamped to ``range`` when they are read. So adding to them never overflows, even for values from a
/// damaged file.
package enum StoredCount {
    /// The whole numbers from 0 that JSON represents exactly.
    package static let range: ClosedRange<Int64> = 0...(1 << 53)
}
