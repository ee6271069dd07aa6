import SimulationAPI

extension SweepTarget {
    /// The webhooks of a run, named by event and place among those of their subscription, and the names of those that no receiver
    /// answered. Domain verifications are none: no fault applies to them.
    ///
    /// - Parameter deliveries: in the order of creation.
    static func webhooks(of deliveries: [WebhookDelivery]) -> (found: [SweepTarget], others: [String]) {
        let deliveries = deliveries.filter { $0.entrupy_id != nil }
        var subscriptions: [String: Int] = [:]
        var last: [[String?]: Int] = [:]
        for (index, delivery) in deliveries.enumerated() {
            subscriptions[delivery.subscription_id] = subscriptions[delivery.subscription_id] ?? subscriptions.count
            if delivery.isAnswered { last[delivery.row] = index }
        }
        let earlier = attemptsBefore(deliveries)
        var webhooks: [SweepTarget] = []
        var unanswered: [String] = []
        var counts: [String: Int] = [:]
        for (index, delivery) in deliveries.enumerated() {
            let place = subscriptions[delivery.subscription_id] ?? 0
            let plain = "webhook \(delivery.event)" + (place > 0 ? " of subscription \(place + 1)" : "")
            counts[plain, default: 0] += 1
            let name = "\(plain) #\(counts[plain] ?? 1)"
            guard delivery.isAnswered, let earlier = earlier[index] else {
                unanswered.append(name)
                continue
            }
            webhooks.append(
                SweepTarget(
                    name: name, place: .webhook, match: ["webhook": .string(delivery.event)], before: earlier.all,
                    firstBefore: earlier.first,
                    // No later webhook of the item reaches the same subscription.
                    excluded: last[delivery.row] == index ? .reordered : nil))
        }
        return (webhooks, unanswered)
    }

    /// The number of attempts of an event, and of first ones, before the first attempt of each delivery, by its place.
    private static func attemptsBefore(_ deliveries: [WebhookDelivery]) -> [Int: (all: Int, first: Int)] {
        let attempts = deliveries.enumerated().flatMap { index, delivery in
            delivery.attempts.map { (at: $0.at, index: index, number: $0.number) }
        }
        var counts: [String: (all: Int, first: Int)] = [:]
        var before: [Int: (all: Int, first: Int)] = [:]
        for attempt in attempts.sorted(by: { ($0.at, $0.index, $0.number) < ($1.at, $1.index, $1.number) }) {
            let event = deliveries[attempt.index].event
            let count = counts[event] ?? (0, 0)
            if attempt.number == 1 { before[attempt.index] = count }
            counts[event] = (count.all + 1, count.first + (attempt.number == 1 ? 1 : 0))
        }
        return before
    }
}

extension WebhookDelivery {
    /// Whether a receiver answered an attempt.
    var isAnswered: Bool { attempts.contains { $0.status != nil } }

    /// Equal for deliveries that wait for each other.
    fileprivate var row: [String?] { [subscription_id, entrupy_id] }
}
