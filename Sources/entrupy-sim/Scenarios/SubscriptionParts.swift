import Foundation
import SimulationAPI

/// The webhook subscriptions of a run as parts of a scenario. Their secrets are left out: a person chooses others.
struct SubscriptionParts {
    let facts: BundleFacts
    /// The start of the scenario, in epoch seconds.
    let start: Double

    /// The secret of each part, until a person chooses another.
    private static let secret = "choose-a-secret"

    /// The comments above the list.
    var comments: [String] {
        facts.subscriptions.isEmpty
            ? []
            : [
                "CHOOSE: the secrets that sign deliveries are not written here. Give each URL the one that its receiver knows, and the values of its query."
            ]
    }

    /// The parts, oldest subscription of each organization first.
    func parts(max: Int) -> [ScenarioDraft.Part] {
        let requested = requested
        return facts.subscriptions.prefix(max).map { subscription in
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
            var comments = comments(subscription, isRequested: requested.contains(subscription.id))
            if !isV2 { comments.append("The run's had the version \(subscription.version); v1 is the newest 1.x.") }
            return ScenarioDraft.Part(members, comments)
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
    private var requested: Set<String> {
        let ranges = facts.requests.compactMap(\.changes)
        return Set(
            facts.events.filter { event in
                event.kind == "subscription.created"
                    && ranges.contains { $0.after < event.sequence && event.sequence <= $0.through }
            }.map(\.subject))
    }
}
