import GRDB
import Storage

/// A session of a workflow, in which an app runs components.
package struct WorkflowSessionRecord: Sendable, Hashable {
    /// The place in the order of starts; assigned by the database.
    package var position: Int64
    package var id: String
    /// The organization whose code started it; `nil` in the mock environment.
    package var organizationID: Int64?
    /// `mock`, `sandbox` or `production`.
    package var environment: String
    package var workflowID: String
    /// The person that the session is for, a JSON object.
    package var client: String
    package var startedAt: Instant
    package var expiresAt: Instant
    package var endedAt: Instant?
    /// `cleared` or `expired`.
    package var endReason: String?

    package init(
        position: Int64 = 0, id: String, organizationID: Int64?, environment: String, workflowID: String,
        client: String, startedAt: Instant, expiresAt: Instant, endedAt: Instant? = nil, endReason: String? = nil
    ) {
        self.position = position
        self.id = id
        self.organizationID = organizationID
        self.environment = environment
        self.workflowID = workflowID
        self.client = client
        self.startedAt = startedAt
        self.expiresAt = expiresAt
        self.endedAt = endedAt
        self.endReason = endReason
    }

    fileprivate init(row: Row) {
        self.init(
            position: row[0], id: row[1], organizationID: row[2], environment: row[3], workflowID: row[4],
            client: row[5], startedAt: row[6], expiresAt: row[7], endedAt: row[8], endReason: row[9])
    }
}

/// A component that was started in a session.
package struct ComponentRunRecord: Sendable, Hashable {
    package var sessionID: String
    /// `document` or `biometrics`.
    package var component: String
    /// `started`, `finished` or `failed`.
    package var status: String
    package var documentType: String?
    package var issuingCountry: String?
    /// The place where the pictures are taken, a JSON object; `nil` if it is not known.
    package var location: String?
    package var startedAt: Instant
    package var endedAt: Instant?
    /// The name of the error that ended it.
    package var error: String?

    package init(
        sessionID: String, component: String, status: String, documentType: String? = nil,
        issuingCountry: String? = nil, location: String? = nil, startedAt: Instant, endedAt: Instant? = nil,
        error: String? = nil
    ) {
        self.sessionID = sessionID
        self.component = component
        self.status = status
        self.documentType = documentType
        self.issuingCountry = issuingCountry
        self.location = location
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.error = error
    }

    fileprivate init(row: Row) {
        self.init(
            sessionID: row[0], component: row[1], status: row[2], documentType: row[3], issuingCountry: row[4],
            location: row[5], startedAt: row[6], endedAt: row[7], error: row[8])
    }
}

extension Transaction {
    private static let sessionColumns = """
        position, id, organization_id, environment, workflow_id, client, started_at, expires_at, ended_at, end_reason
        """

    package func insertWorkflowSession(_ session: WorkflowSessionRecord) throws {
        try run(
            """
            INSERT INTO component_sessions
            (id, organization_id, environment, workflow_id, client, started_at, expires_at, ended_at, end_reason)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                session.id, session.organizationID, session.environment, session.workflowID, session.client,
                session.startedAt, session.expiresAt, session.endedAt, session.endReason,
            ])
    }

    package func workflowSession(id: String) throws -> WorkflowSessionRecord? {
        try first(
            "SELECT \(Self.sessionColumns) FROM component_sessions WHERE id = ?", [id],
            WorkflowSessionRecord.init(row:))
    }

    /// The sessions before a position, newest first.
    package func workflowSessions(before position: Int64, limit: Int) throws -> [WorkflowSessionRecord] {
        try all(
            "SELECT \(Self.sessionColumns) FROM component_sessions WHERE position < ? ORDER BY position DESC LIMIT ?",
            [position, limit], WorkflowSessionRecord.init(row:))
    }

    /// The sessions that have not ended, oldest first.
    package func openWorkflowSessions() throws -> [WorkflowSessionRecord] {
        try all(
            "SELECT \(Self.sessionColumns) FROM component_sessions WHERE ended_at IS NULL ORDER BY position",
            [], WorkflowSessionRecord.init(row:))
    }

    package func endWorkflowSession(id: String, at moment: Instant, reason: String) throws {
        try run(
            "UPDATE component_sessions SET ended_at = ?, end_reason = ? WHERE id = ?", [moment, reason, id])
    }

    // MARK: Components

    private static let runColumns = """
        session_id, component, status, document_type, issuing_country, location, started_at, ended_at, error
        """

    package func insertComponentRun(_ run: ComponentRunRecord) throws {
        try self.run(
            "INSERT INTO component_runs (\(Self.runColumns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                run.sessionID, run.component, run.status, run.documentType, run.issuingCountry, run.location,
                run.startedAt, run.endedAt, run.error,
            ])
    }

    package func componentRun(sessionID: String, component: String) throws -> ComponentRunRecord? {
        try first(
            "SELECT \(Self.runColumns) FROM component_runs WHERE session_id = ? AND component = ?",
            [sessionID, component], ComponentRunRecord.init(row:))
    }

    /// The components that were started in a session, by name.
    package func componentRuns(sessionID: String) throws -> [ComponentRunRecord] {
        try all(
            "SELECT \(Self.runColumns) FROM component_runs WHERE session_id = ? ORDER BY component DESC", [sessionID],
            ComponentRunRecord.init(row:))
    }

    package func endComponentRun(
        sessionID: String, component: String, status: String, at moment: Instant, error: String? = nil
    ) throws {
        try run(
            "UPDATE component_runs SET status = ?, ended_at = ?, error = ? WHERE session_id = ? AND component = ?",
            [status, moment, error, sessionID, component])
    }

    /// The number of components in each status and with each error, for those of a kind and of a client.
    package func componentRunCounts(
        component: String, clientID: String?
    ) throws -> [(status: String, error: String?, count: Int)] {
        try all(
            """
            SELECT r.status, r.error, COUNT(*) FROM component_runs r JOIN component_sessions s ON s.id = r.session_id
            WHERE r.component = ?1 AND (?2 IS NULL OR json_extract(s.client, '$.client_id') = ?2)
            GROUP BY r.status, r.error ORDER BY r.status, r.error
            """, [component, clientID]
        ) { (status: $0[0], error: $0[1], count: $0[2]) }
    }
}
