// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

/// `GET /_sim/sessions` [D control-api].
public struct ActiveSessionList: Codable, Sendable {
    /// The active sessions, newest first.
    public var sessions: [ActiveSession]
    /// The total number of active sessions, including those that are not listed.
    public var total: Int

    public init(sessions: [ActiveSession], total: Int) {
        self.sessions = sessions
        self.total = total
    }
}

/// The active sessions, newest first.
public struct ActiveSession: Codable, Sendable {
    /// The session's id. It is derived from the token, but does not reveal it.
    public var id: String
    /// The name of the user.
    public var username: String
    /// The bundle id of the app that logged in, or null.
    @Nullable public var bundle_id: String?
    /// The time of the login, in epoch seconds.
    public var created_at: Double
    /// The time from which the SDK should log in again, in epoch seconds [S].
    public var soft_expires_at: Double
    /// The time of the end, in epoch seconds.
    public var expires_at: Double

    public init(
        id: String, username: String, bundle_id: String?, created_at: Double, soft_expires_at: Double,
        expires_at: Double
    ) {
        self.id = id
        self.username = username
        _bundle_id = Nullable(wrappedValue: bundle_id)
        self.created_at = created_at
        self.soft_expires_at = soft_expires_at
        self.expires_at = expires_at
    }
}
