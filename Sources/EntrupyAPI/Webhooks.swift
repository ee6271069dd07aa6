/// Something a subscription can hear of [P].
public enum WebhookEvent: String, Codable, Sendable, CaseIterable {
    /// An authentication got its first final result.
    case sessionCompleted = "session.completed"
    /// Created, flagged, flag cleared, flag resolved, result changed.
    case sessionUpdated = "session.updated"
    /// The platform's support asks something.
    case supportMessage = "support.message"
    /// A certificate has another holder.
    case certificateTransfer = "certificate.transfer"
}

/// `POST|PATCH /v1|v2/webhooks` [P].
public struct SubscriptionRequest: Codable, Sendable {
    /// Where deliveries go: http or https.
    public var url: String?
    /// 1 to 256 UTF-8 bytes of any characters.
    public var secret_key: String?
    /// Which events; nil: all.
    public var events: [String]?
    /// Instead of `events`: `authentications`, which is all of them [D].
    public var channel: String?
    /// Only this user's items.
    public var username: String?

    /// Makes one from its members.
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

/// A subscription; never with its secret [P].
public struct Subscription: Codable, Sendable {
    /// The subscription's id.
    public var id: String
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

    /// Makes one from its members.
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
    /// Oldest first.
    public var webhooks: [Subscription]

    /// Makes one from its members.
    public init(webhooks: [Subscription]) {
        self.webhooks = webhooks
    }
}

/// The body of a delivery [P]. What lies in `data` beside the item's own fields, receivers in the wild read flat.
public struct WebhookBody<Item: Codable & Sendable>: Encodable, Sendable {
    /// For instance `session.completed`.
    public var event: String
    /// The same in every attempt.
    public var event_id: String
    /// ISO 8601: when it happened.
    public var created_at: String
    /// The item and what is said of it.
    public var data: WebhookData<Item>

    /// Makes one from its members.
    public init(event: String, event_id: String, created_at: String, data: WebhookData<Item>) {
        self.event = event
        self.event_id = event_id
        self.created_at = created_at
        self.data = data
    }
}

/// An item's fields, and beside them flat its ids and its certificate's address [P].
public struct WebhookData<Item: Codable & Sendable>: Encodable, Sendable {
    /// The item as the subscription's version shows it.
    public var item: Item
    /// The item's id.
    public var entrupy_id: String
    /// The customer's own id, or null.
    public var customer_item_id: String?
    /// Null without a certificate.
    public var certificate_url: String?
    /// What else the event says: the message of support, the holder of a certificate [D].
    public var more: JSONObject

    /// Makes one from its members.
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

/// Something that is or was to be said to a subscription [D].
public struct WebhookDelivery: Codable, Sendable {
    /// The delivery's id.
    public var id: String
    /// Whom it goes to.
    public var subscription_id: String
    /// Where it goes; null once the subscription is deleted.
    @Nullable public var url: String?
    /// For instance `session.completed`.
    public var event: String
    /// The same for every subscription that hears of the event.
    public var event_id: String
    /// The item it is about.
    public var entrupy_id: String
    /// `waiting`, `sending`, `retrying`, `delivered`, `failed`, `cancelled`.
    public var status: String
    /// Epoch seconds.
    public var created_at: Double
    /// Epoch seconds; null where none is to come.
    @Nullable public var next_attempt_at: Double?
    /// The fault rule that struck its last or next attempt, or null: a delayed one is `retrying` before its first.
    @Nullable public var fault: String?
    /// What every attempt sends.
    public var body: JSONValue
    /// Oldest first.
    public var attempts: [Attempt]

    /// Makes one from its members.
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

    /// One attempt.
    public struct Attempt: Codable, Sendable {
        /// From 1.
        public var number: Int
        /// When it began, by the namespace's clock; epoch seconds.
        public var at: Double
        /// The receiver's status; null where there was no answer.
        @Nullable public var status: Int?
        /// Why there was none, or null.
        @Nullable public var error: String?
        /// How long it took, in real milliseconds.
        public var duration_ms: Double
        /// The start of the answer's body; null without an answer.
        @Nullable public var answer: String?
        /// The fault rule that struck it, or null.
        @Nullable public var fault: String?

        /// Makes one from its members.
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

/// `GET /_sim/webhook-deliveries` [D].
public struct WebhookDeliveryList: Codable, Sendable {
    /// Last made first.
    public var deliveries: [WebhookDelivery]
    /// Null on the last page.
    @Nullable public var next_cursor: String?

    /// Makes one from its members.
    public init(deliveries: [WebhookDelivery], next_cursor: String?) {
        self.deliveries = deliveries
        self._next_cursor = Nullable(wrappedValue: next_cursor)
    }
}

/// `POST /_sim/webhooks/trigger` [D].
public struct TriggeredWebhook: Codable, Sendable {
    /// The event's id.
    public var event_id: String
    /// One for each subscription that hears of it.
    public var deliveries: [WebhookDelivery]

    /// Makes one from its members.
    public init(event_id: String, deliveries: [WebhookDelivery]) {
        self.event_id = event_id
        self.deliveries = deliveries
    }
}
