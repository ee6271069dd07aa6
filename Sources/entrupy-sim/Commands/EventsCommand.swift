import ArgumentParser
import Console
import SimulationAPI

struct ListEvents: Endpoint {
    static let name = "events"
    static let abstract = "List what changed in a namespace: its event log, newest first."
    @Option(help: "The id of the item, capture, user or other object.") var subject: String?
    @Option(help: "A glob over the kind, for instance 'result.*'.") var kind: String?
    @Option(help: "The maximum number of events to list, 1 to 1000.") var limit = 100

    func call() -> ControlCall {
        ControlCall(.GET, "/_sim/event-log", [("subject", subject), ("kind", kind), ("limit", "\(limit)")])
            .listing(
                \EventList.events, next: \.next_cursor, more: "raise --limit, or choose with --subject and --kind",
                empty: "no such events", ["NO.", "TIME", "KIND", "SUBJECT", "DATA"]
            ) { ["\($0.sequence)", Readable.time($0.at), $0.kind, $0.subject, try Readable.json($0.data)] }
    }
}

extension ControlClient {
    /// The entries of all pages of a list, and whether there are more than `max`.
    ///
    /// - Parameters:
    ///   - limit: the most entries of a page.
    ///   - parts: the entries of a page, and where the list goes on.
    func all<List: Decodable & Sendable, Entry>(
        _ path: ControlPath, _ query: [(String, String?)] = [], limit: Int, max: Int = .max,
        _ parts: (List) -> (entries: [Entry], next: String?)
    ) async throws -> (list: [Entry], isCut: Bool) {
        try await allPages(max: max) { cursor in
            parts(try await get(path, query + [("limit", "\(limit)"), ("cursor", cursor)]))
        }
    }

    /// The events of a kind, newest first. The whole event log is looked through, a page at a time.
    ///
    /// - Parameter limit: the number from which the rest is not looked for.
    func events(of kind: String, limit: Int) async throws -> [StateChange] {
        try await all("/_sim/event-log", [("kind", kind)], limit: min(limit, 1000), max: limit) { (page: EventList) in
            // A page that brings nothing ends the list, whatever cursor it has.
            (page.events, page.events.isEmpty ? nil : page.next_cursor)
        }.list
    }

    /// The name of the scenario that was started last in the namespace, by its event log; `nil` if none was.
    func startedScenario() async throws -> String? {
        try await events(of: "scenario.started", limit: 1).first?.subject
    }
}
