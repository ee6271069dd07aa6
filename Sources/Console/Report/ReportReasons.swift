import Foundation
import SimulationAPI

/// Why a test may have failed: what the namespace knows of expectations that were not met, of answers and webhooks that did not
/// arrive, of refusals, and of rules that met nothing. A report begins with it.
struct ReportReasons {
    /// The maximum number of entries of each kind, the oldest: later ones are often their consequences.
    static let maxEntries = 10
    /// The maximum number of lines on a terminal.
    static let maxLines = 5
    /// The maximum length of a path on a terminal, in characters.
    private static let maxPath = 80
    /// The maximum length of a text, in characters.
    static let maxText = 300
    /// The number of requests that are shown before and after one that a reason names.
    static let neighbours = 2

    /// The verification of the scenario; `nil` if the namespace has none.
    let gate: ReportGate?
    /// The command that failed; `nil` if it is not known.
    let run: ReportedRun?
    /// All requests of the bundle that are known, oldest first.
    let requests: [JournaledRequest]
    /// The answers that did not reach their client, and the refused requests, oldest first.
    let lost: [JournaledRequest]
    let refused: [JournaledRequest]
    /// The deliveries that did not arrive, oldest first.
    let undelivered: [WebhookDelivery]
    /// The rules that met nothing, with their notes.
    let unmet: [(id: String, text: String, note: String)]

    init(
        _ gate: ReportGate?, _ run: ReportedRun?, _ requests: [JournaledRequest], _ deliveries: [WebhookDelivery],
        _ faults: [FaultInfo], _ outcomes: [OutcomeInfo]
    ) {
        self.gate = gate
        self.run = run
        self.requests = requests
        lost = requests.filter { !$0.delivered }
        refused = requests.filter { $0.delivered && ($0.status ?? 0) >= 400 }
        undelivered = deliveries.reversed().filter(Self.isLost)
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
        if seen > 0 { sentences.append("it matched \(Counted.text(seen, "request")) and was not triggered") }
        return sentences.joined(separator: "; ")
    }

    /// The requests that the reasons name, and those around them, newest first. The last ones if no reason names one.
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

    struct View: Encodable, Sendable {
        let hasReasons, hasRequests: Bool
        let missing: Rows<String>?
        let lost, refused: Entries<Refused>?
        let undelivered: Entries<Undelivered>?
        let unmet: Entries<Unmet>?
    }

    /// The first entries of a kind.
    struct Entries<Entry: Encodable & Sendable>: Encodable, Sendable {
        /// Their number, in words.
        let count: String
        let each: [Entry]
        /// The number of those that are not shown; `nil` if all are.
        let more: Int?

        /// `nil` if there are none.
        init?<Element>(_ all: [Element], _ count: String, _ entry: (Element) -> Entry) {
            guard !all.isEmpty else { return nil }
            self.count = count
            each = all.prefix(maxEntries).map(entry)
            more = all.count > maxEntries ? all.count - maxEntries : nil
        }
    }

    /// A request that was refused, or whose answer did not arrive.
    struct Refused: Encodable, Sendable {
        let anchor, number, method, path, status: String
        let statusClass: Int
        let loss, effect, fault, because, user: String?
        /// The error in the answer.
        let said: String?
    }

    struct Undelivered: Encodable, Sendable {
        let event, item, status, url, attempts, reason: String
    }

    struct Unmet: Encodable, Sendable {
        let rule, text: String
        let note: String?
    }

    /// - Parameter said: the errors in the answers to refused requests, by the request's number.
    func view(_ said: [Int64: String]) -> View {
        let missing = run?.missing ?? []
        let isEmpty = lost.isEmpty && undelivered.isEmpty && refused.isEmpty && unmet.isEmpty && missing.isEmpty
        return View(
            hasReasons: gate?.failureCount ?? 0 > 0 || !isEmpty, hasRequests: !requests.isEmpty,
            missing: Rows(missing), lost: Entries(lost, Counted.text(lost.count, "answer")) { Self.row($0, said: nil) },
            refused: Entries(
                refused, "\(Counted.text(refused.count, "request")) \(refused.count == 1 ? "was" : "were")"
            ) { Self.row($0, said: $0.sequence.flatMap { said[$0] }) },
            undelivered: Entries(
                undelivered, Counted.text(undelivered.count, "delivery", "deliveries"), Self.row),
            unmet: Entries(unmet, Counted.text(unmet.count, "rule")) { rule in
                Unmet(rule: rule.id, text: Self.short(rule.text), note: Self.short(rule.note).nonEmpty)
            })
    }

