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
        let view: View = [
            "workflows": Options.view(lists["workflows"], chosen: nil),
            "clients": Options.view(lists["clients"], chosen: nil),
            "rows": sessions.sessions.map { row($0, now: now) }, "hasRows": !sessions.sessions.isEmpty,
            "isEmpty": sessions.sessions.isEmpty, "hasNext": sessions.next_cursor != nil,
            "nextLink": "\(request.console)/components" + Link.query([("cursor", sessions.next_cursor)]),
            "shellURL": Shell.quoted(request.url),
        ]
        return PagePart(section: "components", title: "App Components", template: "components", view: view)
    }

    private static func row(_ session: WorkflowSessionInfo, now: Double) -> View {
        let left = session.expires_at.map { $0 - now }
        return [
            "key": session.session_id, "sessionID": session.session_id, "status": session.status.rawValue,
            "statusStyle": session.status == .active ? "accent" : "warn",
            "workflow": session.workflow?.name ?? "", "environment": session.networkEnvironment?.rawValue ?? "",
            "started": session.started_at.map { Moment.text($0) } ?? "",
            "hasLeft": session.available && left != nil, "left": Moment.span(left ?? 0),
            "leftSeconds": "\(max(0, left ?? 0))",
            "components": (session.components ?? []).map { part in
                [
                    "component": part.component.rawValue, "state": part.status.rawValue,
                    "stateStyle": part.status == .finished ? "good" : part.status == .failed ? "bad" : "accent",
                    "documentType": part.documentType ?? "", "error": part.error ?? "", "hasError": part.error != nil,
                    "uploaded": part.images.count(where: \.isUploaded), "wanted": part.images.count,
                    "hasImages": !part.images.isEmpty,
                ] as View
            },
            "hasComponents": !(session.components ?? []).isEmpty,
        ]
    }
}
