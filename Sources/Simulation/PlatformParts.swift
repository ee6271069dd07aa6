import Foundation
import SimulationAPI
import Storage

/// The kinds of things that a platform has beside the engine's.
package struct PlatformKinds: Sendable {
    /// The kinds of ids and tokens.
    package var ids: [IDKind] = []
    /// The kinds of events.
    package var events: [EventKind] = []
    /// The kinds of scheduled work.
    package var due: [DueKind] = []
    /// The events that tests can wait for, beside webhooks.
    package var awaited: [AwaitedEvent] = []

    package init(
        ids: [IDKind] = [], events: [EventKind] = [], due: [DueKind] = [], awaited: [AwaitedEvent] = []
    ) {
        self.ids = ids
        self.events = events
        self.due = due
        self.awaited = awaited
    }
}

/// A platform's tables.
package struct PlatformTables: Sendable {
    /// How the tables are made, in the order of their release. A released one is never edited.
    package var migrations: [Migration] = []
    /// The declarations of the tables.
    package var domains: [TableDomain] = []
    /// The domains that stand in the declarations by name, as the platform's part of a seed has them.
    package var names: @Sendable (any PlatformSeed) -> [String: ColumnDomain] = { _ in [:] }
    /// A table of the engine, with what its rows refer to in the platform's tables.
    package var extended: @Sendable (TableDomain) -> TableDomain = { $0 }
    /// The objects that a comparison of two states looks at, beside the engine's [D diff].
    package var compared = ComparedState()

    package init() {}
}

/// The members of a seed that a platform reads.
package struct SeedMembers: Sendable {
    /// Those of the seed itself.
    package var own: [String] = []
    /// Those of each organization.
    package var ofOrganizations: [String] = []

    package init(_ own: [String] = [], ofOrganizations: [String] = []) {
        self.own = own
        self.ofOrganizations = ofOrganizations
    }
}

/// The parts of scenarios that a platform adds to the engine's.
package struct PlatformScenarios: Sendable {
    /// The actions of a timeline.
    package var actions: [ScenarioAction.Kind] = []
    /// The expectations.
    package var expectations: [ScenarioExpectation.Kind] = []
    /// The lists that set up a namespace.
    package var sections: [ScenarioSection] = []

    package init(
        actions: [ScenarioAction.Kind] = [], expectations: [ScenarioExpectation.Kind] = [],
        sections: [ScenarioSection] = []
    ) {
        self.actions = actions
        self.expectations = expectations
        self.sections = sections
    }
}

/// The webhooks of a platform.
package struct PlatformWebhooks: Sendable {
    /// The names of the events that webhooks are sent for.
    package var events: [String] = []
    /// Further events, which it has with the setting `future.events` [D future].
    package var futureEvents: @Sendable (SeededGenerator) -> [String] = { _ in [] }
    /// Whether a name is that of such a further event, of any namespace.
    package var isFutureEvent: @Sendable (String) -> Bool = { _ in false }
    /// The versions of the API that a subscription can have, as they are stored.
    package var versions: [String] = []
    /// The forms of a webhook's body. The first is the default.
    package var formats: [String] = []
    /// The forms of a webhook's signature. The first is the default.
    package var signatures: [String] = []
    /// The header that signs a body with a secret, in one of ``signatures``.
    package var signature: @Sendable (_ body: Data, _ secret: String, _ form: String) -> HeaderField = {
        body, secret, _ in
        HeaderField(name: "X-Sim-Signature", value: Hex.string(WebhookSignature.code(body, secret: secret)))
    }
    /// The path at which the domain of a subscription with an id answers the subscription's verification.
    package var verificationPath: @Sendable (_ id: String) -> String = { "/.well-known/verification/\($0)" }
    /// The name of the user who owns the subject of a webhook; `nil` if no user owns it.
    package var owner: @Sendable (_ subject: String, JobContext) throws -> String? = { _, _ in nil }

    package init() {}
}

/// A platform's knowledge of the paths of requests: who calls them, and which of them nobody can mean.
package struct PlatformPaths: Sendable {
    /// Paths of the vendor's platform that are known and not simulated: requests to them are not mistakes.
    package var unsimulated: [String] = []
    /// Advice for a caller of a path that no route has, by path and method; `nil` if there is none.
    package var advice: @Sendable (_ path: [String], _ method: String) -> String? = { _, _ in nil }
    /// Whether users call a path, with a session or to log in.
    package var isCalledByUsers: @Sendable (_ path: String) -> Bool = { _ in false }
    /// The problem of a value that no request can have as a route's parameter; `nil` if one can, or the platform cannot
    /// tell. The route has `*` for its parameters.
    package var unknown:
        @Sendable (_ value: String, _ parameter: String, _ route: String, JobContext) throws -> (
            name: QueryName, problem: String
        )? = { _, _, _, _ in nil }

    package init() {}
}

/// The rules, names and edges that the vendor's documents give a platform. Long lists are made when somebody asks, which is after the start of a server.
package struct PlatformEvidence: Sendable {
    /// The kinds of misuse that the vendor's documents name, which an audit looks for beside the engine's [D audit].
    package var auditRules: [AuditRule] = []
    /// The platform's names for the engine's rules.
    package var auditNames = AuditNames()
    /// The object with an id, for an explanation of what happened to it; `nil` if the platform has none.
    package var explained: @Sendable (_ id: String, JobContext) throws -> ExplainedObject? = { _, _ in nil }
    /// The documented edges beside the answers of the routes, the webhooks and the scenarios.
    package var axes: @Sendable () -> [DocumentedAxis] = { [] }
    /// Answers that only a fault gives, beside 500, 503 and 504.
    package var answersOfFaults: [String] = []

    package init() {}
}
