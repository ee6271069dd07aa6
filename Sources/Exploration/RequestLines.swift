import Foundation
import SimulationAPI

/// The requests around a fault, a line each, with the gaps between them.
package enum RequestLines {
    private static let (maxBefore, maxAfter) = (2, 4)

    /// - Parameters:
    ///   - journal: the requests of the run, oldest first.
    ///   - rule: the id of the fault rule.
    package static func around(_ rule: String, _ journal: [JournaledRequest], _ names: CallNames) -> [String] {
        guard let place = journal.firstIndex(where: { $0.decided_by.fault == rule }) else { return [] }
        let first = max(0, place - maxBefore)
        let last = min(journal.count - 1, place + maxAfter)
        var lines = (first...last).map { index in
            let request = journal[index]
            let gap = index == first ? "" : gap(journal[index - 1], request)
            let padding = String(repeating: " ", count: max(0, 9 - gap.count))
            let mark = index == place ? ">" : " "
            return BugSentence.line("\(mark)\(padding)\(gap)  \(names.name(of: request))  \(request.answerText)")
        }
        let rest = journal.count - 1 - last
        if rest > 0 { lines.append("            and \(rest) more") }
        return lines
    }

    /// The time from the beginning of one request to that of the next.
    private static func gap(_ one: JournaledRequest, _ next: JournaledRequest) -> String {
        guard let from = one.started_real, let to = next.started_real else { return "" }
        return String(format: "+%.2f s", to - from)
    }
}
