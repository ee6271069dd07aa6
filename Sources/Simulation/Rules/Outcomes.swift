import SimulationAPI
import Storage

/// The decision of an outcome rule, read by the platform whose subjects the rule is about.
package protocol PlatformOutcome: Sendable {
    /// The result of matching subjects.
    var result: String { get }
    /// The reason of the result; `nil` if it has none.
    var reason: String? { get }
    /// The maximum number of subjects the rule decides; `nil` if it has none.
    var times: Int? { get }
    /// Notes on parts of the rule that currently match nothing.
    func notes(_ job: JobContext) throws -> [RuleNote]
    /// Notes on parts of the rule that the seed data lacks. They are probably misspelt.
    func notes(_ seed: Seed) -> [ErrorDetail]
}

/// The strictness with which an outcome rule is read.
package enum OutcomeReading: Sendable {
    /// A new rule: what it names must exist.
    case new
    /// A rule of a scenario, whose notes say what does not exist.
    case scenario
    /// A rule that was checked when it was added. Other seed data may have been loaded since.
    case stored
}

/// A stored rule that decides what happens to matching subjects of a platform [D outcome-rules].
package struct OutcomeRule: Sendable {
    package var id: String
    /// The number of subjects the rule has decided.
    package var hits: Int
    /// The same number: every match decides.
    package var seen: Int
    /// The rule as the client sent it.
    package let document: JSONValue
    package let outcome: any PlatformOutcome

    /// - Throws: ``PlatformError/invalid(_:_:)`` naming every problem.
    package init(
        _ document: JSONValue, id: String = "", hits: Int = 0, _ seed: Seed, _ reading: OutcomeReading = .new
    ) throws {
        outcome = try seed.readOutcome(document, reading)
        self.id = id
        self.hits = hits
        seen = hits
        self.document = document
    }
}

extension Seed {
    /// Reads an outcome rule with the platform that it belongs to. The last platforms are asked first: the first one
    /// takes every rule that no other recognizes.
    fileprivate func readOutcome(_ document: JSONValue, _ reading: OutcomeReading) throws -> any PlatformOutcome {
        for part in parts.reversed() {
            if let outcome = try part.readOutcome(document, reading) { return outcome }
        }
        throw PlatformError.invalid(field: "match", "must describe items or components; see GET /_sim/choices")
    }
}

/// The outcome rules of a namespace [D outcome-rules].
package enum Outcomes {
    /// The first rule with a decision of a platform's type that applies.
    ///
    /// - Parameter excluded: the id of a rule that does not count.
    package static func first<Outcome: PlatformOutcome>(
        _ job: JobContext, without excluded: String? = nil, where applies: (Outcome) -> Bool
    ) throws -> (rule: OutcomeRule, outcome: Outcome)? {
        for rule in try Rules<OutcomeRule>.all(job) {
            guard excluded.map({ !$0.isIdentical(to: rule.id) }) ?? true, let outcome = rule.outcome as? Outcome,
                outcome.times.map({ rule.hits < $0 }) ?? true,
                applies(outcome)
            else { continue }
            return (rule, outcome)
        }
        return nil
    }

    /// Counts a subject that a rule has decided. Writes.
    package static func count(_ rule: OutcomeRule, for subject: String, _ job: JobContext) throws {
        try Rules.count(rule, seen: rule.hits + 1, hits: rule.hits + 1, job)
        job.note { $0.outcomeID = rule.id }
        try job.record(.outcomeMatched, subject, ["outcome_id": .string(rule.id)])
    }
}

/// `GET /_sim/outcomes`: oldest first.
package struct ListOutcomes: Operation, Reads {
    package init() {}

    package func perform(_ job: JobContext, as caller: Control) throws -> OutcomeList {
        OutcomeList(outcomes: try Rules<OutcomeRule>.all(job).map { try OutcomeInfo($0, job) })
    }
}

/// `POST /_sim/outcomes`.
package struct AddOutcome: Operation, Writes {
    let document: JSONValue
    let reading: OutcomeReading

    package init(_ document: JSONValue, _ reading: OutcomeReading = .new) {
        self.document = document
        self.reading = reading
    }

    package func perform(_ job: JobContext, as caller: Control) throws -> OutcomeInfo {
        let rule = try OutcomeRule(document, job.state.seed, reading)
        return try OutcomeInfo(Rules.add(rule, document, job), job)
    }
}

package typealias RemoveOutcomes = RemoveRules<OutcomeRule>

extension OutcomeRule: StoredRule {
    package static let kind = RuleRecord.Kind.outcome
    package static let idKind = IDKind.outcome
    package static let events = (added: EventKind.outcomeAdded, removed: EventKind.outcomesRemoved)
    package static func withCache<Value>(in state: NamespaceState, _ body: (inout [Self]?) -> Value) -> Value {
        body(&state.knownOutcomes)
    }

    package init(_ record: RuleRecord, _ job: JobContext) throws {
        try self.init(
            StoredJSON.decode(record.document), id: record.id, hits: record.hits, job.state.seed, .stored)
    }
}

extension OutcomeInfo {
    init(_ rule: OutcomeRule, _ job: JobContext) throws {
        self.init(
            id: rule.id, match: .object(rule.document.members?["match"]?.members ?? [:]), result: rule.outcome.result,
            reason: rule.outcome.reason,
            after: rule.document.members?["after"].flatMap { $0 == .null ? nil : $0 },
            times: rule.outcome.times, hits: rule.hits,
            note_details: try rule.outcome.notes(job))
    }
}

extension ScenarioSection {
    /// The outcome rules, in the format of `POST /_sim/outcomes`.
    package static let outcomes = Self(key: "outcomes", hasRules: true) { value, surroundings in
        let rule = try OutcomeRule(value, surroundings.seed, .scenario)
        return ScenarioAction {
            _ = try AddOutcome(value, .scenario).perform($0)
        } notes: {
            rule.outcome.notes($0.seed)
        }
    }
}
