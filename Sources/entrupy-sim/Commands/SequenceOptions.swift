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
        for text in step where Self.members(text) == nil {
            throw ValidationError(
                "--step must be a route, with a method before and a status after it if they matter, for instance 'POST /sdk/captures 429', got \"\(text)\""
            )
        }
    }

    /// The steps as the API takes them.
    ///
    /// - Parameter match: the members that all steps have.
    func json(_ match: [(String, JSONValue)]) -> JSONValue {
        .array(step.map { .object(JSONObject((Self.members($0) ?? []) + match)) })
    }

    /// The members of the condition for a step such as `POST /sdk/captures 429`; `nil` if it is anything else.
    private static func members(_ step: String) -> [(String, JSONValue)]? {
        guard let parts = step.wholeMatch(of: #/ *(?:([A-Za-z]+) +)?([\/*][^ ]*)(?: +([1-5][!-~]{2}))? */#) else {
            return nil
        }
        let given: [(String, Substring?)] = [("method", parts.1), ("route", parts.2), ("status", parts.3)]
        return given.compactMap { name, text in text.map { (name, .string(String($0))) } }
    }
}
