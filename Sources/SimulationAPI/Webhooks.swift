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
    /// The name of the organization.
    public var organization: String
    /// The URL that deliveries go to.
    public var url: String
    /// The names of the subscribed events.
    public var events: [String]
    /// The user whose items the subscription covers; null for all users.
    @Nullable public var username: String?
    /// The version of the bodies: `1.3`, `1.4` or `v2` [D webhook-versions].
    public var version: String
    /// The form of the bodies: `items` or `event` [D webhook-body].
    public var format: String
    /// The form of the signatures: `sha256-base64`, `sha256-hex` or `hex` [D webhook-signature].
    public var signature: String
    /// `active`, or `pending` until its domain is verified; there are no deliveries until then
    /// [D webhook-verification].
    public var status: String
    /// The text that the domain must answer; null if it is not asked.
    @Nullable public var verification: String?
    /// The time of creation, in ISO 8601.
    public var created_at: String
    /// The number of deliveries that have not ended.
    public var open_deliveries: Int
    /// The newest attempt to reach the receiver, if it failed; null if it succeeded, or there was none among the open deliveries
    /// and the newest 1,000 others.
    @Nullable public var failing: Failing?

    /// A failed attempt.
    public struct Failing: Codable, Sendable {
        /// The id of the delivery.
        public var delivery: String
        /// The name of its event.
        public var event: String
        /// The number of the attempt, from 1.
        public var attempt: Int
        /// The start by the namespace's clock, in epoch seconds.
        public var at: Double
        /// The status of the receiver's answer; null if there was no answer.
        @Nullable public var status: Int?
        /// The reason for a missing or refused answer, or null.
        @Nullable public var error: String?

        public init(delivery: String, event: String, attempt: Int, at: Double, status: Int?, error: String?) {
            self.delivery = delivery
            self.event = event
            self.attempt = attempt
            self.at = at
            _status = Nullable(wrappedValue: status)
            _error = Nullable(wrappedValue: error)
        }
    }

    public init(
        id: String, organization: String, url: String, events: [String], username: String?, version: String,
        format: String, signature: String, status: String, verification: String?, created_at: String,
        open_deliveries: Int, failing: Failing? = nil
    ) {
        self.id = id
        self.organization = organization
        self.url = url
        self.events = events
        self._username = Nullable(wrappedValue: username)
        self.version = version
        self.format = format
        self.signature = signature
        self.status = status
        self._verification = Nullable(wrappedValue: verification)
        self.created_at = created_at
        self.open_deliveries = open_deliveries
        self._failing = Nullable(wrappedValue: failing)
    }
}

/// A delivery of an event to a subscription, or a verification request to its domain, in any state [D control-api].
public struct WebhookDelivery: Codable, Sendable {
    public var id: String
    /// The id of the subscription that it goes to.
    public var subscription_id: String
    /// The URL that it goes to; null if the subscription was deleted.
    @Nullable public var url: String?
    /// The name of the event, for instance `session.completed`; `verification` for a verification request.
    public var event: String
    /// The event's id. It is the same for every subscription that receives the event.
    public var event_id: String
    /// The form of the body: `items` or `event`; null for a verification request, which has no body.
    @Nullable public var format: String?
    /// The id of the event's item; null for a verification request to the domain.
    @Nullable public var entrupy_id: String?
    /// The state: `waiting`, `sending`, `retrying`, `delivered`, `failed` or `cancelled`.
    public var status: String
    /// The time of creation, in epoch seconds.
    public var created_at: Double
    /// The time of the next attempt, in epoch seconds; null if there is none.
    @Nullable public var next_attempt_at: Double?
    /// The id of the fault rule that was triggered for its last or next attempt, or null. A delayed delivery is
    /// `retrying` before its first attempt [D webhook-faults].
    @Nullable public var fault: String?
    /// Why its next attempt has not begun although its time has come: the bounds of connections to receivers
    /// [D webhook-slots]. Absent if it does not wait for a connection.
    public var held_back: String?
    /// The id of the delivery that it waits for: the first open one of the same item to the same subscription. Absent if it is
    /// not `waiting`.
    public var waits_for: String?
    /// The id of what caused the delivery, for `GET /_sim/explain/{id}`; null if it is not known.
    @Nullable public var cause: String?
    /// The body that every attempt sends; null for a verification request to the domain.
    public var body: JSONValue
    /// The attempts, oldest first.
    public var attempts: [Attempt]

