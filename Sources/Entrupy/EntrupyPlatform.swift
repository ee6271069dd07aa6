import EntrupyAPI
import EntrupyStorage
import Foundation
import NIOConcurrencyHelpers
import Simulation
import SimulationAPI
import Storage

/// The engine's protocol, not Foundation's class.
package typealias Operation = Simulation.Operation

/// Entrupy's platform: authentication of luxury goods, sneakers and apparel from photos.
final class EntrupyPlatform: SimulatedPlatform {
    /// Renderings that are not stored in the database, at most 16 MB.
    let renderings = RenderingCache(bytes: 16_000_000)
    private let lastRenderingsID = NIOLockedValueBox(0)

    init() {}

    /// A number for ``EntrupyState/renderingsID``. Unique in this process.
    func nextRenderingsID() -> Int {
        lastRenderingsID.withLockedValue { id in
            id += 1
            return id
        }
    }

    let idKinds = IDKind.ofEntrupy
    let eventKinds = EventKind.ofEntrupy
    let dueKinds = DueKind.ofEntrupy
    let awaitedEvents = AwaitedEvent.ofEntrupy

    let seedMembers = EntrupySeed.members
    let organizationMembers = EntrupySeed.organizationMembers

    func readSeed(_ members: SeedMapping, text: String) throws -> any PlatformSeed {
        try EntrupySeed(members, text: text)
    }

    func readAddition(_ members: SeedMapping, to seed: any PlatformSeed) throws -> any SeedAddition {
        try EntrupySeed.Addition(members, to: part(seed))
    }

    func exportSeed(_ job: JobContext) throws -> any PlatformSeed { try EntrupySeed(of: job) }

    func defaultSettings(_ seed: (any PlatformSeed)?) -> JSONObject {
        var defaults = EntrupySettings.defaults(flagEligible: flagEligible(seed))
        if let webhooks = (seed as? EntrupySeed)?.webhooks { defaults["webhooks"] = .object(webhooks.members) }
        return defaults
    }

    func readSettings(_ fields: inout FieldReader, _ seed: (any PlatformSeed)?) -> any PlatformSettings {
        EntrupySettings(&fields, flagEligible: flagEligible(seed))
    }

    private func flagEligible(_ seed: (any PlatformSeed)?) -> [ResultID] {
        (seed as? EntrupySeed)?.flagEligible ?? []
    }

    let scenarioActions = ScenarioAction.Kind.ofEntrupy
    let scenarioExpectations = ScenarioExpectation.Kind.ofEntrupy
    let scenarioSections = ScenarioSection.ofEntrupy

    let webhookEvents = WebhookEvent.allCases.map(\.rawValue)
    let faultEffects = PlatformEffect.ofEntrupy

    func isCalledByUsers(path: String) -> Bool {
        path.utf8.starts(with: "/sdk/".utf8) || path.isIdentical(to: "/login")
    }

    func owner(ofSubject subject: String, _ job: JobContext) throws -> String? {
        guard let item = try job.transaction.item(entrupyID: subject) else { return nil }
        return try job.transaction.user(id: item.userID)?.username
    }

    let webhookVersions = PartnerVersion.accepted + ["2"]
    let webhookFormats = WebhookFormat.allCases.map(\.rawValue)
    let webhookSignatures = WebhookSignatureForm.allCases.map(\.rawValue)

    func signature(of body: Data, secret: String, form: String) -> WebhookHeader {
        let form = WebhookSignatureForm(rawValue: form) ?? .base64
        return WebhookHeader(
            name: WebhookSignatureForm.header, value: form.text(of: WebhookSignature.code(body, secret: secret)))
    }

    func verificationPath(ofSubscription id: String) -> String { "/.well-known/entrupy-domain-verification/\(id)" }

    func checkOutcome(_ document: JSONValue, _ seed: any PlatformSeed) throws {
        _ = try OutcomeRule(document, id: "stored", catalogue: part(seed).catalogue, isStored: true)
    }

    let migrations = EntrupyMigrations.all

    func tables(_ seed: any PlatformSeed) -> [TableDomain] {
        (seed as? EntrupySeed).map { EntrupyDomains.tables($0) } ?? []
    }

    func refined(_ table: TableDomain) -> TableDomain { EntrupyDomains.refined(table) }

    let countedTables = ["captures", "items", "retakes"]
    let idColumns = EntrupyDomains.idColumns

    private func part(_ seed: any PlatformSeed) throws -> EntrupySeed {
        guard let seed = seed as? EntrupySeed else { throw PlatformError.bug("the seed has no part of Entrupy") }
        return seed
    }

    func makeState(for state: NamespaceState) -> any PlatformState { EntrupyState(self, state) }

    func username(of credential: Credential, _ job: JobContext) throws -> String? {
        try Callers.username(credential, job)
    }
}

extension Platforms {
    /// The platforms that this server simulates.
    package static let simulated = Platforms(
        [EntrupyPlatform()], standardSeed: String(decoding: PackageResources.standard_yaml, as: UTF8.self),
        shippedScenarios: ShippedScenarios.all)
}

extension Seed {
    /// The default seed of namespaces: users, but no items.
    package static func standard() throws -> Seed { try Platforms.simulated.standardSeed() }

    /// The built-in seed of a name, `standard` or `empty`; `nil` if there is none.
    package static func named(_ name: String) throws -> Seed? { try Platforms.simulated.seed(named: name) }

    /// Reads and checks seed data for the platforms that this server simulates.
    ///
    /// - Throws: ``SeedError``.
    package init(name: String, yaml: String) throws {
        try self.init(name: name, yaml: yaml, .simulated)
    }

    /// Entrupy's part.
    var entrupy: EntrupySeed { part(EntrupySeed.self) }
}
