import Foundation
import SimulationAPI

/// Why a test may have failed: what the namespace knows of expectations that were not met, of answers and webhooks that did not
/// arrive, of refusals, and of rules that met nothing. A report begins with it.
struct ReportReasons {
    /// The maximum number of entries of each kind, the newest.
    static let maxEntries = 10
    /// The maximum length of a text, in characters.
    static let maxText = 300
    /// The number of requests that are shown before and after one that a reason names.
    static let neighbours = 2

    /// The verification of the scenario; `nil` if the namespace has none.
    let gate: ReportGate?
    /// All requests of the bundle that are known, oldest first.
    let requests: [JournaledRequest]
    /// The answers that did not reach their client, and the refused requests, newest first.
    let lost: [JournaledRequest]
    let refused: [JournaledRequest]
    /// The deliveries that did not arrive, newest first.
    let undelivered: [WebhookDelivery]
    /// The rules that met nothing, with their notes.
    let unmet: [(id: String, text: String, note: String)]

    init(
        _ gate: ReportGate?, _ requests: [JournaledRequest], _ deliveries: [WebhookDelivery], _ faults: [FaultInfo],
        _ outcomes: [OutcomeInfo]
    ) {
        self.gate = gate
        self.requests = requests
        lost = requests.reversed().filter { !$0.delivered }
        refused = requests.reversed().filter { $0.delivered && ($0.status ?? 0) >= 400 }
        undelivered = deliveries.filter(Self.isLost)
        unmet =
            faults.filter { $0.hits == 0 }.map {
                (
                    $0.id, "fault \(PrettyJSON.line($0.effect)) on \(PrettyJSON.line($0.match))",
                    Self.note($0.note_details, seen: $0.seen)
                )
            }
            + outcomes.filter { $0.hits == 0 }.map {
                ($0.id, "outcome \($0.result) for \(PrettyJSON.line($0.match))", Self.note($0.note_details, seen: 0))
            }
    }

    private static func isLost(_ delivery: WebhookDelivery) -> Bool {
        guard delivery.status != "delivered" else { return false }
        return !delivery.attempts.isEmpty || delivery.fault != nil || delivery.held_back != nil
            || ["failed", "cancelled"].contains(delivery.status)
    }

    private static func note(_ notes: [RuleNote], seen: Int) -> String {
        var sentences = notes.map { $0.field.isEmpty ? $0.problem : "\($0.field): \($0.problem)" }
        if seen > 0 { sentences.append("it matched \(seen) requests and was not triggered") }
        return sentences.joined(separator: "; ")
    }

    /// The requests that the reasons name, and those around them, newest first. The last ones if no reason names one.
    ///
    /// - Parameter limit: the maximum number.
    func around(limit: Int) -> [JournaledRequest] {
        var named = Set(gate?.nearest.compactMap(\.sequence) ?? [])
        named.formUnion(lost.prefix(Self.maxEntries).compactMap(\.sequence))
        named.formUnion(refused.prefix(Self.maxEntries).compactMap(\.sequence))
        let places = requests.indices.filter { requests[$0].sequence.map(named.contains) ?? false }
        guard !places.isEmpty else { return requests.suffix(limit).reversed() }
        var shown: Set<Int> = []
        // The named ones first, so that neighbours do not take their space.
        for distance in 0...Self.neighbours {
            for place in places.reversed() {
                for index in [place - distance, place + distance]
                where requests.indices.contains(index) && shown.count < limit { shown.insert(index) }
            }
        }
        return shown.sorted(by: >).map { requests[$0] }
    }

    // MARK: The page

    /// - Parameter said: the error in the answer to a refused request; `nil` if the answer has none.
    func view(said: (JournaledRequest) async throws -> String?) async throws -> View {
        var refusals: [View] = []
        for request in refused.prefix(Self.maxEntries) {
            refusals.append(Self.row(request, said: try await said(request)))
        }
        let failures = gate?.failureCount ?? 0
        let hasReasons = failures > 0 || !lost.isEmpty || !undelivered.isEmpty || !refused.isEmpty || !unmet.isEmpty
        return [
            "hasReasons": hasReasons,
            "lost": lost.prefix(Self.maxEntries).map { Self.row($0, said: nil) }, "hasLost": !lost.isEmpty,
            "lostCount": Self.count(lost.count, "answer"),
            "refused": refusals, "hasRefused": !refused.isEmpty, "refusedCount": Self.count(refused.count, "request"),
            "undelivered": undelivered.prefix(Self.maxEntries).map(Self.row), "hasUndelivered": !undelivered.isEmpty,
            "undeliveredCount": undelivered.count == 1 ? "1 delivery" : "\(undelivered.count) deliveries",
            "unmet": unmet.prefix(Self.maxEntries).map { rule -> View in
                [
                    "rule": rule.id, "text": Self.short(rule.text), "note": Self.short(rule.note),
                    "hasNote": !rule.note.isEmpty,
                ]
            },
            "hasUnmet": !unmet.isEmpty, "unmetCount": Self.count(unmet.count, "rule"),
            "most": Self.maxEntries,
            "isCut": [lost.count, refused.count, undelivered.count, unmet.count].contains { $0 > Self.maxEntries },
        ]
    }

