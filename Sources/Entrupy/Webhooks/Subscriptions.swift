import EntrupyAPI
import Simulation
import SimulationAPI
import Storage

/// Rules that all operations on subscriptions share.
enum Subscriptions {
    /// The only channel [P]. It means all events [D webhook-channel].
    static let channel = "authentications"

    /// A subscription of an organization. Another organization's subscription is reported as missing.
    static func find(
        _ id: String, of organization: OrganizationRecord, _ job: JobContext
    ) throws -> SubscriptionRecord {
        let found = try job.transaction.subscription(id: id)
        guard let subscription = found, subscription.organizationID == organization.id else {
            throw PlatformError.notFound(
                "the organization has no webhook with this id; GET /v2/webhooks lists them",
                because: try Ownership.because(.webhook, id, of: found?.organizationID, asked: organization, job))
        }
        return subscription
    }

    /// The problems of a request, beyond its types. A `username` need not exist yet [D webhook-username].
    static func problems(_ request: SubscriptionRequest, _ job: JobContext) -> [ErrorDetail] {
        var problems: [ErrorDetail] = []
        problems.add("url", request.url.flatMap { problem(ofURL: $0, job) })
        if let secret = request.secret_key {
            let length = secret.utf8.count
            if !(1...WebhookSignature.maxSecretBytes).contains(length) {
                problems.add(
                    "secret_key", "must be 1 to \(WebhookSignature.maxSecretBytes) bytes in UTF-8, got \(length)")
            }
        }
        let known = WebhookEvent.names
        if let events = request.events {
            if events.isEmpty { problems.add("events", "must name at least one event, or be left out") }
            for (index, event) in events.enumerated() where !event.isOne(of: known) {
                // Looking for the nearest takes longer than reading.
                let question = index < FieldReader.maxGuesses ? FieldReader.question(event.lowercased(), known) : ""
                problems.add(
                    "events[\(index)]",
                    "must be one of \(known.joined(separator: ", ")), got \"\(event.excerpt)\"\(question)")
            }
        }
        if let channel = request.channel {
            if !channel.isIdentical(to: self.channel) {
                problems.add("channel", "must be \(self.channel), got \"\(channel.excerpt)\"")
            }
            if request.events != nil {
                problems.add("channel", "cannot be combined with events; give one of the two")
            }
        }
        if request.username?.isEmpty == true { problems.add("username", "must not be empty") }
        return problems
    }

    /// The problem of a URL. Forbidden literal addresses and this server's own address are refused here. Host names
    /// are resolved and checked before every attempt.
    private static func problem(ofURL url: String, _ job: JobContext) -> String? {
        switch WebhookTarget.read(url) {
        case .failure(let problem): return problem.text
        case .success(let target):
            let environment = job.state.environment
            if environment.webhooks.ownAddress?.isNamed(by: target) == true {
                return
                    "leads to this server itself; name the address of a receiver, for instance http://127.0.0.1:9000/hooks"
            }
            guard let address = target.address else { return nil }
            if address.isMetadata { return "\(target.host) is \(WebhookTarget.metadataService)" }
            if environment.webhooks.allowsAnyTarget || address.isLocal { return nil }
            return "\(target.host) is not a loopback or private address; start the server with --webhook-targets any"
        }
    }

    /// The events of a subscription, each once and in a fixed order. All events if `names` is `nil`.
    static func events(_ names: [String]?) -> String {
        WebhookEvent.names.filter { name in names.map(name.isOne) ?? true }.joined(separator: " ")
    }

    static func render(_ record: SubscriptionRecord) throws -> Subscription {
        let isV2 = record.version == PartnerVersion.v2.stored
        return Subscription(
            id: record.id, url: record.url, events: record.events.split(separator: " ").map(String.init),
            username: record.username,
            version: isV2 ? "v2" : record.version,
            format: try format(record), signature: try known(record.signature, as: "signature"),
            status: record.isPending ? .pending : .active, verification: record.verification,
            created_at: isV2 ? record.createdAt.wholeSeconds : record.createdAt.display)
    }

    /// - Throws: ``PlatformError/bug(_:)`` if this version of the program does not know the format.
    static func format(_ record: SubscriptionRecord) throws -> WebhookFormat { try known(record.format, as: "format") }

    private static func known<Word: RawRepresentable<String>>(_ text: String, as name: String) throws -> Word {
        guard let word = Word(rawValue: text) else {
            throw PlatformError.bug("a subscription has the \(name) \"\(text)\"")
        }
        return word
    }
}

extension SubscriptionRequest {
    static let members = ["url", "secret_key", "events", "channel", "username", "format", "signature"]

    init(_ fields: inout FieldReader) {
        self.init(
            url: fields.optionalString("url"), secret_key: fields.optionalString("secret_key"),
            events: fields.texts("events"), channel: fields.optionalString("channel"),
            username: fields.optionalString("username"), format: fields.word("format", WebhookFormat.self),
            signature: fields.word("signature", WebhookSignatureForm.self))
    }

    /// - Parameter isNew: whether the request makes a subscription, which needs a secret.
    package init(_ input: some RequestInput, isNew: Bool = false) throws {
        var fields = input.fields
        if isNew { fields.refuseOtherName(of: "secret_key") }
        self.init(&fields)
        try fields.finish()
    }
}