    public init(
        id: String, subscription_id: String, url: String?, event: String, event_id: String, format: String?,
        entrupy_id: String?, status: String, created_at: Double, next_attempt_at: Double?, fault: String?,
        held_back: String? = nil, waits_for: String? = nil, cause: String? = nil, body: JSONValue,
        attempts: [Attempt]
    ) {
        self._cause = Nullable(wrappedValue: cause)
        self.held_back = held_back
        self.waits_for = waits_for
        self._fault = Nullable(wrappedValue: fault)
        self.id = id
        self.subscription_id = subscription_id
        self._url = Nullable(wrappedValue: url)
        self.event = event
        self.event_id = event_id
        self._format = Nullable(wrappedValue: format)
        self._entrupy_id = Nullable(wrappedValue: entrupy_id)
        self.status = status
        self.created_at = created_at
        self._next_attempt_at = Nullable(wrappedValue: next_attempt_at)
        self.body = body
        self.attempts = attempts
    }

    /// One attempt to send a delivery.
    public struct Attempt: Codable, Sendable {
        /// The number of the attempt, from 1.
        public var number: Int
        /// The start by the namespace's clock, in epoch seconds.
        public var at: Double
        /// The status of the receiver's answer; null if there was no answer.
        @Nullable public var status: Int?
        /// The reason for a missing or incomplete answer, or null.
        @Nullable public var error: String?
        /// The duration in milliseconds of real time.
        public var duration_ms: Double
        /// The beginning of the answer's body; null if there was no answer.
        @Nullable public var answer: String?
        /// The id of the fault rule that was triggered for it, or null.
        @Nullable public var fault: String?
        /// The form of its signature; null for a verification request to the domain, and for attempts of versions that
        /// knew only `hex`.
        @Nullable public var signature: String?

        public init(
            number: Int, at: Double, status: Int?, error: String?, duration_ms: Double, answer: String?,
            fault: String?, signature: String?
        ) {
            self._signature = Nullable(wrappedValue: signature)
            self._fault = Nullable(wrappedValue: fault)
            self.number = number
            self.at = at
            self._status = Nullable(wrappedValue: status)
            self._error = Nullable(wrappedValue: error)
            self.duration_ms = duration_ms
            self._answer = Nullable(wrappedValue: answer)
        }
    }
}

/// `GET /_sim/webhook-deliveries` [D control-api].
public struct WebhookDeliveryList: Codable, Sendable {
    /// The deliveries, in reverse order of creation.
    public var deliveries: [WebhookDelivery]
    /// The start of the next page; null on the last page.
    @Nullable public var next_cursor: String?
    /// The time to which the namespace was restored, in epoch seconds, if that took deliveries away: how many there were before is not
    /// known.
    public var forgotten_before: Double?

    public init(deliveries: [WebhookDelivery], next_cursor: String?, forgotten_before: Double? = nil) {
        self.deliveries = deliveries
        self.forgotten_before = forgotten_before
        self._next_cursor = Nullable(wrappedValue: next_cursor)
    }
}

/// `POST /_sim/webhooks/check-signature` [D signature-check].
public struct SignatureCheckResult: Codable, Sendable {
    /// Whether the signature is right.
    public var valid: Bool
    /// The form that the signature has; null if it is wrong.
    @Nullable public var form: String?
    /// The mistake, if it is a known one, or null.
    @Nullable public var hint: String?
    /// The right signature in each form.
    public var expected: [String: String]

    public init(valid: Bool, form: String?, hint: String?, expected: [String: String]) {
        self.valid = valid
        self._form = Nullable(wrappedValue: form)
        self._hint = Nullable(wrappedValue: hint)
        self.expected = expected
    }
}

/// `POST /_sim/webhooks/trigger` [D control-api].
public struct TriggeredWebhook: Codable, Sendable {
    public var event_id: String
    /// The deliveries, one for each subscription that receives the event.
    public var deliveries: [WebhookDelivery]

    public init(event_id: String, deliveries: [WebhookDelivery]) {
        self.event_id = event_id
        self.deliveries = deliveries
    }
}
