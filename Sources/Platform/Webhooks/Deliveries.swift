import EntrupyAPI
import Foundation
import Storage

/// How deliveries go on: in order for each item and subscription, an attempt at a time, again while one fails.
enum Deliveries {
    /// Adds a delivery; its first attempt is made at once, unless another of the same item and subscription is not over.
    static func add(
        _ body: Data, event: String, eventID: String, of entrupyID: String, _ subscription: SubscriptionRecord,
        _ visit: Visit
    ) throws -> DeliveryRecord {
        let isFirst =
            try visit.transaction.firstOpenDelivery(
                subscriptionID: subscription.id, entrupyID: entrupyID) == nil
        let delivery = DeliveryRecord(
            id: try visit.draw(.delivery), subscriptionID: subscription.id, entrupyID: entrupyID, event: event,
            eventID: eventID, body: body, createdAt: visit.now, status: isFirst ? .sending : .waiting)
        try visit.transaction.insertDelivery(delivery)
        if isFirst { try attempt(delivery, subscription, visit) }
        return delivery
    }

    /// How long a delivery is held back at most for the item's next one, by the namespace's clock [D].
    static let longestHold = Span.hour

    /// Hands an attempt to whoever sends, once this job's transaction is committed; or does what the fault says that strikes
    /// it. An attempt is struck once, however often it is looked at.
    private static func attempt(
        _ delivery: DeliveryRecord, _ subscription: SubscriptionRecord, _ visit: Visit
    ) throws {
        var delivery = delivery
        if delivery.fault?.attempt != delivery.attempts + 1, let struck = try Faults.strike(delivery, visit) {
            delivery.fault = .init(
                ruleID: struck.id, effect: struck.effect.name, attempt: delivery.attempts + 1)
            switch struck.effect {
            case .delay(let delay):
                return try postpone(&delivery, until: visit.now + delay.span(visit.world.chance, struck.purpose), visit)
            case .reorder:
                delivery.isHeld = true
                try postpone(&delivery, until: visit.now + longestHold, visit)
                return try goOn(after: delivery, visit)
            case .duplicate:
                var copy = delivery
                copy.id = try visit.draw(.delivery)
                copy.createdAt = visit.now
                copy.status = .waiting
                try visit.transaction.insertDelivery(copy)
                try visit.transaction.updateDelivery(delivery)
            case .drop, .wrongSignature: try visit.transaction.updateDelivery(delivery)
            }
        }
        let effect = delivery.fault.flatMap { $0.attempt == delivery.attempts + 1 ? $0.effect : nil }
        // A receiver that checks signatures must refuse this one.
        let secret = subscription.secret + (effect == FaultRule.WebhookEffect.wrongSignature.name ? "?" : "")
        visit.world.outgoing.append(
            OutgoingWebhook(
                generation: visit.world.generation, deliveryID: delivery.id, number: delivery.attempts + 1,
                at: visit.now, subscriptionID: subscription.id, url: subscription.url, body: delivery.body,
                signature: Webhooks.signature(delivery.body, secret: secret),
                timeout: visit.settings.webhookTimeout,
                isDropped: effect == FaultRule.WebhookEffect.drop.name))
    }

    private static func postpone(_ delivery: inout DeliveryRecord, until moment: Instant, _ visit: Visit) throws {
        let next = max(moment, visit.now)
        delivery.status = .retrying
        delivery.nextAttemptAt = next
        try visit.transaction.updateDelivery(delivery)
        try visit.schedule(.webhookAttempt, delivery.id, at: next)
    }

    /// The time of another attempt has come.
    static func attemptDue(deliveryID: String, _ visit: Visit) throws {
        guard var delivery = try visit.transaction.delivery(id: deliveryID), delivery.status == .retrying,
            let subscription = try visit.transaction.subscription(id: delivery.subscriptionID)
        else { return }
        delivery.nextAttemptAt = nil
        // The one that was to overtake it may not be over; it has waited long enough, and its order is lost anyway.
        delivery.isHeld = false
        delivery.status = .sending
        try visit.transaction.updateDelivery(delivery)
        try attempt(delivery, subscription, visit)
    }

    /// Makes the attempts again that were under way when the process ended: whether they arrived, nobody knows.
    static func resume(_ visit: Visit) throws {
        for delivery in try visit.transaction.interruptedDeliveries() {
            guard let subscription = try visit.transaction.subscription(id: delivery.subscriptionID) else { continue }
            try attempt(delivery, subscription, visit)
        }
    }

