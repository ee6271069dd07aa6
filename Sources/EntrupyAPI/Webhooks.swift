/// An event that a subscription can receive [P].
public enum WebhookEvent: String, Codable, Sendable, CaseIterable {
    /// An item received its first final result.
    case sessionCompleted = "session.completed"
    /// An item was created or flagged, its flag was cleared or resolved, or its result changed.
    case sessionUpdated = "session.updated"
    /// The platform's support asked a question or requested a retake.
    case supportMessage = "support.message"
    /// A certificate was transferred to another holder.
    case certificateTransfer = "certificate.transfer"
}

/// `POST|PATCH /v1|v2/webhooks` [P].
public struct SubscriptionRequest: Codable, Sendable {
    /// The URL that deliveries go to, http or https.
    public var url: String?
    /// The secret that signs deliveries: 1 to 256 UTF-8 bytes of any characters.
    public var secret_key: String?
    /// The names of the subscribed events; `nil` for all events.
    public var events: [String]?
    /// The channel, an alternative to `events`. The only channel, `authentications`, contains all events
    /// [D webhook-channel].
    public var channel: String?
    /// The user whose items the subscription covers [D webhook-username].
    public var username: String?

    public init(
        url: String? = nil, secret_key: String? = nil, events: [String]? = nil, channel: String? = nil,
        username: String? = nil
    ) {
        self.url = url
        self.secret_key = secret_key
        self.events = events
        self.channel = channel
        self.username = username
    }
}

/// A subscription, without its secret [P].
public struct Subscription: Codable, Sendable {
    public var id: String
    /// The URL that deliveries go to.
    public var url: String
    /// The names of the subscribed events.
    public var events: [String]
    /// The user whose items the subscription covers; null for all users.
    @Nullable public var username: String?
    /// The version of the bodies: `v1` or `v2` [D webhook-versions].
    public var version: String
    /// The time of creation, in ISO 8601 [D webhook-times].
    public var created_at: String

    public init(id: String, url: String, events: [String], username: String?, version: String, created_at: String) {
        self.id = id
        self.url = url
        self.events = events
        self._username = Nullable(wrappedValue: username)
        self.version = version
        self.created_at = created_at
    }
}

/// `GET /v1|v2/webhooks` [P].
public struct SubscriptionList: Codable, Sendable {
    /// The subscriptions, oldest first.
    public var webhooks: [Subscription]

    public init(webhooks: [Subscription]) {
        self.webhooks = webhooks
    }
}

/// The body of a delivery [P]. Receivers in use read the further members of `data` beside the item's own
/// fields, without nesting.
public struct WebhookBody<Item: Codable & Sendable>: Encodable, Sendable {
    /// The name of the event, for instance `session.completed`.
    public var event: String
    /// The event's id. It is the same in every attempt.
    public var event_id: String
    /// The time of the event, in ISO 8601 [D webhook-times].
    public var created_at: String
    /// The item, with the event's further members.
    public var data: WebhookData<Item>

    public init(event: String, event_id: String, created_at: String, data: WebhookData<Item>) {
        self.event = event
        self.event_id = event_id
        self.created_at = created_at
        self.data = data
    }
}

/// An item's fields. Its ids and its certificate's URL are beside them, without nesting [P].
public struct WebhookData<Item: Codable & Sendable>: Encodable, Sendable {
    /// The item as the subscription's version shows it.
    public var item: Item
    public var entrupy_id: String
    /// The customer's own id of the item, or null.
    public var customer_item_id: String?
    /// The certificate's URL; null if the item has no certificate.
    public var certificate_url: String?
    /// The event's further members: the message from support [D support-messages], the holder of a certificate
    /// [D certificate-transfer].
    public var more: JSONObject

    public init(
        item: Item, entrupy_id: String, customer_item_id: String?, certificate_url: String?, more: JSONObject
    ) {
        self.item = item
        self.entrupy_id = entrupy_id
        self.customer_item_id = customer_item_id
        self.certificate_url = certificate_url
        self.more = more
    }

    public func encode(to encoder: any Encoder) throws {
        try item.encode(to: encoder)
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(entrupy_id, forKey: Key("entrupy_id"))
        try container.encode(customer_item_id, forKey: Key("customer_item_id"))
        try container.encode(certificate_url, forKey: Key("certificate_url"))
        for (key, value) in more { try container.encode(value, forKey: Key(key)) }
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(_ text: String) {
            stringValue = text
        }

        init?(stringValue: String) {
            self.stringValue = stringValue
        }

        init?(intValue: Int) {
            nil
        }
    }
}

/// A delivery of an event to a subscription, in any state [D control-api].
public struct WebhookDelivery: Codable, Sendable {
    public var id: String
    /// The id of the subscription that it goes to.
    public var subscription_id: String
    /// The URL that it goes to; null if the subscription was deleted.
    @Nullable public var url: String?
    /// The name of the event, for instance `session.completed`.
    public var event: String
    /// The event's id. It is the same for every subscription that receives the event.
    public var event_id: String
    /// The id of the event's item.
    public var entrupy_id: String
    /// The state: `waiting`, `sending`, `retrying`, `delivered`, `failed` or `cancelled`.
    public var status: String
    /// The time of creation, in epoch seconds.
    public var created_at: Double
    /// The time of the next attempt, in epoch seconds; null if there is none.
    @Nullable public var next_attempt_at: Double?
    /// The id of the fault rule that was triggered for its last or next attempt, or null. A delayed delivery is
    /// `retrying` before its first attempt [D webhook-faults].
    @Nullable public var fault: String?
    /// The body that every attempt sends.
    public var body: JSONValue
    /// The attempts, oldest first.
    public var attempts: [Attempt]

    public init(
        id: String, subscription_id: String, url: String?, event: String, event_id: String, entrupy_id: String,
        status: String, created_at: Double, next_attempt_at: Double?, fault: String?, body: JSONValue,
        attempts: [Attempt]
    ) {
        self._fault = Nullable(wrappedValue: fault)
        self.id = id
        self.subscription_id = subscription_id
        self._url = Nullable(wrappedValue: url)
        self.event = event
        self.event_id = event_id
        self.entrupy_id = entrupy_id
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

        public init(
            number: Int, at: Double, status: Int?, error: String?, duration_ms: Double, answer: String?, fault: String?
        ) {
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

    public init(deliveries: [WebhookDelivery], next_cursor: String?) {
        self.deliveries = deliveries
        self._next_cursor = Nullable(wrappedValue: next_cursor)
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