/// `POST /v1|v2/webhooks` [P]. A second request with the same URL creates a second subscription.
package struct Subscribe: Operation, Writes {
    let request: SubscriptionRequest
    let version: PartnerVersion

    package init(_ request: SubscriptionRequest, _ version: PartnerVersion) {
        self.request = request
        self.version = version
    }

    package func perform(_ job: JobContext, as partner: Partner) throws -> Subscription {
        var problems = Subscriptions.problems(request, job)
        if request.url == nil { problems.add("url", "is missing") }
        if request.secret_key == nil { problems.add("secret_key", "is missing") }
        guard problems.isEmpty, let url = request.url, let secret = request.secret_key else {
            throw PlatformError.invalid(problems)
        }
        var record = SubscriptionRecord(
            id: try job.nextID(.subscription), organizationID: partner.organization.id, username: request.username,
            version: version.stored, url: url, secret: secret, events: Subscriptions.events(request.events),
            format: request.format?.rawValue ?? job.settings.webhookFormat,
            signature: request.signature?.rawValue ?? job.settings.webhookSignature, createdAt: job.now)
        if job.settings.verifiesDomains {
            record.verification = try job.nextID(.verification)
            record.isPending = true
        }
        try job.transaction.insert(record)
        try job.record(.subscriptionCreated, record.id, ["organization": .string(partner.organization.name)])
        job.state.subscriptionsChanged()
        if record.isPending { try Deliveries.verify(record, job) }
        return try Subscriptions.render(record)
    }
}

/// `GET /v1|v2/webhooks` [P]: the subscriptions of both versions [D webhook-versions].
package struct ListSubscriptions: Operation, Reads {
    package init() {}

    package func perform(_ job: JobContext, as partner: Partner) throws -> SubscriptionList {
        let records = try job.transaction.subscriptions(organizationID: partner.organization.id)
        return SubscriptionList(webhooks: try records.map(Subscriptions.render))
    }
}

/// `GET /v1|v2/webhooks/{id}` [P].
package enum ShowSubscription: RuleByID, Reads {
    package static func perform(_ id: String, _ job: JobContext, as partner: Partner) throws -> Subscription {
        try Subscriptions.render(Subscriptions.find(id, of: partner.organization, job))
    }
}

/// `PATCH /v1|v2/webhooks/{id}` [P]. Later attempts of open deliveries use the new URL, secret and form of signature.
/// Their bodies stay as they are [D webhook-body].
package struct PatchSubscription: Operation, Writes {
    let id: String
    let request: SubscriptionRequest
    let forgetsUsername: Bool

    package func perform(_ job: JobContext, as partner: Partner) throws -> Subscription {
        try Subscriptions.problems(request, job).check()
        var record = try Subscriptions.find(id, of: partner.organization, job)
        let asksDomain = try request.url.map { try movesDomain(from: record, to: $0) } ?? false
        record.url = request.url ?? record.url
        record.format = request.format?.rawValue ?? record.format
        record.signature = request.signature?.rawValue ?? record.signature
        if asksDomain { record.isPending = true }
        record.secret = request.secret_key ?? record.secret
        if request.events != nil || request.channel != nil { record.events = Subscriptions.events(request.events) }
        record.username = forgetsUsername ? nil : request.username ?? record.username
        try job.transaction.updateSubscription(record)
        try job.record(.subscriptionUpdated, record.id, ["organization": .string(partner.organization.name)])
        job.state.subscriptionsChanged()
        if asksDomain { try Deliveries.verify(record, job) }
        return try Subscriptions.render(record)
    }

    /// Whether a verified subscription moves to a URL of another origin, which must be verified too
    /// [D webhook-verification].
    private func movesDomain(from record: SubscriptionRecord, to url: String) throws -> Bool {
        guard record.verification != nil else { return false }
        return try !WebhookTarget.read(url).get().hasOrigin(of: WebhookTarget.read(record.url).get())
    }
}

extension PatchSubscription {
    package init(_ input: some RequestInput) throws {
        let request = try SubscriptionRequest(input)
        self.init(id: input.path("id"), request: request, forgetsUsername: input.body["username"] == .null)
    }
}

/// `POST /v1|v2/webhooks/{id}/verify` [D webhook-verification]: asks the domain at once.
package enum VerifySubscription: RuleByID, Writes {
    package static func perform(_ id: String, _ job: JobContext, as partner: Partner) throws -> Subscription {
        let record = try Subscriptions.find(id, of: partner.organization, job)
        if record.isPending { try Deliveries.verify(record, job) }
        return try Subscriptions.render(record)
    }
}

/// `DELETE /v1|v2/webhooks/{id}` [P]. Open deliveries are cancelled [D webhook-deleted].
package enum Unsubscribe: RuleByID, Writes {
    package static func perform(_ id: String, _ job: JobContext, as partner: Partner) throws {
        let record = try Subscriptions.find(id, of: partner.organization, job)
        try Deliveries.cancel(subscriptionID: record.id, job)
        try job.transaction.deleteSubscription(id: record.id)
        try job.record(.subscriptionDeleted, record.id, ["organization": .string(partner.organization.name)])
        job.state.subscriptionsChanged()
    }
}
