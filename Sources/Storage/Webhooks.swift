import Foundation

/// A webhook subscription of an organization.
package struct SubscriptionRecord: Sendable, Hashable {
    package var id: String
    package var organizationID: Int64
    /// The user whose items it covers; `nil` if it covers all users of the organization.
    package var username: String?
    /// The version of the bodies: `1.3`, `1.4` or `2`.
    package var version: String
    package var url: String
    package var secret: String
    /// The events it covers, separated by spaces.
    package var events: String
    /// The form of the bodies, one of the platform's.
    package var format: String
    /// The form of the signatures, one of the platform's.
    package var signature: String
    /// The text with which the URL's domain must agree to deliveries; `nil` if it need not.
    package var verification: String?
    /// Whether the domain has not agreed yet. There are no deliveries until then.
    package var isPending = false
    package var createdAt: Instant

    package init(
        id: String, organizationID: Int64, username: String?, version: String, url: String, secret: String,
        events: String, format: String, signature: String, createdAt: Instant
    ) {
        self.id = id
        self.organizationID = organizationID
        self.username = username
        self.version = version
        self.url = url
        self.secret = secret
        self.events = events
        self.format = format
        self.signature = signature
        self.createdAt = createdAt
    }
}

extension SubscriptionRecord: StoredRecord {
    package static let table = Table(
        "subscriptions", key: .counted,
        blank: SubscriptionRecord(
            id: "", organizationID: 0, username: nil, version: "", url: "", secret: "", events: "", format: "",
            signature: "", createdAt: .epoch)
    ) {
        $0.column("position", .row)
        $0.identity("id", \.id, "subscription")
        $0.column("organization_id", \.organizationID, .row, refersTo: "organizations.id")
        $0.column("username", \.username, .text(1...1000).orNull, changes: true)
        $0.column("version", \.version, .named("webhook_version"))
        $0.column("url", \.url, .named("webhook_url"), changes: true)
        $0.column("secret", \.secret, .named("webhook_secret").secret, changes: true)
        $0.column("events", \.events, .named("webhook_events"), changes: true)
        $0.column("created_at", \.createdAt, .time)
        $0.column("format", \.format, .named("webhook_format"), changes: true)
        $0.column("signature", \.signature, .named("webhook_signature"), changes: true)
        $0.column("verification", \.verification, .id("verification").orNull)
        $0.column("is_pending", \.isPending, .flag, changes: true)
        $0.check(
            "is_pending", where: "r.is_pending AND r.verification IS NULL", "must be 0 without a verification")
    }

    fileprivate static let change = table.update(by: \.id)
}

