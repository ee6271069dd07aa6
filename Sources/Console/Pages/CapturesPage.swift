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
        let lists = try await api.get("choices", as: Choices.self).lists
        func link(_ pairs: [(String, String?)]) -> String { "\(request.console)/captures" + Link.query(pairs) }
        let view = View(
            states: states.map { state in
                Tab(
                    name: state == "started" ? "in progress" : state.replacing("_", with: " "),
                    link: link([("status", state)]), isCurrent: state == status)
            },
            rows: Rows(list.captures.map { Row($0, now: now) }), isInProgress: status == "started",
            brands: Option.all(lists["brands"]), configTypes: configTypes(lists["config_types"]),
            nextLink: list.next_cursor.map { link([("status", status), ("cursor", $0)]) })
        return PagePart(section: "captures", title: "Captures", template: "captures", view: view)
    }

    /// The workflows that a capture can have. The command line does not name the one that it takes by itself.
    private static func configTypes(_ choices: [Choice]?) -> [Option] {
        (choices ?? []).map { Option(id: $0.id == "production" ? "" : $0.id, name: $0.name, isChosen: false) }
    }

    private struct View: Encodable, Sendable {
        let states: [Tab]
        let rows: Rows<Row>?
        let isInProgress: Bool
        let brands, configTypes: [Option]
        let nextLink: String?
    }

    private struct Row: Encodable, Sendable {
        let capture: CaptureInfo
        let statusStyle: String
        let isDebug: Bool
        let total: Int
        let missing: String?
        /// `nil` if the capture has ended.
        let end: Countdown?

        init(_ capture: CaptureInfo, now: Double) {
            self.capture = capture
            statusStyle = capture.status == .started ? "accent" : capture.status == .submitted ? "good" : "bad"
            isDebug = capture.config_type == "debug"
            total = capture.uploaded.count + capture.missing.count
            missing = capture.missing.joined(separator: ", ").nonEmpty
            end = capture.seconds_left.map {
                Countdown(
                    to: capture.expires_at, left: $0,
                    Progress(now - capture.started_at, of: capture.expires_at - capture.started_at))
            }
        }
    }
}
