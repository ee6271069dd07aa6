// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

/// `GET /_sim/webhooks` [D control-api].
public struct SubscriptionInfoList: Codable, Sendable {
    /// The subscriptions of all organizations; for each organization, oldest first.
    public var webhooks: [SubscriptionInfo]

    public init(webhooks: [SubscriptionInfo]) {
        self.webhooks = webhooks
    }
}

/// A subscription of any organization, without its secret.
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
    /// The version of the items [D webhook-versions].
    public var version: String
    /// The form of the bodies [D webhook-body].
    public var format: String
    /// The form of the signatures [D webhook-signature].
    public var signature: String
    /// Whether it gets deliveries. It is `pending` until its domain is verified [D webhook-verification].
    public var status: String
    /// The text that the domain must answer; null if it is not asked.
    @Nullable public var verification: String?
    /// The time of creation, in ISO 8601.
    public var created_at: String
    /// The number of deliveries that have not ended.
    public var open_deliveries: Int
    /// The newest attempt to reach the receiver, if it failed; null if it succeeded, or there was none among the open
    /// deliveries and the newest 1,000 others.
    @Nullable public var failing: Failing?

    /// The newest attempt to reach the receiver, if it failed; null if it succeeded, or there was none among the open
    /// deliveries and the newest 1,000 others.
    public struct Failing: Codable, Sendable {
        /// The id of the delivery.
        public var delivery: String
        /// The name of its event.
        public var event: String
        /// The number of the attempt, from 1.
        public var attempt: Int
        /// The start by the namespace's clock, in epoch seconds.
        public var at: Double
        /// The status of the answer; null if there was no answer.
        @Nullable public var status: Int?
        /// The reason for a missing or refused answer.
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
        _username = Nullable(wrappedValue: username)
        self.version = version
        self.format = format
        self.signature = signature
        self.status = status
        _verification = Nullable(wrappedValue: verification)
        self.created_at = created_at
        self.open_deliveries = open_deliveries
        _failing = Nullable(wrappedValue: failing)
    }
}

/// A delivery of an event, or a verification request to the domain of a subscription [D control-api].
public struct WebhookDelivery: Codable, Sendable {
    public var id: String
    /// The id of the subscription that it goes to.
    public var subscription_id: String
    /// The URL; null if the subscription was deleted.
    @Nullable public var url: String?
    /// The event; `verification` for a verification request to the domain, `session.x_…` with the setting `future.events`.
    public var event: String
    /// The event's id. It is the same for every subscription that receives the event.
    public var event_id: String
    /// The form of the body; null for a verification request to the domain.
    @Nullable public var format: String?
    /// The event's item; null for a verification request to the domain.
    @Nullable public var entrupy_id: String?
    /// The state. A delivery is `waiting` while an earlier one of the same item has not ended.
    public var status: String
    /// The time of creation, in epoch seconds.
    public var created_at: Double
    /// The time of the next attempt, in epoch seconds; null if there is none.
    @Nullable public var next_attempt_at: Double?
    /// The fault rule that was triggered for the last or next attempt. A delayed or reordered delivery is `retrying` before its
    /// first attempt [D webhook-faults].
    @Nullable public var fault: String?
    /// Why its next attempt has not begun although its time has come: the bounds of connections to receivers. Absent if it does
    /// not wait for a connection [D webhook-slots].
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

    /// The attempts, oldest first.
    public struct Attempt: Codable, Sendable {
        /// The number of the attempt, from 1.
        public var number: Int
        /// The start by the namespace's clock, in epoch seconds.
        public var at: Double
        /// The status of the answer; null if there was no answer.
        @Nullable public var status: Int?
        /// The reason for a missing answer, or a note that the answer's body did not end in time, or was cut off because it was too
        /// long or came in too many pieces. In these cases the status still counts.
        @Nullable public var error: String?
        /// The duration in milliseconds of real time.
        public var duration_ms: Double
        /// The beginning of the answer's body.
        @Nullable public var answer: String?
        /// The fault rule that was triggered for the attempt.
        @Nullable public var fault: String?
        /// The form of the signature; null for a verification request to the domain.
        @Nullable public var signature: String?

        public init(
            number: Int, at: Double, status: Int?, error: String?, duration_ms: Double, answer: String?, fault: String?,
            signature: String?
        ) {
            self.number = number
            self.at = at
            _status = Nullable(wrappedValue: status)
            _error = Nullable(wrappedValue: error)
            self.duration_ms = duration_ms
            _answer = Nullable(wrappedValue: answer)
            _fault = Nullable(wrappedValue: fault)
            _signature = Nullable(wrappedValue: signature)
        }
    }

    public init(
        id: String, subscription_id: String, url: String?, event: String, event_id: String, format: String?,
        entrupy_id: String?, status: String, created_at: Double, next_attempt_at: Double?, fault: String?,
        held_back: String? = nil, waits_for: String? = nil, cause: String? = nil, body: JSONValue, attempts: [Attempt]
    ) {
        self.id = id
        self.subscription_id = subscription_id
        _url = Nullable(wrappedValue: url)
        self.event = event
        self.event_id = event_id
        _format = Nullable(wrappedValue: format)
        _entrupy_id = Nullable(wrappedValue: entrupy_id)
        self.status = status
        self.created_at = created_at
        _next_attempt_at = Nullable(wrappedValue: next_attempt_at)
        _fault = Nullable(wrappedValue: fault)
        self.held_back = held_back
        self.waits_for = waits_for
        _cause = Nullable(wrappedValue: cause)
        self.body = body
        self.attempts = attempts
    }
}

/// `GET /_sim/webhook-deliveries` [D control-api].
public struct WebhookDeliveryList: Codable, Sendable {
    /// The deliveries, in reverse order of creation.
    public var deliveries: [WebhookDelivery]
    /// The start of the next page; null on the last page.
    @Nullable public var next_cursor: String?
    /// The time to which the namespace was restored, in epoch seconds, if that took deliveries away: how many there were before
    /// is not known.
    public var forgotten_before: Double?

    public init(deliveries: [WebhookDelivery], next_cursor: String?, forgotten_before: Double? = nil) {
        self.deliveries = deliveries
        _next_cursor = Nullable(wrappedValue: next_cursor)
        self.forgotten_before = forgotten_before
    }
}

/// `POST /_sim/webhooks/check-signature` [D signature-check].
public struct SignatureCheckResult: Codable, Sendable {
    /// Whether the signature is right.
    public var valid: Bool
    /// The form that the signature has; null if it is wrong.
    @Nullable public var form: String?
    /// The mistake, if it is a known one. Bodies above 65,536 bytes are not compared in other spellings.
    @Nullable public var hint: String?
    /// The right signature in each form.
    public var expected: [String: String]

    public init(valid: Bool, form: String?, hint: String?, expected: [String: String]) {
        self.valid = valid
        _form = Nullable(wrappedValue: form)
        _hint = Nullable(wrappedValue: hint)
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
