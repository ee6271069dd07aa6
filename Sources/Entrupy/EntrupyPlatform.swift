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

    /// Renderings that are not stored in the database, at most 16 MB.
    let renderings = RenderingCache(bytes: 16_000_000)
    private let lastRenderingsID = NIOLockedValueBox(0)

    package init() {}

    /// A number for ``EntrupyState/renderingsID``. Unique in this process.
    func nextRenderingsID() -> Int {
        lastRenderingsID.withLockedValue { id in
            id += 1
            return id
        }
    }

    package let idKinds = IDKind.ofEntrupy
    package let eventKinds = EventKind.ofEntrupy
    package let dueKinds = DueKind.ofEntrupy
    package let awaitedEvents = AwaitedEvent.ofEntrupy

    package let seedMembers = EntrupySeed.members
    package let organizationMembers = EntrupySeed.organizationMembers

    package func readSeed(_ fields: inout FieldReader, text: String) throws -> any PlatformSeed {
        EntrupySeed(&fields, text: text)
    }

    package func readAddition(_ fields: inout FieldReader, to seed: any PlatformSeed) throws -> any SeedAddition {
        try EntrupySeed.Addition(&fields, to: part(seed))
    }

    package func exportSeed(_ job: JobContext) throws -> any PlatformSeed { try EntrupySeed(of: job) }

    package func defaultSettings(_ seed: (any PlatformSeed)?) -> JSONObject {
        let seed = seed as? EntrupySeed
        var defaults = EntrupySettings.defaults(flagEligible: seed?.flagEligible ?? [])
        defaults["webhooks"] = seed?.webhooks?.document.json
        return defaults
    }

    package func readSettings(_ fields: inout FieldReader) -> any PlatformSettings { EntrupySettings(&fields) }

    package let scenarioActions = ScenarioAction.Kind.ofEntrupy
    package let scenarioExpectations = ScenarioExpectation.Kind.ofEntrupy
    package let scenarioSections = ScenarioSection.ofEntrupy

    package let webhookEvents = WebhookEvent.names
    package let faultEffects = PlatformEffect.ofEntrupy

    package let auditRules = AuditRule.ofEntrupy
    package let auditNames = AuditNames.ofEntrupy

    // [D not-simulated]
    package let unsimulatedPaths = [
        "/v2/fingerprints", "/v2/search/fingerprints", "/v2/search/domains", "/v2/integrations/app-login-voucher",
    ]

    package func futureWebhookEvents(_ generator: SeededGenerator) -> [String] {
        WebhookEvent.names.filter { $0.begins(with: Webhooks.ofSession) }.map {
            Webhooks.unknownEvent(after: $0, generator)
        }
    }

    package func isFutureWebhookEvent(_ name: String) -> Bool { Webhooks.isUnknownEvent(name) }

    package func advice(onUnknown path: [String], _ method: String) -> String? {
        UnknownPaths.advice(path.filter { !$0.isOne(of: ["v1", "v2", "api"]) }, method)
    }

    package let futureForms = FutureForms(
        mapsOfTexts: ["display", "text_fields"],
        unorderedLists: [
            "brands", "details", "issues", "item_types", "marketplace_listings", "materials", "options",
            "product_categories",
            "reasons", "regions", "required_fields", "supported_flag_reasons", "text_fields", "uploaded_images",
        ],
        // Those of a subscription. The events of an item are in the order of time.
        unorderedTexts: ["events"])

    package func unknown(
        _ value: String, at parameter: String, of route: String, _ job: JobContext
    ) throws -> (name: QueryName, problem: String)? {
        // A pattern names several values, of which one is enough.
        let pattern = value.utf8.contains { "*?".utf8.contains($0) } ? Glob(value) : nil
        func isMissing(_ kind: IDKind, _ found: () throws -> Bool) rethrows -> Bool {
            try pattern.map { !kind.fits($0) } ?? !found()
        }
        switch parameter {
        case "entrupy_id", "certificate_id":
            let isMissing = try isMissing(.item) { try job.transaction.item(entrupyID: value) != nil }
            return isMissing ? (.item, "names no item of the namespace") : nil
        case "id" where route.begins(with: "/sdk/captures/"):
            let isMissing = try isMissing(.capture) { try job.transaction.capture(id: value) != nil }
            return isMissing ? (.item, "names no capture of the namespace") : nil
        case "id" where route.begins(with: "/v1/webhooks/") || route.begins(with: "/v2/webhooks/"):
            let isMissing = try isMissing(.subscription) { try job.transaction.subscription(id: value) != nil }
            return isMissing ? (.item, "names no webhook subscription of the namespace") : nil
        case "sha256":
            let isDigest = pattern != nil || value.utf8.count == 64
            return isDigest ? nil : (.item, "is no SHA-256 of a picture")
        case "region_id":
            let regions = job.entrupy.seed.catalogue.regionIDs
            let isKnown = pattern.map { regions.contains(where: $0.matches) } ?? value.isOne(of: regions)
            return isKnown ? nil : (.region, "names no region of any workflow")
        default: return nil
        }
    }

    package func isCalledByUsers(path: String) -> Bool {
        path.utf8.starts(with: "/sdk/".utf8) || path.isIdentical(to: "/login")
    }

    package func owner(ofSubject subject: String, _ job: JobContext) throws -> String? {
        guard let item = try job.transaction.item(entrupyID: subject) else { return nil }
        return try job.transaction.user(id: item.userID)?.username
    }

    package let webhookVersions = PartnerVersion.accepted + ["2"]
    package let webhookFormats = WebhookFormat.names
    package let webhookSignatures = WebhookSignatureForm.names

    package func signature(of body: Data, secret: String, form: String) -> WebhookHeader {
        let form = WebhookSignatureForm(rawValue: form) ?? .base64
        return WebhookHeader(
            name: WebhookSignatureForm.header, value: form.text(of: WebhookSignature.code(body, secret: secret)))
    }

    package func verificationPath(ofSubscription id: String) -> String {
        "/.well-known/entrupy-domain-verification/\(id)"
    }

    package func readOutcome(
        _ document: JSONValue, _ seed: any PlatformSeed, _ reading: OutcomeReading
    ) throws -> (any PlatformOutcome)? {
        try ItemOutcome(document, part(seed).catalogue, reading)
    }

    package func choices(_ seed: any PlatformSeed) -> [String: [Choice]] {
        guard let catalogue = (seed as? EntrupySeed)?.catalogue else { return [:] }
        return [
            "results": ResultID.allCases.map { Choice($0.rawValue) },
            "item_results": Activity.authentication.results.map { Choice($0.rawValue) },
            "flags": FlagID.allCases.map { Choice($0.rawValue) },
            "invalid_reasons": catalogue.texts.invalidReasons.map { Choice(id: $0.id, name: $0.text[.english]) },
            "brands": catalogue.brands.map { Choice(id: $0.id, name: $0.name) },
            "categories": catalogue.categories.map { Choice($0.id) },
            "item_types": catalogue.itemTypes.listed.map { Choice($0.id) },
            "config_types": ConfigType.allCases.map { Choice($0.rawValue) },
        ]
    }

    package let migrations = EntrupyMigrations.all

    package let tables = EntrupyDomains.tables

    package func domains(_ seed: any PlatformSeed) -> [String: ColumnDomain] {
        (seed as? EntrupySeed).map { EntrupyDomains.names($0) } ?? [:]
    }

    package func extended(_ table: TableDomain) -> TableDomain { EntrupyDomains.extended(table) }

    package let comparedState = ComparedState.ofEntrupy

    private func part(_ seed: any PlatformSeed) throws -> EntrupySeed {
        guard let seed = seed as? EntrupySeed else { throw PlatformError.bug("the seed has no part of Entrupy") }
        return seed
    }

    package func makeState(for state: NamespaceState) -> any PlatformState { EntrupyState(self, state) }

    package func username(of credential: Credential, _ job: JobContext) throws -> String? {
        try Callers.username(credential, job)
    }
}

extension Seed {
    var entrupy: EntrupySeed { part(EntrupySeed.self) }
}
