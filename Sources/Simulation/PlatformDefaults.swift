import Foundation
import SimulationAPI
import Storage

// Default implementations: a platform declares only the parts that it has.
extension SimulatedPlatform {
    package var idKinds: [IDKind] { [] }
    package var eventKinds: [EventKind] { [] }
    package var dueKinds: [DueKind] { [] }
    package var awaitedEvents: [AwaitedEvent] { [] }

    package var seedMembers: [String] { [] }
    package var organizationMembers: [String] { [] }
    package func readSeed(_ fields: inout FieldReader, text: String) throws -> any PlatformSeed { EmptyPart() }
    package func readAddition(_ fields: inout FieldReader, to seed: any PlatformSeed) throws -> any SeedAddition {
        EmptyPart()
    }
    package func exportSeed(_ job: JobContext) throws -> any PlatformSeed { EmptyPart() }

    package func defaultSettings(_ seed: (any PlatformSeed)?) -> JSONObject { [:] }
    package func readSettings(_ fields: inout FieldReader) -> any PlatformSettings {
        EmptyPart()
    }

    package var scenarioActions: [ScenarioAction.Kind] { [] }
    package var scenarioExpectations: [ScenarioExpectation.Kind] { [] }
    package var scenarioSections: [ScenarioSection] { [] }

    package func explained(_ id: String, _ job: JobContext) throws -> ExplainedObject? { nil }
    package var auditRules: [AuditRule] { [] }
    package var auditNames: AuditNames { AuditNames() }
    package var documentedAxes: [DocumentedAxis] { [] }
    package var answerCommands: [String: String] { [:] }
    package var answersOfFaults: [String] { [] }
    package func curlOptions(ofPath path: String) -> String? { nil }
    package var webhookCommands: [String: String] { [:] }
    package var scenarioCommands: [String: String] { [:] }
    package func futureWebhookEvents(_ generator: SeededGenerator) -> [String] { [] }
    package func isFutureWebhookEvent(_ name: String) -> Bool { false }
    package var futureForms: FutureForms { FutureForms() }
    package func advice(onUnknown path: [String], _ method: String) -> String? { nil }

    package func choices(_ seed: any PlatformSeed) -> [String: [Choice]] { [:] }
    package var webhookEvents: [String] { [] }
    package var webhookVersions: [String] { [] }
    package var webhookFormats: [String] { [] }
    package var webhookSignatures: [String] { [] }
    package func signature(of body: Data, secret: String, form: String) -> WebhookHeader {
        WebhookHeader(name: "X-Sim-Signature", value: Hex.string(WebhookSignature.code(body, secret: secret)))
    }
    package func verificationPath(ofSubscription id: String) -> String { "/.well-known/verification/\(id)" }
    package var faultEffects: [PlatformEffect] { [] }
    package var unsimulatedPaths: [String] { [] }
    package func unknown(
        _ value: String, at parameter: String, of route: String, _ job: JobContext
    ) throws -> (name: QueryName, problem: String)? { nil }
    package func isCalledByUsers(path: String) -> Bool { false }
    package func owner(ofSubject subject: String, _ job: JobContext) throws -> String? { nil }
    package func readOutcome(
        _ document: JSONValue, _ seed: any PlatformSeed, _ reading: OutcomeReading
    ) throws -> (any PlatformOutcome)? { nil }

    package var migrations: [Migration] { [] }
    package var tables: [TableDomain] { [] }
    package func domains(_ seed: any PlatformSeed) -> [String: ColumnDomain] { [:] }
    package func extended(_ table: TableDomain) -> TableDomain { table }
    package var comparedState: ComparedState { ComparedState() }

    package func makeState(for state: NamespaceState) throws -> any PlatformState { EmptyState() }
    package func username(of credential: Credential, _ job: JobContext) throws -> String? { nil }
}

/// Seed data that is neither about users and organizations nor in the database.
package protocol SharedSeed: PlatformSeed {}

extension SharedSeed {
    package func withoutUsers() -> Self { self }
    package func insert(_ transaction: Transaction, organizations: [TextKey: Int64]) {}
    package func members(
        ofOrganization name: String
    ) -> (beforeUsers: [(key: String, value: SeedDocument)], afterUsers: [(key: String, value: SeedDocument)]) {
        ([], [])
    }
}

extension PlatformSettings {
    package var loginLifetime: Span? { nil }
}

/// The seed data and settings of a platform that has none.
struct EmptyPart: SharedSeed, SeedAddition, PlatformSettings {
    func adding(_ addition: any SeedAddition) -> Self { self }
    func members() -> [(key: String, value: SeedDocument)] { [] }
    func load(
        _ job: JobContext, organizations: [TextKey: Int64], into seed: any PlatformSeed, _ loaded: inout SeedLoaded
    ) {}
}

/// The state of a platform that keeps nothing in memory.
final class EmptyState: PlatformState {
    func configurationChanged(_ state: NamespaceState) {}
    func takeCommitWork() -> (@Sendable (Transaction) throws -> Void)? { nil }
}
