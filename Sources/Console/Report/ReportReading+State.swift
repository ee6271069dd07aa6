import AppComponentsAPI
import EntrupyAPI
import SimulationAPI

// Events, deliveries, rules, users and sessions.

extension ReportReading {
    mutating func add(eventsAt now: Double, to view: inout View) async throws {
        var events: [StateChange] = []
        var cursor: String?
        repeat {
            let page = try await api.get("event-log", [("limit", "1000"), ("cursor", cursor)], as: EventList.self)
            events += page.events
            cursor = page.next_cursor
        } while cursor != nil && events.count < Report.maxEvents
        let due = try await api.get("due", [("limit", "100")], as: DueList.self).due
        var chart = self.space(Report.Space.chart)
        // A chart of fewer events where a long one has no space.
        for count in [500, 100, 20] where chart.count == 0 {
            let drawn = TimelineChart(
                events: events.prefix(count).reversed().map {
                    .init(at: $0.at, kind: $0.kind, subject: $0.subject, data: $0.data)
                }, due: due.map { .init(at: $0.at, kind: $0.kind, subject: $0.subject) }, snapshots: [], now: now,
                range: nil, request)
            try chart.add(["console": "", "base": ""].merging(drawn.view) { $1 }, "chart")
        }
        view["chart"] = taken(chart)
        var list = self.space(Report.Space.events)
        try list.add(all: events.map { event($0) }, "report-event")
        if cursor != nil || list.count < events.count {
            notes.append("Only the newest \(list.count) entries of the event log are here.")
        }
        view["events"] = taken(list)
        view["eventCount"] = ReportReasons.count(list.count, "event")
        var rows = ReportSpace(bytes: Report.Space.due)
        try rows.add(
            all: due.map {
                [
                    "dueName": EventWords.due($0.kind), "dueSubject": $0.subject, "dueAt": Moment.text($0.at),
                    "left": Moment.span($0.seconds_left),
                ]
            }, "report-due")
        note(rows.count, of: due.count, "things that are due")
        view["due"] = rows.html
        view["hasDue"] = !due.isEmpty
    }

    func event(_ change: StateChange) -> View {
        var view = ChangeRow.view(change, request)
        view["hasLink"] = false
        view["words"] = "kind:\(change.kind) subject:\(change.subject)".lowercased()
        return view
    }

    mutating func deliveries() async throws -> [WebhookDelivery] {
        var list: [WebhookDelivery] = []
        var cursor: String?
        repeat {
            let page = try await api.get(
                "webhook-deliveries", [("limit", "100"), ("cursor", cursor)], as: WebhookDeliveryList.self)
            list += page.deliveries
            cursor = page.next_cursor
        } while cursor != nil && list.count < Report.maxDeliveries
        if cursor != nil { notes.append("Only the newest \(list.count) deliveries were looked at.") }
        return list
    }

    mutating func add(_ deliveries: [WebhookDelivery], to view: inout View) throws {
        var space = self.space(Report.Space.deliveries)
        try space.add(all: deliveries.map { delivery($0) }, "report-delivery")
        note(space.count, of: deliveries.count, "deliveries")
        view["deliveries"] = taken(space)
    }

    private func delivery(_ delivery: WebhookDelivery) -> View {
        var view = DeliveryRow.view(delivery, request)
        view["body"] = String(PrettyJSON.text(delivery.body).prefix(Report.maxBody))
        view["words"] = "event:\(delivery.event) status:\(delivery.status) \(delivery.entrupy_id ?? "") \(delivery.id)"
            .lowercased()
        view["attemptList"] = delivery.attempts.map { attempt -> View in
            [
                "number": attempt.number, "at": Moment.text(attempt.at),
                "attemptStatus": attempt.status.map { "\($0)" } ?? "no answer",
                "error": ReportReasons.short(attempt.error ?? ""), "answer": ReportReasons.short(attempt.answer ?? ""),
                "hasAnswer": !(attempt.answer ?? "").isEmpty,
                "took": "\((attempt.duration_ms * 10).rounded() / 10) ms",
            ]
        }
        return view
    }

    mutating func add(_ faults: [FaultInfo], _ outcomes: [OutcomeInfo], to view: inout View) throws {
        var first = self.space(Report.Space.rules / 2)
        try first.add(
            all: faults.map {
                [
                    "ruleID": $0.id, "match": PrettyJSON.line($0.match), "effect": PrettyJSON.line($0.effect),
                    "hits": "\($0.hits) of \($0.seen) matches",
                ]
            }, "report-rule")
        view["faults"] = taken(first)
        var second = self.space(Report.Space.rules / 2)
        try second.add(
            all: outcomes.map {
                [
                    "ruleID": $0.id, "match": PrettyJSON.line($0.match), "effect": $0.result,
                    "hits": "\($0.hits) decided",
                ]
            }, "report-rule")
        note(first.count, of: faults.count, "faults")
        note(second.count, of: outcomes.count, "outcome rules")
        view["hasFaults"] = !faults.isEmpty
        view["outcomes"] = taken(second)
        view["hasOutcomes"] = !outcomes.isEmpty
    }

    mutating func add(usersTo view: inout View) async throws {
        let page = try await api.get("users", [("limit", "200")], as: UserInfoList.self)
        var space = self.space(Report.Space.users)
        try space.add(
            all: page.users.map {
                [
                    "user": $0.username, "email": $0.email ?? "", "sessionCount": $0.sessions,
                    "submissions": $0.submissions,
                ]
            }, "report-user")
        if page.next_cursor != nil || space.isFull { notes.append("Only \(space.count) users are here.") }
        view["users"] = taken(space)
        let sessions = try await api.get("components/sessions", [("limit", "200")], as: WorkflowSessionList.self)
        var others = self.space(Report.Space.sessions)
        try others.add(
            all: sessions.sessions.map {
                [
                    "sessionID": $0.session_id, "status": $0.status, "workflow": $0.workflow?.name ?? "",
                    "json": PrettyJSON.text($0),
                ]
            }, "report-session")
        if sessions.next_cursor != nil || others.isFull {
            notes.append("Only \(others.count) sessions of App Components are here.")
        }
        view["sessions"] = taken(others)
        view["hasSessions"] = !sessions.sessions.isEmpty
    }
}
