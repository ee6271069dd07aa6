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

    private struct View: Encodable, Sendable {
        let spans: [Tab]
        /// `nil` if nothing has happened, and nothing is due.
        let chart: TimelineChart.View?
        let events: [ChangeRow]
        /// The number of events of the chart; `nil` if it has all.
        let maxEvents: Int?
    }

    static func part(_ request: ConsoleRequest, _ api: ControlReader) async throws -> PagePart {
        let log = try await api.get("event-log", [("limit", "\(maxEvents)")], as: EventList.self)
        let due = try await api.get("due", [("limit", "\(maxDue)")], as: DueList.self).due
        let now = try await api.get("clock", as: ClockState.self).epoch
        let saved = try await api.get("snapshots", as: SnapshotList.self)
        let given = request.given("span", of: spans.map(\.id))
        let chosen = spans.first { $0.id == given } ?? Self.spans[0]
        // Two thirds of a window are past, and one third is to come.
        let range = chosen.seconds > 0 ? (now - chosen.seconds * 2 / 3, now + chosen.seconds / 3) : nil
        let chart = TimelineChart(
            events: log.events, due: due, snapshots: saved.snapshots.map { ($0.name, $0.clock.epoch) }, now: now,
            range: range, request)
        let view = View(
            spans: spans.map {
                Tab(
                    name: $0.name, link: "\(request.console)/timeline" + Link.query([("span", $0.id)]),
                    isCurrent: $0.id == chosen.id)
            },
            chart: log.events.isEmpty && due.isEmpty ? nil : chart.view,
            events: log.events.prefix(100).map { ChangeRow($0, request) },
            maxEvents: log.next_cursor == nil ? nil : maxEvents)
        return PagePart(section: "timeline", title: "Timeline", template: "timeline", view: view)
    }
}
