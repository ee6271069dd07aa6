import AppComponentsAPI
import AppComponentsStorage
import Simulation
import SimulationAPI
import Storage

/// The engine's protocol, not Foundation's class.
package typealias Operation = Simulation.Operation

/// Fourthline's App Components: the check of a person's identity document and face [S]. It shares nothing with Entrupy but
/// the engine.
package final class AppComponentsPlatform: SimulatedPlatform {
    package init() {}

    package let idKinds = IDKind.ofComponents
    package let eventKinds = EventKind.ofComponents
    package let dueKinds: [DueKind] = [.workflowSessionExpiry]
    package let awaitedEvents: [AwaitedEvent] = [
        AwaitedEvent("workflow_session", "finished", [.componentFinished]),
        AwaitedEvent("workflow_session", "failed", [.componentFailed]),
        AwaitedEvent("workflow_session", "expired", [.workflowSessionExpired]),
    ]

    package let seedMembers = ComponentSeed.members

    package func readSeed(_ fields: inout FieldReader, text: String) throws -> any PlatformSeed {
        try ComponentSeed(&fields)
    }

    package func readAddition(_ fields: inout FieldReader, to seed: any PlatformSeed) throws -> any SeedAddition {
        ComponentSeed.Addition(&fields)
    }

    package func exportSeed(_ job: JobContext) throws -> any PlatformSeed { job.state.seed.components }

    package func defaultSettings(_ seed: (any PlatformSeed)?) -> JSONObject { ComponentSettings.defaults }

    package func readSettings(_ fields: inout FieldReader) -> any PlatformSettings {
        ComponentSettings(&fields)
    }

    package func unknown(
        _ value: String, at parameter: String, of route: String, _ job: JobContext
    ) throws -> (name: QueryName, problem: String)? {
        guard parameter == "id", route.begins(with: "/components/") else { return nil }
        // A pattern names several values, of which one is enough.
        let isPattern = value.utf8.contains { "*?".utf8.contains($0) }
        let isKnown =
            try isPattern
            ? IDKind.workflowSession.fits(Glob(value)) : job.transaction.workflowSession(id: value) != nil
        return isKnown ? nil : (.item, "names no workflow session of the namespace")
    }

    package let scenarioActions = ScenarioAction.Kind.ofComponents
    package let scenarioExpectations = ScenarioExpectation.Kind.ofComponents
    package let faultEffects = [PlatformEffect.componentError]

    package func choices(_ seed: any PlatformSeed) -> [String: [Choice]] {
        guard let seed = seed as? ComponentSeed else { return [:] }
        var lists = [
            "components": ComponentOutcome.Subject.allCases.map { Choice($0.rawValue) },
            "workflows": seed.workflows.map { Choice(id: $0.id, name: $0.name) },
            "clients": seed.clients.map { Choice($0.id) },
        ]
        for subject in ComponentOutcome.Subject.allCases {
            lists["component_results.\(subject.rawValue)"] = ComponentOutcome.results(of: subject).map { Choice($0) }
        }
        return lists
    }

    package func readOutcome(
        _ document: JSONValue, _ seed: any PlatformSeed, _ reading: OutcomeReading
    ) throws -> (any PlatformOutcome)? {
        // Rules of others have no such member.
        guard document.members?["match"]?.members?["component"] != nil else { return nil }
        return try ComponentOutcome(document)
    }

    package let migrations = ComponentMigrations.all

    package let tables = ComponentDomains.tables
    package func domains(_ seed: any PlatformSeed) -> [String: ColumnDomain] { ComponentDomains.names }
    package func extended(_ table: TableDomain) -> TableDomain { ComponentDomains.extended(table) }

    package let comparedState = ComparedState.ofComponents
}

extension IDKind {
    static let validationCode = IDKind("validation_code", length: 12)
    static let workflowSession = IDKind("workflow_session", prefix: "wfs_", length: 20)
    /// The code that comes with an unexpected error.
    static let messageCode = IDKind("message_code", length: 8, alphabet: .uppercaseBase32)

    /// The kinds of App Components.
    static let ofComponents: [IDKind] = [.validationCode, .workflowSession, .messageCode]
}

extension EventKind {
    static let validationCodeCreated = EventKind("component.code.created")
    static let workflowSessionStarted = EventKind("component.session.started")
    static let workflowSessionCleared = EventKind("component.session.cleared")
    static let workflowSessionExpired = EventKind("component.session.expired")
    static let componentStarted = EventKind("component.started")
    static let componentFileUploaded = EventKind("component.file.uploaded")
    static let componentFinished = EventKind("component.finished")
    static let componentFailed = EventKind("component.failed")
    static let clientRejected = EventKind("component.client.rejected")

    /// The kinds of App Components.
    static let ofComponents: [EventKind] = [
        .validationCodeCreated, .workflowSessionStarted, .workflowSessionCleared, .workflowSessionExpired,
        .componentStarted, .componentFileUploaded, .componentFinished, .componentFailed, .clientRejected,
    ]
}

extension DueKind {
    static let workflowSessionExpiry = DueKind(
        "component.session.expiry", start: { try $1.transaction.workflowSession(id: $0)?.startedAt },
        perform: { try WorkflowSessions.expire(id: $0, $1) })
}

/// The settings of App Components.
struct ComponentSettings: PlatformSettings {
    /// The lifetime of a validation code [D code-lifetime].
    let codeLifetime: Span
    /// The lifetime of a session [D session-of-workflow].
    let sessionLifetime: Span

    static let defaults: JSONObject = [
        "components": .object(["code_lifetime": .string("2h"), "session_lifetime": .string("1h")])
    ]

    init(_ fields: inout FieldReader) {
        var components = fields.object("components", known: ["code_lifetime", "session_lifetime"])
        codeLifetime = components.span("code_lifetime", from: .second) ?? .second
        sessionLifetime = components.span("session_lifetime", from: .second) ?? .second
    }
}

extension JobContext {
    /// The seed data of App Components.
    var workflows: ComponentSeed { state.seed.components }
    var componentSettings: ComponentSettings { settings.part(ComponentSettings.self) }
}
