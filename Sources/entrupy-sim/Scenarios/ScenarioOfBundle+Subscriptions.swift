import Foundation
import SimulationAPI

/// The webhook subscriptions of a run as parts of a scenario. Their secrets are left out: a person chooses others.
extension ScenarioOfBundle {
    /// The secret of each part, until a person chooses another.
    private static let secret = "choose-a-secret"

    /// Adds the subscriptions, the oldest of each organization first.
    mutating func addSubscriptions() async throws {
        guard !facts.subscriptions.isEmpty else { return }
        draft["subscriptions"].comments = [
            "CHOOSE: the secrets that sign deliveries are not written here. Give each URL the one that its receiver knows, and the values of its query."
        ]
        let requested = requestedSubscriptions
        for subscription in facts.subscriptions.prefix(Self.maxParts) {
            let isV2 = subscription.version == "v2"
            var part = ScenarioDraft.Part(
                [
                    ("url", .string(subscription.url.maskingQuery)), ("secret_key", .string(Self.secret)),
                    ("events", .array(subscription.events.map { .string($0) })),
                    ("organization", .string(subscription.organization)),
                    ("username", subscription.username.map { .string($0) }), ("version", isV2 ? nil : "v1"),
                    ("format", .string(subscription.format)), ("signature", .string(subscription.signature)),
                ], comments(subscription, isRequested: requested.contains(subscription.id)))
            if !isV2 {
                part.comments.append("The run's had the version \(subscription.version); v1 is the newest 1.x.")
            }
            // A URL may hold a secret of the namespace. The made-up secret is none.
            for index in part.members.indices where part.members[index].0 != "secret_key" {
                part.members[index].1 = try await masked(part.members[index].1)
            }
            draft["subscriptions"].parts.append(part)
        }
    }

    private func comments(_ subscription: SubscriptionInfo, isRequested: Bool) -> [String] {
        var comments: [String] = []
        let made = facts.events.last { $0.kind == "subscription.created" && $0.subject == subscription.id }
        if let made, made.at > start {
            let time = DurationText.text(seconds: made.at - start)
            comments.append("Made \(time) after the start; here it is there from the start on.")
        }
        if isRequested {
            comments.append("CHOOSE: a request of the run made it. Remove it here if your client subscribes again.")
        }
        return comments
    }

    /// The ids of the subscriptions that requests of the journal made.
    private var requestedSubscriptions: Set<String> {
        let ranges = facts.requests.compactMap(\.changes)
        return Set(
            facts.events.filter { event in
                event.kind == "subscription.created"
                    && ranges.contains { $0.after < event.sequence && event.sequence <= $0.through }
            }.map(\.subject))
    }
}
