import Foundation
import SimulationAPI

/// A length of time, as the control API reads it: `"90s"`, `"1h30m"`, `"300ms"`, `.minutes(5)`, or a number of seconds.
public struct SimulatedDuration: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral
{
    /// The text for the control API. A wrong one is refused there.
    let text: String

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
        DurationText.microseconds(text).map { Double($0) / 1e6 } ?? Double(text)
    }
}
