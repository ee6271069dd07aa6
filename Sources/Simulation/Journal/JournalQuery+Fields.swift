import SimulationAPI

extension JournalQuery {
    /// Reads a filter from a query, or from an object of a body.
    package init(_ fields: inout FieldReader) {
        self.init(
            route: fields.text("route", maxBytes: Self.maxRouteBytes), method: fields.method("method"),
            status: fields.value("status", StatusPattern.expectation, StatusPattern.init),
            username: fields.text("username"), since: fields.moment("since"), test: fields.text("test"))
    }
}

extension JournalQuery.StatusPattern {
    package init?(_ value: JSONValue) {
        switch value {
        case .number(let number): self.init(number.text)
        case .string(let text): self.init(text)
        default: return nil
        }
    }
}

extension FieldReader {
    /// A method of HTTP, in any letter case.
    package mutating func method(_ key: String) -> String? {
        let methods = RequestMetadata.methods
        return value(key, "must be one of \(methods.joined(separator: ", "))") { value in
            value.text.flatMap { text in methods.first { $0.isIdentical(to: text.uppercased()) } }
        }
    }

    /// A number of matches: `times`, or `at_least` and `at_most`. At least one if none of them is given.
    package mutating func amount() -> ClosedRange<Int> {
        let (times, least, most) = (number("times"), number("at_least"), number("at_most"))
        if times != nil, least != nil || most != nil { report("times", "cannot be combined with at_least or at_most") }
        if let least, let most, least > most { report("at_least", "must not be more than at_most") }
        let start = times ?? least ?? (most == nil ? 1 : 0)
        return start...max(start, times ?? most ?? .max)
    }
}
