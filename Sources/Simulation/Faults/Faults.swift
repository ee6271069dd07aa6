import SimulationAPI
import Storage

/// The parts of a request that fault rules examine. An object, because the head that holds it is copied at each step.
package final class RequestMetadata: Sendable {
    package let method: String
    /// The path without the namespace and the query.
    package let path: String
    package let credential: Credential
    package let header: @Sendable (String) -> [String]

    /// The methods that a rule or a query can name.
    package static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

    /// - Parameter header: returns the values of a header field.
    package init(
        method: String, path: String, credential: Credential, header: @escaping @Sendable (String) -> [String]
    ) {
        self.method = method
        self.path = path
        self.credential = credential
        self.header = header
    }
}

/// The fault rules of a namespace [D fault-rules].
package enum Faults {
    /// Triggers the first fault rule that applies to a request, if any. Writes, since matching requests are counted.
    ///
    /// A rule triggers if it matches, enough requests have passed, its probability allows it, and it has not reached
    /// its maximum number of times. The checks run in this order. If the effect expires the session, the session has
    /// expired on return.
    ///
    /// - Parameter username: finds the user who sent the request; called at most once. `nil` if the credential says
    ///   who it is.
    /// - Returns: the answer that replaces the normal one, if the effect is such an answer.
    package static func trigger(
        _ request: RequestMetadata, _ job: JobContext, username: ((JobContext) throws -> String?)?
    ) throws -> PlatformError? {
        let rules = try Rules<FaultRule>.all(job)
        guard !rules.isEmpty else { return nil }
        var found: String??
        func caller() throws -> String? {
            if let found { return found }
            let name =
                try username.map { try $0(job) }
                ?? job.state.environment.platforms.username(of: request.credential, job)
            found = .some(name)
            return name
        }
        for rule in rules {
            guard try rule.matches(request, username: caller) else { continue }
            if let purpose = try count(rule, job) {
                // The request may be refused here, before the journal learns the user's name.
                let username = try caller()
                job.note { $0.username = username }
                let next = try rules.first(after: rule.id) {
                    try $0.matches(request, username: caller) && $0.triggers(job)
                }
                let fact = FaultRule.fact(rule.id, otherwise: next, "the request is handled as usual")
                job.note { $0.facts.append(fact) }
                return try carryOut(rule, purpose, on: request, job)
            }
        }
        return nil
    }

    /// Triggers the first fault rule that applies to an attempt to deliver a webhook, if any. Writes.
    ///
    /// Some effects apply to first attempts only [D webhook-faults]. A fault's random values are drawn for the purpose.
    static func trigger(
        _ delivery: DeliveryRecord, _ job: JobContext
    ) throws -> (id: String, effect: WebhookEffect, purpose: String, begin: WebhookEffect.Action)? {
        let rules = try Rules<FaultRule>.all(job)
        guard !rules.isEmpty else { return nil }
        for rule in rules {
            guard case .webhook(let effect, let begin) = rule.effect, try applies(rule, effect, to: delivery, job),
                let purpose = try count(rule, job)
            else { continue }
            return (rule.id, effect, purpose, begin)
        }
        return nil
    }

    /// The fact that a rule affected an attempt, with the rule that would have done so without it.
    ///
    /// - Parameter delivery: as it was before the attempt.
    static func fact(_ id: String, on delivery: DeliveryRecord, _ job: JobContext) throws -> DecidingFact {
        let rules = try Rules<FaultRule>.all(job)
        let next = try rules.first(after: id) { rule in
            guard case .webhook(let effect, _) = rule.effect else { return false }
            return try applies(rule, effect, to: delivery, job) && rule.triggers(job)
        }
        return FaultRule.fact(id, otherwise: next, "the attempt is made as usual")
    }

    private static func applies(
        _ rule: FaultRule, _ effect: WebhookEffect, to delivery: DeliveryRecord, _ job: JobContext
    ) throws -> Bool {
        try rule.matches(
            event: delivery.event,
            username: { try job.state.environment.platforms.owner(ofSubject: delivery.subject, job) })
            && effect.applies(delivery, job)
    }

    /// Counts a match of a rule. Writes.
    ///
    /// - Returns: the purpose for which the rule's random values are drawn; `nil` if the rule does not trigger.
    private static func count(_ rule: FaultRule, _ job: JobContext) throws -> String? {
        let triggers = rule.triggers(job)
        let hits = rule.hits + (triggers ? 1 : 0)
        try Rules.count(rule, seen: rule.seen + 1, hits: hits, job)
        return triggers ? rule.purpose : nil
    }

    private static func carryOut(
        _ rule: FaultRule, _ purpose: String, on request: RequestMetadata, _ job: JobContext
    ) throws -> PlatformError? {
        guard case .request(let effect, let action) = rule.effect else {
            throw PlatformError.bug("a webhook's fault was triggered by a request")
        }
        var triggering = TriggeringRequest(
            request: request, ruleID: rule.id, purpose: purpose, job: job, answer: action.answer)
        let refusal = try action.perform(&triggering)
        let triggered = TriggeredFault(
            id: rule.id, effect: triggering.answer, proves: effect.proves,
            document: rule.effectDocument.members, bytes: rule.effectDocument.bytes)
        job.note { $0.fault = triggered }
        return refusal
    }
}

