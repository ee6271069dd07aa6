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
        let event = Event(name: event.rawValue, id: eventID, more: more)
        var deliveries = try add(event, of: item, to: subscriptions, job)
        if job.settings.future.addsEvents, event.name.begins(with: ofSession) {
            let unknown = Event(
                name: unknownEvent(after: event.name, job.state.generator), id: try job.nextID(.webhookEvent),
                more: more)
            deliveries += try add(unknown, of: item, to: subscriptions, job)
        }
        return (eventID, deliveries)
    }

    /// An event as its webhooks tell it.
    private struct Event {
        var name: String
        var id: String
        /// Members of `data` besides the item.
        var more: JSONObject
    }

    /// The beginning of the names of the events of sessions.
    static let ofSession = "session."

    /// The name of the event that follows one of a session with the setting `future.events`. The vendor may add such an event without
    /// notice [P].
    static func unknownEvent(after event: String, _ generator: SeededGenerator) -> String {
        "\(FutureSwitch.eventPrefix)\(generator.name(for: "event after \(event)"))"
    }

    static func isUnknownEvent(_ name: String) -> Bool {
        let beginning = FutureSwitch.eventPrefix
        return name.begins(with: beginning) && name.utf8.count == beginning.utf8.count + SeededGenerator.nameLength
            && name.utf8.dropFirst(beginning.utf8.count).allSatisfy(\.isLetterOrDigit)
    }

    private static func add(
        _ event: Event, of item: ItemRecord, to subscriptions: [SubscriptionRecord], _ job: JobContext
    ) throws -> [DeliveryRecord] {
        var bodies: [String: Data] = [:]
        return try subscriptions.map { subscription in
            let form = "\(subscription.format) \(subscription.version)"
            let body = try bodies[form] ?? body(event, item, subscription, job)
            bodies[form] = body
            return try Deliveries.add(
                body, as: subscription.format, event: event.name, eventID: event.id, of: item.entrupyID, subscription,
                job)
        }
    }

    /// The bytes of a webhook's body, which is in English, with its members in the order of the description [D webhook-body].
    /// Its URLs do not follow a request: its receiver may be
    /// in another network than the client that caused it, and equal runs must send equal bytes [D public-url].
    private static func body(
        _ event: Event, _ item: ItemRecord, _ subscription: SubscriptionRecord, _ job: JobContext
    ) throws -> Data {
        var job = job
        job.language = .english
        job.address = nil
        let rendering = try PartnerRendering(item, job)
        let document =
            switch (try Subscriptions.format(subscription), try PartnerVersion(stored: subscription.version)) {
            case (.items, .v1(let minor)): try items(rendering.v1(minor: minor))
            case (.items, .v2): try items(rendering.v1(minor: PartnerVersion.lastMinor))
            case (.event, .v1(let minor)):
                try envelope(event, item, at: job.now.display, JSONDocument(encoding: rendering.v1(minor: minor)), job)
            case (.event, .v2) where job.entrupy.settings.sparseItems:
                try envelope(event, item, at: job.now.wholeSeconds, rendering.sparseV2(PartnerParts()), job)
            case (.event, .v2):
                try envelope(
                    event, item, at: job.now.wholeSeconds, JSONDocument(encoding: rendering.v2(PartnerParts())), job)
            }
        return Data((job.state.future?.changed(document) ?? document).bytes(isSpaced: true))
    }

    private static func items(_ item: some Encodable) throws -> JSONDocument {
        .object([("items", .array([try JSONDocument(encoding: item)]))])
    }

    /// The body in the form `event`. Receivers in use read the item's ids and its certificate's URL beside the item's own fields,
    /// without nesting [P].
    ///
    /// - Parameter time: the time of the event, in the form of the version.
    private static func envelope(
        _ event: Event, _ item: ItemRecord, at time: String, _ rendered: JSONDocument, _ job: JobContext
    ) throws -> JSONDocument {
        guard case .object(var data) = rendered else { throw PlatformError.bug("an item that is no object") }
        func text(_ value: String?) -> JSONDocument { .scalar(value.map { .string($0) } ?? .null) }
        let certificate = ResultRendering(job).certificateID(item).map { job.certificateURL($0) }
        // The item has its own id already.
        data += [("customer_item_id", text(item.customerItemID)), ("certificate_url", text(certificate))]
        data += event.more.sorted.map { ($0.name, JSONDocument($0.value)) }
        return .object([
            ("event", text(event.name)), ("event_id", text(event.id)), ("created_at", text(time)),
            ("data", .object(data)),
        ])
    }
}

extension SubscriptionRecord {
    func matches(_ event: WebhookEvent) -> Bool {
        events.split(separator: " ").contains { $0 == event.rawValue }
    }
}

/// `POST /_sim/webhooks/trigger`: sends any event for any item.
package struct TriggerWebhook: Operation, Writes {
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
