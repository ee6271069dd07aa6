import AppComponentsAPI
import SimulationAPI

/// The workflows and sessions of App Components.
enum ComponentsPage {
    private static let rows = 50

    static func part(_ request: ConsoleRequest, _ api: ControlReader) async throws -> PagePart {
        let sessions = try await api.get(
            "components/sessions", [("limit", "\(rows)"), ("cursor", request.given("cursor"))],
            as: WorkflowSessionList.self)
        let lists = try await api.get("choices", as: Choices.self).lists
        let now = try await api.get("clock", as: ClockState.self).epoch
        let view = View(
            workflows: lists["workflows"] ?? [], rows: Rows(sessions.sessions.map { Row($0, now: now) }),
            nextLink: sessions.next_cursor.map { "\(request.console)/components" + Link.query([("cursor", $0)]) },
            shellURL: Shell.quoted(request.url))
        return PagePart(section: "components", title: "App Components", template: "components", view: view)
    }

    private struct View: Encodable, Sendable {
        let workflows: [Choice]
        let rows: Rows<Row>?
        let nextLink: String?
        let shellURL: String
    }

    private struct Row: Encodable, Sendable {
        let sessionID, status, statusStyle, workflow, environment, started: String
        /// The time that is left; `nil` if the session has ended.
        let left: Left?
        let components: [Part]

        struct Left: Encodable, Sendable {
            let text, seconds: String
        }

        struct Part: Encodable, Sendable {
            let state: ComponentState
            let stateStyle: String
            /// The number of pictures that have been uploaded; `nil` if the component wants none.
            let uploaded: Int?
            let wanted: Int
        }

        init(_ session: WorkflowSessionInfo, now: Double) {
            sessionID = session.session_id
            status = session.status.rawValue
            statusStyle = session.status == .active ? "accent" : "warn"
            workflow = session.workflow?.name ?? ""
            environment = session.networkEnvironment?.rawValue ?? ""
            started = session.started_at.map { Moment.text($0) } ?? ""
            left =
                !session.available
                ? nil
                : session.expires_at.map { Left(text: Moment.span($0 - now), seconds: "\(max(0, $0 - now))") }
            components = (session.components ?? []).map { part in
                Part(
                    state: part,
                    stateStyle: part.status == .finished ? "good" : part.status == .failed ? "bad" : "accent",
                    uploaded: part.images.isEmpty ? nil : part.images.count(where: \.isUploaded),
                    wanted: part.images.count)
            }
        }
    }
}
