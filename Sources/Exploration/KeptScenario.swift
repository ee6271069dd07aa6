import Foundation
import SimulationAPI

/// A bug as a scenario of a few lines, to run again.
package struct KeptScenario: Sendable {
    /// The name of the scenario, and of its file without the extension.
    package let name: String
    package let text: String

    /// The longest name of a scenario, in bytes.
    private static let maxName = 63

    /// - Parameter base: the scenario in which the sweep began; `nil` if none.
    package init(_ bug: SweepBug, _ setup: SweepSetup, base: String?) throws {
        name = Self.name(bug.call, bug.fault)
        func json(_ value: JSONValue) throws -> String { String(decoding: try WireJSON.encode(value), as: UTF8.self) }
        var lines = [
            "# call: \(BugSentence.line(bug.call))", "# fault: \(bug.fault)",
            "# verdict: \(bug.verdict.rawValue), \(bug.seen)",
            "# Run it again: entrupy-sim sweep --kept FOLDER -- COMMAND",
        ]
        // Without it the run begins in another state, in which the bug may not show.
        if let base { lines.append("# scenario: \(BugSentence.line(base))") }
        // JSON is YAML, with every text quoted.
        lines += [
            "name: \(name)", "description: \(try json(.string(bug.sentence)))",
        ]
        if let settings = setup.settings { lines.append("settings: \(try json(settings))") }
        if !setup.faults.isEmpty { lines.append("faults: \(try json(.array(setup.faults)))") }
        text = lines.joined(separator: "\n") + "\n"
    }

    /// A name such as `post-sdk-captures-id-submit-1-lose-answer`. The end tells names apart, so a long one loses its beginning.
    static func name(_ call: String, _ fault: String) -> String {
        let words = "\(call) \(fault)".lowercased().split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
        let whole = words.joined(separator: "-")
        guard whole.utf8.count > maxName else { return whole }
        return String(whole.suffix(maxName).drop { $0 == "-" })
    }

    /// The call and the fault that the comments of a kept file name; `nil` where one is missing.
    package static func comment(_ name: String, in text: String) -> String? {
        text.split(separator: "\n").lazy.compactMap { line in
            line.hasPrefix("# \(name): ") ? String(line.dropFirst("# \(name): ".count)) : nil
        }.first
    }
}
