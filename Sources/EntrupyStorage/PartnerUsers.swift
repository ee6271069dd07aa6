import Storage

/// A user of the example partner backend.
package struct PartnerUserRecord: Sendable, Hashable {
    package var organizationID: Int64
    package var username: String
    package var password: String
    package var uniqueUserID: String
    package var email: String
    package var firstName: String?
    package var lastName: String?

    package init(
        organizationID: Int64, username: String, password: String, uniqueUserID: String, email: String,
        firstName: String?, lastName: String?
    ) {
        self.organizationID = organizationID
        self.username = username
        self.password = password
        self.uniqueUserID = uniqueUserID
        self.email = email
        self.firstName = firstName
        self.lastName = lastName
    }
}

extension PartnerUserRecord: StoredRecord {
    package static let table = Table(
        "partner_users",
        blank: PartnerUserRecord(
            organizationID: 0, username: "", password: "", uniqueUserID: "", email: "", firstName: nil, lastName: nil)
    ) {
        $0.column("organization_id", \.organizationID, .row, changes: true, refersTo: "organizations.id")
        $0.column("username", \.username, .name)
        $0.column("password", \.password, .name.secret, changes: true)
        $0.column("unique_user_id", \.uniqueUserID, .named("unique_user_id"), changes: true)
        $0.column("email", \.email, .name, changes: true)
        $0.column("first_name", \.firstName, .name.orNull, changes: true)
        $0.column("last_name", \.lastName, .name.orNull, changes: true)
    }

    fileprivate static let overwrite = table.update(by: \.username)
}

extension Transaction {
    package func partnerUser(username: String) throws -> PartnerUserRecord? {
        try record("WHERE username = ?", [username])
    }

    /// The user that a token of the example backend belongs to.
    package func partnerUser(token: String) throws -> PartnerUserRecord? {
        try record("WHERE username = (SELECT username FROM partner_sessions WHERE token = ?)", [token])
    }

    package func insertPartnerSession(token: String, username: String) throws {
        try run("INSERT INTO partner_sessions VALUES (?, ?)", [token, username])
    }

    /// An organization's users of the example backend, sorted by user name.
    package func partnerUsers(organizationID: Int64) throws -> [PartnerUserRecord] {
        try records("WHERE organization_id = ? ORDER BY username", [organizationID])
    }

    /// Adds a user of the example backend, or overwrites the user of that name.
    package func upsertPartnerUser(_ user: PartnerUserRecord) throws {
        if try partnerUser(username: user.username) == nil {
            try insert(user)
        } else {
            try update(user, PartnerUserRecord.overwrite)
        }
    }
}
