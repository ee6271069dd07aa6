import SimulationAPI
import Storage

/// A rule that a namespace stores.
package protocol StoredRule: Sendable {
    static var kind: RuleRecord.Kind { get }
    static var idKind: IDKind { get }
    /// Events of the log for an added rule and for removed rules.
    static var events: (added: EventKind, removed: EventKind) { get }
    /// Calls `body` with the cached rules of a namespace, `nil` if they must be read. Changes them in place.
    static func withCache<Value>(in state: NamespaceState, _ body: (inout [Self]?) -> Value) -> Value

    /// Called before rules of a namespace are removed. Writes.
    static func willRemove(_ rules: [Self], _ job: JobContext) throws

    var id: String { get set }
    var seen: Int { get set }
    var hits: Int { get set }

    /// Reads a stored rule. Seed data loaded since may lack what the rule names, so less is checked than for a new one.
    init(_ record: RuleRecord, _ job: JobContext) throws
}

extension StoredRule {
    package static func willRemove(_ rules: [Self], _ job: JobContext) throws {}
}

/// The rules of one kind in a namespace, oldest first. They are read once, then cached.
package enum Rules<Rule: StoredRule> {
    package static func all(_ job: JobContext) throws -> [Rule] {
        if let known = Rule.withCache(in: job.state, { $0 }) { return known }
        let rules = try job.transaction.rules(Rule.kind).map { try Rule($0, job) }
        Rule.withCache(in: job.state) { $0 = rules }
        return rules
    }

    /// Stores a new rule. Writes.
    ///
    /// - Parameter document: the rule as the client sent it.
    /// - Throws: ``PlatformError`` if the namespace has ``maxRules`` of the kind.
    package static func add(_ rule: Rule, _ document: JSONValue, _ job: JobContext) throws -> Rule {
        guard try all(job).count < maxRules else {
            throw PlatformError.wrongState("there are \(maxRules) \(Rule.kind.rawValue) rules already; delete some")
        }
        var rule = rule
        rule.id = try job.nextID(Rule.idKind)
        try job.transaction.insert(
            RuleRecord(id: rule.id, kind: Rule.kind, document: StoredJSON.encode(document), createdAt: job.now))
        try job.record(Rule.events.added, rule.id, ["rule": document])
        Rule.withCache(in: job.state) { $0?.append(rule) }
        return rule
    }

    /// Counts a match. Writes.
    package static func count(_ rule: Rule, seen: Int, hits: Int, _ job: JobContext) throws {
        try job.transaction.countRule(id: rule.id, seen: seen, hits: hits)
        Rule.withCache(in: job.state) { rules in
            guard let index = rules?.firstIndex(where: { $0.id == rule.id }) else { return }
            rules?[index].seen = seen
            rules?[index].hits = hits
        }
    }
}

/// `DELETE` of one rule or all, for `/_sim/faults` and `/_sim/outcomes`. Earlier decisions of a removed rule stay.
package struct RemoveRules<Rule: StoredRule>: Operation, Writes {
    let id: String?

    /// - Parameter id: the rule's id; `nil` if all rules are removed.
    package init(_ id: String?) {
        self.id = id
    }

    package func perform(_ job: JobContext, as caller: Control) throws {
        let rules = try Rules<Rule>.all(job)
        if let id {
            guard let rule = rules.first(where: { $0.id.isIdentical(to: id) }) else {
                throw PlatformError.notFound(
                    "there is no \(Rule.kind.rawValue) rule \"\(id.excerpt)\" in this namespace")
            }
            try Rule.willRemove([rule], job)
            try job.transaction.deleteRule(id: id)
        } else {
            try Rule.willRemove(rules, job)
            try job.transaction.deleteRules(Rule.kind)
        }
        try job.record(Rule.events.removed, id ?? "*")
        job.state.invalidateRules()
    }
}

/// The maximum number of rules of a kind in a namespace.
package let maxRules = 1000
