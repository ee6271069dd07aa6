/// `GET /_sim/due` [D].
public struct DueList: Codable, Sendable {
    /// What falls due by itself, soonest first.
    public var due: [DueEntry]
    /// How much there is in all.
    public var total: Int

    /// Makes one from its members.
    public init(due: [DueEntry], total: Int) {
        self.due = due
        self.total = total
    }
}

/// Something that will happen by itself.
public struct DueEntry: Codable, Sendable {
    /// `capture.timeout`, `result`, `session.expiry` or `webhook.attempt`.
    public var kind: String
    /// What it happens to: a capture, an item, a session or a delivery, by id.
    public var subject: String
    /// Epoch seconds, by the namespace's clock.
    public var at: Double
    /// Seconds from now, by the namespace's clock.
    public var seconds_left: Double

    /// Makes one from its members.
    public init(kind: String, subject: String, at: Double, seconds_left: Double) {
        self.kind = kind
        self.subject = subject
        self.at = at
        self.seconds_left = seconds_left
    }
}

/// The answer of `POST /_sim/settle` [D].
public struct Settlement: Codable, Sendable {
    /// Whether no result is to come and no webhook is to be sent.
    public var settled: Bool
    /// Results and webhook attempts that are to come, and attempts under way.
    public var pending: Int
    /// Where the namespace's clock stands.
    public var clock: ClockState
    /// When the next of them is due, in epoch seconds; null where nothing is.
    @Nullable public var next_due_at: Double?

    /// Makes one from its members.
    public init(settled: Bool, pending: Int, clock: ClockState, next_due_at: Double?) {
        self.settled = settled
        self.pending = pending
        self.clock = clock
        self._next_due_at = Nullable(wrappedValue: next_due_at)
    }
}

/// `GET /_sim/sessions` [D].
public struct ActiveSessionList: Codable, Sendable {
    /// Those that are not over, newest first.
    public var sessions: [ActiveSession]
    /// How many there are in all.
    public var total: Int

    /// Makes one from its members.
    public init(sessions: [ActiveSession], total: Int) {
        self.sessions = sessions
        self.total = total
    }
}

/// Somebody who is logged in. The token is a secret, so the session has an id.
public struct ActiveSession: Codable, Sendable {
    /// Follows from the token, and does not lead back to it.
    public var id: String
    /// Whose it is.
    public var username: String
    /// The app it was opened by, or null.
    @Nullable public var bundle_id: String?
    /// Epoch seconds.
    public var created_at: Double
    /// Epoch seconds: from then on the SDK should log in anew [S].
    public var soft_expires_at: Double
    /// Epoch seconds.
    public var expires_at: Double

    /// Makes one from its members.
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

/// `GET /_sim/captures` [D].
public struct CaptureInfoList: Codable, Sendable {
    /// Newest first.
    public var captures: [CaptureInfo]
    /// Where the next page begins; null on the last.
    @Nullable public var next_cursor: String?

    /// Makes one from its members.
    public init(captures: [CaptureInfo], next_cursor: String?) {
        self.captures = captures
        self._next_cursor = Nullable(wrappedValue: next_cursor)
    }
}

/// A capture as the control API shows it.
public struct CaptureInfo: Codable, Sendable {
    /// The capture's id.
    public var id: String
    /// Whose it is.
    public var username: String
    /// `started`, `submitted`, `cancelled` or `timed_out`.
    public var status: String
    /// `production` or `debug`.
    public var config_type: String
    /// The customer's own id of the item, or null.
    @Nullable public var customer_item_id: String?
    /// Epoch seconds.
    public var started_at: Double
    /// Epoch seconds.
    public var expires_at: Double
    /// Until it times out, by the namespace's clock; null where it is over.
    @Nullable public var seconds_left: Double?
    /// Regions that have their picture.
    public var uploaded: [String]
    /// Required regions that have none.
    public var missing: [String]
    /// The item it has become, or null.
    @Nullable public var entrupy_id: String?

    /// Makes one from its members.
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

/// `GET /_sim/users` [D].
public struct UserInfoList: Codable, Sendable {
    /// Last made first.
    public var users: [UserInfo]
    /// Where the next page begins; null on the last.
    @Nullable public var next_cursor: String?

    /// Makes one from its members.
    public init(users: [UserInfo], next_cursor: String?) {
        self.users = users
        self._next_cursor = Nullable(wrappedValue: next_cursor)
    }
}

/// `GET /_sim/webhooks` [D].
public struct SubscriptionInfoList: Codable, Sendable {
    /// Those of all organizations, oldest first of each.
    public var webhooks: [SubscriptionInfo]

    /// Makes one from its members.
    public init(webhooks: [SubscriptionInfo]) {
        self.webhooks = webhooks
    }
}

/// A webhook subscription as the control API shows it; never its secret.
public struct SubscriptionInfo: Codable, Sendable {
    /// The subscription's id.
    public var id: String
    /// Whose it is.
    public var organization: String
    /// Where deliveries go.
    public var url: String
    /// Which events.
    public var events: [String]
    /// Only this user's items; null: everybody's.
    @Nullable public var username: String?
    /// The version of the bodies: `v1` or `v2`.
    public var version: String
    /// ISO 8601.
    public var created_at: String
    /// Deliveries that are not over.
    public var open_deliveries: Int

    /// Makes one from the subscription as its organization sees it.
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