extension FaultRule {
    /// The purpose for which the random values of the next match are drawn.
    fileprivate var purpose: String { "fault:\(id):\(seen + 1)" }

    /// Whether the next match triggers the rule.
    fileprivate func triggers(_ job: JobContext) -> Bool {
        seen + 1 > afterRequests
            && (probability.map { job.state.generator.fraction(for: purpose) < $0 } ?? true)
            && (times.map { hits < $0 } ?? true)
    }

    /// The fact that a rule was triggered.
    ///
    /// - Parameters:
    ///   - next: the rule that would have been triggered without it; `nil` if none would.
    ///   - usual: what happens without any rule.
    fileprivate static func fact(_ id: String, otherwise next: FaultRule?, _ usual: String) -> DecidingFact {
        DecidingFact(
            .rule, id, "the fault rule \(id) was triggered",
            otherwise: next.map { "without it the fault rule \($0.id) is triggered" } ?? "without it \(usual)")
    }
}

extension [FaultRule] {
    /// The first rule behind another one that is as `isMeant` says.
    fileprivate func first(after id: String, where isMeant: (FaultRule) throws -> Bool) rethrows -> FaultRule? {
        try drop { !$0.id.isIdentical(to: id) }.dropFirst().first(where: isMeant)
    }
}

/// `GET /_sim/faults`: oldest first.
package struct ListFaults: Operation, Reads {
    package init() {}

    package func perform(_ job: JobContext, as caller: Control) throws -> FaultList {
        FaultList(faults: try Rules<FaultRule>.all(job).map { try FaultInfo($0, job) })
    }
}

/// `POST /_sim/faults`.
package struct AddFault: Operation, Writes {
    package let document: JSONValue

    package init(_ document: JSONValue) {
        self.document = document
    }

    package func perform(_ job: JobContext, as caller: Control) throws -> FaultInfo {
        let rule = try FaultRule(document, id: "", job.state.environment.platforms)
        return try FaultInfo(Rules.add(rule, rule.document, job), job)
    }
}

package typealias RemoveFaults = RemoveRules<FaultRule>

extension FaultRule: StoredRule {
    package static let kind = RuleRecord.Kind.fault
    package static let idKind = IDKind.fault
    package static let events = (added: EventKind.faultAdded, removed: EventKind.faultsRemoved)
    package static func withCache<Value>(in state: NamespaceState, _ body: (inout [Self]?) -> Value) -> Value {
        body(&state.knownFaults)
    }

    package init(_ record: RuleRecord, _ job: JobContext) throws {
        try self.init(
            StoredJSON.decode(record.document), id: record.id, seen: record.seen, hits: record.hits,
            job.state.environment.platforms)
    }
}

extension FaultInfo {
    package init(_ rule: FaultRule, _ job: JobContext) throws {
        self.init(
            id: rule.id, match: .object(rule.document.members?["match"]?.members ?? [:]),
            effect: .object(rule.document.members?["effect"]?.members ?? [:]), probability: rule.probability,
            times: rule.times,
            after_requests: rule.afterRequests, seen: rule.seen, hits: rule.hits,
            note_details: try rule.notes(job))
    }
}
