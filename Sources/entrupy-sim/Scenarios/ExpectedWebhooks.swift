import SimulationAPI

/// The webhooks that did not arrive in a run, as expectations of a scenario.
struct ExpectedWebhooks {
    private let deliveries: [WebhookDelivery]

    /// The maximum number of deliveries that comments name, for each event, and of those that a fault lost.
    private static let maxNamed = 3

    /// - Parameter deliveries: the run's deliveries, oldest first.
    init(_ deliveries: [WebhookDelivery]) {
        // A verification asks for a domain and tells no event.
        self.deliveries = deliveries.filter { $0.event != "verification" }
    }

    /// The expectations about the events that have lost deliveries, in their order. What a fault lost is not expected.
    var parts: [ScenarioDraft.Part] {
        var events: [String] = []
        for delivery in deliveries where isLost(delivery) && delivery.fault == nil && !events.contains(delivery.event) {
            events.append(delivery.event)
        }
        return events.map { part(of: $0) }
    }

    /// Sentences about the deliveries that a fault lost.
    var comments: [String] {
        deliveries.filter { isLost($0) && $0.fault != nil }.prefix(Self.maxNamed).map {
            "Not expected: \(Self.text($0)), by the fault \($0.fault ?? "")."
        }
    }

    /// A person says what should have come.
    private func part(of event: String) -> ScenarioDraft.Part {
        let all = deliveries.filter { $0.event == event }
        let lost = all.filter { isLost($0) && $0.fault == nil }
        let comments = lost.prefix(Self.maxNamed).map { delivery in
            "CHOOSE: \(Self.text(delivery)). If that is right, expect status \(delivery.status)."
        }
        let more = lost.count > Self.maxNamed ? ["\(lost.count - Self.maxNamed) more were not delivered."] : []
        let arrived = all.count { $0.status == "delivered" }
        let webhook = JSONObject([("event", .string(event)), ("status", "delivered")])
        return ScenarioDraft.Part(
            [("webhook", .object(webhook)), ("at_least", .number(JSONNumber(arrived + lost.count)))],
            comments + more + ["Checked after a start, not against a bundle."])
    }

    private static func text(_ delivery: WebhookDelivery) -> String {
        let item = delivery.entrupy_id.map { " of \($0)" } ?? ""
        let last = delivery.attempts.last
        let reason = last?.error ?? last?.status.map { "answered \($0)" } ?? "no attempt was made"
        let attempts = Readable.count(delivery.attempts.count, "attempt")
        return "\(delivery.event)\(item) was \(delivery.status) after \(attempts): \(reason)"
    }

    private func isLost(_ delivery: WebhookDelivery) -> Bool {
        guard delivery.status != "delivered" else { return false }
        return !delivery.attempts.isEmpty || delivery.fault != nil || ["failed", "cancelled"].contains(delivery.status)
    }
}
