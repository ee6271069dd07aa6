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
            nextLink: sessions.next_cursor.map { "\(request.console)/components" + Link.query([("cursor", $0)]) })
        return PagePart(section: "components", title: "App Components", template: "components", view: view)
    }

    private struct View: Encodable, Sendable {
        let workflows: [Choice]
        let rows: Rows<Row>?
        let nextLink: String?
    }

    private struct Row: Encodable, Sendable {
        let session: WorkflowSessionInfo
        let statusStyle: String
        /// `nil` if the session has ended.
        let end: Countdown?
        let components: [Part]

        struct Part: Encodable, Sendable {
            let state: ComponentState
            let stateStyle: String
            /// The number of pictures that have been uploaded; `nil` if the component wants none.
            let uploaded: Int?
        }

        init(_ session: WorkflowSessionInfo, now: Double) {
            self.session = session
            statusStyle = session.status == .active ? "accent" : "warn"
            end = session.available ? session.expires_at.map { Countdown(to: $0, left: $0 - now) } : nil
            components = (session.components ?? []).map { part in
                Part(
                    state: part,
                    stateStyle: part.status == .finished ? "good" : part.status == .failed ? "bad" : "accent",
                    uploaded: part.images.isEmpty ? nil : part.images.count(where: \.isUploaded))
            }
        }
    }
}
