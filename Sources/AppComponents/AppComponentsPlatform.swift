import AppComponentsAPI
import AppComponentsStorage
import Resources
import Simulation
import SimulationAPI
import Storage

/// The engine's protocol, not Foundation's class.
package typealias Operation = Simulation.Operation

/// Fourthline's App Components: the check of a person's identity document and face [S]. It shares nothing with Entrupy but
/// the engine.
package final class AppComponentsPlatform: SimulatedPlatform {
    /// The texts of the scenarios by name: a successful run, a blurry picture, and errors of Fourthline's documentation [S].
    package static let shippedScenarios = Resource.texts(in: "component-scenarios", ending: ".yaml")

    package init() {}

    package let kinds = PlatformKinds(
        ids: IDKind.ofComponents, events: EventKind.ofComponents, due: [.workflowSessionExpiry],
        awaited: [
            AwaitedEvent("workflow_session", "finished", [.componentFinished]),
            AwaitedEvent("workflow_session", "failed", [.componentFailed]),
            AwaitedEvent("workflow_session", "expired", [.workflowSessionExpired]),
        ])

    package let tables = {
        var tables = PlatformTables()
        tables.migrations = ComponentMigrations.all
        tables.domains = ComponentDomains.tables
        tables.names = { _ in ComponentDomains.names }
        tables.extended = ComponentDomains.extended
        tables.compared = .ofComponents
        return tables
    }()

    package let seedMembers = SeedMembers(ComponentSeed.members)

    package func readSeed(_ fields: inout FieldReader, text: String) throws -> any PlatformSeed {
        try ComponentSeed(&fields)
    }

    package func exportSeed(_ job: JobContext) throws -> any PlatformSeed { job.state.seed.components }

    package func defaultSettings(_ seed: (any PlatformSeed)?) -> JSONObject { ComponentSettings.defaults }

    package func readSettings(_ fields: inout FieldReader) -> any PlatformSettings {
        ComponentSettings(&fields)
    }

    package let scenarios = PlatformScenarios(
        actions: ScenarioAction.Kind.ofComponents, expectations: ScenarioExpectation.Kind.ofComponents)
    package let faultEffects = [RequestEffect.componentError]

    package let paths = {
        var paths = PlatformPaths()
        paths.unknown = { value, parameter, route, job in
            guard parameter == "id", route.begins(with: "/components/") else { return nil }
            // A pattern names several values, of which one is enough.
            let isPattern = value.utf8.contains { "*?".utf8.contains($0) }
            let isKnown =
                try isPattern
                ? IDKind.workflowSession.fits(Glob(value)) : job.transaction.workflowSession(id: value) != nil
            return isKnown ? nil : (.item, "names no workflow session of the namespace")
        }
        return paths
    }()

    package let evidence = {
        var evidence = PlatformEvidence()
        evidence.axes = { ComponentEdges.axes }
        evidence.answersOfFaults = ComponentEdges.faultOnly
        return evidence
    }()
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
