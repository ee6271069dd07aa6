import EntrupyAPI
import EntrupyStorage
import Simulation
import SimulationAPI

/// The result planned for an item, its delay, and the rule that decided: the first that matches [D decision-order].
struct Decision: Sendable {
    let rule: DecisionRule
    let result: ResultID
    var reason: String?
    let delay: Span
    /// The id of the outcome rule that decided; `nil` if none did.
    var outcomeID: String?

    /// Whether the result is scheduled, not set at once.
    var isLater: Bool { !staysUnderReview && delay != .zero }

    /// Whether an item keeps the result with which it begins.
    var staysUnderReview: Bool { [.needsReview, .received].contains(result) }

    /// The facts about an item that decide its result.
    struct Facts {
        var subject: ItemOutcome.Subject
        var brandIsKnown = true
        var typeIsKnown = true
        /// Whether its fingerprint is compared with another one.
        var hasParent = false
    }

    /// - Parameter decided: the first outcome rule that matches; `nil` if none does.
    static func make(
        _ facts: Facts, outcome decided: (rule: OutcomeRule, outcome: ItemOutcome)?, _ settings: EntrupySettings
    ) -> Decision {
        let (subject, activity) = (facts.subject, facts.subject.activity)
        // 1. The debug configuration, at once [S].
        if subject.configType == .debug {
            return Decision(rule: .debugConfiguration, result: .invalid, reason: ResultID.debugReason, delay: .zero)
        }
        // 2. An outcome rule.
        if let (rule, outcome) = decided {
            return Decision(
                rule: .outcomeRule, result: outcome.resultID, reason: outcome.reason,
                delay: outcome.delay ?? settings.resultDelay, outcomeID: rule.id)
        }
        // 3. A magic customer_item_id.
        if let customerItemID = subject.customerItemID, let magic = MagicItemID(customerItemID),
            activity.results.contains(magic.result)
        {
            return Decision(
                rule: .magicCustomerItemID, result: magic.result, delay: magic.delay ?? settings.resultDelay)
        }
        // 4. A brand the catalogue lacks [D unknown-brand].
        if !facts.brandIsKnown, activity.results.contains(.notSupported) {
            return Decision(rule: .unknownBrand, result: .notSupported, delay: settings.resultDelay)
        }
        // An item type the catalogue lacks, or the brand does not have [D item-types].
        if !facts.typeIsKnown, activity.results.contains(.notSupported) {
            return Decision(rule: .unknownItemType, result: .notSupported, delay: settings.resultDelay)
        }
        // 5. The namespace's default.
        return Decision(
            rule: .namespaceDefault, result: activity.defaultResult(settings, hasParent: facts.hasParent),
            delay: settings.resultDelay)
    }

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

/// A `customer_item_id` that chooses the item's result, for instance `sim-unknown-after-2h-17` [D magic-ids].
struct MagicItemID: Sendable {
    let result: ResultID
    let delay: Span?

    /// `nil` if the text is an ordinary id.
    init?(_ text: String) {
        guard let parts = Self.parts(text) else { return nil }
        result = parts.result
        delay = parts.delay.flatMap(Self.span)
        if delay == nil, parts.delay != nil { return nil }
    }

    /// The problem of an id that has the magic form but an invalid delay; `nil` for all other ids.
    ///
    /// - Parameter activity: the activity whose results the id may choose.
    static func problem(_ text: String, _ activity: Activity = .authentication) -> String? {
        guard let parts = parts(text) else { return nil }
        guard activity.results.contains(parts.result) else {
            let names = activity.results.map(\.rawValue).joined(separator: ", ")
            return
                "chooses \(parts.result.rawValue), which the activity \(activity.rawValue) does not have; it has \(names)"
        }
        guard let written = parts.delay, span(written) == nil else { return nil }
        return
            "has the form sim-…-after-…, but \"\(written)\" is not a duration up to 100 years, like 90s, 1h30m or 300ms"
    }

    /// The delay in a magic id. One with a single unit may also be written as `.5s` or `5.s`.
    private static func span(_ written: String) -> Span? {
        var digits = String(decoding: written.utf8.prefix { isDigitOrPoint($0) }, as: UTF8.self)
        let rest = written.utf8.dropFirst(digits.utf8.count)
        let isSimple = !rest.contains { isDigitOrPoint($0) }
        guard isSimple, digits.utf8.contains(where: { $0 != UInt8(ascii: ".") }) else { return Span(written) }
        if digits.utf8.first == UInt8(ascii: ".") { digits = "0" + digits }
        if digits.utf8.last == UInt8(ascii: ".") { digits += "0" }
        return Span(digits + String(decoding: rest, as: UTF8.self))
    }

    private static func isDigitOrPoint(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || byte == UInt8(ascii: ".")
    }

    /// The parts of `^sim-(result)(-after-([0-9.]+(d|h|m|s|ms))+)?(-.*)?$`, read byte by byte.
    private static func parts(_ text: String) -> (result: ResultID, delay: String?)? {
        let hyphen = UInt8(ascii: "-")
        var rest = Array(text.utf8)[...]
        guard rest.starts(with: "sim-".utf8) else { return nil }
        rest = rest.dropFirst(4)
        // The ids of results have no hyphens.
        let name = rest.prefix { $0 != hyphen }
        guard let result = ResultID.allCases.first(where: { name.elementsEqual($0.rawValue.utf8) }) else { return nil }
        rest = rest.dropFirst(name.count)
        guard rest.starts(with: "-after-".utf8) else { return (result, nil) }
        let delay = rest.dropFirst("-after-".utf8.count).prefix { $0 != hyphen }
        var behind = delay
        while let first = behind.first, isDigitOrPoint(first) {
            behind = behind.drop { isDigitOrPoint($0) }
            guard let unit = behind.first, "smhd".utf8.contains(unit) else { return (result, nil) }
            behind = behind.dropFirst(behind.starts(with: "ms".utf8) ? 2 : 1)
        }
        // Anything else is not a delay: the last part of the pattern matches any text after a hyphen.
        return delay.isEmpty || !behind.isEmpty ? (result, nil) : (result, String(decoding: delay, as: UTF8.self))
    }
}

extension ResultID {
    /// The reason of an invalid result that the debug configuration decided.
    static let debugReason = "debug_configuration"
}
