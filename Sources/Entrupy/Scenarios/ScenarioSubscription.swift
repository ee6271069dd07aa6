import EntrupyAPI
import Simulation
import SimulationAPI

/// A subscription that a scenario creates.
struct ScenarioSubscription: Sendable {
    let organization: String?
    let request: SubscriptionRequest
    let version: PartnerVersion

    init(_ value: JSONValue) throws {
        var fields = FieldReader(
            value, known: ["url", "secret_key", "events", "username", "organization", "version", "format", "signature"])
        let url = fields.requiredText("url")
        let secret = fields.text("secret_key") ?? "scenario-secret"
        let events = fields.words("events", WebhookEvent.names)
        let username = fields.text("username")
        organization = fields.text("organization")
        version = fields.word("version", ["v1", "v2"]) == "v1" ? .v1(minor: PartnerVersion.lastMinor) : .v2
        let format = fields.word("format", WebhookFormat.self)
        let signature = fields.word("signature", WebhookSignatureForm.self)
        try fields.finish()
        request = SubscriptionRequest(
            url: url, secret_key: secret, events: events, username: username, format: format, signature: signature)
    }

    /// Creates the subscription, for the named organization or else the first one. Writes.
    func make(_ job: JobContext) throws {
        let found = try Subscriptions.organization(named: organization, job)
        _ = try Subscribe(request, version).perform(job, as: Partner(organization: found))
    }
}
