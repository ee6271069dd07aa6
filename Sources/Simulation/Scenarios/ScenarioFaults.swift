import SimulationAPI

/// The counts of a fault rule of a scenario's namespace. Those of a removed rule are kept for expectations and notes.
package struct CountedFault: Codable, Sendable {
    package let id: String
    /// The rule's condition as the client sent it.
    let match: JSONValue
    let times: Int?
    let seen: Int
    private(set) var hits: Int

    init(_ rule: FaultRule) {
        id = rule.id
        match = rule.document.members?["match"] ?? .null
        times = rule.times
        seen = rule.seen
        hits = rule.hits
    }

    /// The fault without some of the requests that it answered.
    fileprivate func leavingOut(_ count: Int) -> CountedFault {
        var fault = self
        fault.hits = max(0, hits - count)
        return fault
    }

    /// The text of a member of the condition; `nil` if there is none.
    func text(_ member: String) -> String? { match.members?[member]?.text }

    /// The method that the condition names, which a client may write in any letter case.
    var method: String? { text("method")?.uppercased() }

    /// Whether the counts are possible. Only a file that was tampered with has others.
    package var isValid: Bool { 0...Self.maxCount ~= seen && 0...Self.maxCount ~= hits }

    private static let maxCount = 1_000_000_000_000
}

/// A fault rule that a part of a scenario made.
package struct MadeFault: Codable, Sendable {
    /// The path of the part, for instance `faults[0]`.
    let path: String
    let id: String
}

extension ScenarioState {
    /// The maximum number of removed rules that are remembered.
    package static let maxRemovedFaults = maxRules
    /// The maximum size of the conditions of removed rules, in bytes.
    private static let maxRemovedBytes = 262_144

    /// Remembers rules that are removed: the newest ones that fit.
    mutating func remember(_ rules: [FaultRule]) throws {
        let all = (removedFaults ?? []) + rules.map { CountedFault($0) }
        var kept: [CountedFault] = []
        var bytes = 0
        for fault in all.reversed() {
            bytes += try StoredJSON.encode(fault.match).utf8.count
            guard kept.count < Self.maxRemovedFaults, bytes <= Self.maxRemovedBytes else {
                forgetsFaults = true
                break
            }
            kept.append(fault)
        }
        removedFaults = kept.reversed()
    }
}

extension FaultRule {
    /// Remembers rules for the scenario that was started in the namespace, if one was. Writes.
    package static func willRemove(_ rules: [FaultRule], _ job: JobContext) throws {
        guard !rules.isEmpty, var state = try ScenarioState.load(job) else { return }
        try state.remember(rules)
        try state.store(job)
    }
}

/// The fault rules that a scenario's expectations count: those of its namespace, and those that were removed since its start.
package struct ScenarioFaults: Sendable {
    /// The removed rules, oldest first.
    let removed: [CountedFault]
    /// Whether older removed rules were forgotten.
    let isIncomplete: Bool

    /// The removed rules of a namespace. They are read once, then cached.
    static func load(_ job: JobContext) throws -> ScenarioFaults {
        if let known = job.state.knownRemovedFaults { return known }
        let state = try ScenarioState.load(job)
        let faults = ScenarioFaults(
            removed: state?.removedFaults ?? [], isIncomplete: state?.forgetsFaults ?? false)
        job.state.knownRemovedFaults = faults
        return faults
    }

    /// All rules, the removed ones first, oldest first. Requests that were sent again from the journal do not count [D resend].
    func all(_ job: JobContext) throws -> [CountedFault] {
        let all = try removed + Rules<FaultRule>.all(job).map { CountedFault($0) }
        let resent = job.journal.lazy.filter(\.isResent).compactMap(\.outcome.fault?.id)
        let counts = Dictionary(resent.map { ($0, 1) }, uniquingKeysWith: +)
        return counts.isEmpty ? all : all.map { $0.leavingOut(counts[$0.id] ?? 0) }
    }
}

/// The fault rules that an expectation is about: one by its id, or those whose condition has certain values.
struct FaultSelector: Sendable {
    let id: String?
    /// The values of `route`, `method`, `username` and `webhook` that are given.
    private let wanted: [String: String]
    private let headers: JSONObject

    /// Reads the member `fault` of an expectation. Problems go to the fields.
    init(_ fields: inout FieldReader) {
        let expected = "must be the id of a fault rule, or the values of its match such as {route: /sdk/search}"
        // A null would select every rule.
        fields.require("fault")
        let value = fields.value("fault", expected) { $0.text != nil || $0.members != nil ? $0 : nil }
        guard value?.members != nil else {
            id = fields.text("fault")
            (wanted, headers) = ([:], [:])
            return
        }
        id = nil
        var match = fields.object("fault", known: ["route", "method", "username", "webhook", "header"])
        let (route, method) = (match.text("route", maxBytes: Glob.maxBytes), match.method("method"))
        let (username, webhook) = (match.text("username"), match.text("webhook"))
        wanted = ["route": route, "method": method, "username": username, "webhook": webhook].compactMapValues(\.self)
        headers = match.members("header") ?? [:]
    }

