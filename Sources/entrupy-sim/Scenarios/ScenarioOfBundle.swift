import Console
import EntrupyAPI
import Foundation
import Server
import SimulationAPI

/// Makes a scenario of a bundle: its clock, its rules, its items, its webhook subscriptions, what support did, and its last requests as
/// expectations.
///
/// A namespace that was started from a scenario keeps that scenario's parts, and gets what was added since.
struct ScenarioOfBundle {
    let facts: BundleFacts
    let masked: @Sendable (JSONValue) async throws -> JSONValue
    private let expected: ExpectedRequests
    var draft: ScenarioDraft
    /// The scenario that the namespace was started from; empty if it was none.
    private let base: JSONObject
    /// The number of the event of that start; 0 if there was none.
    private let startSequence: Int64
    /// The times of the actions of that scenario.
    private let actionTimes: Set<Double>
    /// The start in epoch seconds: that of the scenario, else a whole second before the first event.
    let start: Double

    /// The maximum numbers of parts in a list, and of bytes of seed data.
    static let maxParts = 200
    private static let maxSeed = 200_000
    /// The maximum number of parts in a list of a scenario.
    private static let maxExpectations = 1000

    /// - Parameter masked: masks the secrets of the namespace in a value.
    init(
        _ facts: BundleFacts, name: String, file: String,
        masked: @escaping @Sendable (JSONValue) async throws -> JSONValue
    ) {
        self.facts = facts
        self.masked = masked
        let started = facts.events.last { $0.kind == "scenario.started" }
        base = started == nil ? [:] : facts.scenario.flatMap(Self.parsed)?.members ?? [:]
        actionTimes = base.isEmpty ? [] : Set(facts.events.filter { $0.kind == "scenario.action" }.map(\.at))
        startSequence = base.isEmpty ? 0 : started?.sequence ?? 0
        let first = [facts.events.first?.at, facts.requests.first?.at].compactMap { $0 }.min() ?? 0
        start = base.isEmpty ? first.rounded(.down) : started?.at ?? first.rounded(.down)
        let last = facts.last
        expected = ExpectedRequests(facts, beside: base["expect"]?.elements ?? [])
        let route = expected.route(last.path)
        draft = ScenarioDraft(
            name: name, description: "The run of \(file), up to \(last.method) \(route) \(last.answerText).",
            frozenAt: Self.iso(start))
    }

    mutating func made() async throws -> ScenarioDraft {
        draft.comments =
            [
                "Made of \(facts.last.sequence.map { "requests up to #\($0)" } ?? "a bundle") by entrupy-sim \(facts.info.version).",
                "Lines with CHOOSE need a decision. Secrets are left out.",
            ] + facts.gaps
        try await addSeed()
        try await addSettings()
        try await addBase()
        try await addItems()
        try await addSubscriptions()
        try await addRules()
        try await addActions()
        addExpectations()
        draft.clockComments = [
            isAdvanced
                ? "The clock stands. The run advanced it: do so at the same places."
                : "The clock stands. That of the run was not advanced: advance it where the run waited."
        ]
        return draft
    }

    /// Adds what the run failed of, after what its scenario expected.
    private mutating func addExpectations() {
        let webhooks = ExpectedWebhooks(facts.deliveries)
        let before = draft["expect"].parts.count
        draft.givenExpectations = before
        draft["expect"].comments =
            [
                (before > 0 ? "What the run's scenario expected, then the" : "The")
                    + " last requests of the run. Verify them against its bundle: entrupy-sim scenario verify FILE --bundle BUNDLE"
            ] + expected.comments + webhooks.comments
        draft["expect"].parts += (expected.parts + webhooks.parts).prefix(max(0, Self.maxExpectations - before))
    }

