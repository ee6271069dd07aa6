import EntrupyAPI
import Simulation
import SimulationAPI

extension Decision {
    /// The fact that decided an item's result, and the one that would have decided without it. Reads the present rules, so it must be
    /// called when the result is decided [D explain].
    func fact(_ facts: Facts, _ job: JobContext) throws -> DecidingFact {
        let name = outcomeID ?? rule.rawValue
        guard rule != .namespaceDefault else {
            return DecidingFact(
                .setting, "result.default", "no rule matched: the namespace's default decided: \(text)",
                otherwise: "an outcome rule that matches the item, or a customer_item_id such as sim-unknown")
        }
        var others = facts
        switch rule {
        case .debugConfiguration: others.subject.configType = .production
        case .magicCustomerItemID: others.subject.customerItemID = nil
        case .unknownBrand: others.brandIsKnown = true
        case .unknownItemType: others.typeIsKnown = true
        case .outcomeRule, .namespaceDefault, .control, .flagResolution: break
        }
        let next = try Self.make(
            others, outcome: ItemOutcome.first(for: others.subject, without: outcomeID, job), job.entrupy.settings)
        return DecidingFact(
            .rule, name, "\(decider(facts.subject)) decided: \(text)",
            otherwise: "without it \(next.decider(others.subject)) decides: \(next.text)")
    }

    /// The result and its delay, in words.
    private var text: String {
        let whole = reason.map { "\(result.rawValue) (\($0))" } ?? result.rawValue
        return isLater ? "\(whole), after \(DurationText.text(microseconds: delay.microseconds))" : whole
    }

    /// The deciding rule or setting, in words.
    private func decider(_ subject: ItemOutcome.Subject) -> String {
        switch rule {
        case .debugConfiguration: "the debug configuration"
        case .outcomeRule: "the outcome rule \(outcomeID ?? "")"
        case .magicCustomerItemID: "the magic customer_item_id \(subject.customerItemID ?? "")"
        case .unknownBrand: "the brand \(subject.brandName), which the catalogue lacks,"
        case .unknownItemType: "the item type, which the catalogue lacks,"
        case .namespaceDefault: "the namespace's default"
        case .control: "the control API"
        case .flagResolution: "the resolution of the flag"
        }
    }
}