    private static func row(_ request: JournaledRequest, said: String?) -> View {
        [
            "anchor": anchor(request.sequence), "number": request.sequence.map { "#\($0)" } ?? "",
            "method": request.method, "path": short(request.path + (request.query.map { "?\($0)" } ?? "")),
            "status": request.status.map { "\($0)" } ?? "no answer", "statusClass": (request.status ?? 0) / 100,
            "loss": request.lossText ?? "", "isLost": !request.delivered,
            "effect": short(request.effect.map { PrettyJSON.line(.object($0)) } ?? ""),
            "hasEffect": request.effect != nil,
            "fault": request.decided_by.fault ?? "", "hasFault": request.decided_by.fault != nil,
            "because": short(request.because ?? ""), "hasBecause": request.because != nil,
            "user": request.username ?? "", "hasUser": request.username != nil,
            "said": short(said ?? ""), "hasSaid": said != nil,
        ]
    }

    private static func row(_ delivery: WebhookDelivery) -> View {
        let last = delivery.attempts.last
        let reason =
            last?.error ?? last?.status.map { "answered \($0)" } ?? delivery.held_back
            ?? delivery.fault.map { "fault \($0)" } ?? "no attempt was made"
        return [
            "event": delivery.event, "item": delivery.entrupy_id ?? "", "status": delivery.status,
            "url": short(delivery.url ?? "(deleted)"), "attempts": count(delivery.attempts.count, "attempt"),
            "reason": short(reason), "deliveryID": delivery.id,
        ]
    }

    /// The name of a request's place in the page.
    static func anchor(_ sequence: Int64?) -> String { "request-\(sequence ?? 0)" }

    /// A text that is cut.
    static func short(_ text: String) -> String {
        let scalars = text.unicodeScalars
        guard let end = scalars.index(scalars.startIndex, offsetBy: maxText, limitedBy: scalars.endIndex),
            end < scalars.endIndex
        else { return text }
        return "\(String(scalars[..<end]))…"
    }

    private static func count(_ count: Int, _ thing: String) -> String {
        count == 1 ? "1 \(thing)" : "\(count) \(thing)s"
    }
}

/// The verification of a scenario, as a report shows it.
package enum ReportGate: Sendable {
    case verified(ScenarioRun)
    /// The reason why the expectations of a scenario could not be checked.
    case unverifiable(name: String, reason: String)

    /// The requests that nearly match the expected ones.
    var nearest: [NearRequest] {
        guard case .verified(let run) = self else { return [] }
        return run.expectations.flatMap { $0.passed ? [] : $0.nearest ?? [] }
    }

    var failureCount: Int {
        switch self {
        case .unverifiable: 1
        case .verified(let run):
            run.timeline.count { $0.state != "done" } + run.expectations.count { !$0.passed }
        }
    }

    /// - Parameters:
    ///   - hasRequests: whether the file holds any request; an exported snapshot holds none.
    ///   - request: finds a request of the bundle by its number.
    func view(hasRequests: Bool, request: (Int64) -> JournaledRequest?) throws -> View {
        switch self {
        case .unverifiable(let name, let reason):
            return [
                "name": name, "summary": "not checked", "isFailed": true, "reason": ReportReasons.short(reason),
                "hasReason": true,
            ]
        case .verified(let run):
            let actions = run.timeline.filter { $0.state != "done" }.map { action -> View in
                [
                    "check": "\(action.action) at \(Moment.text(action.at))", "line": "",
                    "problem": ReportReasons.short(action.problem ?? "is still due: the clock did not pass it"),
                    "hasNearest": false,
                ]
            }
            let failures = actions + run.expectations.filter { !$0.passed }.map { Self.row($0, request) }
            let met = run.expectations.filter(\.passed).map { Self.row($0, request) }
            let notes = run.notes.map { note -> View in
                ["field": note.field, "problem": ReportReasons.short(note.problem)]
            }
            let noted = notes.isEmpty ? "" : ", with \(notes.count) \(notes.count == 1 ? "note" : "notes")"
            var space = (
                failures: ReportSpace(bytes: Report.Space.failures), met: ReportSpace(bytes: Report.Space.checks),
                notes: ReportSpace(bytes: Report.Space.checks)
            )
            try space.failures.add(all: failures, "report-failure")
            try space.met.add(all: met, "report-met")
            try space.notes.add(all: notes, "report-note")
            return [
                "name": run.name, "isFailed": !failures.isEmpty, "isMet": failures.isEmpty && notes.isEmpty,
                "isNoted": failures.isEmpty && !notes.isEmpty, "hasReason": false,
                "summary": (failures.isEmpty ? "all expectations are met" : "\(failures.count) not met") + noted,
                "notes": space.notes.html, "hasNotes": !notes.isEmpty,
                "failures": space.failures.html, "hasFailures": !failures.isEmpty,
                "met": space.met.html, "metCount": met.count,
                "hasMet": !met.isEmpty, "lacksRequests": !failures.isEmpty && !hasRequests,
                "isCut": space.notes.isFull || space.failures.isFull || space.met.isFull,
            ]
        }
    }

    private static func row(_ check: ScenarioCheck, _ request: (Int64) -> JournaledRequest?) -> View {
        let near = (check.nearest ?? []).map { near -> View in
            let found = near.sequence.flatMap(request)
            return [
                "anchor": ReportReasons.anchor(near.sequence), "number": near.sequence.map { "#\($0)" } ?? near.id,
                "request": found.map { ReportReasons.short("\($0.method) \($0.path) \($0.answerText)") } ?? "",
                "because": ReportReasons.short(found?.because ?? ""), "hasBecause": found?.because != nil,
                "differences": ReportReasons.short(near.differences.joined(separator: "; ")),
                "hasDifferences": !near.differences.isEmpty,
            ]
        }
        return [
            "check": ReportReasons.short(check.expectation),
            "problem": ReportReasons.short(check.problem ?? "found \(check.found)"),
            "line": check.line.map { "line \($0)" } ?? "", "nearest": near, "hasNearest": !near.isEmpty,
        ]
    }
}