    /// Writes down what came of an attempt, and goes on: with the next delivery of the item, or with another attempt
    /// after the gap that the settings give, counted from this one.
    static func record(_ webhook: OutgoingWebhook, _ outcome: WebhookOutcome, _ visit: Visit) throws {
        guard visit.world.generation == webhook.generation,
            var delivery = try visit.transaction.delivery(id: webhook.deliveryID),
            delivery.attempts == webhook.number - 1
        else { return }
        delivery.attempts += 1
        try visit.transaction.insertAttempt(
            AttemptRecord(
                number: delivery.attempts, at: webhook.at, status: outcome.status, error: outcome.error,
                milliseconds: outcome.milliseconds, answer: outcome.answer,
                faultID: delivery.fault.flatMap { $0.attempt == delivery.attempts ? $0.ruleID : nil }),
            deliveryID: delivery.id)
        try decide(&delivery, webhook, outcome, visit)
        try visit.record(
            .webhookAttempted, delivery.id,
            [
                "event": .string(delivery.event), "entrupy_id": .string(delivery.entrupyID),
                "subscription_id": .string(delivery.subscriptionID), "attempt": .number(JSONNumber(webhook.number)),
                "status": outcome.status.map { .number(JSONNumber($0)) } ?? .null,
                "error": outcome.error.map { .string($0) } ?? .null, "delivery": .string(delivery.status.rawValue),
                "fault": delivery.fault.flatMap { $0.attempt == webhook.number ? .string($0.ruleID) : nil } ?? .null,
            ])
    }

    /// What follows from an attempt that is over.
    private static func decide(
        _ delivery: inout DeliveryRecord, _ webhook: OutgoingWebhook, _ outcome: WebhookOutcome, _ visit: Visit
    ) throws {
        guard delivery.status == .sending else {
            // Cancelled meanwhile: what was sent was sent.
            if outcome.isSuccess { delivery.status = .delivered }
            return try visit.transaction.updateDelivery(delivery)
        }
        let gaps = visit.settings.webhookRetries
        if outcome.isSuccess {
            try finish(&delivery, .delivered, visit)
        } else if gaps.indices.contains(delivery.attempts - 1) {
            try postpone(&delivery, until: webhook.at + gaps[delivery.attempts - 1], visit)
        } else {
            try finish(&delivery, .failed, visit)
        }
    }

    private static func finish(
        _ delivery: inout DeliveryRecord, _ status: DeliveryRecord.Status, _ visit: Visit
    ) throws {
        delivery.status = status
        delivery.nextAttemptAt = nil
        try visit.transaction.updateDelivery(delivery)
        try goOn(after: delivery, visit)
    }

    /// Goes on with what is next of an item and subscription: the one that was held back for `delivery` to overtake it, or
    /// the first that waits.
    private static func goOn(after delivery: DeliveryRecord, _ visit: Visit) throws {
        var next = try visit.transaction.firstOpenDelivery(
            subscriptionID: delivery.subscriptionID, entrupyID: delivery.entrupyID)
        if !delivery.isHeld,
            var held = try visit.transaction.heldDelivery(
                subscriptionID: delivery.subscriptionID, entrupyID: delivery.entrupyID)
        {
            if let time = held.nextAttemptAt { try visit.unschedule(.webhookAttempt, held.id, at: time) }
            held.isHeld = false
            held.nextAttemptAt = nil
            held.status = .waiting
            next = held
        }
        guard var next, next.status == .waiting,
            let subscription = try visit.transaction.subscription(id: next.subscriptionID)
        else { return }
        next.status = .sending
        try visit.transaction.updateDelivery(next)
        try attempt(next, subscription, visit)
    }

    /// Takes back whatever a subscription has not been told yet.
    static func cancel(subscriptionID: String, _ visit: Visit) throws {
        for var delivery in try visit.transaction.openDeliveries(subscriptionID: subscriptionID) {
            if let next = delivery.nextAttemptAt { try visit.unschedule(.webhookAttempt, delivery.id, at: next) }
            delivery.status = .cancelled
            delivery.nextAttemptAt = nil
            try visit.transaction.updateDelivery(delivery)
        }
    }
}

extension Namespace {
    /// Records what came of an attempt.
    package func record(_ webhook: OutgoingWebhook, _ outcome: WebhookOutcome) async {
        let ticket = JobTicket.current ?? environment.recorder?.ticket()
        await JobTicket.$current.withValue(ticket) {
            _ = await run(RequestHead(isControl: true), .writes) { visit in
                try Deliveries.record(webhook, outcome, visit)
            }
        }
        if let ticket, let recorder = environment.recorder {
            recorder.keep(RecordedOutcome(name, webhook, outcome), ticket, environment)
        }
    }

    /// Makes the attempts again that were under way when the process ended. Comes before all else in a world that was just
    /// opened: an attempt that falls due only now is none of them.
    func resumeDeliveries() async {
        _ = await run(RequestHead(isControl: true), .reads, catchingUp: false) { visit in
            if try visit.world.hasSubscriptions(visit.transaction) { try Deliveries.resume(visit) }
        }
    }
}
