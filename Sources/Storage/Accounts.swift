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
            $0[0]
        }
    }

    /// All API tokens of an organization, sorted.
    package func apiTokens(organizationID: Int64) throws -> [String] {
        try all("SELECT token FROM api_tokens WHERE organization_id = ? ORDER BY token", [organizationID]) { $0[0] }
    }

    /// The organization that an API token belongs to.
    package func organization(apiToken: String) throws -> OrganizationRecord? {
        do {
            let read = try DirectStatement(database, sql: Self.organizationOfToken)
            try read.bind(apiToken, at: 1)
            guard try read.next() else { return nil }
            return OrganizationRecord(id: read.integer(0), name: read.text(1), sdkFlagging: read.integer(2) != 0)
        } catch {
            throw StorageError.from(error)
        }
    }

    private static let organizationOfToken = """
        SELECT o.id, o.name, o.sdk_flagging FROM api_tokens t JOIN organizations o ON o.id = t.organization_id
        WHERE t.token = ?
        """

    package func organization(id: Int64) throws -> OrganizationRecord? {
        try first("SELECT id, name, sdk_flagging FROM organizations WHERE id = ?", [id]) {
            OrganizationRecord(id: $0[0], name: $0[1], sdkFlagging: $0[2])
        }
    }

    private static let userColumns = """
        id, organization_id, username, unique_user_id, email, first_name, last_name, is_test_user, submissions,
        created_at, rate_limits
        """

    /// Adds a user and returns its row id.
    package func insertUser(
        organizationID: Int64, username: String, uniqueUserID: String, email: String?, firstName: String?,
        lastName: String?, isTestUser: Bool, createdAt: Instant
    ) throws -> Int64 {
        try run(
            """
            INSERT INTO users (organization_id, username, unique_user_id, email, first_name, last_name, is_test_user,
                created_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [organizationID, username, uniqueUserID, email, firstName, lastName, isTestUser, createdAt])
        return database.lastInsertedRowID
    }

    /// Sets the creation time of all users of a new namespace.
    package func stampSeedUsers(at moment: Instant) throws {
        try run("UPDATE users SET created_at = ?", [moment])
    }

    package func user(username: String) throws -> UserRecord? {
        try first("SELECT \(Self.userColumns) FROM users WHERE username = ?", [username], UserRecord.init(row:))
    }

    package func user(id: Int64) throws -> UserRecord? {
        try first("SELECT \(Self.userColumns) FROM users WHERE id = ?", [id], UserRecord.init(row:))
    }

    /// Users before a row id, newest first.
    package func users(before id: Int64, limit: Int) throws -> [UserRecord] {
        try all(
            "SELECT \(Self.userColumns) FROM users WHERE id < ? ORDER BY id DESC LIMIT ?", [id, limit],
            UserRecord.init(row:))
    }

    /// Sets a user's email and names, and whether it is a test user.
    package func updateUser(_ user: UserRecord) throws {
        try run(
            "UPDATE users SET email = ?, first_name = ?, last_name = ?, is_test_user = ? WHERE id = ?",
            [user.email, user.firstName, user.lastName, user.isTestUser, user.id])
    }

    /// Sets a user's own rate limits, or removes them with `nil`, so that the namespace's apply.
    package func setRateLimits(userID: Int64, _ document: String?) throws {
        try run("UPDATE users SET rate_limits = ? WHERE id = ?", [document, userID])
    }

    /// All organizations, in the order of their ids.
    package func organizations() throws -> [OrganizationRecord] {
        try all("SELECT id, name, sdk_flagging FROM organizations ORDER BY id") {
            OrganizationRecord(id: $0[0], name: $0[1], sdkFlagging: $0[2])
        }
    }
}

extension UserRecord {
    fileprivate init(row: Row) {
        self.init(
            id: row[0], organizationID: row[1], username: row[2], uniqueUserID: row[3], email: row[4],
            firstName: row[5], lastName: row[6], isTestUser: row[7], submissions: StoredCount.clamped(row[8]),
            createdAt: row[9], rateLimits: row[10])
    }
}
