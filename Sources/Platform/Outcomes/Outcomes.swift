import EntrupyAPI
import Storage

/// The outcome rules of a namespace [D].
enum Outcomes {
    /// The most rules of a kind a namespace has.
    static let most = 1000

    static func all(_ visit: Visit) throws -> [OutcomeRule] {
        if let known = visit.world.knownOutcomes { return known }
        let rules = try visit.transaction.rules(.outcome).map {
            try OutcomeRule(
                StoredJSON.decode($0.document), id: $0.id, hits: $0.hits, catalogue: visit.catalogue, isStored: true)
        }
        visit.world.knownOutcomes = rules
        return rules
    }

    /// The first rule that decides what such an item gets.
    static func match(_ subject: OutcomeRule.Subject, _ visit: Visit) throws -> OutcomeRule? {
        // The debug configuration comes before every rule.
        guard subject.configType != ConfigType.debug.rawValue else { return nil }
        return try all(visit).first { $0.decides(subject) }
    }

    /// Counts an item that a rule has decided. Writes.
    static func count(_ rule: OutcomeRule, for entrupyID: String, _ visit: Visit) throws {
        let hits = rule.hits + 1
        try visit.transaction.countRule(id: rule.id, seen: hits, hits: hits)
        if let index = visit.world.knownOutcomes?.firstIndex(where: { $0.id == rule.id }) {
            visit.world.knownOutcomes?[index].hits = hits
        }
        visit.trace?.note { $0.outcomeID = rule.id }
        try visit.record(.outcomeMatched, entrupyID, ["outcome_id": .string(rule.id)])
    }
}

/// `GET /_sim/outcomes`: first made first.
package struct ListOutcomes: OpenOperation {
    package static let access = Access.reads

    package init() {}

    package func perform(_ visit: Visit) throws -> OutcomeList {
        OutcomeList(outcomes: try Outcomes.all(visit).map { try OutcomeInfo($0, visit) })
    }
}

/// `POST /_sim/outcomes`.
package struct AddOutcome: OpenOperation {
    package static let access = Access.writes
    let document: JSONValue
    let acceptsUnknownCategory: Bool

    package init(_ document: JSONValue) {
        self.init(document, acceptsUnknownCategory: false)
    }

    init(_ document: JSONValue, acceptsUnknownCategory: Bool) {
        self.document = document
        self.acceptsUnknownCategory = acceptsUnknownCategory
    }

    package func perform(_ visit: Visit) throws -> OutcomeInfo {
        _ = try OutcomeRule(
            document, id: "", catalogue: visit.catalogue, acceptsUnknownCategory: acceptsUnknownCategory)
        guard try Outcomes.all(visit).count < Outcomes.most else {
            throw PlatformError.wrongState("there are \(Outcomes.most) outcome rules already; delete some")
        }
        let id = try visit.draw(.outcome)
        try visit.transaction.insertRule(
            RuleRecord(id: id, kind: .outcome, document: StoredJSON.encode(document), createdAt: visit.now))
        try visit.record(.outcomeAdded, id, ["rule": document])
        visit.world.forgetRules()
        guard let rule = try Outcomes.all(visit).last else { throw PlatformError.bug("the rule is gone") }
        return try OutcomeInfo(rule, visit)
    }
}

/// `DELETE /_sim/outcomes` and `DELETE /_sim/outcomes/{id}`: what was decided stays decided.
package struct RemoveOutcomes: OpenOperation {
    package static let access = Access.writes
    let id: String?

    /// - Parameter id: of the one rule; nil: all of them.
    package init(_ id: String?) {
        self.id = id
    }

    package func perform(_ visit: Visit) throws {
        if let id {
            guard try Outcomes.all(visit).contains(where: { $0.id.isIdentical(to: id) }) else {
                throw PlatformError.notFound("no such outcome rule in this namespace")
            }
            try visit.transaction.deleteRule(id: id)
        } else {
            try visit.transaction.deleteRules(.outcome)
        }
        try visit.record(.outcomesRemoved, id ?? "*")
        visit.world.forgetRules()
    }
}

extension OutcomeInfo {
    init(_ rule: OutcomeRule, _ visit: Visit) throws {
        self.init(
            id: rule.id, match: .object(rule.document.members?["match"]?.members ?? [:]), result: rule.resultID,
            reason: rule.reason, after: rule.document.members?["after"].flatMap { $0 == .null ? nil : $0 },
            times: rule.times, hits: rule.hits,
            notes: try rule.notes(visit).map(\.problem))
    }
}
