import Foundation

/// A length of time, as the control API reads it: `"90s"`, `"2h"`, `.minutes(5)`, or a number of seconds.
public struct SimulatedDuration: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral
{
    /// The text for the control API. A wrong one is refused there.
    let text: String

    private init(text: String) {
        self.text = text
    }

    public init(stringLiteral text: String) {
        self.text = text
    }

    public init(integerLiteral seconds: Int) {
        text = "\(seconds)s"
    }

    public init(floatLiteral seconds: Double) {
        self.init(seconds, "s")
    }

    public static func seconds(_ count: Double) -> Self { Self(count, "s") }
    public static func minutes(_ count: Double) -> Self { Self(count, "m") }
    public static func hours(_ count: Double) -> Self { Self(count, "h") }
    public static func days(_ count: Double) -> Self { Self(count, "d") }

    /// Very small and very large numbers have an exponent in Swift, which the control API does not read: they are rounded to
    /// microseconds.
    private init(_ count: Double, _ unit: String) {
        let plain = "\(count)"
        text = (plain.contains("e") && count.isFinite ? String(format: "%.6f", count) : plain) + unit
    }

    /// The seconds, for waiting in real time; `nil` if the text is not a duration.
    var seconds: TimeInterval? {
        let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        guard let last = text.last else { return nil }
        if let unit = units[last] { return Double(text.dropLast()).map { $0 * unit } }
        return Double(text)
    }
}
