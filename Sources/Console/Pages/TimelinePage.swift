import Foundation
import SimulationAPI

/// The timeline of the namespace: what happened, what is to come, and its snapshots.
enum TimelinePage {
    private static let maxEvents = 500
    private static let maxDue = 200
    /// The widths of the chart in seconds, with their names; the first is that of all events.
    private static let spans: [(id: String, name: String, seconds: Double)] = [
        ("all", "Everything", 0), ("5m", "5 minutes", 300), ("1h", "1 hour", 3600), ("6h", "6 hours", 21_600),
        ("2d", "2 days", 172_800),
    ]

    static func part(_ request: ConsoleRequest, _ api: ControlReader) async throws -> PagePart {
        let log = try await api.get("event-log", [("limit", "\(maxEvents)")], as: EventList.self)
        let dueList = try await api.get("due", [("limit", "\(maxDue)")], as: DueList.self)
        let clockState = try await api.get("clock", as: ClockState.self)
        let saved = try await api.get("snapshots", as: SnapshotList.self)
        let now = clockState.epoch
        let events = log.events.map {
            TimelineChart.Event(at: $0.at, kind: $0.kind, subject: $0.subject, data: $0.data)
        }
        let due = dueList.due.map { TimelineChart.Due(at: $0.at, kind: $0.kind, subject: $0.subject) }
        let snapshots = saved.snapshots.map { TimelineChart.Snapshot(name: $0.name, at: $0.clock.epoch) }
        let given = request.given("span", of: spans.map(\.id))
        let chosen = spans.first { $0.id == given } ?? Self.spans[0]
        // Two thirds of a window are past, and one third is to come.
        let range = chosen.seconds > 0 ? (now - chosen.seconds * 2 / 3, now + chosen.seconds / 3) : nil
        let chart = TimelineChart(
            events: events, due: due, snapshots: snapshots, now: now, range: range, request)
        let view: View = [
            "chart": [chart.view], "isEmpty": events.isEmpty && due.isEmpty,
            "spans": spans.map {
                [
                    "spanName": $0.name, "isCurrent": $0.id == chosen.id,
                    "spanLink": "\(request.console)/timeline" + Link.query([("span", $0.id)]),
                ] as View
            },
            "events": log.events.prefix(100).map { ChangeRow.view($0, request) },
            "hasMore": log.next_cursor != nil, "maxEvents": maxEvents,
        ]
        return PagePart(section: "timeline", title: "Timeline", template: "timeline", view: view)
    }
}