    // MARK: The terminal

    /// The first reasons, a line each; the last line counts the rest.
    ///
    /// - Parameter said: the errors in the answers to refused requests, by the request's number.
    func lines(_ said: [Int64: String]) -> [String] {
        let all =
            (run?.missing ?? []) + lines(ofRequests: said) + undelivered.map(Self.line)
            + unmet.map { "\($0.text) met nothing\($0.note.isEmpty ? "" : ": \($0.note)")" }
        guard all.count > Self.maxLines else { return all.map(Self.short) }
        let shown = all.prefix(Self.maxLines - 1).map(Self.short)
        return shown + ["and \(all.count - shown.count) more, in the report"]
    }

    /// The lost and refused requests, oldest first. Those that a client repeated have one line.
    private func lines(ofRequests said: [Int64: String]) -> [String] {
        var places: [[String]: Int] = [:]
        var groups: [(first: JournaledRequest, count: Int)] = []
        for request in (lost + refused).sorted(by: { $0.sequence ?? 0 < $1.sequence ?? 0 }) {
            let key = [request.method, request.path, request.answerText, request.decided_by.fault ?? ""]
            if let place = places[key] {
                groups[place].count += 1
            } else {
                places[key] = groups.count
                groups.append((request, 1))
            }
        }
        return groups.map { request, count in
            let number = request.sequence.map { "#\($0) " } ?? ""
            let path = Self.short(request.path, to: Self.maxPath)
            let what = "\(number)\(request.method) \(path) \(request.answerText)\(count > 1 ? ", \(count) times" : "")"
            if let fault = request.decided_by.fault { return "\(what), by the fault \(fault)" }
            let reason = request.because ?? request.sequence.flatMap { said[$0] }
            return reason.map { "\(what): \($0)" } ?? what
        }
    }

    private static func line(_ delivery: WebhookDelivery) -> String {
        let item = delivery.entrupy_id.map { " of \($0)" } ?? ""
        let attempts = Counted.text(delivery.attempts.count, "attempt")
        return
            "webhook \(delivery.event)\(item) \(delivery.status) after \(attempts): \(reason(delivery)), to \(delivery.url?.maskingQuery ?? "(deleted)")"
    }

    private static func row(_ request: JournaledRequest, said: String?) -> Refused {
        Refused(
            anchor: anchor(request.sequence), number: request.sequence.map { "#\($0)" } ?? "", method: request.method,
            path: short(request.path + (request.query.map { "?\($0)" } ?? "")),
            status: request.status.map { "\($0)" } ?? "no answer", statusClass: (request.status ?? 0) / 100,
            loss: request.lossText, effect: request.effect.map { short(PrettyJSON.line(.object($0))) },
            fault: request.decided_by.fault, because: request.because.map(short), user: request.username,
            said: said.map(short))
    }

    private static func reason(_ delivery: WebhookDelivery) -> String {
        let last = delivery.attempts.last
        return last?.error ?? last?.status.map { "answered \($0)" } ?? delivery.held_back
            ?? delivery.fault.map { "fault \($0)" } ?? "no attempt was made"
    }

    private static func row(_ delivery: WebhookDelivery) -> Undelivered {
        Undelivered(
            event: delivery.event, item: delivery.entrupy_id ?? "", status: delivery.status,
            url: short(delivery.url?.maskingQuery ?? "(deleted)"),
            attempts: Counted.text(delivery.attempts.count, "attempt"),
            reason: short(reason(delivery)))
    }

