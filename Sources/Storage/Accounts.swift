import GRDB

/// A customer of the platform.
package struct OrganizationRecord: Sendable, Hashable {
    package var id: Int64
    package var name: String
    /// Whether its users may flag through the SDK [S].
    package var sdkFlagging: Bool
}

/// An end user of a customer's app.
package struct UserRecord: Sendable, Hashable {
    package var id: Int64
    package var organizationID: Int64
    /// `OrganizationName-unique_user_id`.
    package var username: String
    package var uniqueUserID: String
    package var email: String?
    package var firstName: String?
    package var lastName: String?
    /// Whether the user is a test user, without a login limit [S].
    package var isTestUser: Bool
    /// The number of items the user has submitted, for the quota.
    package var submissions: Int
    package var createdAt: Instant
    /// The user's own rate limits, a JSON document; `nil` if the namespace's apply.
    package var rateLimits: String?
}

extension OrganizationRecord: StoredRecord {
    package static let table = Table("organizations", blank: OrganizationRecord(id: 0, name: "", sdkFlagging: true)) {
        $0.column("id", \.id, .row, isAssigned: true)
        $0.column("name", \.name, .text(1...100))
        $0.column("sdk_flagging", \.sdkFlagging, .flag)
    }
}

extension UserRecord: StoredRecord {
    package static let table = Table(
        "users",
        blank: UserRecord(
            id: 0, organizationID: 0, username: "", uniqueUserID: "", email: nil, firstName: nil, lastName: nil,
            isTestUser: false, submissions: 0, createdAt: .epoch, rateLimits: nil)
    ) {
        $0.column("id", \.id, .row, isAssigned: true)
        $0.column("organization_id", \.organizationID, .row, refersTo: "organizations.id")
        $0.column("username", \.username, .text(1...300))
        $0.column("unique_user_id", \.uniqueUserID, .named("unique_user_id"))
        $0.column("email", \.email, .name.orNull, changes: true)
        $0.column("first_name", \.firstName, .name.orNull, changes: true)
        $0.column("last_name", \.lastName, .name.orNull, changes: true)
        $0.column("is_test_user", \.isTestUser, .flag, changes: true)
        $0.column("submissions", \.submissions, .count)
        $0.column("created_at", \.createdAt, .time)
        $0.column("rate_limits", \.rateLimits, .named("rate_limits").orNull)
    }

    fileprivate static let change = table.update(by: \.id)
}

extension Transaction {
    /// Adds an organization and returns its row id.
    package func insertOrganization(name: String, sdkFlagging: Bool = true) throws -> Int64 {
        try run("INSERT INTO organizations (name, sdk_flagging) VALUES (?, ?)", [name, sdkFlagging])
        return database.lastInsertedRowID
    }

    package func insertAPIToken(_ token: String, organizationID: Int64) throws {
        try run("INSERT INTO api_tokens VALUES (?, ?)", [token, organizationID])
    }

    /// The first of an organization's API tokens, in the order of their texts.
    package func apiToken(organizationID: Int64) throws -> String? {
        try first("SELECT token FROM api_tokens WHERE organization_id = ? ORDER BY token LIMIT 1", [organizationID]) {
            try $0[0]
        }
    }

    /// All API tokens of an organization, sorted.
    package func apiTokens(organizationID: Int64) throws -> [String] {
        try all("SELECT token FROM api_tokens WHERE organization_id = ? ORDER BY token", [organizationID]) { try $0[0] }
    }

    /// The organization that an API token belongs to.
    package func organization(apiToken: String) throws -> OrganizationRecord? {
        try record("WHERE id = (SELECT organization_id FROM api_tokens WHERE token = ?)", [apiToken])
    }

    package func organization(id: Int64) throws -> OrganizationRecord? { try record("WHERE id = ?", [id]) }

    /// Adds a user and returns its row id.
    package func insertUser(
        organizationID: Int64, username: String, uniqueUserID: String, email: String?, firstName: String?,
        lastName: String?, isTestUser: Bool, createdAt: Instant
    ) throws -> Int64 {
        try insert(
            UserRecord(
                id: 0, organizationID: organizationID, username: username, uniqueUserID: uniqueUserID, email: email,
                firstName: firstName, lastName: lastName, isTestUser: isTestUser, submissions: 0,
                createdAt: createdAt, rateLimits: nil))
    }

    /// Sets the creation time of all users of a new namespace.
    package func stampSeedUsers(at moment: Instant) throws {
        try run("UPDATE users SET created_at = ?", [moment])
    }

    package func user(username: String) throws -> UserRecord? { try record("WHERE username = ?", [username]) }

    package func user(id: Int64) throws -> UserRecord? { try record("WHERE id = ?", [id]) }

    /// Users before a row id, newest first.
    ///
    /// - Parameter uniqueUserID: only the users whom an organization calls so, at most one of each; `nil` for all.
    package func users(before id: Int64, uniqueUserID: String? = nil, limit: Int) throws -> [UserRecord] {
        try records(
            "WHERE id < ?1 AND (?2 IS NULL OR unique_user_id = ?2) ORDER BY id DESC LIMIT ?3",
            [id, uniqueUserID, limit])
    }

    /// Sets a user's email and names, and whether it is a test user.
    package func updateUser(_ user: UserRecord) throws { try update(user, UserRecord.change) }

    /// Sets a user's own rate limits, or removes them with `nil`, so that the namespace's apply.
    package func setRateLimits(userID: Int64, _ document: String?) throws {
        try run("UPDATE users SET rate_limits = ? WHERE id = ?", [document, userID])
    }

    /// All organizations, in the order of their ids.
    package func organizations() throws -> [OrganizationRecord] { try records("ORDER BY id") }
}
