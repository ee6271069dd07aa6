import EntrupyAPI
import EntrupyStorage
import Foundation
import NIOConcurrencyHelpers
import Resources
import Simulation
import SimulationAPI
import Storage

/// The engine's protocol, not Foundation's class.
package typealias Operation = Simulation.Operation

/// Entrupy's platform: authentication of luxury goods, sneakers and apparel from photos.
package final class EntrupyPlatform: SimulatedPlatform {
    /// The built-in seed data: organizations, users, and the catalogue.
    package static let standardSeed = Resource.text("seed-data/standard.yaml")
    /// The texts of the scenarios in `seed-data/scenarios` by name, one for each edge case that the vendor documents [S].
    package static let shippedScenarios = Resource.texts(in: "scenarios", ending: ".yaml")

    /// Renderings that are not stored in the database, at most 16 MB.
    let renderings = RenderingCache(bytes: 16_000_000)
    private let lastRenderingsID = NIOLockedValueBox(0)

    package init() {}

    /// A number for ``EntrupyState/renderingsID``. Unique in this process.
    func nextRenderingsID() -> Int { lastRenderingsID.next() }

    package let kinds = PlatformKinds(
        ids: IDKind.ofEntrupy, events: EventKind.ofEntrupy, due: DueKind.ofEntrupy, awaited: AwaitedEvent.ofEntrupy)

    package let tables = {
        var tables = PlatformTables()
        tables.migrations = EntrupyMigrations.all
        tables.domains = EntrupyDomains.tables
        tables.names = { ($0 as? EntrupySeed).map(EntrupyDomains.names) ?? [:] }
        tables.extended = EntrupyDomains.extended
        tables.compared = .ofEntrupy
        return tables
    }()

    package let seedMembers = SeedMembers(
        ["flagging", "webhooks", "categories", "item_types", "brands", "texts"],
        ofOrganizations: ["bundles", "flagging", "partner_users"])

    package func readSeed(_ fields: inout FieldReader, text: String) throws -> any PlatformSeed {
        EntrupySeed(&fields, text: text)
    }

    package func exportSeed(_ job: JobContext) throws -> any PlatformSeed { try EntrupySeed(of: job) }

    package func defaultSettings(_ seed: (any PlatformSeed)?) -> JSONObject {
        let seed = seed as? EntrupySeed
        var defaults = EntrupySettings.defaults(flagEligible: seed?.flagEligible ?? [])
        defaults["webhooks"] = seed?.webhooks?.document.json
        return defaults
    }

    package func readSettings(_ fields: inout FieldReader) -> any PlatformSettings { EntrupySettings(&fields) }

    package let scenarios = PlatformScenarios(
        actions: ScenarioAction.Kind.ofEntrupy, expectations: ScenarioExpectation.Kind.ofEntrupy,
        sections: ScenarioSection.ofEntrupy)

    package let webhooks = PlatformWebhooks.ofEntrupy

    package let faultEffects = [RequestEffect.expireSession, .imageUploadError]

    package let paths = {
        var paths = PlatformPaths()
        // [D not-simulated]
        paths.unsimulated = [
            "/v2/fingerprints", "/v2/search/fingerprints", "/v2/search/domains", "/v2/integrations/app-login-voucher",
        ]
        paths.advice = { path, method in
            UnknownPaths.advice(path.filter { !$0.isOne(of: ["v1", "v2", "api"]) }, method)
        }
        paths.isCalledByUsers = { $0.utf8.starts(with: "/sdk/".utf8) || $0.isIdentical(to: "/login") }
        paths.unknown = UnknownPaths.unknown
        return paths
    }()

    package let futureForms = FutureForms(
        mapsOfTexts: ["display", "text_fields"],
        unorderedLists: [
            "brands", "details", "issues", "item_types", "marketplace_listings", "materials", "options",
            "product_categories",
            "reasons", "regions", "required_fields", "supported_flag_reasons", "text_fields", "uploaded_images",
        ],
        // Those of a subscription. The events of an item are in the order of time.
        unorderedTexts: ["events"])

    package func makeState(for state: NamespaceState) -> (any PlatformState)? { EntrupyState(self, state) }

    package func username(of credential: Credential, _ job: JobContext) throws -> String? {
        guard case .token(let token) = credential else { return nil }
        if let user = job.entrupy.sessions[token] { return user.username }
        // A session that has ended has a user too.
        guard let session = try job.transaction.session(token: token) else { return nil }
        return try job.transaction.user(id: session.userID)?.username
    }

    package var evidence: PlatformEvidence { .ofEntrupy }
}

extension PlatformWebhooks {
    fileprivate static let ofEntrupy = {
        var webhooks = PlatformWebhooks()
        webhooks.events = WebhookEvent.names
        webhooks.futureEvents = { generator in
            WebhookEvent.names.filter { $0.begins(with: Webhooks.ofSession) }.map {
                Webhooks.unknownEvent(after: $0, generator)
            }
        }
        webhooks.isFutureEvent = Webhooks.isUnknownEvent
        webhooks.versions = PartnerVersion.accepted + ["2"]
        webhooks.formats = WebhookFormat.names
        webhooks.signatures = WebhookSignatureForm.names
        webhooks.signature = { body, secret, form in
            let form = WebhookSignatureForm(rawValue: form) ?? .base64
            return HeaderField(
                name: WebhookSignatureForm.header, value: form.text(of: WebhookSignature.code(body, secret: secret)))
        }
        webhooks.verificationPath = { "/.well-known/entrupy-domain-verification/\($0)" }
        webhooks.owner = { subject, job in
            guard let item = try job.transaction.item(entrupyID: subject) else { return nil }
            return try job.transaction.user(id: item.userID)?.username
        }
        return webhooks
    }()
}

extension Seed {
    var entrupy: EntrupySeed { part(EntrupySeed.self) }
}
