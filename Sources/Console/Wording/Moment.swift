import Foundation

/// Writes times and durations for people.
enum Moment {
    /// `2026-01-05 09:00:00`, in UTC.
    static func text(_ epoch: Double) -> String {
        let parts = parts(epoch)
        return "\(parts.day) \(parts.time)"
    }

    /// The day and the time of the day, to the second.
    static func parts(_ epoch: Double) -> (day: String, time: String) {
        let date = Date(timeIntervalSince1970: epoch.rounded(.down))
        let text = date.formatted(.iso8601)
        return (String(text.prefix(10)), String(text.dropFirst(11).prefix(8)))
    }

    /// The time of the day, to the millisecond; to the second if it is a whole one, as on most frozen clocks.
    static func precise(_ epoch: Double) -> String {
        // Times have microseconds: without rounding to them, many would be a millisecond early.
        let thousandths = min(999, Int(((epoch - epoch.rounded(.down)) * 1_000_000).rounded()) / 1000)
        return parts(epoch).time + (thousandths == 0 ? "" : String(format: ".%03d", thousandths))
    }

    /// ISO 8601 in UTC, to the microsecond.
    static func iso(_ epoch: Double) -> String {
        let whole = epoch.rounded(.down)
        let micros = Int(((epoch - whole) * 1_000_000).rounded())
        let seconds = Date(timeIntervalSince1970: whole + (micros >= 1_000_000 ? 1 : 0)).formatted(.iso8601).dropLast()
        return seconds + String(format: ".%06dZ", micros % 1_000_000)
    }

    /// A duration in its two largest units: `2 h 5 min`.
    static func span(_ seconds: Double) -> String {
        let whole = Int(max(0, min(seconds, 4e9)).rounded(.up))
        let units = [("d", whole / 86_400), ("h", whole / 3600 % 24), ("min", whole / 60 % 60), ("s", whole % 60)]
        guard let first = units.firstIndex(where: { $0.1 > 0 }) else { return "now" }
        return units[first...].prefix(2).filter { $0.1 > 0 }.map { "\($0.1) \($0.0)" }.joined(separator: " ")
    }

    /// A duration as it was measured: `12.3 ms`.
    static func milliseconds(_ duration: Double) -> String { "\((duration * 10).rounded() / 10) ms" }

    /// A duration in its largest unit: `2 h`.
    static func brief(_ seconds: Double) -> String {
        let units = [("d", 86_400.0), ("h", 3600), ("min", 60), ("s", 1)]
        let unit = units.first { seconds >= $0.1 * 1.5 } ?? ("s", 1)
        return "\(Int((seconds / unit.1).rounded())) \(unit.0)"
    }

    /// The age of a moment: `3 min ago`.
    static func age(_ epoch: Double, now: Double) -> String {
        let seconds = now - epoch
        return seconds < 1 && seconds > -1 ? "now" : seconds < 0 ? "in \(span(-seconds))" : "\(span(seconds)) ago"
    }
}
