import EntrupyAPI
import EntrupyStorage
import Foundation
import Simulation
import SimulationAPI
import Storage

/// Notifications to subscriptions about events of items [P].
enum Webhooks {
    /// Enqueues a delivery to every subscription to an event. Writes.
    ///
    /// - Parameters:
    ///   - item: the item in its current state. The body is rendered now and does not change later.
    ///   - more: members of `data` besides the item.
    static func enqueue(
        _ event: WebhookEvent, _ item: ItemRecord, adding more: JSONObject = [:], _ job: JobContext
    ) throws {
        guard try job.state.hasSubscriptions(job.transaction) else { return }
        _ = try enqueueDeliveries(event, item, adding: more, job)
    }

    /// Enqueues a delivery to every subscription to an event, and returns the event's id and the deliveries. Writes.
    static func enqueueDeliveries(
        _ event: WebhookEvent, _ item: ItemRecord, adding more: JSONObject = [:], _ job: JobContext
    ) throws -> (eventID: String, deliveries: [DeliveryRecord]) {
        let eventID = try job.nextID(.webhookEvent)
        guard let user = try job.transaction.user(id: item.userID) else {
            throw PlatformError.bug("item \(item.entrupyID) without a user")
        }
        let subscriptions = try job.transaction.subscriptions(organizationID: item.organizationID).filter {
            !$0.isPending && $0.matches(event) && ($0.username?.isIdentical(to: user.username) ?? true)
        }
        var bodies: [String: Data] = [:]
        let deliveries = try subscriptions.map { subscription in
            let form = "\(subscription.format) \(subscription.version)"
            let body = try bodies[form] ?? body(event, eventID, item, more, subscription, job)
            bodies[form] = body
            return try Deliveries.add(
                body, as: subscription.format, event: event.rawValue, eventID: eventID, of: item.entrupyID,
                subscription, job)
        }
        return (eventID, deliveries)
    }

    /// The bytes of a webhook's body, which is in English [D webhook-body]. Its URLs do not follow a request: its receiver may be
    /// in another network than the client that caused it, and equal runs must send equal bytes [D public-url].
    private static func body(
        _ event: WebhookEvent, _ eventID: String, _ item: ItemRecord, _ more: JSONObject,
        _ subscription: SubscriptionRecord, _ job: JobContext
    ) throws -> Data {
        var job = job
        job.language = .english
        job.address = nil
        let rendering = try PartnerRendering(item, job)
        return switch (try Subscriptions.format(subscription), try PartnerVersion(stored: subscription.version)) {
        case (.items, .v1(let minor)): try WireJSON.encode(WebhookItems(items: [rendering.v1(minor: minor)]))
        case (.items, .v2): try WireJSON.encode(WebhookItems(items: [rendering.v1(minor: PartnerVersion.lastMinor)]))
        case (.event, .v1(let minor)): try encode(event, eventID, item, rendering.v1(minor: minor), more, job)
        case (.event, .v2) where job.entrupy.settings.sparseItems:
            try encode(event, eventID, item, rendering.sparseV2(PartnerParts()), more, job)
        case (.event, .v2): try encode(event, eventID, item, rendering.v2(PartnerParts()), more, job)
        }
    }

    private static func encode<Item: Codable & Sendable>(
        _ event: WebhookEvent, _ eventID: String, _ item: ItemRecord, _ rendered: Item, _ more: JSONObject,
        _ job: JobContext
    ) throws -> Data {
        try WireJSON.encode(
            WebhookBody(
                event: event.rawValue, event_id: eventID, created_at: job.now.display,
                data: WebhookData(
                    item: rendered, entrupy_id: item.entrupyID, customer_item_id: item.customerItemID,
                    certificate_url: ResultRendering(job).certificateID(item).map { job.certificateURL($0) },
                    more: more)))
    }
}

extension SubscriptionRecord {
    func matches(_ event: WebhookEvent) -> Bool {
        events.split(separator: " ").contains { $0 == event.rawValue }
    }
}

/// `POST /_sim/webhooks/trigger`: sends any event for any item.
package struct TriggerWebhook: Operation {
    package static let access = Access.writes
    let event: WebhookEvent
    let entrupyID: String

    package func perform(_ job: JobContext, as caller: Control) throws -> TriggeredWebhook {
        let item = try Results.find(entrupyID, job)
        let enqueued = try Webhooks.enqueueDeliveries(event, item, job)
        return TriggeredWebhook(
            event_id: enqueued.eventID, deliveries: try enqueued.deliveries.map { try WebhookDelivery($0, job) })
    }
}

extension TriggerWebhook {
    package init(_ input: some RequestInput) throws {
        var fields = input.fields(known: ["event", "entrupy_id"])
        fields.require("event")
        let event = fields.word("event", WebhookEvent.self)
        self.init(event: event ?? .sessionUpdated, entrupyID: fields.string("entrupy_id"))
        try fields.finish()
    }
}
