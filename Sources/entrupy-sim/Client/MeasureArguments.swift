import ArgumentParser
import SimulationAPI

/// A duration on the command line: text such as `1h30m`, or a number of seconds.
struct DurationArgument: ExpressibleByArgument, CustomStringConvertible {
    let description: String
    /// `nil` if the text is not a duration of at most 100 years.
    let seconds: Double?

    init(argument text: String) {
        description = text
        seconds = (DurationText.microseconds(text) ?? DurationText.microseconds(text + "s")).map { Double($0) / 1e6 }
    }

    /// For waiting in real time.
    var duration: Duration { .microseconds(Int64(((seconds ?? 0) * 1e6).rounded())) }

    /// Throws the error of a wrong command line unless the duration is more than 0 or at least `least`, and at most `max`.
    func check(_ option: String, from least: String? = nil, to max: String) throws {
        let microseconds = seconds.map { Int64(($0 * 1e6).rounded()) } ?? -1
        let isLong = least.map { microseconds >= DurationText.microseconds($0) ?? 0 } ?? (microseconds > 0)
        guard isLong, microseconds <= DurationText.microseconds(max) ?? 0 else {
            let bounds = least.map { "from \($0) to \(max)" } ?? "more than 0 and at most \(max)"
            throw ValidationError(
                "\(option) must be a duration such as \(DurationText.examples), or a number of seconds, \(bounds), got \"\(description)\""
            )
        }
    }
}

extension DurationArgument: BodyMember {
    /// A number without a unit is in seconds. The server checks any other text.
    var json: JSONValue? {
        Double(description).flatMap { $0.isFinite ? $0.json : nil } ?? .string(description)
    }
}

/// A size on the command line: text such as `10MB`, or a number of bytes.
struct SizeArgument: ExpressibleByArgument, CustomStringConvertible {
    let description: String
    /// `nil` if the text is not a size.
    let bytes: Int?

    init(argument text: String) {
        description = text
        bytes = SizeText.bytes(text)
    }

    /// Throws the error of a wrong command line unless the size is at least a byte.
    func check(_ option: String) throws {
        guard let bytes, bytes > 0 else {
            throw ValidationError(
                "\(option) must be a size such as \(SizeText.examples), at least 1, got \"\(description)\"")
        }
    }
}
