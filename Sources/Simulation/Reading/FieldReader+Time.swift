import Storage

extension FieldReader {
    /// A duration: text with a unit, or a number of seconds [D durations].
    package mutating func span(_ key: String, from least: Span = .zero, to max: Span = .limit) -> Span? {
        let bounds =
            max < .limit
            ? "from \(least.text) to \(max.text)"
            : least == .zero ? "up to 100 years" : "from \(least.text) up to 100 years"
        return value(key, "\(Span.form), \(bounds)") { value in
            Span(value).flatMap { (least...max).contains($0) ? $0 : nil }
        }
    }

    /// A list of at most 100 durations.
    package mutating func spans(_ key: String) -> [Span]? {
        list(key, "must be a list of at most 100 durations, for instance [\"1s\", \"1m\"]", counts: 0...100) {
            $0.span($1)
        }
    }

    /// A moment, in ISO 8601 or epoch seconds.
    ///
    /// - Parameter alternative: other values that the caller accepts, for the message.
    package mutating func moment(_ key: String, or alternative: String = "") -> Instant? {
        guard let value = value(key) else { return nil }
        let moment: Instant? =
            switch value {
            case .string(let text): Instant(text) ?? (isQuery ? Double(text).flatMap { Instant(epoch: $0) } : nil)
            case .number(let number): Instant(epoch: number.double)
            default: nil
            }
        if moment == nil {
            report(
                key,
                value.text.flatMap { Instant.problem(ofDate: $0) }
                    ?? "must be ISO 8601 with an offset, such as 2026-01-05T09:00:00Z, or epoch seconds\(alternative), got \(value.quoted)"
            )
        }
        return moment
    }

    /// The moment at which a clock is frozen from the start: a time, or `now`.
    package mutating func frozenMoment(_ key: String) -> FrozenMoment? {
        if value(key) == .string("now") { return .now }
        return moment(key, or: " or \"now\"").map { .at($0) }
    }

    /// The time to live of a namespace [D namespace-choice].
    package mutating func timeToLive() -> Span? { span("ttl", from: .second, to: Span("30d")!) }
}
