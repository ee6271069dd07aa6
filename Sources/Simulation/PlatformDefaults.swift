import SimulationAPI
import Storage

// Default implementations: a platform declares only the parts that it has.
extension SimulatedPlatform {
    package var kinds: PlatformKinds { PlatformKinds() }
    package var tables: PlatformTables { PlatformTables() }
    package var seedMembers: SeedMembers { SeedMembers() }
    package func readSeed(_ fields: inout FieldReader, text: String) throws -> any PlatformSeed { EmptyPart() }
    package func exportSeed(_ job: JobContext) throws -> any PlatformSeed { EmptyPart() }
    package func defaultSettings(_ seed: (any PlatformSeed)?) -> JSONObject { [:] }
    package func readSettings(_ fields: inout FieldReader) -> any PlatformSettings { EmptyPart() }
    package var scenarios: PlatformScenarios { PlatformScenarios() }
    package var webhooks: PlatformWebhooks { PlatformWebhooks() }
    package var faultEffects: [RequestEffect] { [] }
    package var paths: PlatformPaths { PlatformPaths() }
    package var futureForms: FutureForms { FutureForms() }
    package func makeState(for state: NamespaceState) throws -> (any PlatformState)? { nil }
    package func username(of credential: Credential, _ job: JobContext) throws -> String? { nil }
    package var evidence: PlatformEvidence { PlatformEvidence() }
}

extension PlatformSeed {
    package func readAddition(_ fields: inout FieldReader) throws -> any SeedAddition { EmptyPart() }
    package func readOutcome(_ document: JSONValue, _ reading: OutcomeReading) throws -> (any PlatformOutcome)? { nil }
    package var choices: [String: [Choice]] { [:] }
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
