import Foundation
import SimulationAPI

/// `GET /_sim/requests/{id}/rules`: compares every fault rule with a request of the journal [D rule-matches].
package enum ExplainFaults: RuleByID, Reads {
    package static func perform(_ name: RequestName, _ job: JobContext, as caller: Control) throws -> RuleMatchList {
        let entry = try name.last(job)
        let secrets = Secrets(entry, try job.state.readSecrets(job.transaction))
        let headers = entry.request.headers.pairs
        return RuleMatchList(
            rules: try Rules<FaultRule>.all(job).map { rule in
                let parts = rule.parts(
                    path: RoutePath.plain(entry.path), method: entry.method, username: entry.outcome.username
                ) { name in
                    headers.filter { $0.name.isSameField(as: name) }.map(\.value)
                }
                return RuleMatch(
                    id: rule.id, matches: rule.webhook == nil && parts.allSatisfy(\.matches),
                    decided: entry.outcome.fault?.id.isIdentical(to: rule.id) ?? false,
                    parts: parts.map { part in
                        var part = part
                        part.actual = part.actual.map { secrets.masked(text: $0) }
                        return part
                    }, note: rule.note(decided: entry.outcome.fault?.id))
            })
    }
}

extension FaultRule {
    /// A reason besides the condition for which the rule may not have been triggered.
    ///
    /// - Parameter decided: the rule that was triggered instead; `nil` if none was.
    fileprivate func note(decided: String?) -> String? {
        if let webhook { return "this rule is for webhooks (\(webhook.pattern)), not for requests" }
        if decided?.isIdentical(to: id) == true { return nil }
        if let times, hits >= times { return "it has been triggered \(hits) of \(Counted.text(Int(times), "time"))" }
        if seen <= afterRequests, afterRequests > 0 {
            return "it lets the first \(afterRequests) matching requests pass; \(seen) have come"
        }
        if let probability, probability < 1 {
            return "its probability is \(probability), so some matching requests pass"
        }
        if let decided {
            return "of several rules that match, the first one made is triggered; here that was \(decided)"
        }
        return nil
    }
}
