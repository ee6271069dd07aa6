import EntrupyAPI
import Simulation
import SimulationAPI
import Storage

/// The outcome rules of a namespace [D outcome-rules].
enum Outcomes {
    /// The first rule that decides the result of such an item.
    static func match(_ subject: OutcomeRule.Subject, _ job: JobContext) throws -> OutcomeRule? {
        // The debug configuration comes before every rule.
        guard subject.configType != .debug else { return nil }
        return try Rules<OutcomeRule>.all(job).first { $0.decides(subject) }
    }

    /// Counts an item that a rule has decided. Writes.
    static func count(_ rule: OutcomeRule, for entrupyID: String, _ job: JobContext) throws {
        try Rules.count(rule, seen: rule.hits + 1, hits: rule.hits + 1, job)
        job.note { $0.outcomeID = rule.id }
        try job.record(.outcomeMatched, entrupyID, ["outcome_id": .string(rule.id)])
    }
}

/// `GET /_sim/outcomes`: oldest first.
package struct ListOutcomes: Operation {
    package static let access = Access.reads

    package init() {}

    package func perform(_ job: JobContext, as caller: Control) throws -> OutcomeList {
        OutcomeList(outcomes: try Rules<OutcomeRule>.all(job).map { try OutcomeInfo($0, job) })
    }
}

/// `POST /_sim/outcomes`.
package struct AddOutcome: Operation {
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

    package func perform(_ job: JobContext, as caller: Control) throws -> OutcomeInfo {
        let rule = try OutcomeRule(
            document, id: "", catalogue: job.catalogue, acceptsUnknownCategory: acceptsUnknownCategory)
        return try OutcomeInfo(Rules.add(rule, document, job), job)
    }
}

/// `DELETE /_sim/outcomes` and `DELETE /_sim/outcomes/{id}`: earlier decisions stay.
package struct RemoveOutcomes: Operation {
    package static let access = Access.writes
    let id: String?

    /// - Parameter id: the rule's id; `nil` if all rules are removed.
    package init(_ id: String?) {
        self.id = id
    }

    package func perform(_ job: JobContext, as caller: Control) throws {
        try Rules<OutcomeRule>.remove(id, job)
    }
}

extension OutcomeRule: StoredRule {
    static let kind = RuleRecord.Kind.outcome
    static let idKind = IDKind.outcome
    static let events = (added: EventKind.outcomeAdded, removed: EventKind.outcomesRemoved)
    static func withCache<Value>(in state: NamespaceState, _ body: (inout [Self]?) -> Value) -> Value {
        body(&state.part(EntrupyState.self).knownOutcomes)
    }

    init(_ record: RuleRecord, _ job: JobContext) throws {
        try self.init(
            StoredJSON.decode(record.document), id: record.id, hits: record.hits, catalogue: job.catalogue,
            isStored: true)
    }
}

extension OutcomeInfo {
    init(_ rule: OutcomeRule, _ job: JobContext) throws {
        self.init(
            id: rule.id, match: .object(rule.document.members?["match"]?.members ?? [:]), result: rule.result.rawValue,
            reason: rule.reason, after: rule.document.members?["after"].flatMap { $0 == .null ? nil : $0 },
            times: rule.times, hits: rule.hits,
            notes: try rule.notes(job).map(\.problem))
    }
}
