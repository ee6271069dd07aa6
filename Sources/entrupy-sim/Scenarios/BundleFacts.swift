import EntrupyAPI
import Foundation
import SimulationAPI

/// The facts of a run in a bundle, up to one of its requests, of which a scenario is made.
struct BundleFacts: Sendable {
    let info: ServerInfo
    /// The requests up to the wanted one, oldest first; not empty.
    let requests: [JournaledRequest]
    /// The entries of the event log up to the wanted request, oldest first.
    let events: [StateChange]
    /// The items of the namespace, oldest first.
    let items: [AuthenticationInfo]
    /// The subscriptions to webhooks that there were after the wanted request and are there still.
    let subscriptions: [SubscriptionInfo]
    /// The webhook deliveries that there were up to the wanted request, oldest first.
    let deliveries: [WebhookDelivery]
    /// The text of the scenario that the namespace was started from; `nil` if it was none.
    let scenario: String?
    /// The namespace's seed data, in YAML.
    let seed: String
    /// The settings of a namespace that was given none.
    let defaults: JSONValue
    /// The numbers of the events of items that the control API or a scenario made.
    let generated: Set<Int64>
    /// Sentences about what is missing.
    private(set) var gaps: [String] = []

    /// The maximum numbers that are read. A scenario has at most 1,000 parts in a list.
    private static let maxRequests = 20_000
    private static let maxEvents = 20_000
    private static let maxItems = 500
    private static let maxDeliveries = 1000

    /// The request that the scenario ends with.
    var last: JournaledRequest { requests[requests.count - 1] }

    /// - Parameter until: the name of the last request; `nil` for the last one of the journal.
    /// - Throws: ``Refusal`` if the bundle has no such request, or none at all.
    init(_ bundle: OpenedBundle, path: String, until: String?) async throws {
        let (client, file) = (bundle.client, URL(fileURLWithPath: path).lastPathComponent)
        info = try await client.get("/_sim/info")
        let (newest, isCut) = try await client.all("/_sim/requests", limit: 1000, max: Self.maxRequests) {
            (page: RequestList) in (page.requests, page.next_cursor)
        }
        let all = Array(newest.reversed())
        guard let end = try Self.index(of: until, in: all, file) else { throw Self.empty(path, file) }
        requests = Array(all[...end])
        let last = all[end]
        let log = try await client.all("/_sim/event-log", limit: 1000, max: Self.maxEvents) {
            (page: EventList) in (page.events, page.next_cursor)
        }
        let entries = Array(log.list.reversed())
        let isEnd = end == all.count - 1
        events = entries.filter { event in
            // A bundle of the first release does not know which events a request added.
            isEnd || last.changes.map { event.sequence <= $0.through } ?? (event.at <= last.at)
        }
        items = try await Self.items(client)
        deliveries = try await client.all("/_sim/webhook-deliveries", limit: 100, max: Self.maxDeliveries) {
            (page: WebhookDeliveryList) in (page.deliveries, page.next_cursor)
        }.list.reversed().filter { isEnd || $0.created_at <= last.at }
        subscriptions = try await Self.subscriptions(client, without: Array(entries.dropFirst(events.count)))
        do {
            scenario = try await bundle.server.startedScenario()
        } catch {
            scenario = nil
            gaps.append("The scenario that the run was started from cannot be read.")
        }
        seed = String(decoding: try await client.send(ControlCall(.GET, "/_sim/export")).bytes, as: UTF8.self)
        defaults = try await Self.defaults(client)
        generated = Set(
            events.filter { $0.kind == "item.submitted" && $0.data.members?["by"] == "control" }.map(\.sequence))
        gaps += Self.cuts((all, isCut), (entries, log.isCut), items)
        let deleted = entries.count { $0.kind == "subscription.deleted" }
        if deleted > 0 { gaps.append("Webhook subscriptions that the run deleted are not here: \(deleted).") }
        if isEnd, let event = Self.unexplained(entries, after: last) {
            gaps.append(
                "The bundle lacks a request after the last one: none of its requests caused \(event.kind) of \(event.subject)."
            )
        }
    }

