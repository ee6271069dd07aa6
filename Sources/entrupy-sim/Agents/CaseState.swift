import Console
import Foundation
import SimulationAPI

/// The state of a namespace, as every tool returns it.
enum CaseState {
    /// Reads the state with a few requests. What changes meanwhile may be in one part and not in another.
    static func read(_ client: ControlClient) async throws -> JSONValue {
        let info: ServerInfo = try await client.get("/_sim/info")
        let due: DueList = try await client.get("/_sim/due", [("limit", "1")])
        let faults: [String: [FaultInfo]] = try await client.get("/_sim/faults")
        let outcomes: [String: [OutcomeInfo]] = try await client.get("/_sim/outcomes")
        let subscriptions: SubscriptionInfoList = try await client.get("/_sim/webhooks")
        let namespace = info.namespace
        return .members([
            ("namespace", namespace.name), ("url", namespace.url),
            ("clock", "\(namespace.clock.now) \(namespace.clock.mode)"), ("items", namespace.counts.authentications),
            ("captures", namespace.counts.captures), ("sessions", namespace.counts.sessions),
            ("next_due", due.due.first.map(text)), ("due", due.total == 0 ? nil : due.total),
            // A fault that has had its times breaks nothing more.
            ("faults", try rules((faults["faults"] ?? []).filter { !$0.isSpent }, text)),
            ("results", try rules(outcomes["outcomes"] ?? [], text)),
            ("webhooks", rules(subscriptions.webhooks, text)),
            ("mark", try await CaseMark.now(client).text),
        ])
    }

    /// The last rules, and how many there are before them.
    private static func rules<Rule>(_ rules: [Rule], _ text: (Rule) throws -> String) rethrows -> [String] {
        let shown = try rules.suffix(5).map { ToolAnswer.short(try text($0)) }
        return rules.count > shown.count ? ["\(rules.count - shown.count) earlier ones"] + shown : shown
    }

    private static func text(_ due: DueEntry) -> String {
        let work =
            due.kind.isIdentical(to: "scenario.action") ? "timeline[\(due.subject)]" : "\(due.kind) of \(due.subject)"
        return "\(work) in \(DurationText.text(seconds: max(0, due.seconds_left)))"
    }

    private static func text(_ fault: FaultInfo) throws -> String {
        let times =
            fault.times.map { "\(fault.hits) of \(Readable.count($0, "time"))" } ?? Readable.count(fault.hits, "time")
        return "\(fault.id): \(try Readable.json(fault.match)) -> \(try Readable.json(fault.effect)), \(times)"
    }

    private static func text(_ subscription: SubscriptionInfo) -> String {
        "\(ToolAnswer.short(subscription.url, 120)), \(subscription.status), \(subscription.open_deliveries) on their way"
    }

    private static func text(_ outcome: OutcomeInfo) throws -> String {
        "\(outcome.id): \(try Readable.json(outcome.match)) -> \(outcome.result), decided \(outcome.hits)"
    }
}

/// A place in the journal and the event log of a namespace: `r12e30` is after request 12 and event 30.
struct CaseMark {
    var request: Int64 = 0
    var event: Int64 = 0

    var text: String { "r\(request)e\(event)" }

    /// The place after the newest request and event.
    static func now(_ client: ControlClient) async throws -> CaseMark {
        let requests: RequestList = try await client.get("/_sim/requests", [("limit", "1")])
        let events: EventList = try await client.get("/_sim/event-log", [("limit", "1")])
        return CaseMark(
            request: requests.requests.first?.sequence ?? 0, event: events.events.first?.sequence ?? 0)
    }
}

extension CaseMark {
    /// `nil` if the text is no mark.
    init?(_ text: String) {
        guard text.utf8.count <= 40, let parts = text.wholeMatch(of: #/r([0-9]+)e([0-9]+)/#),
            let request = Int64(parts.1), let event = Int64(parts.2)
        else { return nil }
        self.init(request: request, event: event)
    }
}
