import Exploration
import Foundation
import SimulationAPI

/// The control API of the server of a sweep.
struct SweepClient: SweepControl {
    /// A client of the namespace `default`.
    let client: ControlClient
    /// The scenario in which each run begins; `nil` for the standard seed data.
    let scenario: ScenarioCommand.Start?

    /// The random seed of all namespaces, so that their results are drawn alike.
    private static let randomSeed = 7
    /// The time by which the clock is moved at the end of a run, so that results that are due soon are there, however long the run
    /// took. Captures and sessions last longer.
    private static let advance = "10m"
    /// The longest time for webhooks that are on their way then.
    private static let patience = "1s"
    /// The most requests of a page of the journal.
    private static let page = 1000
    private static let pageOfDeliveries = 100
    /// The snapshot by which a namespace gets another name.
    private static let moving = "sweep-move"

    func make(_ namespace: String) async throws {
        try await client.send(
            ControlCall(.PUT, "/_sim/namespaces/\(namespace)", body: ["random_seed": Self.randomSeed], takesLong: true))
        if let scenario { try await client.of(namespace).send(try scenario.call()) }
    }

    func namespaces() async throws -> [String] {
        let list: NamespaceList = try await client.get("/_sim/namespaces")
        return list.namespaces.map(\.name)
    }

    func deletedNamespaces() async throws -> [String] {
        let audit: ServerAudit = try await client.get("/_sim/audits", takesLong: true)
        return audit.namespaces.filter { $0.deleted && $0.requests > 0 }.map(\.name)
    }

    func move(_ namespace: String, to name: String) async throws {
        try await save(namespace, as: Self.moving)
        try await client.of(namespace).send(
            ControlCall(.POST, "/_sim/snapshots/\(Self.moving)/fork", body: ["namespace": name], takesLong: true))
        try await drop(namespace)
    }

    func routes() async throws -> [Choices.Route] {
        let choices: Choices = try await client.get("/_sim/choices")
        return choices.routes
    }

    func add(_ rule: JSONValue, to namespace: String) async throws -> String {
        let fault: FaultInfo = try await client.of(namespace).post("/_sim/faults", body: .json(rule))
        return fault.id
    }

    func hits(of rule: String, in namespace: String) async throws -> Int {
        let list: FaultList = try await client.of(namespace).get("/_sim/faults")
        return list.faults.first { $0.id == rule }?.hits ?? 0
    }

    func change(_ settings: JSONValue, of namespace: String) async throws {
        try await client.of(namespace).send(ControlCall(.PATCH, "/_sim/settings", body: .json(settings)))
    }

    func settings(of namespace: String) async throws -> JSONValue {
        try await client.of(namespace).get("/_sim/settings")
    }

    func deliveries(of namespace: String) async throws -> [WebhookDelivery] {
        try await client.of(namespace).all("/_sim/webhook-deliveries", limit: Self.pageOfDeliveries) {
            (list: WebhookDeliveryList) in (list.deliveries, list.next_cursor)
        }.list.reversed()
    }

    func journal(of namespace: String) async throws -> [JournaledRequest] {
        try await client.of(namespace).all("/_sim/requests", limit: Self.page) { (list: RequestList) in
            (list.requests, list.next_cursor)
        }.list.reversed()
    }

    func settle(_ namespace: String) async throws {
        do {
            try await client.of(namespace).send(
                ControlCall(.POST, "/_sim/clock/advance", body: ["by": Self.advance], takesLong: true))
            try await client.of(namespace).send(
                ControlCall(.POST, "/_sim/settle", body: ["within": Self.patience], takesLong: true))
        } catch let refusal as Refusal where refusal.code == .no {
            // The state is compared as it is: a receiver may have gone with the client, and a frozen clock brings nothing more.
        }
    }

    func save(_ namespace: String, as snapshot: String) async throws {
        try await client.of(namespace).send(ControlCall(.PUT, "/_sim/snapshots/\(snapshot)", takesLong: true))
    }

    func difference(from snapshot: String, of namespace: String, to other: String) async throws -> StateDifference {
        let query = [("from", "snapshot:\(snapshot)"), ("to", "namespace:\(other)")]
        return try await client.of(namespace).get("/_sim/diff", query, takesLong: true)
    }

    func audit(of namespace: String) async throws -> AuditReport { try await client.of(namespace).get("/_sim/audit") }

    func drop(_ namespace: String) async throws {
        try await client.send(ControlCall(.DELETE, "/_sim/namespaces/\(namespace)", takesLong: true))
    }
}
