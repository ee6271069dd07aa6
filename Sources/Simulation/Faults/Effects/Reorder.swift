extension WebhookEffect {
    static let reorder = Self(
        name: "reorder", about: "Sends it after the next one of the item, or after an hour.",
        applies: { delivery, job in
            // Only one delivery of a subject is held at a time: two held deliveries would keep their order.
            try delivery.attempts == 0
                && job.transaction.heldDelivery(
                    subscriptionID: delivery.subscriptionID, subject: delivery.subject) == nil
        },
        begin: { delivery, _, job in
            delivery.isHeld = true
            // At the latest [D webhook-faults].
            return job.now + .hour
        })
}
