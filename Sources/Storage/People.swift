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
    /// Adds an organization and returns its row id.
    package func insertOrganization(name: String, sdkFlagging: Bool = true) throws -> Int64 {
        try run("INSERT INTO organizations (name, sdk_flagging) VALUES (?, ?)", [name, sdkFlagging])
        return database.lastInsertedRowID
    }

    package func insertAPIToken(_ token: String, organizationID: Int64) throws {
        try run("INSERT INTO api_tokens VALUES (?, ?)", [token, organizationID])
    }

    package func insertBundle(_ bundleID: String, organizationID: Int64) throws {
        try run("INSERT INTO bundles VALUES (?, ?)", [organizationID, bundleID])
    }

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

    /// An organization's bundle ids, sorted.
    package func bundles(organizationID: Int64) throws -> [String] {
        try all("SELECT bundle_id FROM bundles WHERE organization_id = ? ORDER BY bundle_id", [organizationID]) {
            $0[0]
        }
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

    /// Sets whether an organization's users may flag through the SDK.
    package func setFlagging(organizationID: Int64, _ sdk: Bool) throws {
        try run("UPDATE organizations SET sdk_flagging = ? WHERE id = ?", [sdk, organizationID])
    }

    /// The users that logged in after `moment` and how often, most logins first.
    package func usersLoggedIn(after moment: Instant) throws -> [(userID: Int64, count: Int)] {
        try all("SELECT user_id, COUNT(*) FROM logins WHERE at > ? GROUP BY user_id ORDER BY 2 DESC, 1", [moment]) {
            ($0[0], $0[1])
        }
    }

    /// The organization that an API token belongs to.
    package func organization(apiToken: String) throws -> OrganizationRecord? {
        try first(
            """
            SELECT o.id, o.name, o.sdk_flagging FROM api_tokens t JOIN organizations o ON o.id = t.organization_id
            WHERE t.token = ?
            """, [apiToken]
        ) { OrganizationRecord(id: $0[0], name: $0[1], sdkFlagging: $0[2]) }
    }

    package func organization(id: Int64) throws -> OrganizationRecord? {
        try first("SELECT id, name, sdk_flagging FROM organizations WHERE id = ?", [id]) {
            OrganizationRecord(id: $0[0], name: $0[1], sdkFlagging: $0[2])
        }
    }

    /// Whether an app's bundle id is registered for the organization.
    package func hasBundle(_ bundleID: String, organizationID: Int64) throws -> Bool {
        try first(
            "SELECT 1 FROM bundles WHERE organization_id = ? AND bundle_id = ?", [organizationID, bundleID]
        ) { _ in true } ?? false
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

    /// Sets a user's email and names.
    package func updateUser(id: Int64, email: String?, firstName: String?, lastName: String?) throws {
        try run(
            "UPDATE users SET email = ?, first_name = ?, last_name = ? WHERE id = ?", [email, firstName, lastName, id])
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

    /// Adds `count` to the number of a user's submissions.
    package func countSubmissions(userID: Int64, count: Int) throws {
        try run("UPDATE users SET submissions = submissions + ? WHERE id = ?", [count, userID])
    }

    /// Adds one to the number of a user's submissions.
    package func countSubmission(userID: Int64) throws {
        try run("UPDATE users SET submissions = submissions + 1 WHERE id = ?", [userID])
    }
}

extension PartnerUserRecord {
    fileprivate init(row: Row) {
        self.init(
            organizationID: row[0], username: row[1], password: row[2], uniqueUserID: row[3], email: row[4],
            firstName: row[5], lastName: row[6])
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
