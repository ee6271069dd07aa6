import EntrupyAPI
import Storage

/// The outcome rules of a namespace [D outcome-rules].
enum Outcomes {
    /// The maximum number of rules of one kind in a namespace.
    static let most = 1000

    static func all(_ job: JobContext) throws -> [OutcomeRule] {
        if let known = job.state.knownOutcomes { return known }
        let rules = try job.transaction.rules(.outcome).map {
            try OutcomeRule(
                StoredJSON.decode($0.document), id: $0.id, hits: $0.hits, catalogue: job.catalogue, isStored: true)
        }
        job.state.knownOutcomes = rules
        return rules
    }

    /// The first rule that decides the result of such an item.
    static func match(_ subject: OutcomeRule.Subject, _ job: JobContext) throws -> OutcomeRule? {
        // The debug configuration comes before every rule.
        guard subject.configType != ConfigType.debug.rawValue else { return nil }
        return try all(job).first { $0.decides(subject) }
    }

    /// Counts an item that a rule has decided. Writes.
    static func count(_ rule: OutcomeRule, for entrupyID: String, _ job: JobContext) throws {
        let hits = rule.hits + 1
        try job.transaction.countRule(id: rule.id, seen: hits, hits: hits)
        if let index = job.state.knownOutcomes?.firstIndex(where: { $0.id == rule.id }) {
            job.state.knownOutcomes?[index].hits = hits
        }
        job.trace?.note { $0.outcomeID = rule.id }
        try job.record(.outcomeMatched, entrupyID, ["outcome_id": .string(rule.id)])
    }
}

/// `GET /_sim/outcomes`: oldest first.
package struct ListOutcomes: OpenOperation {
    package static let access = Access.reads

    package init() {}

    package func perform(_ job: JobContext) throws -> OutcomeList {
        OutcomeList(outcomes: try Outcomes.all(job).map { try OutcomeInfo($0, job) })
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

    package func perform(_ job: JobContext) throws -> OutcomeInfo {
        _ = try OutcomeRule(
            document, id: "", catalogue: job.catalogue, acceptsUnknownCategory: acceptsUnknownCategory)
        guard try Outcomes.all(job).count < Outcomes.most else {
            throw PlatformError.wrongState("there are \(Outcomes.most) outcome rules already; delete some")
        }
        let id = try job.nextID(.outcome)
        try job.transaction.insertRule(
            RuleRecord(id: id, kind: .outcome, document: StoredJSON.encode(document), createdAt: job.now))
        try job.record(.outcomeAdded, id, ["rule": document])
        job.state.invalidateRules()
        guard let rule = try Outcomes.all(job).last else { throw PlatformError.bug("the rule is gone") }
        return try OutcomeInfo(rule, job)
    }
}

/// `DELETE /_sim/outcomes` and `DELETE /_sim/outcomes/{id}`: earlier decisions stay.
package struct RemoveOutcomes: OpenOperation {
    package static let access = Access.writes
    let id: String?

    /// - Parameter id: the rule's id; `nil` if all rules are removed.
    package init(_ id: String?) {
        self.id = id
    }

    package func perform(_ job: JobContext) throws {
        if let id {
            guard try Outcomes.all(job).contains(where: { $0.id.isIdentical(to: id) }) else {
                throw PlatformError.notFound("no such outcome rule in this namespace")
            }
            try job.transaction.deleteRule(id: id)
        } else {
            try job.transaction.deleteRules(.outcome)
        }
        try job.record(.outcomesRemoved, id ?? "*")
        job.state.invalidateRules()
    }
}

extension OutcomeInfo {
    init(_ rule: OutcomeRule, _ job: JobContext) throws {
        self.init(
            id: rule.id, match: .object(rule.document.members?["match"]?.members ?? [:]), result: rule.resultID,
            reason: rule.reason, after: rule.document.members?["after"].flatMap { $0 == .null ? nil : $0 },
            times: rule.times, hits: rule.hits,
            notes: try rule.notes(job).map(\.problem))
    }
}