    /// The name of a request's place in the page.
    static func anchor(_ sequence: Int64?) -> String { "request-\(sequence ?? 0)" }

    static func short(_ text: String) -> String { short(text, to: maxText) }

    /// A text that is cut.
    private static func short(_ text: String, to length: Int) -> String {
        let scalars = text.unicodeScalars
        guard let end = scalars.index(scalars.startIndex, offsetBy: length, limitedBy: scalars.endIndex),
            end < scalars.endIndex
        else { return text }
        return "\(String(scalars[..<end]))…"
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

    struct View: Encodable, Sendable {
        let name, summary: String
        let isFailed: Bool
        /// Why the expectations could not be checked.
        var reason: String?
        /// HTML, like ``notes`` and ``met``.
        var failures: String?
        var notes: String?
        var met: String?
        var metCount = 0
        var lacksRequests = false
        var isCut = false
    }

    /// An action or an expectation.
    private struct Check: Encodable, Sendable {
        let check, line, problem: String
        let nearest: Rows<Near>?

        struct Near: Encodable, Sendable {
            let anchor, number, request: String
            let because, differences: String?
        }
    }

    /// - Parameters:
    ///   - hasRequests: whether the file holds any request; an exported snapshot holds none.
    ///   - request: finds a request of the bundle by its number.
    func view(hasRequests: Bool, request: (Int64) -> JournaledRequest?) throws -> View {
        switch self {
        case .unverifiable(let name, let reason):
            return View(name: name, summary: "not checked", isFailed: true, reason: ReportReasons.short(reason))
        case .verified(let run):
            let actions = run.timeline.filter { $0.state != "done" }.map { action in
                Check(
                    check: "\(action.action) at \(Moment.text(action.at))", line: "",
                    problem: ReportReasons.short(run.obstacle(to: action) ?? "has not happened"),
                    nearest: nil)
            }
            let failures = actions + run.expectations.filter { !$0.passed }.map { Self.row($0, request) }
            let met = run.expectations.filter(\.passed).map { Self.row($0, request) }
            let notes = run.notes.map { RuleNote($0.field, ReportReasons.short($0.problem)) }
            let noted = notes.isEmpty ? "" : ", with \(Counted.text(notes.count, "note"))"
            var space = (
                failures: ReportSpace(left: Report.Space.failures), met: ReportSpace(left: Report.Space.checks),
                notes: ReportSpace(left: Report.Space.checks)
            )
            try space.failures.add(all: failures, "report-failure")
            try space.met.add(all: met, "report-met")
            try space.notes.add(all: notes, "report-note")
            return View(
                name: run.name,
                summary: (failures.isEmpty ? "all expectations are met" : "\(failures.count) not met") + noted,
                isFailed: !failures.isEmpty, failures: failures.isEmpty ? nil : space.failures.html,
                notes: notes.isEmpty ? nil : space.notes.html, met: met.isEmpty ? nil : space.met.html,
                metCount: met.count, lacksRequests: !failures.isEmpty && !hasRequests,
                isCut: space.notes.isFull || space.failures.isFull || space.met.isFull)
        }
    }

    private static func row(_ check: ScenarioCheck, _ request: (Int64) -> JournaledRequest?) -> Check {
        let near = (check.nearest ?? []).map { near in
            let found = near.sequence.flatMap(request)
            return Check.Near(
                anchor: ReportReasons.anchor(near.sequence), number: near.sequence.map { "#\($0)" } ?? near.id,
                request: found.map { ReportReasons.short("\($0.method) \($0.path) \($0.answerText)") } ?? "",
                because: found?.because.map(ReportReasons.short),
                differences: ReportReasons.short(near.differences.joined(separator: "; ")).nonEmpty)
        }
        // The requests that came near have lines of their own.
        let problem = check.problem.map { near.isEmpty ? $0 : String($0.prefix { $0 != "\n" }) }
        return Check(
            check: ReportReasons.short(check.expectation), line: check.line.map { "line \($0)" } ?? "",
            problem: ReportReasons.short(problem ?? "found \(check.found)"), nearest: Rows(near))
    }
}
