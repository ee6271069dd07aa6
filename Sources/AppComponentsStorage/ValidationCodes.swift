import GRDB
import Storage

/// A code with which an app starts one session of a workflow.
package struct ValidationCodeRecord: Sendable, Hashable {
    package var code: String
    package var organizationID: Int64
    package var workflowID: String
    /// The person that the code is for, a JSON object.
    package var client: String
    package var createdAt: Instant
    package var expiresAt: Instant
    package var usedAt: Instant?

    package init(
        code: String, organizationID: Int64, workflowID: String, client: String, createdAt: Instant,
        expiresAt: Instant, usedAt: Instant? = nil
    ) {
        self.code = code
        self.organizationID = organizationID
        self.workflowID = workflowID
        self.client = client
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.usedAt = usedAt
    }
}

extension Transaction {
    package func insertValidationCode(_ code: ValidationCodeRecord) throws {
        try run(
            "INSERT INTO component_codes VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                code.code, code.organizationID, code.workflowID, code.client, code.createdAt, code.expiresAt,
                code.usedAt,
            ])
    }

    package func validationCode(_ code: String) throws -> ValidationCodeRecord? {
        try first(
            """
            SELECT code, organization_id, workflow_id, client, created_at, expires_at, used_at FROM component_codes
            WHERE code = ?
            """, [code]
        ) {
            ValidationCodeRecord(
                code: $0[0], organizationID: $0[1], workflowID: $0[2], client: $0[3], createdAt: $0[4],
                expiresAt: $0[5], usedAt: $0[6])
        }
    }

    package func useValidationCode(_ code: String, at moment: Instant) throws {
        try run("UPDATE component_codes SET used_at = ? WHERE code = ?", [moment, code])
    }

    /// Records that an organization's client was rejected.
    package func rejectClient(_ clientID: String, organizationID: Int64, at moment: Instant) throws {
        try run("INSERT OR IGNORE INTO component_rejections VALUES (?, ?, ?)", [organizationID, clientID, moment])
    }

    /// The time at which an organization's client was rejected; `nil` if it was not.
    package func rejection(ofClient clientID: String, organizationID: Int64) throws -> Instant? {
        try first(
            "SELECT at FROM component_rejections WHERE organization_id = ? AND client_id = ?",
            [organizationID, clientID]
        ) { $0[0] }
    }
}