    /// The selector in words.
    var text: String {
        if let id { return "fault \(id)" }
        let parts = [
            wanted["method"], wanted["route"], wanted["webhook"].map { "webhook \($0)" },
            wanted["username"].map { "by \($0)" },
            headers.isEmpty ? nil : headers.keys.sorted().map { "with \($0)" }.joined(separator: ", "),
        ]
        let text = parts.compactMap(\.self).joined(separator: " ")
        return text.isEmpty ? "any fault" : "fault \(text)"
    }

    func selects(_ fault: CountedFault) -> Bool {
        if let id { return fault.id.isIdentical(to: id) }
        let given = fault.match.members?["header"]?.members ?? [:]
        return headers.keys.allSatisfy { given[$0] == headers[$0] }
            && wanted.allSatisfy { name, value in
                (name == "method" ? fault.method : fault.text(name))?.isIdentical(to: value) ?? false
            }
    }
}

extension ScenarioExpectation.Kind {
    /// How often fault rules were triggered.
    static let faults = Self(name: "fault") { fields, _ in
        let selector = FaultSelector(&fields)
        return .init(text: selector.text) { job, amount in
            let faults = try ScenarioFaults.load(job)
            let all = try faults.all(job)
            let selected = all.filter(selector.selects)
            let found = selected.reduce(0) { $0 + $1.hits }
            if faults.isIncomplete, amount.maxCount != .max, found <= amount.maxCount {
                return (
                    found,
                    "the oldest fault rules that were removed since the start are forgotten, so an upper limit cannot be checked; remove fewer"
                )
            }
            if let unknown = amount.unknownSinceRestore(found, job.wasRestored) { return (found, unknown) }
            // A selector of no rule is a mistake, even if nothing is expected of it.
            if selected.isEmpty {
                let others = all.suffix(3).map { "\($0.id) (\($0.summary))" }.joined(separator: ", ")
                return (
                    0,
                    "there is no such fault rule in the namespace"
                        + (others.isEmpty ? "; it has had none" : "; it has had \(others)")
                )
            }
            if amount.contains(found) { return (found, nil) }
            return (found, "\(amount.tally(found)); \(selected.prefix(3).map(\.tally).joined(separator: ", "))")
        }
    }
}

extension CountedFault {
    /// The requests or webhooks that the rule is for, in words.
    fileprivate var summary: String {
        let place = [method, text("route")].compactMap(\.self).joined(separator: " ")
        let parts = [
            text("webhook").map { "webhook \($0)" }, place.isEmpty ? nil : place, text("username").map { "by \($0)" },
        ].compactMap(\.self)
        return parts.isEmpty ? "any request" : parts.joined(separator: " ")
    }

    /// That the rule was never triggered, in words.
    ///
    /// - Parameter wasRestored: whether the namespace was restored, with its counts.
    fileprivate func unmet(_ wasRestored: Bool) -> String {
        let reason =
            seen == 0
            ? "no \(subject) matched it" : "\(seen == 1 ? "one match" : "\(seen) matches"), which it let pass"
        let span = wasRestored ? "was not met since the namespace was restored" : "was never met"
        return "the fault \(id) (\(summary)) \(span): \(reason)"
    }

    /// The word for what the rule matches.
    fileprivate var subject: String { text("webhook") == nil ? "request" : "webhook attempt" }

    /// The rule's counts in words.
    fileprivate var tally: String {
        let matched = seen == 0 ? "no \(subject)" : seen == 1 ? "one \(subject)" : "\(seen) \(subject)s"
        return "\(id) matched \(matched) and was triggered \(hits == 1 ? "once" : "\(hits) times")"
    }
}

extension FaultRule {
    /// The rules of a namespace that were never triggered, in words, also those that were removed while a scenario went on.
    package static func unmet(_ job: JobContext) throws -> [String] {
        let wasRestored = job.wasRestored
        return try ScenarioFaults.load(job).all(job).filter { $0.hits == 0 }.map { $0.unmet(wasRestored) }
    }
}

extension ScenarioState {
    /// Notes on the fault rules with `times` that have never been triggered [D scenarios].
    func unmetFaults(_ document: ScenarioDocument, _ job: JobContext) throws -> [RuleNote] {
        let faults = try ScenarioFaults.load(job)
        let all = try faults.all(job).enumerated().map { ($1, isRemoved: $0 < faults.removed.count) }
        return all.filter { $0.0.times != nil && $0.0.hits == 0 }.map { fault, isRemoved in
            let path = self.faults.first { $0.id.isIdentical(to: fault.id) }?.path
            let line = path.map { "line \(document.place.lines[$0]): " } ?? ""
            return RuleNote(
                path ?? "fault", "\(line)\(fault.unmet(job.wasRestored))\(isRemoved ? " before it was removed" : "")",
                may_change: !isRemoved)
        }
    }
}
