import Foundation
import NIOConcurrencyHelpers
import SimulationAPI
import Storage

/// A vendor's platform, whose rules the engine runs.
///
/// The engine gives it jobs, time, chance, ids and events. The platform gives the engine the parts below; each of them
/// may be left out. Every namespace hosts all platforms of the server.
package protocol SimulatedPlatform: Sendable {
    /// The kinds of ids, events and work, beside the engine's.
    var kinds: PlatformKinds { get }
    /// The tables, and the state that a comparison looks at.
    var tables: PlatformTables { get }

    /// The members of a seed, and of its organizations, that the platform reads.
    var seedMembers: SeedMembers { get }
    /// Reads the platform's members of a seed.
    ///
    /// - Parameters:
    ///   - fields: all members of the seed. Problems go to it.
    ///   - text: the text that the seed is read from.
    /// - Throws: ``SeedError`` if built-in data is broken.
    func readSeed(_ fields: inout FieldReader, text: String) throws -> any PlatformSeed
    /// The seed data of a namespace's organizations, as they are now.
    func exportSeed(_ job: JobContext) throws -> any PlatformSeed

    /// The members of the settings that the platform reads, with their defaults.
    ///
    /// - Parameter seed: the platform's part of the namespace's seed; `nil` if it is not known.
    func defaultSettings(_ seed: (any PlatformSeed)?) -> JSONObject
    /// Reads the platform's settings. Problems go to `fields`.
    func readSettings(_ fields: inout FieldReader) -> any PlatformSettings

    /// The actions, expectations and lists of scenarios, beside the engine's.
    var scenarios: PlatformScenarios { get }
    /// The webhooks that the platform sends.
    var webhooks: PlatformWebhooks { get }
    /// The effects of fault rules on requests, beside the engine's.
    var faultEffects: [RequestEffect] { get }
    /// The platform's knowledge of the paths of requests.
    var paths: PlatformPaths { get }
    /// The parts of its documents that changes without notice must know [D future].
    var futureForms: FutureForms { get }

    /// Makes the platform's part of a namespace's state in memory; `nil` if it keeps nothing there.
    func makeState(for state: NamespaceState) throws -> (any PlatformState)?
    /// The name of the user that a credential belongs to, even if it is no longer valid; `nil` if it does not
    /// belong to a user.
    func username(of credential: Credential, _ job: JobContext) throws -> String?

    /// The vendor's documents, for audits, explanations and coverage.
    var evidence: PlatformEvidence { get }
}

/// An object of a platform whose history can be explained.
package struct ExplainedObject: Sendable {
    /// The kind, as the explanation names it, for instance `item`.
    package let kind: String
    /// The subjects of its events.
    package let subjects: [String]
    /// Whether the subjects are ids by which the paths of requests name it.
    package let isNamedInPaths: Bool
    /// Whether an event of these subjects is the object's.
    package let isMeant: @Sendable (StoredEvent) -> Bool

    package init(
        kind: String, subjects: [String], isNamedInPaths: Bool = false,
        isMeant: @escaping @Sendable (StoredEvent) -> Bool = { _ in true }
    ) {
        self.kind = kind
        self.subjects = subjects
        self.isNamedInPaths = isNamedInPaths
        self.isMeant = isMeant
    }
}

