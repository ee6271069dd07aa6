/// `GET /_sim/due` [D control-api].
public struct DueList: Codable, Sendable {
    /// The scheduled work, soonest first.
    public var due: [DueEntry]
    /// The total number of entries, including those that are not listed.
    public var total: Int

    public init(due: [DueEntry], total: Int) {
        self.due = due
        self.total = total
    }
}

/// One piece of scheduled work.
public struct DueEntry: Codable, Sendable {
    /// The kind of work: `capture.timeout`, `result`, `session.expiry` or `webhook.attempt`.
    public var kind: String
    /// The id of the capture, item, session or delivery that the work concerns.
    public var subject: String
    /// The due time by the namespace's clock, in epoch seconds.
    public var at: Double
    /// The time left by the namespace's clock, in seconds.
    public var seconds_left: Double

    public init(kind: String, subject: String, at: Double, seconds_left: Double) {
        self.kind = kind
        self.subject = subject
        self.at = at
        self.seconds_left = seconds_left
    }
}

/// The answer of `POST /_sim/settle` [D settle].
public struct Settlement: Codable, Sendable {
    /// Whether no result and no webhook is pending.
    public var settled: Bool
    /// The number of pending results and webhook attempts, including attempts in progress.
    public var pending: Int
    /// The state of the namespace's clock.
    public var clock: ClockState
    /// The time at which the next of them is due, in epoch seconds; null if none is.
    @Nullable public var next_due_at: Double?

    public init(settled: Bool, pending: Int, clock: ClockState, next_due_at: Double?) {
        self.settled = settled
        self.pending = pending
        self.clock = clock
        self._next_due_at = Nullable(wrappedValue: next_due_at)
    }
}

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

/// An active session. It is shown by an id, because its token is a secret.
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
        self._bundle_id = Nullable(wrappedValue: bundle_id)
        self.created_at = created_at
        self.soft_expires_at = soft_expires_at
        self.expires_at = expires_at
    }
}

/// `GET /_sim/captures` [D control-api].
public struct CaptureInfoList: Codable, Sendable {
    /// The captures, newest first.
    public var captures: [CaptureInfo]
    /// The start of the next page; null on the last page.
    @Nullable public var next_cursor: String?

    public init(captures: [CaptureInfo], next_cursor: String?) {
        self.captures = captures
        self._next_cursor = Nullable(wrappedValue: next_cursor)
    }
}

/// A capture as the control API shows it.
public struct CaptureInfo: Codable, Sendable {
    public var id: String
    /// The name of the user.
    public var username: String
    /// The state: `started`, `submitted`, `cancelled` or `timed_out`.
    public var status: String
    /// The workflow: `production` or `debug`.
    public var config_type: String
    /// The customer's own id of the item, or null.
    @Nullable public var customer_item_id: String?
    /// The time of the start, in epoch seconds.
    public var started_at: Double
    /// The time of the end, in epoch seconds.
    public var expires_at: Double
    /// The seconds until the capture times out, by the namespace's clock; null if it has ended.
    @Nullable public var seconds_left: Double?
    /// The regions whose pictures have been uploaded.
    public var uploaded: [String]
    /// The required regions whose pictures are missing.
    public var missing: [String]
    /// The id of the item that the submission created, or null.
    @Nullable public var entrupy_id: String?

    public init(
        id: String, username: String, status: String, config_type: String, customer_item_id: String?,
        started_at: Double, expires_at: Double, seconds_left: Double?, uploaded: [String], missing: [String],
        entrupy_id: String?
    ) {
        self.id = id
        self.username = username
        self.status = status
        self.config_type = config_type
        self._customer_item_id = Nullable(wrappedValue: customer_item_id)
        self.started_at = started_at
        self.expires_at = expires_at
        self._seconds_left = Nullable(wrappedValue: seconds_left)
        self.uploaded = uploaded
        self.missing = missing
        self._entrupy_id = Nullable(wrappedValue: entrupy_id)
    }
}

/// `GET /_sim/users` [D control-api].
public struct UserInfoList: Codable, Sendable {
    /// The users, in reverse order of creation.
    public var users: [UserInfo]
    /// The start of the next page; null on the last page.
    @Nullable public var next_cursor: String?

    public init(users: [UserInfo], next_cursor: String?) {
        self.users = users
        self._next_cursor = Nullable(wrappedValue: next_cursor)
    }
}

/// `GET /_sim/webhooks` [D control-api].
public struct SubscriptionInfoList: Codable, Sendable {
    /// The subscriptions of all organizations; for each organization, oldest first.
    public var webhooks: [SubscriptionInfo]

    public init(webhooks: [SubscriptionInfo]) {
        self.webhooks = webhooks
    }
}

/// A webhook subscription as the control API shows it, without its secret.
public struct SubscriptionInfo: Codable, Sendable {
    public var id: String
    /// The name of the user.
    public var organization: String
    /// The URL that deliveries go to.
    public var url: String
    /// The names of the subscribed events.
    public var events: [String]
    /// The user whose items the subscription covers; null for all users.
    @Nullable public var username: String?
    /// The version of the bodies: `v1` or `v2` [D webhook-versions].
    public var version: String
    /// The time of creation, in ISO 8601.
    public var created_at: String
    /// The number of deliveries that have not ended.
    public var open_deliveries: Int

    /// Creates a description from the subscription as its organization sees it.
    public init(_ subscription: Subscription, organization: String, open_deliveries: Int) {
        id = subscription.id
        self.organization = organization
        url = subscription.url
        events = subscription.events
        _username = Nullable(wrappedValue: subscription.username)
        version = subscription.version
        created_at = subscription.created_at
        self.open_deliveries = open_deliveries
    }
}
