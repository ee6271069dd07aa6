import ArgumentParser
import Foundation
import NIOConcurrencyHelpers
import SimulationAPI

/// `entrupy-sim wait` [D wait].
struct Wait: ControlAction {
    static let abstract = "Wait for an event. Exits 1 if it does not happen in time."
    static let discussion = """
        EVENT is item:ID:result, item:ID:flag, item:ID:retake, capture:ID:submitted, capture:ID:cancelled, \
        capture:ID:timed_out, workflow_session:ID:finished, workflow_session:ID:failed, workflow_session:ID:expired, \
        request:held, or webhook: and an event, for instance webhook:session.completed. One that has happened already \
        counts.
        """
    static let optionNames = ["until": "EVENT", "after": "--after"]
    @Argument(help: "The event to wait for, for instance item:5ISJEYOQ:result.") var event: String
    @Option(help: "The longest real time to wait, for instance 5s or 1m30s; at most 1d.")
    var within = DurationArgument(argument: "5s")
    @Option(help: "Of request:held, the number of a request: only later ones count. (default: all count)")
    var after: Int?

    func validate() throws { try within.check("--within", to: "1d") }

    func run(_ client: ControlClient, _ terminal: Terminal) async throws {
        // Subscribes to the topic that the awaited event does not have. So the only event of the awaited name is the
        // one that `until` sends.
        let isWebhook = event.utf8.starts(with: "webhook:".utf8)
        let query = [("until", event), ("after", after.map { "\($0)" }), ("types", isWebhook ? "state" : "webhook")]
        let wanted = isWebhook ? "webhook" : "state"
        let (limit, found) = (within.duration, NIOLockedValueBox<Data?>(nil))
        try await withThrowingTaskGroup { group in
            group.addTask {
                try await client.listen(query) { name, data in
                    if name == wanted { found.withLockedValue { $0 = data } }
                    return name != wanted
                }
            }
            group.addTask { try await Task.sleep(for: limit) }
            defer { group.cancelAll() }
            _ = try await group.next()
        }
        guard let found = found.withLockedValue(\.self) else { throw try await late(client, terminal) }
        if terminal.isJSON { return terminal.json(found) }
        let change = try WireJSON.decode(StateChange.self, from: found)
        terminal.line("\(event)  \(Readable.time(change.at))  \(change.kind)")
    }

    /// The refusal after the time is over.
    private func late(_ client: ControlClient, _ terminal: Terminal) async throws -> Refusal {
        let clock: ClockState = try await client.get("/_sim/clock")
        var next =
            clock.mode == "frozen"
            ? "the clock is frozen at \(clock.now): \(terminal.command("clock advance --to next"))"
            : "wait longer with --within, or look at what comes: \(terminal.command("api GET /_sim/due"))"
        let parts = event.split(at: ":")
        if parts.first == "item", parts.count == 3 {
            do {
                try await client.send(ControlCall(.GET, "/_sim/authentications/\(String(parts[1]))"))
            } catch let refusal as Refusal where refusal.code == .no {
                next = "there is no such item: \"\(terminal.command("items list"))\" lists them"
            }
        }
        return Refusal(.no, "\(event) did not happen within \(within)", next: next)
    }
}
