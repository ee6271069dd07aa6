import Foundation
import GRDB

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

    fileprivate init(row: Row) {
        self.init(
            id: row[0], organizationID: row[1], username: row[2], version: row[3], url: row[4], secret: row[5],
            events: row[6], format: row[8], signature: row[9], createdAt: row[7])
        verification = row[10]
        isPending = row[11]
    }
}

/// A webhook event for one subscription, or a verification request to its domain.
package struct DeliveryRecord: Sendable, Hashable {
    /// The state of a delivery.
    package enum Status: Sendable, Hashable {
        /// Waits behind another open delivery of the same item and subscription.
        case waiting
        /// An attempt is in progress.
        case sending
        /// The next attempt is scheduled.
        case retrying
        case delivered
        /// Every attempt failed.
        case failed
        /// The subscription was deleted before the delivery succeeded.
        case cancelled
        /// A state that this version does not know. The delivery stays as it is.
        case other(String)
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
    /// The fault that was triggered for the last or next attempt.
    package var fault: Fault?
    /// Whether the item's next delivery may go first.
    package var isHeld = false

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

    fileprivate init(row: Row) {
        self.init(
            id: row[1], subscriptionID: row[2], subject: row[3], event: row[4], eventID: row[5], format: row[15],
            body: row[6], createdAt: row[7], status: Status(rawValue: row[8]))
        position = row[0]
        attempts = StoredCount.clamped(row[9])
        nextAttemptAt = row[10]
        if let ruleID: String = row[11], let effect: String = row[12], let attempt: Int = row[13] {
            fault = Fault(ruleID: ruleID, effect: effect, attempt: StoredCount.clamped(attempt))
        }
        isHeld = row[14]
    }
}

extension DeliveryRecord.Status: RawRepresentable, CaseIterable {
    /// The states that this version knows.
    package static let allCases: [Self] = [.waiting, .sending, .retrying, .delivered, .failed, .cancelled]

    package init(rawValue: String) {
        self = Self.allCases.first { $0.rawValue == rawValue } ?? .other(rawValue)
    }

    package var rawValue: String {
        switch self {
        case .waiting: "waiting"
        case .sending: "sending"
        case .retrying: "retrying"
        case .delivered: "delivered"
        case .failed: "failed"
        case .cancelled: "cancelled"
        case .other(let state): state
        }
    }
}

/// The result of one delivery attempt.
package struct AttemptRecord: Sendable, Hashable {
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

    package init(
        number: Int, at: Instant, status: Int?, error: String?, milliseconds: Double, answer: String?,
        faultID: String?, signature: String?
    ) {
        self.faultID = faultID
        self.signature = signature
        self.number = number
        self.at = at
        self.status = status
        self.error = error
        self.milliseconds = milliseconds
        self.answer = answer
    }
}

extension Transaction {
    private static let subscriptionColumns = """
        id, organization_id, username, version, url, secret, events, created_at, format, signature, verification,
        is_pending
        """

    package func insertSubscription(_ subscription: SubscriptionRecord) throws {
        try run(
            "INSERT INTO subscriptions (\(Self.subscriptionColumns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                subscription.id, subscription.organizationID, subscription.username, subscription.version,
                subscription.url, subscription.secret, subscription.events, subscription.createdAt,
                subscription.format, subscription.signature, subscription.verification, subscription.isPending,
            ])
    }

    /// An organization's subscriptions, oldest first.
    package func subscriptions(organizationID: Int64) throws -> [SubscriptionRecord] {
        try all(
            "SELECT \(Self.subscriptionColumns) FROM subscriptions WHERE organization_id = ? ORDER BY position",
            [organizationID], SubscriptionRecord.init(row:))
    }

    package func subscription(id: String) throws -> SubscriptionRecord? {
        try first(
            "SELECT \(Self.subscriptionColumns) FROM subscriptions WHERE id = ?", [id], SubscriptionRecord.init(row:))
    }

    /// The secrets of the newest subscriptions, each once.
    package func subscriptionSecrets(limit: Int) throws -> [String] {
        try all(
            "SELECT secret FROM subscriptions GROUP BY secret ORDER BY MAX(position) DESC LIMIT ?", [limit]
        ) { $0[0] }
    }

    /// Whether the namespace has any subscription.
    package func hasSubscriptions() throws -> Bool {
        try first("SELECT 1 FROM subscriptions LIMIT 1") { _ in true } ?? false
    }

    /// Writes the parts of a subscription that can change.
    package func updateSubscription(_ subscription: SubscriptionRecord) throws {
        try run(
            """
            UPDATE subscriptions SET username = ?, url = ?, secret = ?, events = ?, format = ?, signature = ?,
                is_pending = ? WHERE id = ?
            """,
            [
                subscription.username, subscription.url, subscription.secret, subscription.events,
                subscription.format, subscription.signature, subscription.isPending, subscription.id,
            ])
    }

    package func deleteSubscription(id: String) throws {
        try run("DELETE FROM subscriptions WHERE id = ?", [id])
    }

    private static let deliveryColumns = """
        position, id, subscription_id, entrupy_id, event, event_id, body, created_at, status, attempts, next_attempt_at,
        fault_id, fault_effect, fault_attempt, is_held, format
        """
    private static let isOpen = Schema.isOpenDelivery

    /// Adds a delivery; its `position` is assigned here.
    package func insertDelivery(_ delivery: DeliveryRecord) throws {
        try run(
            "INSERT INTO deliveries (\(Self.deliveryColumns)) VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                delivery.id, delivery.subscriptionID, delivery.subject, delivery.event, delivery.eventID,
                delivery.body, delivery.createdAt, delivery.status.rawValue, delivery.attempts, delivery.nextAttemptAt,
                delivery.fault?.ruleID, delivery.fault?.effect, delivery.fault?.attempt, delivery.isHeld,
                delivery.format,
            ])
    }

    package func delivery(id: String) throws -> DeliveryRecord? {
        try first("SELECT \(Self.deliveryColumns) FROM deliveries WHERE id = ?", [id], DeliveryRecord.init(row:))
    }

    /// Writes the state of a delivery.
    package func updateDelivery(_ delivery: DeliveryRecord) throws {
        try run(
            """
            UPDATE deliveries SET status = ?, attempts = ?, next_attempt_at = ?, fault_id = ?, fault_effect = ?,
                fault_attempt = ?, is_held = ? WHERE id = ?
            """,
            [
                delivery.status.rawValue, delivery.attempts, delivery.nextAttemptAt, delivery.fault?.ruleID,
                delivery.fault?.effect, delivery.fault?.attempt, delivery.isHeld, delivery.id,
            ])
    }

    /// The open delivery of an item and subscription that is held back.
    package func heldDelivery(subscriptionID: String, subject: String) throws -> DeliveryRecord? {
        try first(
            """
            SELECT \(Self.deliveryColumns) FROM deliveries
            WHERE subscription_id = ? AND entrupy_id = ? AND \(Self.isOpen) AND is_held LIMIT 1
            """, [subscriptionID, subject], DeliveryRecord.init(row:))
    }

    /// The oldest open delivery of an item and subscription that is not held back.
    package func firstOpenDelivery(subscriptionID: String, subject: String) throws -> DeliveryRecord? {
        try first(
            """
            SELECT \(Self.deliveryColumns) FROM deliveries
            WHERE subscription_id = ? AND entrupy_id = ? AND \(Self.isOpen) AND NOT is_held ORDER BY position LIMIT 1
            """, [subscriptionID, subject], DeliveryRecord.init(row:))
    }

    /// A subscription's open deliveries, in order of the items' ids, each item's oldest first.
    package func openDeliveries(subscriptionID: String) throws -> [DeliveryRecord] {
        try all(
            """
            SELECT \(Self.deliveryColumns) FROM deliveries
            WHERE subscription_id = ? AND \(Self.isOpen) ORDER BY entrupy_id, position
            """, [subscriptionID], DeliveryRecord.init(row:))
    }

    /// Deliveries whose attempt was in progress when the process ended, oldest first.
    package func interruptedDeliveries() throws -> [DeliveryRecord] {
        try all(
            "SELECT \(Self.deliveryColumns) FROM deliveries WHERE \(Self.isOpen) AND status = 'sending' ORDER BY position",
            [], DeliveryRecord.init(row:))
    }

    /// Deliveries before a position, newest first.
    package func deliveries(
        before position: Int64, status: DeliveryRecord.Status?, subject: String?, limit: Int
    ) throws -> [DeliveryRecord] {
        try all(
            """
            SELECT \(Self.deliveryColumns) FROM deliveries
            WHERE position < ?1 AND (?2 IS NULL OR status = ?2) AND (?3 IS NULL OR entrupy_id = ?3)
            ORDER BY position DESC LIMIT ?4
            """, [position, status?.rawValue, subject, limit], DeliveryRecord.init(row:))
    }

    /// The deliveries of an event, oldest first.
    package func deliveryStates(event: String) throws -> [(status: DeliveryRecord.Status, attempts: Int)] {
        try all("SELECT status, attempts FROM deliveries WHERE event = ? ORDER BY position", [event]) {
            (status: DeliveryRecord.Status(rawValue: $0[0]), attempts: $0[1])
        }
    }

    package func insertAttempt(_ attempt: AttemptRecord, deliveryID: String) throws {
        try run(
            """
            INSERT INTO attempts (delivery_id, number, at, status, error, milliseconds, answer, fault_id, signature)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                deliveryID, attempt.number, attempt.at, attempt.status, attempt.error, attempt.milliseconds,
                attempt.answer, attempt.faultID, attempt.signature,
            ])
    }

    /// A delivery's attempts, oldest first.
    package func attempts(deliveryID: String) throws -> [AttemptRecord] {
        try all(
            """
            SELECT number, at, status, error, milliseconds, answer, fault_id, signature FROM attempts
            WHERE delivery_id = ? ORDER BY number
            """, [deliveryID]
        ) {
            AttemptRecord(
                number: StoredCount.clamped($0[0]), at: $0[1], status: $0[2], error: $0[3], milliseconds: $0[4],
                answer: $0[5], faultID: $0[6], signature: $0[7])
        }
    }
}
