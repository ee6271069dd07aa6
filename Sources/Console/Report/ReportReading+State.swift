import AppComponentsAPI
import EntrupyAPI
import SimulationAPI

// Events, deliveries, rules, users and sessions.

extension ReportReading {
    mutating func add(eventsAt now: Double, to view: inout ReportView) async throws {
        let (events, isCut) = try await allPages(max: Report.maxEvents) { [api] cursor in
            let page = try await api.get("event-log", [("limit", "1000"), ("cursor", cursor)], as: EventList.self)
            return (page.events, page.next_cursor)
        }
        let due = try await api.get("due", [("limit", "100")], as: DueList.self).due
        var chart = self.space(Report.Space.chart)
        // A chart of fewer events where a long one has no space.
        for count in [500, 100, 20] where chart.count == 0 {
            let drawn = TimelineChart(
                events: events.prefix(count).reversed(), due: due, snapshots: [], now: now, range: nil, request)
            try chart.add(drawn.view, "chart")
        }
        view.chart = taken(chart)
        var list = self.space(Report.Space.events)
        try list.add(
            all: events.map {
                Event(row: unlinked($0), words: "kind:\($0.kind) subject:\($0.subject)".lowercased())
            }, "report-event")
        if isCut || list.count < events.count {
            notes.append("Only the newest \(list.count) entries of the event log are here.")
        }
        view.events = taken(list)
        view.eventCount = Counted.text(list.count, "event")
        var rows = ReportSpace(left: Report.Space.due)
        try rows.add(all: due.map { Frame.Due($0, now: now, request) }, "report-due")
        note(rows.count, of: due.count, "things that are due")
        view.due = due.isEmpty ? nil : rows.html
    }

    private struct Event: Encodable, Sendable {
        let row: ChangeRow
        let words: String
    }

    /// A change without its link: a file has no other pages.
    func unlinked(_ change: StateChange) -> ChangeRow {
        var row = ChangeRow(change, request)
        row.link = nil
        return row
    }

    mutating func deliveries() async throws -> [WebhookDelivery] {
        let (list, isCut) = try await allPages(max: Report.maxDeliveries) { [api] cursor in
            let page = try await api.get(
                "webhook-deliveries", [("limit", "100"), ("cursor", cursor)], as: WebhookDeliveryList.self)
            return (page.deliveries, page.next_cursor)
        }
        if isCut { notes.append("Only the newest \(list.count) deliveries were looked at.") }
        return list
    }

    mutating func add(_ deliveries: [WebhookDelivery], now: Double, to view: inout ReportView) throws {
        view.deliveries = try part(
            deliveries.map { delivery($0, now: now) }, "report-delivery", Report.Space.deliveries, "deliveries")
    }

    private struct Delivery: Encodable, Sendable {
        let row: DeliveryRow
        let body, words: String
        let attemptList: [DeliveryAttempt]
    }

    private func delivery(_ delivery: WebhookDelivery, now: Double) -> Delivery {
        let words = "event:\(delivery.event) status:\(delivery.status) \(delivery.entrupy_id ?? "") \(delivery.id)"
        return Delivery(
            row: DeliveryRow(delivery, now: now), body: String(PrettyJSON.text(delivery.body).prefix(Report.maxBody)),
            words: words.lowercased(),
            attemptList: delivery.attempts.map { DeliveryAttempt($0, shortened: ReportReasons.short) })
    }

    mutating func add(_ faults: [FaultInfo], _ outcomes: [OutcomeInfo], to view: inout ReportView) throws {
        let shownFaults = try part(
            faults.map {
                [
                    "ruleID": $0.id, "match": PrettyJSON.line($0.match), "effect": PrettyJSON.line($0.effect),
                    "hits": "\($0.hits) of \($0.seen) matches",
                ]
            }, "report-rule", Report.Space.rules / 2, "faults")
        view.faults = faults.isEmpty ? nil : shownFaults
        let shownOutcomes = try part(
            outcomes.map {
                [
                    "ruleID": $0.id, "match": PrettyJSON.line($0.match), "effect": $0.result,
                    "hits": "\($0.hits) decided",
                ]
            }, "report-rule", Report.Space.rules / 2, "outcome rules")
        view.outcomes = outcomes.isEmpty ? nil : shownOutcomes
    }

    mutating func add(usersTo view: inout ReportView) async throws {
        let page = try await api.get("users", [("limit", "200")], as: UserInfoList.self)
        var space = self.space(Report.Space.users)
        try space.add(all: page.users, "report-user")
        if page.next_cursor != nil || space.isFull { notes.append("Only \(space.count) users are here.") }
        view.users = taken(space)
        let sessions = try await api.get("components/sessions", [("limit", "200")], as: WorkflowSessionList.self)
        var others = self.space(Report.Space.sessions)
        try others.add(
            all: sessions.sessions.map { WorkflowSession(session: $0, json: PrettyJSON.text($0)) }, "report-session")
        if sessions.next_cursor != nil || others.isFull {
            notes.append("Only \(others.count) sessions of App Components are here.")
        }
        let shownSessions = taken(others)
        view.sessions = sessions.sessions.isEmpty ? nil : shownSessions
    }

    private struct WorkflowSession: Encodable, Sendable {
        let session: WorkflowSessionInfo
        let json: String
    }
}
