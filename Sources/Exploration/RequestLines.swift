import Foundation
import SimulationAPI

/// The requests around a fault, a line each, with the gaps between them.
package enum RequestLines {
    private static let (maxBefore, maxAfter, maxLast) = (2, 4, 2)

    /// - Parameters:
    ///   - rules: the ids of the fault rules.
    ///   - journal: the requests of the run, oldest first.
    ///   - deliveries: the webhooks, of which those with a fault are shown among the requests.
    package static func around(
        _ rules: Set<String>, _ journal: [JournaledRequest], _ deliveries: [WebhookDelivery], _ names: CallNames
    ) -> [String] {
        let lines = merged(
            journal.map {
                Line(
                    at: $0.at, real: $0.started_real, text: "\(names.name(of: $0))  \($0.answerText)",
                    isFault: $0.isTriggered(by: rules))
            },
            deliveries.filter { $0.isTriggered(by: rules) }.flatMap { delivery in
                delivery.attempts.map {
                    Line(
                        at: $0.at, real: nil,
                        text: "webhook \(delivery.event)  \($0.status.map { "\($0)" } ?? $0.error ?? "no answer")",
                        isFault: true)
                }
            })
        guard let place = lines.firstIndex(where: \.isFault) else { return [] }
        let first = max(0, place - maxBefore)
        let last = min(lines.count - 1, place + maxAfter)
        func shown(_ index: Int) -> String {
            let gap = index == first ? "" : gap(lines[index - 1], lines[index])
            let padding = String(repeating: " ", count: max(0, 9 - gap.count))
            return BugSentence.line("\(lines[index].isFault ? ">" : " ")\(padding)\(gap)  \(lines[index].text)")
        }
        // Of a long way, also what the client did at its end.
        let end = max(last + 1, lines.count - maxLast)
        let left = end - last - 1
        return (first...last).map(shown) + (left > 0 ? ["            and \(left) more"] : [])
            + (end..<lines.count).map(shown)
    }

    private struct Line {
        /// By the namespace's clock, in epoch seconds.
        let at: Double
        /// In real time; `nil` if it is not known.
        let real: Double?
        let text: String
        let isFault: Bool
    }

    /// The requests, with each attempt after the requests that came until its time.
    private static func merged(_ requests: [Line], _ attempts: [Line]) -> [Line] {
        var lines = requests
        for attempt in attempts {
            lines.insert(attempt, at: lines.lastIndex { $0.at <= attempt.at }.map { $0 + 1 } ?? 0)
        }
        return lines
    }

    /// The time from the beginning of one request to that of the next.
    private static func gap(_ one: Line, _ next: Line) -> String {
        guard let from = one.real, let to = next.real else { return "" }
        return String(format: "+%.2f s", to - from)
    }
}
