extension WebhookEffect {
    static let duplicate = Self(
        name: "duplicate", about: "Sends it twice, with one event_id.",
        applies: { delivery, _ in delivery.attempts == 0 },
        begin: { delivery, _, job in
            var copy = delivery
            copy.id = try job.nextID(.delivery)
            copy.createdAt = job.now
            copy.status = .waiting
            try job.transaction.insert(copy)
            return nil
        })
}