    /// The name of a scenario for a bundle: that of its file, or of the scenario's where every run calls its bundle so.
    static func name(for bundle: String, _ output: String) -> String {
        let name = name(of: bundle, without: [".gz", ".tar", ".bundle", ".entrupy-bundle"])
        guard name.wholeMatch(of: #/bundle(-\d+)?|case/#) != nil else { return name }
        return output == "-" ? "failed-run" : self.name(of: output, without: [".yaml", ".yml", ".json"])
    }

    /// The name of a file without its endings, with the characters that a scenario's name may have.
    private static func name(of file: String, without endings: [String]) -> String {
        var name = URL(fileURLWithPath: file).lastPathComponent
        for ending in endings where name.hasSuffix(ending) { name = String(name.dropLast(ending.count)) }
        let allowed = name.utf8.map { $0.isLetterOrDigit || "-_.".utf8.contains($0) ? $0 : UInt8(ascii: "-") }
        let words = allowed.drop { "-_.".utf8.contains($0) }.prefix(63)
        return words.isEmpty ? "case" : String(decoding: words, as: UTF8.self)
    }

    // MARK: What the namespace began with

    private mutating func addSeed() async throws {
        if let seed = base["seed"], seed != .null {
            return draft.seed = try await part("seed", withoutSecrets(seed), seed.members == nil ? [] : Self.secretNote)
        }
        let name = facts.info.namespace.seed
        if ["standard", "empty"].contains(name) { return draft.seed = ScenarioDraft.Part([("seed", .string(name))]) }
        guard facts.seed.utf8.count <= Self.maxSeed, let seed = Self.parsed(facts.seed) else {
            draft.seed = ScenarioDraft.Part(
                [("seed", "standard")],
                [
                    "CHOOSE: the run had seed data of its own (\(name)), which is too large to be here. Name its organizations and users."
                ])
            return
        }
        draft.seed = try await part("seed", withoutSecrets(seed), Self.secretNote)
    }

    private static let secretNote = [
        "CHOOSE: tokens and passwords are not written here. Replace the made-up ones by those that the client sends."
    ]

    private mutating func addSettings() async throws {
        let changed = facts.events.last { $0.kind == "settings.changed" }
        let now = changed?.data.members?["settings"] ?? facts.info.settings
        guard let patch = Self.difference(now, from: facts.defaults), let members = patch.members, !members.isEmpty
        else {
            return
        }
        let comments = changed.flatMap { $0.at > start ? $0 : nil }.map {
            ["Settings as they were \(after($0.at)) after the start; here they are so from the start."]
        }
        draft.settings = try await part("settings", patch, comments ?? [])
    }

    /// The lists of the scenario that the namespace was started from.
    private mutating func addBase() async throws {
        guard !base.isEmpty else { return }
        // The namespace has the subscriptions, and knows which of them are left.
        for key in ScenarioDraft.keys where key != "subscriptions" {
            for element in base[key]?.elements ?? [] {
                let value = try await masked(element)
                draft[key].parts.append(ScenarioDraft.Part(value.members ?? [:]))
            }
        }
    }

    // MARK: Items

    /// The items that the client did not make with requests of the journal.
    private mutating func addItems() async throws {
        let (own, flags) = (submittedItems, flagsOfGeneratedItems)
        for item in facts.items where !own.contains(item.entrupy_id) {
            let submitted = item.timeline.first?.at ?? start
            // Those of the scenario that the namespace was started from are there already.
            guard base.isEmpty || submitted > start, submitted <= facts.last.at else { continue }
            guard draft["items"].parts.count < Self.maxParts else {
                draft["items"].comments.append("Only the first \(Self.maxParts) items are here.")
                return
            }
            var members = (try await masked(item.item)).members ?? [:]
            for name in ["config_type", "entrupy_id", "submitted_at", "capture_workflow", "count", "template"] {
                members[name] = nil
            }
            let first = item.timeline.first { $0.event == "result.set" }?.data.members?["result"]
            members["username"] = .string(item.username)
            members["result"] = first ?? .string(item.result.id.rawValue)
            members["flag"] = flags[item.entrupy_id].map { .string($0) }
            let isCaptured = item.capture_id != nil
            draft["items"].parts.append(
                ScenarioDraft.Part(
                    members, isCaptured ? ["\(item.entrupy_id) was captured by no request of the journal."] : []))
        }
    }

    /// The flags with which items were generated. Their events follow those of the submission and the result.
    private var flagsOfGeneratedItems: [String: String] {
        var flags: [String: String] = [:]
        for event in facts.events {
            if event.kind == "flag.set", facts.generated.contains(event.sequence &- 2) {
                flags[event.subject] = "flagged"
            }
            if event.kind == "flag.resolved", facts.generated.contains(event.sequence &- 3) {
                flags[event.subject] = "resolved"
            }
        }
        return flags
    }

    /// The items that requests of the journal submitted. The scenario's client submits them again.
    private var submittedItems: Set<String> {
        let ranges = facts.requests.compactMap(\.changes).filter { $0.through > $0.after }.sorted {
            $0.after < $1.after
        }
        var found: Set<String> = []
        // The number of ranges that begin before the event. Both are in order.
        var begun = 0
        for event in facts.events where event.kind == "item.submitted" {
            while begun < ranges.count, ranges[begun].after < event.sequence { begun += 1 }
            if begun > 0, event.sequence <= ranges[begun - 1].through { found.insert(event.subject) }
        }
        return found
    }

    // MARK: Rules

    /// Whether the run advanced its clock. Otherwise the times of its events are those at which it came to them.
    private var isAdvanced: Bool { facts.events.contains { $0.kind == "clock.advanced" } }

    /// The rules that were added since the start. Outcome rules hold from the start on; faults come when they came.
    private mutating func addRules() async throws {
        let removed = Set(facts.events.filter { $0.kind == "outcome.removed" }.map(\.subject))
        for event in facts.events where event.sequence > startSequence && event.kind == "outcome.added" {
            guard !removed.contains(event.subject), !removed.contains("*"), let rule = event.data.members?["rule"]
            else { continue }
            draft["outcomes"].parts.append(try await part(rule, of: event))
        }
        let isTimed = isAdvanced
        for event in facts.events where event.sequence > startSequence {
            switch event.kind {
            case "fault.added":
                guard let rule = event.data.members?["rule"], !isOfAction(event) else { continue }
                if event.at <= start || !isTimed {
                    draft["faults"].parts.append(try await part(rule, of: event))
                } else {
                    add(event, "fault", try await masked(rule))
                }
            case "fault.removed" where !isOfAction(event):
                if event.subject == "*" {
                    add(event, "clear_faults", true)
                } else {
                    draft["timeline"].comments.append(
                        "CHOOSE: the fault \(event.subject) was removed \(after(event.at)) after the start; a timeline can only remove all (clear_faults)."
                    )
                }
            default: continue
            }
        }
    }

    /// A rule that holds from the start on here.
    private func part(_ rule: JSONValue, of event: StateChange) async throws -> ScenarioDraft.Part {
        let isLate = event.at > start
        return ScenarioDraft.Part(
            (try await masked(rule)).members ?? [:],
            isLate ? ["Added \(after(event.at)) after the start; here it holds from the start on."] : [])
    }

    // MARK: What support did

    private mutating func addActions() async throws {
        for event in facts.events where event.sequence > startSequence && !isOfAction(event) {
            let data = (try await masked(event.data)).members ?? [:]
            switch event.kind {
            case "result.set", "result.changed":
                guard data["rule"] == "control", !isCreation(event) else { continue }
                act(event, "set_result", [("result", data["result"])])
            case "flag.resolved" where data["note"] != nil:
                act(event, "resolve_flag", [("note", data["note"]), ("result", data["result"])])
            case "retake.requested":
                act(event, "retake", [("regions", data["regions"]), ("message", data["message"])])
            case "support.message":
                act(event, "support_message", [("message", data["message"]), ("options", data["options"])])
            case "session.ended" where data["reason"] == "revoked":
                add(event, "revoke_sessions", ["username": .string(event.subject)])
            case "client.rejected":
                add(event, "reject_client", ["client_id": .string(event.subject)])
            default: continue
            }
        }
        draft["timeline"].parts = draft["timeline"].parts.enumerated().filter { index, part in
            // Revoking all sessions records each of them.
            index == 0 || JSONObject(part.members) != JSONObject(draft["timeline"].parts[index - 1].members)
        }.map(\.element)
    }

    /// Adds an action about an item. Items are named by their `customer_item_id`: their other ids differ in each run.
    private mutating func act(_ event: StateChange, _ action: String, _ members: [(String, JSONValue?)]) {
        let id = facts.items.first { $0.entrupy_id == event.subject }?.customer_item_id
        let name = id.map { ("customer_item_id", JSONValue.string($0)) } ?? ("entrupy_id", .string(event.subject))
        let given: [(String, JSONValue)] = members.compactMap { name, value in
            value.flatMap { $0 == .null ? nil : (name, $0) }
        }
        let unnamed =
            "CHOOSE: the item has no customer_item_id, and its id differs in each run. Give it one, and name it here."
        add(event, action, .object(JSONObject([name] + given)), id == nil ? [unnamed] : [])
    }

    private mutating func add(_ event: StateChange, _ action: String, _ value: JSONValue, _ comments: [String] = []) {
        guard draft["timeline"].parts.count < Self.maxParts else { return }
        draft["timeline"].parts.append(
            ScenarioDraft.Part([("at", .string(after(event.at))), (action, value)], comments))
    }

    /// Whether an event came with an action of the scenario that the namespace was started from.
    private func isOfAction(_ event: StateChange) -> Bool { actionTimes.contains(event.at) }

    /// Whether an item got its result when it was generated.
    private func isCreation(_ event: StateChange) -> Bool { facts.generated.contains(event.sequence &- 1) }

    // MARK: Values

    private func part(_ key: String, _ value: JSONValue, _ comments: [String]) async throws -> ScenarioDraft.Part {
        ScenarioDraft.Part([(key, try await masked(value))], comments)
    }

    /// Seed data without its tokens and passwords: made-up ones stand in their place.
    private func withoutSecrets(_ seed: JSONValue) -> JSONValue {
        var count = 0
        func token() -> JSONValue {
            count += 1
            return .string("choose-a-token-\(count)")
        }
        func replaced(_ name: String, _ value: JSONValue) -> JSONValue {
            switch (name, value) {
            case ("api_tokens", _): .array((value.elements ?? []).map { _ in token() })
            case ("password", _): "choose-a-password"
            case (_, .array(let elements)): .array(elements.map { replaced("", $0) })
            case (_, .object(let members)):
                .object(JSONObject(members.sorted.map { ($0.name, replaced($0.name, $0.value)) }))
            default: value
            }
        }
        return replaced("", seed)
    }

    /// The merge patch that makes `now` of `before`; `nil` if they are equal.
    private static func difference(_ now: JSONValue, from before: JSONValue) -> JSONValue? {
        guard now != before else { return nil }
        guard let new = now.members, let old = before.members else { return now }
        return .object(
            JSONObject(
                new.sorted.compactMap { name, value in
                    difference(value, from: old[name] ?? .null).map { (name, $0) }
                }))
    }

    /// A duration after the start, as a timeline has it.
    private func after(_ moment: Double) -> String {
        let microseconds = max(0, Self.microseconds(moment - start))
        for (length, unit) in [(86_400, "d"), (3600, "h"), (60, "m")] as [(Int64, String)]
        where microseconds > 0 && microseconds % (length * 1_000_000) == 0 {
            return "\(microseconds / length / 1_000_000)\(unit)"
        }
        let (seconds, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        guard rest > 0 else { return "\(seconds)s" }
        let digits = String(1_000_000 + rest).dropFirst()
        return "\(seconds).\(digits)s"
    }

    /// A number of seconds in microseconds; 0 if it is out of range: a bundle may hold any times.
    private static func microseconds(_ seconds: Double) -> Int64 { Int64(exactly: (seconds * 1e6).rounded()) ?? 0 }

    /// A moment in ISO 8601, with microseconds if it has any.
    private static func iso(_ epoch: Double) -> String {
        let microseconds = microseconds(epoch)
        let (seconds, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        let whole = Date(timeIntervalSince1970: Double(seconds)).ISO8601Format()
        guard rest > 0 else { return whole }
        return "\(whole.dropLast()).\(String(1_000_000 + rest).dropFirst())Z"
    }

    /// A YAML text as JSON; `nil` if it is not YAML. Only for texts that a server has read.
    private static func parsed(_ yaml: String) -> JSONValue? {
        // The caller says what the scenario then lacks.
        try? ServerDocument(yaml: yaml, file: "").json(largeNumbersAreTexts: true)
    }
}
