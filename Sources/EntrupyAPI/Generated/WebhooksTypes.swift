// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

import SimulationAPI

/// A subscription. It has `events`, `channel` or neither [P].
public struct SubscriptionRequest: Codable, Sendable {
    public var url: String?
    /// The secret that signs deliveries, 1 to 256 UTF-8 bytes.
    public var secret_key: String?
    public var events: [String]?
    /// The channel of all events [D webhook-channel].
    public var channel: String?
    /// The user whose items the subscription covers [D webhook-username].
    public var username: String?
    /// The form of the bodies; absent, that of the settings.
    public var format: WebhookFormat?
    /// The form of the signatures; absent, that of the settings.
    public var signature: WebhookSignatureForm?

    public init(
        url: String? = nil, secret_key: String? = nil, events: [String]? = nil, channel: String? = nil,
        username: String? = nil, format: WebhookFormat? = nil, signature: WebhookSignatureForm? = nil
    ) {
        self.url = url
        self.secret_key = secret_key
        self.events = events
        self.channel = channel
        self.username = username
        self.format = format
        self.signature = signature
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
    /// The version of the items [D webhook-versions].
    public var version: String
    /// The form of the bodies.
    public var format: WebhookFormat
    /// The form of the signatures.
    public var signature: WebhookSignatureForm
    /// Whether it gets deliveries. It is `pending` until its domain is verified [D webhook-verification].
    public var status: Status
    /// The text that the domain must answer; null if it is not asked.
    @Nullable public var verification: String?
    /// The time of creation, in ISO 8601 [D webhook-times].
    public var created_at: String

    public init(
        id: String, url: String, events: [String], username: String?, version: String, format: WebhookFormat,
        signature: WebhookSignatureForm, status: Status, verification: String?, created_at: String
    ) {
        self.id = id
        self.url = url
        self.events = events
        _username = Nullable(wrappedValue: username)
        self.version = version
        self.format = format
        self.signature = signature
        self.status = status
        _verification = Nullable(wrappedValue: verification)
        self.created_at = created_at
    }
}

/// `GET /v1/webhooks`, `GET /v2/webhooks` [P].
public struct SubscriptionList: Codable, Sendable {
    /// The subscriptions, oldest first.
    public var webhooks: [Subscription]

    public init(webhooks: [Subscription]) {
        self.webhooks = webhooks
    }
}