/// A platform's part of seed data.
package protocol PlatformSeed: Sendable {
    /// Reads seed data that is added to this. Every member is optional. Problems go to `fields`.
    ///
    /// - Throws: ``SeedError`` if built-in data is broken.
    func readAddition(_ fields: inout FieldReader) throws -> any SeedAddition
    /// Reads an outcome rule; `nil` if it is not about the platform's subjects. The first platform of a server returns a
    /// rule or throws.
    ///
    /// - Throws: ``PlatformError/invalid(_:_:)`` naming every problem.
    func readOutcome(_ document: JSONValue, _ reading: OutcomeReading) throws -> (any PlatformOutcome)?
    /// The values that rules and actions can name, by the name of their list.
    var choices: [String: [Choice]] { get }
    /// The part without users.
    func withoutUsers() -> Self
    /// The part with data added. Entries with the same name or id are replaced or merged.
    func adding(_ addition: any SeedAddition) -> Self
    /// Fills a database that has the organizations and users already. Writes.
    ///
    /// - Parameter organizations: the ids of the organizations, by name.
    func insert(_ transaction: Transaction, organizations: [TextKey: Int64]) throws
    /// The members of a seed, for export.
    func members() -> [(key: String, value: SeedDocument)]
    /// The members of an organization that stand before and after its users, for export.
    func members(
        ofOrganization name: String
    ) -> (beforeUsers: [(key: String, value: SeedDocument)], afterUsers: [(key: String, value: SeedDocument)])
}

/// A platform's part of seed data that is added to a namespace.
package protocol SeedAddition: Sendable {
    /// Adds the data to the namespace, which has the organizations and users already. Writes.
    ///
    /// - Parameters:
    ///   - organizations: the ids of the organizations, by name.
    ///   - seed: the platform's part of the merged seed.
    ///   - loaded: the answer, which gets the platform's counts.
    func load(
        _ job: JobContext, organizations: [TextKey: Int64], into seed: any PlatformSeed, _ loaded: inout SeedLoaded)
        throws
}

/// A platform's part of a namespace's settings.
package protocol PlatformSettings: Sendable {
    /// How long a user stays logged in on a device; `nil` if the platform has no logins.
    var loginLifetime: Span? { get }
}

/// A platform's part of a namespace's state in memory. It is dropped and made again when a transaction is lost.
package protocol PlatformState: AnyObject {
    /// Called when the seed data or the settings have changed.
    func configurationChanged(_ state: NamespaceState)
    /// Removes and returns work that follows a batch of jobs, such as storing what they computed; `nil` if there is
    /// none. Its failure is ignored.
    func takeCommitWork() -> (@Sendable (Transaction) throws -> Void)?
}

