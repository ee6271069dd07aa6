import EntrupyAPI
import Simulation
import SimulationAPI
import Storage

/// `POST /_sim/webhooks`: subscribes for an organization, as its back end does with `POST /v2/webhooks`. Neither a limit nor a fault
/// applies. A second request with the same URL creates a second subscription.
package struct SubscribeOrganization: Operation, Writes {
    /// The name of an organization; `nil` for the first one.
    let organization: String?
    let request: SubscriptionRequest

    package init(_ input: some RequestInput) throws {
        var fields = input.fields(known: ["organization"] + SubscriptionRequest.members)
        organization = fields.optionalString("organization")
        request = SubscriptionRequest(&fields)
        try fields.finish()
    }

    package func perform(_ job: JobContext, as caller: Control) throws -> SubscriptionInfo {
        let partner = Partner(organization: try Subscriptions.organization(named: organization, job))
        return try SubscriptionInfo(Subscribe(request, .v2).perform(job, as: partner), of: partner.organization, job)
    }
}

/// `PATCH /_sim/webhooks/{id}`: changes a subscription of any organization, as `PATCH /v2/webhooks/{id}`.
package struct PatchAnySubscription: Operation, Writes {
    let patch: PatchSubscription

    package init(_ input: some RequestInput) throws {
        var fields = input.fields(known: SubscriptionRequest.members)
        let request = SubscriptionRequest(&fields)
        try fields.finish()
        let forgetsUsername = input.body["username"] == .null
        patch = PatchSubscription(id: input.path("id"), request: request, forgetsUsername: forgetsUsername)
    }

    package func perform(_ job: JobContext, as caller: Control) throws -> SubscriptionInfo {
        let partner = try Subscriptions.owner(of: patch.id, job)
        return try SubscriptionInfo(patch.perform(job, as: partner), of: partner.organization, job)
    }
}

/// `DELETE /_sim/webhooks/{id}`: deletes a subscription of any organization. Its open deliveries are cancelled [D webhook-deleted].
package enum RemoveSubscription: RuleByID, Writes {
    package static func perform(_ id: String, _ job: JobContext, as caller: Control) throws {
        try Unsubscribe.perform(id, job, as: Subscriptions.owner(of: id, job))
    }
}

extension Subscriptions {
    /// An organization that is to get a subscription.
    ///
    /// - Parameter name: its name; `nil` for the first organization.
    static func organization(named name: String?, _ job: JobContext) throws -> OrganizationRecord {
        let all = try job.transaction.organizations()
        let found = name.map { name in all.first { $0.name.isIdentical(to: name) } } ?? all.first
        if let found { return found }
        let names = all.map(\.name)
        throw PlatformError.invalid(
            field: "organization",
            all.isEmpty
                ? "the namespace has no organization: load seed data with one"
                : "must be one of \(names.joined(separator: ", ")), got \"\((name ?? "").excerpt)\""
                    + FieldReader.question(name ?? "", names))
    }

    /// The organization of a subscription, as a caller of the partner API.
    fileprivate static func owner(of id: String, _ job: JobContext) throws -> Partner {
        let found = try job.transaction.subscription(id: id).flatMap { subscription in
            try job.transaction.organizations().first { $0.id == subscription.organizationID }
        }
        guard let found else {
            throw PlatformError.notFound(
                "the namespace has no webhook \"\(id.excerpt)\"; GET /_sim/webhooks lists its subscriptions",
                because: "no subscription of the namespace has this id")
        }
        return Partner(organization: found)
    }
}
