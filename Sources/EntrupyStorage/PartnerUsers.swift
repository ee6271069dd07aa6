import GRDB
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

extension Transaction {
    package func insertPartnerUser(_ user: PartnerUserRecord) throws {
        try run(
            "INSERT INTO partner_users VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                user.organizationID, user.username, user.password, user.uniqueUserID, user.email, user.firstName,
                user.lastName,
            ])
    }

    private static let partnerUserColumns = """
        organization_id, username, password, unique_user_id, email, first_name, last_name
        """

    package func partnerUser(username: String) throws -> PartnerUserRecord? {
        try first(
            "SELECT \(Self.partnerUserColumns) FROM partner_users WHERE username = ?", [username],
            PartnerUserRecord.init(row:))
    }

    /// The user that a token of the example backend belongs to.
    package func partnerUser(token: String) throws -> PartnerUserRecord? {
        try first(
            """
            SELECT \(Self.partnerUserColumns) FROM partner_users
            WHERE username = (SELECT username FROM partner_sessions WHERE token = ?)
            """, [token], PartnerUserRecord.init(row:))
    }

    package func insertPartnerSession(token: String, username: String) throws {
        try run("INSERT INTO partner_sessions VALUES (?, ?)", [token, username])
    }

    /// An organization's users of the example backend, sorted by user name.
    package func partnerUsers(organizationID: Int64) throws -> [PartnerUserRecord] {
        try all(
            "SELECT \(Self.partnerUserColumns) FROM partner_users WHERE organization_id = ? ORDER BY username",
            [organizationID], PartnerUserRecord.init(row:))
    }

    /// Adds a user of the example backend, or overwrites the user of that name.
    package func upsertPartnerUser(_ user: PartnerUserRecord) throws {
        guard try partnerUser(username: user.username) != nil else { return try insertPartnerUser(user) }
        try run(
            """
            UPDATE partner_users SET organization_id = ?, password = ?, unique_user_id = ?, email = ?, first_name = ?,
                last_name = ? WHERE username = ?
            """,
            [
                user.organizationID, user.password, user.uniqueUserID, user.email, user.firstName, user.lastName,
                user.username,
            ])
    }
}

extension PartnerUserRecord {
    fileprivate init(row: Row) {
        self.init(
            organizationID: row[0], username: row[1], password: row[2], uniqueUserID: row[3], email: row[4],
            firstName: row[5], lastName: row[6])
    }
}