/// The platforms of a server.
package final class Platforms: Sendable {
    package let all: [any SimulatedPlatform]
    package let idKinds: [IDKind]
    package let eventKinds: [EventKind]
    package let dueKinds: [DueKind]
    /// The rules of an audit, errors first.
    package let auditRules: [AuditRule]
    /// The names of the members of bodies whose digests an audit compares.
    package let auditedSecrets: Set<String>
    private let dueKindsByName: [String: DueKind]
    /// The beginnings of the platforms' tokens, which are masked in all output.
    let tokenPrefixes: [[UInt8]]
    /// The texts of the scenarios that are shipped with the server, by name.
    package let shippedScenarios: [String: String]
    private let standardText: String
    private let standard = NIOLockedValueBox<Seed?>(nil)

    /// - Parameters:
    ///   - standardSeed: the text of the built-in seed data.
    ///   - shippedScenarios: the texts of the built-in scenarios, by name.
    package init(_ all: [any SimulatedPlatform], standardSeed: String, shippedScenarios: [String: String] = [:]) {
        self.all = all
        idKinds = IDKind.ofEngine + all.flatMap(\.kinds.ids)
        eventKinds = EventKind.ofEngine + all.flatMap(\.kinds.events)
        dueKinds = DueKind.ofEngine + all.flatMap(\.kinds.due)
        let rules = AuditRule.ofEngine(all.map(\.evidence.auditNames)) + all.flatMap(\.evidence.auditRules)
        auditRules = rules.filter { $0.level == .error } + rules.filter { $0.level == .warning }
        auditedSecrets = Set(rules.flatMap(\.secretMembers))
        dueKindsByName = Dictionary(uniqueKeysWithValues: dueKinds.map { ($0.name, $0) })
        standardText = standardSeed
        self.shippedScenarios = shippedScenarios
        tokenPrefixes = idKinds.filter(\.isToken).map { Array($0.prefix.utf8) }
    }

    package var scenarioActions: [ScenarioAction.Kind] {
        all.flatMap(\.scenarios.actions) + ScenarioAction.Kind.ofEngine
    }

    package var scenarioExpectations: [ScenarioExpectation.Kind] {
        let own = ScenarioExpectation.Kind.ofEngine
        return own.first + all.flatMap(\.scenarios.expectations) + own.last
    }

    package var scenarioSections: [ScenarioSection] { all.flatMap(\.scenarios.sections) + [.outcomes, .faults] }

    package var awaitedEvents: [AwaitedEvent] { all.flatMap(\.kinds.awaited) }

    package var webhookEvents: [String] { all.flatMap(\.webhooks.events) }

    package func futureWebhookEvents(_ generator: SeededGenerator) -> [String] {
        all.flatMap { $0.webhooks.futureEvents(generator) }
    }

    package func isFutureWebhookEvent(_ name: String) -> Bool { all.contains { $0.webhooks.isFutureEvent(name) } }

    package var webhookVersions: [String] { all.flatMap(\.webhooks.versions) }

    package var webhookFormats: [String] { all.flatMap(\.webhooks.formats) }

    package var webhookSignatures: [String] { all.flatMap(\.webhooks.signatures) }

    /// The platform that webhooks of a format belong to.
    package func platform(ofFormat format: String) throws -> any SimulatedPlatform {
        guard let found = all.first(where: { $0.webhooks.formats.contains { $0.isIdentical(to: format) } }) else {
            throw PlatformError.bug("no platform sends webhooks of the format \"\(format)\"")
        }
        return found
    }

    /// The first advice of a platform for a caller of a path that no route has; `nil` if none has any.
    package func advice(onUnknown path: [String], _ method: String) -> String? {
        all.lazy.compactMap { $0.paths.advice(path, method) }.first
    }

    package var futureForms: FutureForms {
        all.map(\.futureForms).reduce(FutureForms()) { forms, others in
            FutureForms(
                mapsOfTexts: forms.mapsOfTexts.union(others.mapsOfTexts),
                unorderedLists: forms.unorderedLists.union(others.unorderedLists),
                unorderedTexts: forms.unorderedTexts.union(others.unorderedTexts))
        }
    }

    package var unsimulatedPaths: [Glob] { all.flatMap(\.paths.unsimulated).map { Glob(route: $0) } }

    /// The name of the user who owns the subject of a webhook; `nil` if no user owns it.
    package func owner(ofSubject subject: String, _ job: JobContext) throws -> String? {
        for platform in all {
            if let name = try platform.webhooks.owner(subject, job) { return name }
        }
        return nil
    }

    package var migrations: [Migration] { all.flatMap(\.tables.migrations) }

    package func dueKind(_ name: String) -> DueKind? { dueKindsByName[name] }

    /// The name of the user that a credential belongs to; `nil` if it does not
    /// belong to a user.
    package func username(of credential: Credential, _ job: JobContext) throws -> String? {
        for platform in all {
            if let name = try platform.username(of: credential, job) { return name }
        }
        return nil
    }

    /// The built-in seed of a name, `standard` or `empty`; `nil` if there is none.
    ///
    /// - Throws: ``SeedError`` if the built-in text is broken, which a test rules out.
    package func seed(named name: String) throws -> Seed? {
        if name.isIdentical(to: "standard") {
            try standardSeed()
        } else if name.isIdentical(to: "empty") {
            try standardSeed().withoutUsers()
        } else {
            nil
        }
    }

    /// The default seed of namespaces.
    package func standardSeed() throws -> Seed {
        try standard.withLockedValue { known in
            if let known { return known }
            let seed = try Seed(name: "standard", yaml: standardText, self)
            known = seed
            return seed
        }
    }
}
