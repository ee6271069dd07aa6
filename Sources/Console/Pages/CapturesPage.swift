import EntrupyAPI
import SimulationAPI

/// The captures in progress, with the time left, or all captures.
enum CapturesPage {
    private static let rows = 100
    private static let states = ["started", "submitted", "cancelled", "timed_out", "all"]

    static func part(_ request: ConsoleRequest, _ api: ControlReader) async throws -> PagePart {
        let status = request.given("status", of: states) ?? "started"
        let list = try await api.get(
            "captures", [("status", status), ("limit", "\(rows)"), ("cursor", request.given("cursor"))],
            as: CaptureInfoList.self)
        let now = try await api.get("clock", as: ClockState.self).epoch
        let view: View = [
            "states": states.map {
                [
                    "name": $0 == "started" ? "in progress" : $0.replacing("_", with: " "), "isCurrent": $0 == status,
                    "stateLink": "\(request.console)/captures" + Link.query([("status", $0)]),
                ] as View
            },
            "rows": list.captures.map { row($0, now: now, request) }, "hasRows": !list.captures.isEmpty,
            "isEmpty": list.captures.isEmpty, "isInProgress": status == "started",
            "hasNext": list.next_cursor != nil,
            "nextLink": "\(request.console)/captures" + Link.query([("status", status), ("cursor", list.next_cursor)]),
        ]
        return PagePart(section: "captures", title: "Captures", template: "captures", view: view)
    }

    private static func row(_ capture: CaptureInfo, now: Double, _ request: ConsoleRequest) -> View {
        let length = max(1, capture.expires_at - capture.started_at)
        let state = capture.status.rawValue
        return [
            "key": capture.id, "captureID": capture.id, "user": capture.username,
            "userLink": "\(request.console)/users/\(Link.escaped(capture.username))",
            "customerID": capture.customer_item_id ?? "", "status": state.replacing("_", with: " "),
            "statusStyle": state == "started" ? "accent" : state == "submitted" ? "good" : "bad",
            "isDebug": capture.config_type == "debug", "isOpen": capture.seconds_left != nil,
            "left": Moment.span(capture.seconds_left ?? 0), "leftSeconds": "\(max(0, capture.seconds_left ?? 0))",
            "endsISO": Moment.iso(capture.expires_at), "max": "\(length)",
            "value": "\(min(length, max(0, now - capture.started_at)))",
            "started": Moment.text(capture.started_at), "uploaded": "\(capture.uploaded.count)",
            "total": "\(capture.uploaded.count + capture.missing.count)",
            "missing": capture.missing.joined(separator: ", "), "hasMissing": !capture.missing.isEmpty,
            "hasItem": capture.entrupy_id != nil, "itemID": capture.entrupy_id ?? "",
            "itemLink": "\(request.console)/items/\(Link.escaped(capture.entrupy_id ?? ""))",
        ]
    }
}
