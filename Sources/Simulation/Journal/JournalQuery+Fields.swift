import SimulationAPI

extension JournalQuery {
    /// Reads a filter from a query, or from an object of a body.
    ///
    /// - Parameters:
    ///   - hasSequences: whether the filter is that of a list, which may name numbers of the journal and a text.
    ///   - isJudgement: see ``isJudgement``.
    package init(_ fields: inout FieldReader, hasSequences: Bool = false, isJudgement: Bool = false) {
        self.init(isJudgement: isJudgement)
        if hasSequences {
            sequences = fields.sequences()
            trace = fields.value("trace", "must be the 32 hexadecimal digits of a trace, in lower case") {
                $0.text.flatMap { TraceContext(stored: "\($0)-00")?.id }
            }
            text = fields.journalText("text")
        }
        route = fields.text("route", maxBytes: Glob.maxBytes).map { Glob(paths: $0) }
        method = fields.method("method")
        status = fields.value("status", StatusPattern.expectation, StatusPattern.init)
        delivery = fields.value("delivered", "must be true, false or \"any\"", Delivery.init)
        username = fields.text("username")
        if let first = fields.firstSequence("since") {
            sequences.after = max(sequences.after, first - 1)
        } else {
            since = fields.moment("since", or: ", or sequence:N with the number of the first request")
        }
        before = fields.moment("before")
        test = fields.text("test")
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

extension JournalQuery.Delivery {
    package init?(_ value: JSONValue) {
        let word = if case .bool(let isDelivered) = value { "\(isDelivered)" } else { value.text }
        guard let found = Self.allCases.first(where: { word?.isIdentical(to: $0.rawValue) == true }) else { return nil }
        self = found
    }
}

extension FieldReader {
    /// `after_sequence` and `before_sequence`: the numbers between which the entries of a list lie.
    package mutating func sequences() -> (after: Int64, before: Int64) {
        let range = 0...9_007_199_254_740_991
        return (
            number("after_sequence", in: range).map(Int64.init) ?? 0,
            number("before_sequence", in: range).map(Int64.init) ?? .max
        )
    }

    /// The number of a text such as `sequence:12`; `nil` for another value.
    fileprivate mutating func firstSequence(_ key: String) -> Int64? {
        guard let text = value(key)?.text, text.begins(with: "sequence:"),
            let number = Int64(text.dropFirst("sequence:".count)), number > 0
        else { return nil }
        return number
    }

    fileprivate mutating func journalText(_ key: String) -> JournalText? {
        guard let text = text(key, maxBytes: JournalText.maxBytes), !text.isEmpty else { return nil }
        let words = JournalText(text)
        if words == nil { report(key, "must be 1 to \(JournalText.maxWords) words, or parts in double quotes") }
        return words
    }

    /// A method of HTTP, in any letter case.
    package mutating func method(_ key: String) -> String? {
        let methods = RequestMetadata.methods
        return value(key, "must be one of \(methods.joined(separator: ", "))") { value in
            value.text.flatMap { text in methods.first { $0.isIdentical(to: text.uppercased()) } }
        }
    }

    /// A number of matches: `times`, or `at_least` and `at_most`. At least one if none of them is given.
    package mutating func amount() -> ScenarioExpectation.Amount {
        let (times, least, most) = (number("times"), number("at_least"), number("at_most"))
        if times != nil, least != nil || most != nil { report("times", "cannot be combined with at_least or at_most") }
        if let least, let most, least > most { report("at_least", "must not be more than at_most") }
        if least == 0, most == nil, times == nil {
            report("at_least", "must be at least 1 without at_most: 0 alone is met by whatever happens")
        }
        let start = times ?? least ?? (most == nil ? 1 : 0)
        return ScenarioExpectation.Amount(minCount: start, maxCount: max(start, times ?? most ?? .max))
    }
}
