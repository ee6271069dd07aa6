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
            var members: [(String, JSONValue)] = [
                ("url", .string(subscription.url.maskingQuery)), ("secret_key", .string(Self.secret)),
                ("events", .array(subscription.events.map { .string($0) })),
                ("organization", .string(subscription.organization)),
            ]
            if let username = subscription.username { members.append(("username", .string(username))) }
            let isV2 = subscription.version == "v2"
            if !isV2 { members.append(("version", "v1")) }
            members += [
                ("format", .string(subscription.format)), ("signature", .string(subscription.signature)),
            ]
            // A URL may hold a secret of the namespace. The made-up secret is none.
            for index in members.indices where members[index].0 != "secret_key" {
                members[index].1 = try await masked(members[index].1)
            }
            var comments = comments(subscription, isRequested: requested.contains(subscription.id))
            if !isV2 { comments.append("The run's had the version \(subscription.version); v1 is the newest 1.x.") }
            draft["subscriptions"].parts.append(ScenarioDraft.Part(members, comments))
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
