import Crypto
import EntrupyAPI
import Foundation
import Storage

/// What happens to items, said to those who want to hear of it [P].
enum Webhooks {
    /// Tells every subscription that hears of an event. Writes.
    ///
    /// - Parameters:
    ///   - item: as it is now, for the body is made now and never again.
    ///   - more: what the event says beside the item.
    static func fire(
        _ event: WebhookEvent, _ item: ItemRecord, saying more: JSONObject = [:], _ visit: Visit
    ) throws {
        guard try visit.world.hasSubscriptions(visit.transaction) else { return }
        _ = try tell(event, item, saying: more, visit)
    }

    /// The same, and answers the event's id and its deliveries.
    static func tell(
        _ event: WebhookEvent, _ item: ItemRecord, saying more: JSONObject = [:], _ visit: Visit
    ) throws -> (eventID: String, deliveries: [DeliveryRecord]) {
        let eventID = try visit.draw(.webhookEvent)
        guard let user = try visit.transaction.user(id: item.userID) else {
            throw PlatformError.bug("item \(item.entrupyID) without a user")
        }
        let subscriptions = try visit.transaction.subscriptions(organizationID: item.organizationID).filter {
            $0.hears(event) && ($0.username?.isIdentical(to: user.username) ?? true)
        }
        var bodies: [PartnerVersion: Data] = [:]
        let deliveries = try subscriptions.map { subscription in
            let version = PartnerVersion(stored: subscription.version)
            let body = try bodies[version] ?? body(event, eventID, item, more, version, visit)
            bodies[version] = body
            return try Deliveries.add(
                body, event: event.rawValue, eventID: eventID, of: item.entrupyID, subscription, visit)
        }
        return (eventID, deliveries)
    }

    /// The bytes of a body: the item in English, as the subscription's version shows it.
    private static func body(
        _ event: WebhookEvent, _ eventID: String, _ item: ItemRecord, _ more: JSONObject,
        _ version: PartnerVersion, _ visit: Visit
    ) throws -> Data {
        var visit = visit
        visit.language = .english
        let rendering = try PartnerRendering(item, visit)
        return switch version {
        case .v1(let minor): try encode(event, eventID, item, rendering.v1(minor: minor), more, visit)
        case .v2: try encode(event, eventID, item, rendering.v2(PartnerParts()), more, visit)
        }
    }

    private static func encode<Item: Codable & Sendable>(
        _ event: WebhookEvent, _ eventID: String, _ item: ItemRecord, _ rendered: Item, _ more: JSONObject,
        _ visit: Visit
    ) throws -> Data {
        try WireJSON.encode(
            WebhookBody(
                event: event.rawValue, event_id: eventID, created_at: visit.now.display,
                data: WebhookData(
                    item: rendered, entrupy_id: item.entrupyID, customer_item_id: item.customerItemID,
                    certificate_url: ResultRendering(visit).certificateID(item).map { visit.certificateURL($0) },
                    more: more)))
    }

    /// Lower-case hex of HMAC-SHA256 over exactly these bytes [P]; receivers in the wild compare exactly that string.
    static func signature(_ body: Data, secret: String) -> String {
        Hex.string(HMAC<SHA256>.authenticationCode(for: body, using: SymmetricKey(data: Data(secret.utf8))))
    }
}

extension SubscriptionRecord {
    func hears(_ event: WebhookEvent) -> Bool {
        events.split(separator: " ").contains { $0 == event.rawValue }
    }
}
