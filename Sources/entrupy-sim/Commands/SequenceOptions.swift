import ArgumentParser
import SimulationAPI

/// The options of `requests verify` for requests that must come in an order.
struct SequenceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A request of a sequence, for instance 'POST /sdk/captures 429'. Repeat it: the requests must come in this order, with any others between them.",
            valueName: "[METHOD] ROUTE [STATUS]"))
    var step: [String] = []
    @Option(help: "The least time between two steps, for instance 2s: from the answer to the next request.")
    var minGap: DurationArgument?
    @Option(help: "The longest time between two steps.") var maxGap: DurationArgument?

    /// Throws the error of a wrong command line.
    ///
    /// - Parameter others: the options that a sequence excludes; `nil` for those that were not given.
    func check(excluding others: [(name: String, value: Any?)]) throws {
        let gaps: [(name: String, value: Any?)] = [("--min-gap", minGap), ("--max-gap", maxGap)]
        if step.count < 2, let gap = gaps.first(where: { $0.value != nil }) {
            throw ValidationError("\(gap.name) needs at least two --step")
        }
        guard !step.isEmpty else { return }
        if let other = others.first(where: { $0.value != nil }) {
            throw ValidationError("\(other.name) cannot be combined with --step")
        }
        for text in step where SequenceStep(text) == nil {
            throw ValidationError(
                "--step must be a route, with a method before and a status after it if they matter, for instance 'POST /sdk/captures 429', got \"\(text)\""
            )
        }
    }

    /// The steps as the API takes them.
    ///
    /// - Parameter match: the members that all steps have.
    func json(_ match: [(String, JSONValue)]) -> JSONValue {
        .array(step.map { .object(JSONObject((SequenceStep($0)?.members ?? []) + match)) })
    }
}

/// A step of a sequence on the command line: `POST /sdk/captures 429`.
struct SequenceStep {
    /// The members of the step's condition.
    let members: [(String, JSONValue)]

    /// - Parameter text: a route, with a method before and a status after it; `nil` if it is anything else.
    init?(_ text: String) {
        var words = text.split(separator: " ")[...]
        var members: [(String, JSONValue)] = []
        func take(_ name: String, if isMeant: (Substring) -> Bool) -> Bool {
            guard let word = words.first, isMeant(word) else { return false }
            words.removeFirst()
            members.append((name, .string(String(word))))
            return true
        }
        _ = take("method") { $0.utf8.allSatisfy { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20 } }
        guard take("route", if: { $0.hasPrefix("/") || $0.hasPrefix("*") }) else { return nil }
        _ = take("status") {
            $0.utf8.count == 3 && $0.utf8.first.map { UInt8(ascii: "1")...UInt8(ascii: "5") ~= $0 } ?? false
        }
        guard words.isEmpty else { return nil }
        self.members = members
    }
}