/// A webhook event for one subscription, or a verification request to its domain.
package struct DeliveryRecord: Sendable, Hashable {
    /// The state of a delivery. With one that this version does not know, the delivery stays as it is.
    package struct Status: StoredWord, Hashable, CaseIterable {
        package let rawValue: String

        /// Waits behind another open delivery of the same item and subscription.
        package static let waiting = Self(rawValue: "waiting")
        /// An attempt is in progress.
        package static let sending = Self(rawValue: "sending")
        /// The next attempt is scheduled.
        package static let retrying = Self(rawValue: "retrying")
        package static let delivered = Self(rawValue: "delivered")
        /// Every attempt failed.
        package static let failed = Self(rawValue: "failed")
        /// The subscription was deleted before the delivery succeeded.
        package static let cancelled = Self(rawValue: "cancelled")
        /// The states that this version knows.
        package static let allCases: [Self] = [.waiting, .sending, .retrying, .delivered, .failed, .cancelled]

        package init(rawValue: String) {
            self.rawValue = rawValue
        }
    }

    /// The place in the order of deliveries; assigned by the database.
    package var position: Int64 = 0
    package var id: String
    package var subscriptionID: String
    /// The id of what the delivery is about.
    package var subject: String
    package var event: String
    package var eventID: String
    /// The form of the body; ``verification`` if it is a verification request to the subscription's domain.
    package var format: String
    /// The request body; every attempt sends the same bytes. For a verification request to the domain, its URL.
    package var body: Data
    package var createdAt: Instant
    package var status: Status
    /// The number of finished attempts.
    package var attempts = 0
    package var nextAttemptAt: Instant?
    private(set) var faultID: String?
    private(set) var faultEffect: String?
    private(set) var faultAttempt: Int?
    /// Whether the item's next delivery may go first.
    package var isHeld = false
    /// What caused it; `nil` if that is not known.
    package var cause: Cause?
    /// The trace of the request that caused it, as ``TraceContext/stored``; `nil` if it has none.
    package var trace: String?

    /// The fault that was triggered for the last or next attempt.
    package var fault: Fault? {
        get {
            guard let faultID, let faultEffect, let faultAttempt else { return nil }
            return Fault(ruleID: faultID, effect: faultEffect, attempt: faultAttempt)
        }
        set { (faultID, faultEffect, faultAttempt) = (newValue?.ruleID, newValue?.effect, newValue?.attempt) }
    }

    /// A fault rule that was triggered for an attempt.
    package struct Fault: Sendable, Hashable {
        package var ruleID: String
        /// The effect of the fault, for instance `drop`.
        package var effect: String
        /// The number of the attempt, from 1.
        package var attempt: Int

        package init(ruleID: String, effect: String, attempt: Int) {
            self.ruleID = ruleID
            self.effect = effect
            self.attempt = attempt
        }
    }

    /// The format and event of a verification request, which asks a domain whether it agrees to deliveries.
    package static let verification = "verification"

    package var isVerification: Bool { format == Self.verification }

    /// The URL of a verification request to a domain. It does not change, even if the subscription moves.
    package var askedURL: String { String(decoding: body, as: UTF8.self) }

    package init(
        id: String, subscriptionID: String, subject: String, event: String, eventID: String, format: String,
        body: Data, createdAt: Instant, status: Status
    ) {
        self.id = id
        self.subscriptionID = subscriptionID
        self.subject = subject
        self.event = event
        self.eventID = eventID
        self.format = format
        self.body = body
        self.createdAt = createdAt
        self.status = status
    }
}

extension DeliveryRecord: StoredRecord {
    package static let table = Table(
        "deliveries", key: .counted,
        blank: DeliveryRecord(
            id: "", subscriptionID: "", subject: "", event: "", eventID: "", format: "", body: Data(),
            createdAt: .epoch, status: .waiting)
    ) {
        // First, because the form of the body depends on it.
        $0.column("format", \.format, .named("delivery_format"))
        $0.column("position", \.position, .row, isAssigned: true)
        $0.identity("id", \.id, "delivery")
        $0.column("subscription_id", \.subscriptionID, .id("subscription"))
        $0.column("entrupy_id", \.subject, .text(1...100))
        $0.column("event", \.event, .named("delivery_event"))
        $0.column("event_id", \.eventID, .id("webhook_event"))
        $0.column("body", \.body, .named("delivery_body"))
        $0.column("created_at", \.createdAt, .time)
        $0.column("status", \.status, .word(DeliveryRecord.Status.self), changes: true)
        $0.column("attempts", \.attempts, .integer(0...maxAttempts), changes: true)
        $0.column("next_attempt_at", \.nextAttemptAt, .time.orNull, changes: true)
        $0.column("fault_id", \.faultID, .id("fault").orNull, changes: true)
        $0.column("fault_effect", \.faultEffect, .named("webhook_fault").orNull, changes: true)
        $0.column("fault_attempt", \.faultAttempt, .integer(0...maxAttempts).orNull, changes: true)
        $0.column("is_held", \.isHeld, .flag, changes: true)
        $0.column("cause", \.cause, .cause)
        $0.column("trace", \.trace, .trace)
        $0.check(
            "event", where: "(r.event = 'verification') <> (r.format = 'verification')",
            "must be verification exactly where the format is")
        // A finished delivery may be older than its deleted subscription.
        let isOpen = "r.status IN ('waiting', 'sending', 'retrying')"
        $0.references("entrupy_id", to: "subscriptions", "id", where: "r.format = 'verification' AND \(isOpen)")
        $0.references("subscription_id", to: "subscriptions", "id", where: isOpen)
        $0.check(
            "attempts", where: "r.attempts <> (SELECT COUNT(*) FROM attempts a WHERE a.delivery_id = r.id)",
            "must be the number of rows that the delivery has in attempts")
    }

