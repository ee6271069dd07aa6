import SimulationAPI

/// The webhooks that did not arrive in a run, as expectations of a scenario.
struct ExpectedWebhooks {
    private let deliveries: [WebhookDelivery]

    /// The maximum number of deliveries that comments name, for each event.
    private static let maxNamed = 3

    /// - Parameter deliveries: the run's deliveries, oldest first.
    init(_ deliveries: [WebhookDelivery]) {
        // A verification asks for a domain and tells no event.
        self.deliveries = deliveries.filter { $0.event != "verification" }
    }

    /// The expectations about the events that have lost deliveries, in their order.
    func parts() -> [ScenarioDraft.Part] {
        var events: [String] = []
        for delivery in deliveries where isLost(delivery) && !events.contains(delivery.event) {
            events.append(delivery.event)
        }
        return events.flatMap { parts(of: $0) }
    }

    /// The deliveries that a fault lost are expected as they were. Of the others a person says what should have come.
    private func parts(of event: String) -> [ScenarioDraft.Part] {
        let all = deliveries.filter { $0.event == event }
        let lost = all.filter { isLost($0) && $0.fault == nil }
        var parts: [ScenarioDraft.Part] = []
        if !lost.isEmpty {
            let comments = lost.prefix(Self.maxNamed).map { delivery in
                "CHOOSE: \(Self.text(delivery)). If that is right, expect status \(delivery.status)."
            }
            let more = lost.count > Self.maxNamed ? ["\(lost.count - Self.maxNamed) more were not delivered."] : []
            let arrived = all.count { $0.status == "delivered" }
            parts.append(Self.part(event, "delivered", atLeast: arrived + lost.count, comments + more))
        }
        for status in Set(all.filter { isLost($0) && $0.fault != nil }.map(\.status)).sorted() {
            let decided = all.filter { isLost($0) && $0.fault != nil && $0.status == status }
            let comments = decided.prefix(Self.maxNamed).map { "\(Self.text($0)), by the fault \($0.fault ?? "")." }
            parts.append(Self.part(event, status, atLeast: decided.count, comments))
        }
        return parts
    }

    private static func part(
        _ event: String, _ status: String, atLeast count: Int, _ comments: [String]
    ) -> ScenarioDraft.Part {
        let webhook = JSONObject([("event", .string(event)), ("status", .string(status))])
        return ScenarioDraft.Part(
            [("webhook", .object(webhook)), ("at_least", .number(JSONNumber(count)))],
            comments + ["Checked after a start, not against a bundle."])
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
