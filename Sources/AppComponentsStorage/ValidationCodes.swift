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
        expiresAt: Instant
    ) {
        self.code = code
        self.organizationID = organizationID
        self.workflowID = workflowID
        self.client = client
        self.createdAt = createdAt
        self.expiresAt = expiresAt
    }
}

extension ValidationCodeRecord: StoredRecord {
    package static let table = Table(
        "component_codes", key: .columns(["code"]),
        blank: ValidationCodeRecord(
            code: "", organizationID: 0, workflowID: "", client: "", createdAt: .epoch, expiresAt: .epoch)
    ) {
        $0.identity("code", \.code, "validation_code")
        $0.column("organization_id", \.organizationID, .row, refersTo: "organizations.id")
        $0.column("workflow_id", \.workflowID, .text(1...64))
        $0.column("client", \.client, .named("client"))
        $0.column("created_at", \.createdAt, .time)
        $0.column("expires_at", \.expiresAt, .time)
        $0.column("used_at", \.usedAt, .time.orNull)
    }
}

extension Transaction {
    package func validationCode(_ code: String) throws -> ValidationCodeRecord? { try record("WHERE code = ?", [code]) }

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
        ) { try $0[0] }
    }
}
