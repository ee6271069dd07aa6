import EntrupyAPI
import EntrupyStorage
import Simulation
import SimulationAPI

/// `GET /_sim/authentications/{entrupy_id}/rules`: compares every outcome rule about items with one item [D rule-matches].
package enum ExplainOutcomes: RuleByID, Reads {
    package static func perform(_ entrupyID: String, _ job: JobContext, as caller: Control) throws -> RuleMatchList {
        let item = try Results.find(entrupyID, job)
        let subject = ItemOutcome.Subject(
            brandID: item.brandID, brandName: item.brandName, customerItemID: item.customerItemID,
            username: try job.transaction.user(id: item.userID)?.username ?? "", category: item.category,
            configType: item.configType, activity: item.activity)
        let deciding = try job.transaction.events(entrupyID: entrupyID)
            .last { $0.kind == EventKind.outcomeMatched.name }
            .flatMap { try StoredJSON.decode($0.data).members?["outcome_id"]?.text }
        return RuleMatchList(
            rules: try Rules<OutcomeRule>.all(job).compactMap { rule in
                guard let outcome = rule.outcome as? ItemOutcome else { return nil }
                let parts = outcome.parts(subject)
                let decided = deciding?.isIdentical(to: rule.id) ?? false
                return RuleMatch(
                    id: rule.id, matches: parts.allSatisfy(\.matches), decided: decided, parts: parts,
                    note: decided ? nil : Self.note(rule, outcome, subject, deciding))
            })
    }

    /// A reason besides the condition for which the rule may not have decided the result.
    private static func note(
        _ rule: OutcomeRule, _ outcome: ItemOutcome, _ subject: ItemOutcome.Subject, _ deciding: String?
    ) -> String? {
        if subject.configType == .debug { return "the debug configuration comes before every rule" }
        if !subject.activity.results.contains(outcome.resultID) {
            return "\(outcome.result) is not a result of \(subject.activity.rawValue)"
        }
        if let times = outcome.times, rule.hits >= times {
            return "it has decided \(rule.hits) of \(Counted.text(Int(times), "item"))"
        }
        if let deciding { return "of several rules that match, the first one made decides; here that was \(deciding)" }
        return "rules decide at the submission: one that was made later changes nothing"
    }
}