    /// The refusal of a file without requests.
    private static func empty(_ path: String, _ file: String) -> Refusal {
        InputFile.isBundle(path)
            ? Refusal(
                .no, "\(file) has no requests: none came to the namespace, or its journal was emptied",
                next: "does the client read ENTRUPY_SIM_URL? Make the bundle before the namespace is reset")
            : Refusal(
                .no, "\(file) has no requests: it is an exported snapshot, which never has them",
                next: "make a bundle: entrupy-sim bundle -o FILE")
    }

    /// Sentences about what was too much to be read, or was forgotten before.
    private static func cuts(
        _ requests: (list: [JournaledRequest], isCut: Bool), _ events: (list: [StateChange], isCut: Bool),
        _ items: [AuthenticationInfo]
    ) -> [String] {
        var gaps: [String] = []
        if requests.isCut { gaps.append("Only the newest \(maxRequests) requests of the bundle were read.") }
        if events.isCut { gaps.append("Only the newest \(maxEvents) entries of the event log were read.") }
        if items.count == maxItems { gaps.append("Only the newest \(maxItems) items were read.") }
        if let first = requests.list.first?.sequence, first > 1 {
            gaps.append("The journal begins with #\(first): it had forgotten the requests before.")
        }
        return gaps
    }

    /// The first event after the last request that only a client's request can cause: the bundle was made before that request
    /// was answered.
    private static func unexplained(_ events: [StateChange], after last: JournaledRequest) -> StateChange? {
        guard let through = last.changes?.through else { return nil }
        let kinds: Set = [
            "session.started", "capture.started", "image.uploaded", "capture.submitted", "capture.cancelled",
        ]
        return events.first { $0.sequence > through && kinds.contains($0.kind) }
    }

    // MARK: Reading

    private static func items(_ client: ControlClient) async throws -> [AuthenticationInfo] {
        let list: AuthenticationList = try await client.get("/_sim/authentications", [("limit", "\(maxItems)")])
        var items: [AuthenticationInfo] = []
        for summary in list.authentications.reversed() {
            items.append(try await client.get("/_sim/authentications/\(summary.entrupy_id)"))
        }
        return items
    }

    /// - Parameter later: the entries of the event log that came after the wanted request.
    private static func subscriptions(
        _ client: ControlClient, without later: [StateChange]
    ) async throws -> [SubscriptionInfo] {
        let list: SubscriptionInfoList = try await client.get("/_sim/webhooks")
        let made = Set(later.filter { $0.kind == "subscription.created" }.map(\.subject))
        return list.webhooks.filter { !made.contains($0.id) }
    }

    private static func defaults(_ client: ControlClient) async throws -> JSONValue {
        let name = "entrupy-sim-defaults"
        _ = try await client.send(ControlCall(.PUT, "/_sim/namespaces/\(name)", body: ["seed": "standard"]))
        let settings: JSONValue = try await client.of(name).get("/_sim/settings")
        _ = try await client.send(ControlCall(.DELETE, "/_sim/namespaces/\(name)"))
        return settings
    }

    // MARK: The last request

    /// The place of a request by its id or `sequence:N`; that of the last one without a name; `nil` if there are no requests.
    private static func index(of name: String?, in list: [JournaledRequest], _ file: String) throws -> Int? {
        guard !list.isEmpty else { return nil }
        guard let name else { return list.count - 1 }
        let number = name.hasPrefix("sequence:") ? Int64(name.dropFirst("sequence:".count)) : nil
        let found = list.indices.filter { index in
            number.map { list[index].sequence == $0 } ?? (list[index].id == name)
        }
        guard let only = found.first else {
            let ends = [list.first, list.last].compactMap { $0?.sequence }.map { "\($0)" }
            throw Refusal(
                .no, "\(file) has no request \(name)",
                next: "name one by its id or as sequence:N; its journal has \(ends.joined(separator: " to "))")
        }
        guard found.count == 1 else {
            var refusal = Refusal(
                .no, "\(found.count) requests have the id \(name)",
                next: "name one: "
                    + found.prefix(20).compactMap { list[$0].sequence.map { "sequence:\($0)" } }
                    .joined(separator: ", "))
            refusal.details = found.prefix(20).map { index in
                let entry = list[index]
                return ("sequence:\(entry.sequence ?? 0)", "\(entry.method) \(entry.path), \(entry.answerText)")
            }
            throw refusal
        }
        return only
    }
}
