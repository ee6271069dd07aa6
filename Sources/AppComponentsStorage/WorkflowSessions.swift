import AppComponentsAPI
import Storage

/// A session of a workflow, in which an app runs components.
package struct WorkflowSessionRecord: Sendable, Hashable {
    /// The place in the order of starts; assigned by the database.
    package var position: Int64 = 0
    package var id: String
    /// The organization whose code started it; `nil` in the mock environment.
    package var organizationID: Int64?
    package var environment: WorkflowEnvironment
    package var workflowID: String
    /// The person that the session is for, a JSON object.
    package var client: String
    package var startedAt: Instant
    package var expiresAt: Instant
    package var endedAt: Instant?
    /// The state in which it ended, `cleared` or `expired`; `nil` until then.
    package var endReason: WorkflowSessionInfo.Status?

    package var status: WorkflowSessionInfo.Status { endReason ?? .active }

    package init(
        id: String, organizationID: Int64?, environment: WorkflowEnvironment, workflowID: String, client: String,
        startedAt: Instant, expiresAt: Instant
    ) {
        self.id = id
        self.organizationID = organizationID
        self.environment = environment
        self.workflowID = workflowID
        self.client = client
        self.startedAt = startedAt
        self.expiresAt = expiresAt
    }
}

extension WorkflowSessionRecord: StoredRecord {
    package static let table = Table(
        "component_sessions", key: .counted,
        blank: WorkflowSessionRecord(
            id: "", organizationID: nil, environment: .mock, workflowID: "", client: "", startedAt: .epoch,
            expiresAt: .epoch)
    ) {
        $0.column("position", \.position, .row, isAssigned: true)
        $0.identity("id", \.id, "workflow_session")
        $0.column("organization_id", \.organizationID, .row.orNull, refersTo: "organizations.id")
        $0.column("environment", \.environment, .word(WorkflowEnvironment.self))
        $0.column("workflow_id", \.workflowID, .text(1...64))
        $0.column("client", \.client, .named("client"))
        $0.column("started_at", \.startedAt, .time)
        $0.column("expires_at", \.expiresAt, .time)
        $0.column("ended_at", \.endedAt, .time.orNull, changes: true)
        $0.column("end_reason", \.endReason, .word(["cleared", "expired"]).orNull, changes: true)
        $0.check(
            "end_reason", where: "(r.ended_at IS NULL) <> (r.end_reason IS NULL)",
            "must be there exactly where ended_at is")
    }

    fileprivate static let end = table.update(by: \.id)
}

/// A component that was started in a session.
package struct ComponentRunRecord: Sendable, Hashable {
    package var sessionID: String
    package var component: Component
    package var status = ComponentState.Status.started
    package var documentType: IdentityDocument?
    package var issuingCountry: String?
    /// The place where the pictures are taken, a JSON object; `nil` if it is not known.
    package var location: String?
    package var startedAt: Instant
    package var endedAt: Instant?
    /// The name of the error that ended it.
    package var error: String?

    package init(
        sessionID: String, component: Component, documentType: IdentityDocument?, issuingCountry: String?,
        location: String?, startedAt: Instant
    ) {
        self.sessionID = sessionID
        self.component = component
        self.documentType = documentType
        self.issuingCountry = issuingCountry
        self.location = location
        self.startedAt = startedAt
    }
}

extension ComponentRunRecord: StoredRecord {
    package static let table = Table(
        "component_runs", key: .columns(["session_id", "component"]),
        blank: ComponentRunRecord(
            sessionID: "", component: .document, documentType: nil, issuingCountry: nil, location: nil,
            startedAt: .epoch)
    ) {
        $0.column("session_id", \.sessionID, .id("workflow_session"), refersTo: "component_sessions.id")
        $0.column("component", \.component, .word(Component.self))
        $0.column("status", \.status, .word(ComponentState.Status.self))
        $0.column("document_type", \.documentType, .word(IdentityDocument.self).orNull)
        $0.column("issuing_country", \.issuingCountry, .named("country").orNull)
        $0.column("location", \.location, .named("location").orNull)
        $0.column("started_at", \.startedAt, .time)
        $0.column("ended_at", \.endedAt, .time.orNull)
        $0.column("error", \.error, .named("workflow_error").orNull)
        $0.check(
            "document_type", where: "(r.component = 'document') <> (r.document_type IS NOT NULL)",
            "must be there exactly where the component is document")
    }
}

extension Transaction {
    package func workflowSession(id: String) throws -> WorkflowSessionRecord? { try record("WHERE id = ?", [id]) }

    /// The sessions before a position, newest first.
    package func workflowSessions(before position: Int64, limit: Int) throws -> [WorkflowSessionRecord] {
        try records("WHERE position < ? ORDER BY position DESC LIMIT ?", [position, limit])
    }

    /// The sessions that have not ended, oldest first.
    package func openWorkflowSessions() throws -> [WorkflowSessionRecord] {
        try records("WHERE ended_at IS NULL ORDER BY position")
    }

    /// Writes the end of a session.
    package func end(_ session: WorkflowSessionRecord) throws { try update(session, WorkflowSessionRecord.end) }

    // MARK: Components

    package func componentRun(sessionID: String, component: Component) throws -> ComponentRunRecord? {
        try record("WHERE session_id = ? AND component = ?", [sessionID, component])
    }

    /// The components that were started in a session, by name.
    package func componentRuns(sessionID: String) throws -> [ComponentRunRecord] {
        try records("WHERE session_id = ? ORDER BY component DESC", [sessionID])
    }

    /// - Parameter error: the name of the error that ends it; `nil` if it succeeds.
    package func end(_ run: ComponentRunRecord, error: String?, at moment: Instant) throws {
        let status: ComponentState.Status = error == nil ? .finished : .failed
        try self.run(
            "UPDATE component_runs SET status = ?, ended_at = ?, error = ? WHERE session_id = ? AND component = ?",
            [status.rawValue, moment, error, run.sessionID, run.component.rawValue])
    }

    /// The number of components in each status and with each error, for those of a kind and of a client.
    package func componentRunCounts(
        component: Component, clientID: String?
    ) throws -> [(status: ComponentState.Status, error: String?, count: Int)] {
        try all(
            """
            SELECT r.status, r.error, COUNT(*) FROM component_runs r JOIN component_sessions s ON s.id = r.session_id
            WHERE r.component = ?1 AND (?2 IS NULL OR json_extract(s.client, '$.client_id') = ?2)
            GROUP BY r.status, r.error ORDER BY r.status, r.error
            """, [component.rawValue, clientID]
        ) { try (status: $0[0], error: $0[1], count: $0[2]) }
    }
}
