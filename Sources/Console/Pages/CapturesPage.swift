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
        func link(_ pairs: [(String, String?)]) -> String { "\(request.console)/captures" + Link.query(pairs) }
        let view = View(
            states: states.map { state in
                Tab(
                    name: state == "started" ? "in progress" : state.replacing("_", with: " "),
                    link: link([("status", state)]), isCurrent: state == status)
            },
            rows: Rows(list.captures.map { Row($0, now: now, request) }), isInProgress: status == "started",
            nextLink: list.next_cursor.map { link([("status", status), ("cursor", $0)]) })
        return PagePart(section: "captures", title: "Captures", template: "captures", view: view)
    }

    private struct View: Encodable, Sendable {
        let states: [Tab]
        let rows: Rows<Row>?
        let isInProgress: Bool
        let nextLink: String?
    }

    private struct Row: Encodable, Sendable {
        let captureID, customerID, user, userLink, status, statusStyle: String
        let isDebug: Bool
        let started: String
        let uploaded, total: Int
        let missing: String?
        /// The time that is left; `nil` if the capture has ended.
        let open: Open?
        let itemID: String?
        let itemLink: String

        struct Open: Encodable, Sendable {
            let left, leftSeconds, endsISO: String
            let progress: Progress
        }

        init(_ capture: CaptureInfo, now: Double, _ request: ConsoleRequest) {
            let state = capture.status.rawValue
            captureID = capture.id
            customerID = capture.customer_item_id ?? ""
            user = capture.username
            userLink = "\(request.console)/users/\(Link.escaped(capture.username))"
            status = state.replacing("_", with: " ")
            statusStyle = state == "started" ? "accent" : state == "submitted" ? "good" : "bad"
            isDebug = capture.config_type == "debug"
            started = Moment.text(capture.started_at)
            uploaded = capture.uploaded.count
            total = capture.uploaded.count + capture.missing.count
            missing = capture.missing.joined(separator: ", ").nonEmpty
            open = capture.seconds_left.map {
                Open(
                    left: Moment.span($0), leftSeconds: "\(max(0, $0))", endsISO: Moment.iso(capture.expires_at),
                    progress: Progress(now - capture.started_at, of: capture.expires_at - capture.started_at))
            }
            itemID = capture.entrupy_id
            itemLink = "\(request.console)/items/\(Link.escaped(capture.entrupy_id ?? ""))"
        }
    }
}
