import Storage

/// A user's session. It is kept after its end, so that its token is told apart from one that never existed.
package struct SessionRecord: Sendable, Hashable {
    package var token: String
    package var userID: Int64
    package var bundleID: String?
    package var createdAt: Instant
    package var softExpiresAt: Instant
    /// The end of the session; at exactly this moment it has expired.
    package var expiresAt: Instant
    package var endedAt: Instant?
    /// `logged_out`, `expired`, `revoked`.
    package var endReason: String?

    package init(
        token: String, userID: Int64, bundleID: String?, createdAt: Instant, softExpiresAt: Instant,
        expiresAt: Instant
    ) {
        self.token = token
        self.userID = userID
        self.bundleID = bundleID
        self.createdAt = createdAt
        self.softExpiresAt = softExpiresAt
        self.expiresAt = expiresAt
    }
}

extension SessionRecord: StoredRecord {
    package static let table = Table(
        "sessions", key: .columns(["token"]),
        blank: SessionRecord(
            token: "", userID: 0, bundleID: nil, createdAt: .epoch, softExpiresAt: .epoch, expiresAt: .epoch)
    ) {
        $0.identity("token", \.token, "session", isSecret: true)
        $0.column("user_id", \.userID, .row, refersTo: "users.id")
        $0.column("bundle_id", \.bundleID, .prose.orNull)
        $0.column("created_at", \.createdAt, .time)
        $0.column("soft_expires_at", \.softExpiresAt, .time)
        $0.column("expires_at", \.expiresAt, .time)
        $0.column("ended_at", \.endedAt, .time.orNull)
        $0.column("end_reason", \.endReason, .word(["logged_out", "expired", "revoked"]).orNull)
    }
}

extension Transaction {
    package func session(token: String) throws -> SessionRecord? { try record("WHERE token = ?", [token]) }

    /// Active sessions of a user, or of all users if `userID` is `nil`, newest first.
    package func activeSessions(userID: Int64?, limit: Int) throws -> [SessionRecord] {
        try records(
            """
            WHERE ended_at IS NULL AND (?1 IS NULL OR user_id = ?1) ORDER BY created_at DESC, token LIMIT ?2
            """, [userID, limit])
    }

    /// The newest sessions, active or not.
    package func newestSessions(limit: Int) throws -> [SessionRecord] {
        try records("ORDER BY created_at DESC, token LIMIT ?", [limit])
    }

    /// The number of active sessions of a user, or of all users if `userID` is `nil`.
    package func countActiveSessions(userID: Int64?) throws -> Int {
        guard let userID else {
            return try first("SELECT COUNT(*) FROM sessions WHERE ended_at IS NULL") { try $0[0] }!
        }
        // A query of its own: an optional condition would scan all sessions for each user of a list.
        return try first("SELECT COUNT(*) FROM sessions WHERE user_id = ? AND ended_at IS NULL", [userID]) {
            try $0[0]
        }!
    }

    /// Ends a session that has not ended yet.
    package func endSession(token: String, at moment: Instant, reason: String) throws {
        try run(
            "UPDATE sessions SET ended_at = ?, end_reason = ? WHERE token = ? AND ended_at IS NULL",
            [moment, reason, token])
    }

    /// Records a successful login.
    package func insertLogin(userID: Int64, at moment: Instant) throws {
        try run("INSERT INTO logins VALUES (?, ?)", [userID, moment])
    }

    /// A user's successful logins after `moment`, oldest first.
    package func logins(userID: Int64, after moment: Instant) throws -> [Instant] {
        try all("SELECT at FROM logins WHERE user_id = ? AND at > ? ORDER BY at", [userID, moment]) { try $0[0] }
    }

    /// The users that logged in after `moment` and how often, most logins first.
    package func usersLoggedIn(after moment: Instant) throws -> [(userID: Int64, count: Int)] {
        try all("SELECT user_id, COUNT(*) FROM logins WHERE at > ? GROUP BY user_id ORDER BY 2 DESC, 1", [moment]) {
            try ($0[0], $0[1])
        }
    }

    /// Deletes a user's logins up to `moment`, which no rate limit counts any longer.
    package func forgetLogins(userID: Int64, upTo moment: Instant) throws {
        try run("DELETE FROM logins WHERE user_id = ? AND at <= ?", [userID, moment])
    }
}
