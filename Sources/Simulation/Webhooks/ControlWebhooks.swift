import Foundation
import SimulationAPI
import Storage

/// `GET /_sim/webhook-deliveries`: newest first.
package struct ListDeliveries: Operation, Reads {
    let status: DeliveryStatus?
    let subject: String?
    let limit: Int
    let cursor: String?

    /// The allowed sizes of a page; ``defaultLimit`` applies if the caller gives none.
    package static let limits = 1...100
    package static let defaultLimit = 25

    package func perform(_ job: JobContext, as caller: Control) throws -> WebhookDeliveryList {
        let subject = try subject.map { try Self.known($0, job) }
        let query = ["webhook deliveries", status?.rawValue ?? "", subject ?? ""]
        let page = try Cursor.page(cursor, of: query, limit: limit, job, position: \.position) {
            try job.transaction.deliveries(before: $0, status: status, subject: subject, limit: $1)
        }
        return WebhookDeliveryList(
            deliveries: try page.records.map { try WebhookDelivery($0, job) }, next_cursor: page.next,
            forgotten_before: job.state.deliveriesForgottenBefore?.epoch)
    }
}

extension ListDeliveries {
    /// The id of an item, given in any letter case.
    ///
    /// - Throws: ``PlatformError/invalid(_:_:)`` if neither an item nor a delivery has it [D control-filters].
    private static func known(_ id: String, _ job: JobContext) throws -> String {
        for id in [id, id.uppercased()] {
            let isMissing = try job.state.environment.platforms.all.contains {
                try $0.paths.unknown(id, "entrupy_id", "/_sim/webhook-deliveries", job) != nil
            }
            if !isMissing { return id }
            if try !job.transaction.deliveries(before: .max, status: nil, subject: id, limit: 1).isEmpty { return id }
        }
        throw PlatformError.invalid(field: "entrupy_id", "names no item of the namespace, got \"\(id.excerpt)\"")
    }

    package init(_ input: some RequestInput) throws {
        var query = input.query
        status = query.word("status", DeliveryStatus.self)
        subject = query.text("entrupy_id")
        (limit, cursor) = query.page(of: Self.limits, default: Self.defaultLimit)
        try query.finish()
    }
}

extension Deliveries {
    /// - Throws: ``PlatformError/notFound(_:)`` if the namespace has no such delivery.
    fileprivate static func find(_ id: String, _ job: JobContext) throws -> DeliveryRecord {
        guard let found = try job.transaction.delivery(id: id) else {
            throw PlatformError.notFound("there is no delivery \"\(id.excerpt)\" in this namespace")
        }
        return found
    }
}

/// `GET /_sim/webhook-deliveries/{id}`.
package enum ShowDelivery: RuleByID, Reads {
    package static func perform(_ id: String, _ job: JobContext, as caller: Control) throws -> WebhookDelivery {
        try WebhookDelivery(Deliveries.find(id, job), job)
    }
}

/// `POST /_sim/webhook-deliveries/{id}/redeliver`: sends the same bytes again, as a new delivery.
package enum Redeliver: RuleByID, Writes {
    package static func perform(_ id: String, _ job: JobContext, as caller: Control) throws -> WebhookDelivery {
        let old = try Deliveries.find(id, job)
        guard let subscription = try job.transaction.subscription(id: old.subscriptionID) else {
            throw PlatformError.wrongState("the subscription was deleted; there is nowhere to deliver to")
        }
        guard !old.isVerification else {
            throw PlatformError.wrongState(
                "this asked a domain for its verification; POST /v2/webhooks/\(subscription.id)/verify asks again")
        }
        guard !subscription.isPending else {
            throw PlatformError.wrongState(
                "the subscription is pending: its domain is not verified, so nothing is delivered to it")
        }
        let delivery = try Deliveries.add(
            old.body, as: old.format, event: old.event, eventID: old.eventID, of: old.subject, subscription, job)
        return try WebhookDelivery(delivery, job)
    }
}

extension WebhookDelivery {
    /// A delivery for display. Secrets are masked, since any text in it may contain one.
    package init(_ record: DeliveryRecord, _ job: JobContext) throws {
        let secrets = Secrets(try job.state.readSecrets(job.transaction))
        let url = try job.transaction.subscription(id: record.subscriptionID).map { subscription in
            record.isVerification ? record.askedURL : subscription.url
        }
        self.init(
            id: record.id, subscription_id: record.subscriptionID, url: url.map { secrets.masked(text: $0) },
            event: record.event, event_id: record.eventID, format: record.isVerification ? nil : record.format,
            entrupy_id: record.isVerification ? nil : record.subject, status: record.status.rawValue,
            created_at: record.createdAt.epoch, next_attempt_at: record.nextAttemptAt?.epoch,
            fault: record.fault?.ruleID,
            held_back: record.status == .sending
                ? job.state.environment.webhooks.holdReason(namespace: job.state.name, deliveryID: record.id) : nil,
            waits_for: record.status == .waiting
                ? try job.transaction.firstOpenDelivery(
                    subscriptionID: record.subscriptionID, subject: record.subject
                )
                .flatMap { $0.id.isIdentical(to: record.id) ? nil : $0.id } : nil,
            cause: record.cause?.id,
            body: record.isVerification
                ? .null : secrets.masked(json: try WireJSON.decode(JSONValue.self, from: record.body)),
            attempts: try job.transaction.attempts(deliveryID: record.id).map {
                Attempt(
                    number: $0.number, at: $0.at.epoch, status: $0.status,
                    error: $0.error.map { secrets.masked(text: $0) }, duration_ms: $0.milliseconds,
                    answer: $0.answer.flatMap { secrets.masked(body: Data($0.utf8)) }, fault: $0.faultID,
                    signature: $0.signature)
            })
    }
}