    /// The largest stored number of attempts; retries end long before.
    fileprivate static let maxAttempts: Int64 = 1_000_000

    fileprivate static let change = table.update(by: \.id)
}

/// The result of one delivery attempt.
package struct AttemptRecord: Sendable, Hashable {
    package var deliveryID: String
    /// The number of the attempt, from 1.
    package var number: Int
    /// The time at which it began, by the namespace's clock.
    package var at: Instant
    /// The receiver's HTTP status; `nil` if there was no answer.
    package var status: Int?
    /// The reason why there was no answer.
    package var error: String?
    /// The duration in real time.
    package var milliseconds: Double
    /// The beginning of the answer's body.
    package var answer: String?
    /// The fault rule that was triggered for it.
    package var faultID: String?
    /// The form of its signature; `nil` if it had none.
    package var signature: String?
}

extension AttemptRecord: StoredRecord {
    package static let table = Table(
        "attempts", key: .columns(["delivery_id", "number"]),
        blank: AttemptRecord(
            deliveryID: "", number: 0, at: .epoch, status: nil, error: nil, milliseconds: 0, answer: nil,
            faultID: nil, signature: nil)
    ) {
        $0.column("delivery_id", \.deliveryID, .id("delivery"), refersTo: "deliveries.id")
        $0.column("number", \.number, .integer(1...DeliveryRecord.maxAttempts))
        $0.column("at", \.at, .time)
        $0.column("status", \.status, .integer(0...999).orNull)
        $0.column("error", \.error, .prose.orNull)
        $0.column("milliseconds", \.milliseconds, .real(0...1e12))
        $0.column("answer", \.answer, .prose.orNull)
        $0.column("fault_id", \.faultID, .id("fault").orNull)
        $0.column("signature", \.signature, .named("webhook_signature").orNull)
        $0.check(
            "number", where: "r.number > (SELECT d.attempts FROM deliveries d WHERE d.id = r.delivery_id)",
            "must not be more than the attempts of its delivery")
    }
}

/// The newest attempt to reach a subscription's receiver, without its answer and duration, and the event of its delivery.
package typealias LatestAttempt = (
    subscriptionID: String, event: String, hasSucceeded: Bool, attempt: AttemptRecord
)

extension Transaction {
    /// An organization's subscriptions, oldest first.
    package func subscriptions(organizationID: Int64) throws -> [SubscriptionRecord] {
        try records("WHERE organization_id = ? ORDER BY position", [organizationID])
    }

    package func subscription(id: String) throws -> SubscriptionRecord? { try record("WHERE id = ?", [id]) }

    /// The secrets of the newest subscriptions, each once.
    package func subscriptionSecrets(limit: Int) throws -> [String] {
        try all(
            "SELECT secret FROM subscriptions GROUP BY secret ORDER BY MAX(position) DESC LIMIT ?", [limit]
        ) { try $0[0] }
    }

    /// Whether the namespace has any subscription.
    package func hasSubscriptions() throws -> Bool {
        try first("SELECT 1 FROM subscriptions LIMIT 1") { _ in true } ?? false
    }

    /// Writes the parts of a subscription that can change.
    package func updateSubscription(_ subscription: SubscriptionRecord) throws {
        try update(subscription, SubscriptionRecord.change)
    }

    package func deleteSubscription(id: String) throws {
        try run("DELETE FROM subscriptions WHERE id = ?", [id])
    }

    private static let isOpen = Schema.isOpenDelivery

    package func delivery(id: String) throws -> DeliveryRecord? { try record("WHERE id = ?", [id]) }

    /// Writes the state of a delivery.
    package func updateDelivery(_ delivery: DeliveryRecord) throws { try update(delivery, DeliveryRecord.change) }

    /// The open delivery of an item and subscription that is held back.
    package func heldDelivery(subscriptionID: String, subject: String) throws -> DeliveryRecord? {
        try record(
            "WHERE subscription_id = ? AND entrupy_id = ? AND \(Self.isOpen) AND is_held LIMIT 1",
            [subscriptionID, subject])
    }

