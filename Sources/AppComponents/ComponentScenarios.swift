import AppComponentsAPI
import AppComponentsStorage
import Simulation
import SimulationAPI

extension ScenarioAction.Kind {
    /// Ends all sessions, as after their time.
    private static let expireWorkflowSessions = Self("expire_workflow_sessions", members: []) { _, _ in
        { job in
            for session in try job.transaction.openWorkflowSessions() {
                try job.unschedule(.workflowSessionExpiry, session.id, at: session.expiresAt)
                try WorkflowSessions.expire(id: session.id, job)
            }
        }
    }

    /// Rejects a client for every organization.
    private static let rejectClient = Self("reject_client", members: ["client_id"]) { fields, _ in
        let id = fields.requiredText("client_id", maxBytes: 64)
        return { job in
            for organization in try job.transaction.organizations() {
                try WorkflowFailure.reject(id, organization.id, job)
            }
        }
    }

    /// The kinds of App Components.
    static let ofComponents: [Self] = [expireWorkflowSessions, rejectClient]
}

extension ScenarioExpectation.Kind {
    private static let components = Self(name: "component") { fields, _ in
        var component = fields.object("component", known: ["name", "status", "error", "client_id"])
        let name = Component(rawValue: component.requiredWord("name", Component.names)) ?? .document
        let status = component.word("status", ComponentState.Status.self)
        let error = component.word("error", WorkflowFailure.names)
        let client = component.text("client_id")
        let text =
            "\(name.rawValue)\(client.map { " of \($0)" } ?? "") is \(status?.rawValue ?? "there")\(error.map { ", \($0)" } ?? "")"
        return .init(text: text) { job, amount in
            let counts = try job.transaction.componentRunCounts(component: name, clientID: client)
            let found = counts.filter { count in
                [nil, count.status].contains(status)
                    && (error.map { count.error?.isIdentical(to: $0) ?? false } ?? true)
            }.reduce(0) { $0 + $1.count }
            if amount.contains(found) { return (found, nil) }
            let others = counts.map { "\($0.count) \($0.status.rawValue)\($0.error.map { " (\($0))" } ?? "")" }
            return (
                found,
                amount.tally(found)
                    + (others.isEmpty ? "; none was started" : "; there are \(others.joined(separator: ", "))")
            )
        }
    }

    /// The kinds of App Components.
    static let ofComponents: [Self] = [components]
}
