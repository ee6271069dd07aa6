import Foundation
import SimulationAPI
import Storage

/// The delivery of webhooks: in order for each subject and subscription, one attempt at a time [D webhook-order].
///
/// A failed attempt is repeated; later deliveries of the subject wait behind it.
package enum Deliveries {
    /// Adds a delivery. Its first attempt is made at once, unless an earlier delivery of the same subject to the same
    /// subscription is still open. Writes.
    ///
    /// - Parameter format: the form of the body.
    package static func add(
        _ body: Data, as format: String, event: String, eventID: String, of subject: String,
        _ subscription: SubscriptionRecord, _ job: JobContext
    ) throws -> DeliveryRecord {
        let isFirst =
            try job.transaction.firstOpenDelivery(subscriptionID: subscription.id, subject: subject) == nil
        var delivery = DeliveryRecord(
            id: try job.nextID(.delivery), subscriptionID: subscription.id, subject: subject, event: event,
            eventID: eventID, format: format, body: body, createdAt: job.now, status: isFirst ? .sending : .waiting)
        delivery.cause = try job.cause()
        delivery.trace = job.state.cause.trace?.stored
        try job.transaction.insert(delivery)
        if isFirst { try attempt(delivery, subscription, job) }
        return delivery
    }

    /// Queues an attempt, which is sent once this job's transaction is committed, or applies a fault instead.
    ///
    /// A fault is drawn at most once for each attempt, even if the attempt is postponed [D webhook-faults].
    private static func attempt(
        _ delivery: DeliveryRecord, _ subscription: SubscriptionRecord, _ job: JobContext
    ) throws {
        var delivery = delivery
        if delivery.isVerification {
            job.state.outgoing.append(verificationRequest(delivery, job))
            return
        }
        if delivery.fault?.attempt != delivery.attempts + 1, let triggered = try Faults.trigger(delivery, job) {
            delivery.fault = .init(
                ruleID: triggered.id, effect: triggered.effect.name, attempt: delivery.attempts + 1)
            if let moment = try triggered.begin(&delivery, triggered.purpose, job) {
                try postpone(&delivery, until: moment, job)
                if delivery.isHeld { try sendNext(after: delivery, job) }
                return
            }
            try job.transaction.updateDelivery(delivery)
        }
        let fault = delivery.fault.flatMap { $0.attempt == delivery.attempts + 1 ? $0.effect : nil }
        var subscription = subscription
        let isSent = fault.flatMap(WebhookEffect.named)?.send(&delivery, &subscription) ?? true
        job.state.outgoing.append(
            OutgoingWebhook(
                generation: job.state.generation, deliveryID: delivery.id, number: delivery.attempts + 1,
                at: job.now, subscriptionID: subscription.id, url: subscription.url, body: delivery.body,
                headers: [
                    try job.state.environment.platforms.platform(ofFormat: delivery.format)
                        .webhooks.signature(delivery.body, subscription.secret, subscription.signature),
                    // [D webhook-headers]
                    HeaderField(name: "X-Sim-Event", value: delivery.event),
                    HeaderField(name: "X-Sim-Event-Id", value: delivery.eventID),
                ] + traceHeaders(delivery, job), signature: subscription.signature,
                timeout: job.settings.webhookTimeout,
                isDropped: !isSent))
    }

    /// The trace of the request that caused the delivery goes on, with a span for each attempt [D trace].
    private static func traceHeaders(_ delivery: DeliveryRecord, _ job: JobContext) -> [HeaderField] {
        guard let trace = delivery.trace.flatMap({ TraceContext(stored: $0) }) else { return [] }
        let span = job.state.generator.span(for: "\(delivery.id):\(delivery.attempts + 1)")
        return [HeaderField(name: "traceparent", value: trace.header(span: span))]
    }

    // MARK: Verification of domains

    /// Asks the domain of a pending subscription whether it agrees to deliveries, and again at the gaps of retries. Ends
    /// an earlier verification. Writes [D webhook-verification].
    package static func verify(_ subscription: SubscriptionRecord, _ job: JobContext) throws {
        try cancel(subscriptionID: subscription.id, job)
        let platform = try job.state.environment.platforms.platform(ofFormat: subscription.format)
        let url =
            try WebhookTarget.read(subscription.url).get().origin
            + platform.webhooks.verificationPath(subscription.id)
        _ = try add(
            Data(url.utf8), as: DeliveryRecord.verification, event: DeliveryRecord.verification,
            eventID: try job.nextID(.webhookEvent), of: subscription.id, subscription, job)
    }

    private static func verificationRequest(_ delivery: DeliveryRecord, _ job: JobContext) -> OutgoingWebhook {
        OutgoingWebhook(
            generation: job.state.generation, deliveryID: delivery.id, number: delivery.attempts + 1, at: job.now,
            subscriptionID: delivery.subscriptionID, url: delivery.askedURL, body: nil, headers: [],
            signature: nil, timeout: job.settings.webhookTimeout, isDropped: false)
    }

    private static func postpone(_ delivery: inout DeliveryRecord, until moment: Instant, _ job: JobContext) throws {
        let next = max(moment, job.now)
        delivery.status = .retrying
        delivery.nextAttemptAt = next
        try job.transaction.updateDelivery(delivery)
        try job.schedule(.webhookAttempt, delivery.id, at: next)
    }

    /// Makes an attempt that is now due. Writes.
    package static func attemptDue(deliveryID: String, _ job: JobContext) throws {
        guard var delivery = try job.transaction.delivery(id: deliveryID), delivery.status == .retrying,
            let subscription = try job.transaction.subscription(id: delivery.subscriptionID)
        else { return }
        delivery.nextAttemptAt = nil
        // The delivery that should overtake this one may still be open. This one has reached its longest hold.
        delivery.isHeld = false
        delivery.status = .sending
        try job.transaction.updateDelivery(delivery)
        try attempt(delivery, subscription, job)
    }

    /// Repeats the attempts that were in flight when the process ended. It is unknown whether they arrived.
    package static func resume(_ job: JobContext) throws {
        for delivery in try job.transaction.interruptedDeliveries() {
            guard let subscription = try job.transaction.subscription(id: delivery.subscriptionID) else { continue }
            try attempt(delivery, subscription, job)
        }
    }

    /// Records the result of an attempt. Writes.
    ///
    /// After a success or the last attempt, the subject's next delivery follows. Otherwise the attempt is repeated after
    /// the gap from the settings, counted from this attempt. Results from before a reset are ignored.
    package static func record(_ webhook: OutgoingWebhook, _ outcome: WebhookOutcome, _ job: JobContext) throws {
        guard job.state.generation == webhook.generation,
            var delivery = try job.transaction.delivery(id: webhook.deliveryID),
            delivery.attempts == webhook.number - 1
        else { return }
        job.state.cause = .delivery(delivery)
        var outcome = outcome
        if delivery.isVerification {
            let subscription = try job.transaction.subscription(id: delivery.subscriptionID)
            outcome = outcome.verified(by: subscription?.verification ?? "")
        }
        let fault = delivery.fault.flatMap { $0.attempt == webhook.number ? $0.ruleID : nil }
        let decision = try fault.map { try Faults.fact($0, on: delivery, job).members }
        delivery.attempts += 1
        try job.transaction.insertAttempt(
            deliveryID: delivery.id, number: delivery.attempts, at: webhook.at, status: outcome.status,
            error: outcome.error, milliseconds: outcome.milliseconds, answer: outcome.answer, faultID: fault,
            signature: webhook.signature)
        try decide(&delivery, webhook, outcome, job)
        var data: JSONObject =
            [
                "event": .string(delivery.event),
                "entrupy_id": delivery.isVerification ? .null : .string(delivery.subject),
                "subscription_id": .string(delivery.subscriptionID), "attempt": .number(JSONNumber(webhook.number)),
                "status": outcome.status.map { .number(JSONNumber($0)) } ?? .null,
                "error": outcome.error.map { .string($0) } ?? .null, "delivery": .string(delivery.status.rawValue),
                "fault": fault.map { .string($0) } ?? .null,
            ]
        data["decision"] = decision.map { .object($0) }
        try job.record(.webhookAttempted, delivery.id, data)
    }

    /// Sets the delivery's status after an attempt and starts the next step.
    private static func decide(
        _ delivery: inout DeliveryRecord, _ webhook: OutgoingWebhook, _ outcome: WebhookOutcome, _ job: JobContext
    ) throws {
        guard delivery.status == .sending else {
            // Cancelled in the meantime. The attempt may still have arrived.
            if outcome.isSuccess { delivery.status = .delivered }
            return try job.transaction.updateDelivery(delivery)
        }
        let gaps = job.settings.webhookRetries
        if outcome.isSuccess {
            if delivery.isVerification { try activate(delivery.subscriptionID, job) }
            try finish(&delivery, .delivered, job)
        } else if gaps.indices.contains(delivery.attempts - 1) {
            try postpone(&delivery, until: webhook.at + gaps[delivery.attempts - 1], job)
        } else {
            try finish(&delivery, .failed, job)
        }
    }

    private static func activate(_ subscriptionID: String, _ job: JobContext) throws {
        guard var subscription = try job.transaction.subscription(id: subscriptionID) else { return }
        subscription.isPending = false
        try job.transaction.updateSubscription(subscription)
        try job.record(.subscriptionVerified, subscriptionID, ["url": .string(subscription.url)])
        job.state.subscriptionsChanged()
    }

    private static func finish(
        _ delivery: inout DeliveryRecord, _ status: DeliveryRecord.Status, _ job: JobContext
    ) throws {
        delivery.status = status
        delivery.nextAttemptAt = nil
        try job.transaction.updateDelivery(delivery)
        try sendNext(after: delivery, job)
    }

    /// Starts the next delivery of a subject to a subscription: the one held back until `delivery` had overtaken it, or
    /// else the first that waits.
    private static func sendNext(after delivery: DeliveryRecord, _ job: JobContext) throws {
        var next = try job.transaction.firstOpenDelivery(
            subscriptionID: delivery.subscriptionID, subject: delivery.subject)
        if !delivery.isHeld,
            var held = try job.transaction.heldDelivery(
                subscriptionID: delivery.subscriptionID, subject: delivery.subject)
        {
            if let time = held.nextAttemptAt { try job.unschedule(.webhookAttempt, held.id, at: time) }
            held.isHeld = false
            held.nextAttemptAt = nil
            held.status = .waiting
            next = held
        }
        guard var next, next.status == .waiting,
            let subscription = try job.transaction.subscription(id: next.subscriptionID)
        else { return }
        next.status = .sending
        try job.transaction.updateDelivery(next)
        try attempt(next, subscription, job)
    }

    /// Cancels a subscription's open deliveries [D webhook-deleted]. Writes.
    package static func cancel(subscriptionID: String, _ job: JobContext) throws {
        for var delivery in try job.transaction.openDeliveries(subscriptionID: subscriptionID) {
            if let next = delivery.nextAttemptAt { try job.unschedule(.webhookAttempt, delivery.id, at: next) }
            delivery.status = .cancelled
            delivery.nextAttemptAt = nil
            try job.transaction.updateDelivery(delivery)
            let event = try StoredJSON.encode(JSONValue.object(["event": .string(delivery.event)]))
            job.note(event: .webhookCancelled, delivery.id, encoded: event, try job.cause())
        }
    }
}

extension Namespace {
    /// Records the result of an attempt.
    package func record(_ webhook: OutgoingWebhook, _ outcome: WebhookOutcome) async {
        await environment.sequencer.runOutcome(outcome, of: webhook, in: name) {
            let counted = await run(.background, .writes) { job in
                try Deliveries.record(webhook, outcome, job)
                return job.state.generation == webhook.generation
            }.result
            // If storage failed, the attempt is taken for one of the current state, as nearly all are.
            return (try? counted.get()) ?? true
        }
    }

    /// Repeats the attempts that were in flight when the process ended.
    ///
    /// Runs before all other work in a state that was just opened, so that attempts which fall due only now are not
    /// repeated.
    package func resumeDeliveries() async {
        _ = await run(.background, .writes, catchingUp: false) { job in
            if try job.state.hasSubscriptions(job.transaction) { try Deliveries.resume(job) }
        }
    }
}