    /// The oldest open delivery of an item and subscription that is not held back.
    package func firstOpenDelivery(subscriptionID: String, subject: String) throws -> DeliveryRecord? {
        try record(
            """
            WHERE subscription_id = ? AND entrupy_id = ? AND \(Self.isOpen) AND NOT is_held ORDER BY position LIMIT 1
            """, [subscriptionID, subject])
    }

    /// A subscription's open deliveries, in order of the items' ids, each item's oldest first.
    package func openDeliveries(subscriptionID: String) throws -> [DeliveryRecord] {
        try records("WHERE subscription_id = ? AND \(Self.isOpen) ORDER BY entrupy_id, position", [subscriptionID])
    }

    /// The number of a subscription's open deliveries.
    package func openDeliveryCount(subscriptionID: String) throws -> Int {
        try first("SELECT COUNT(*) FROM deliveries WHERE subscription_id = ? AND \(Self.isOpen)", [subscriptionID]) {
            try $0[0]
        } ?? 0
    }

    /// The newest attempt of each subscription, by its id. Looks at the open deliveries and at the newest 1,000 others, so a
    /// subscription without an attempt in them is missing.
    package func latestAttempts() throws -> [String: LatestAttempt] {
        let columns =
            "d.subscription_id, d.event, d.status, d.position, a.delivery_id, a.number, a.at, a.status, a.error"
        let from = "FROM deliveries d JOIN attempts a ON a.delivery_id = d.id AND a.number = d.attempts"
        let rows: [LatestAttempt] = try all(
            """
            SELECT \(columns) \(from) WHERE d.position > (SELECT COALESCE(MAX(position), 0) - 1000 FROM deliveries)
            UNION SELECT \(columns) \(from)
            WHERE (d.status = 'waiting' OR d.status = 'sending' OR d.status = 'retrying')
            ORDER BY 7, 4
            """
        ) {
            try (
                subscriptionID: $0[0], event: $0[1],
                // Only the last attempt of a delivery can have succeeded.
                hasSucceeded: DeliveryRecord.Status(rawValue: $0[2]) == .delivered,
                attempt: AttemptRecord(
                    deliveryID: $0[4], number: $0[5], at: $0[6], status: $0[7], error: $0[8], milliseconds: 0,
                    answer: nil, faultID: nil, signature: nil)
            )
        }
        return Dictionary(rows.map { ($0.subscriptionID, $0) }) { $1 }
    }

    /// Whether an attempt of a delivery is in progress.
    package func isSending() throws -> Bool {
        try first("SELECT EXISTS (SELECT 1 FROM deliveries WHERE \(Self.isOpen) AND status = 'sending')") { try $0[0] }
            ?? false
    }

    /// Deliveries whose attempt was in progress when the process ended, oldest first.
    package func interruptedDeliveries() throws -> [DeliveryRecord] {
        try records("WHERE \(Self.isOpen) AND status = 'sending' ORDER BY position")
    }

    /// Deliveries before a position, newest first.
    package func deliveries(
        before position: Int64, status: DeliveryRecord.Status?, subject: String?, limit: Int
    ) throws -> [DeliveryRecord] {
        try records(
            """
            WHERE position < ?1 AND (?2 IS NULL OR status = ?2) AND (?3 IS NULL OR entrupy_id = ?3)
            ORDER BY position DESC LIMIT ?4
            """, [position, status, subject, limit])
    }

    /// The deliveries of an event, oldest first.
    package func deliveryStates(event: String) throws -> [(status: DeliveryRecord.Status, attempts: Int)] {
        try all("SELECT status, attempts FROM deliveries WHERE event = ? ORDER BY position", [event]) {
            try (status: $0[0], attempts: $0[1])
        }
    }

    package func insertAttempt(
        deliveryID: String, number: Int, at moment: Instant, status: Int?, error: String?, milliseconds: Double,
        answer: String?, faultID: String?, signature: String?
    ) throws {
        try insert(
            AttemptRecord(
                deliveryID: deliveryID, number: number, at: moment, status: status, error: error,
                milliseconds: milliseconds, answer: answer, faultID: faultID, signature: signature))
    }

    /// A delivery's attempts, oldest first.
    package func attempts(deliveryID: String) throws -> [AttemptRecord] {
        try records("WHERE delivery_id = ? ORDER BY number", [deliveryID])
    }
}
