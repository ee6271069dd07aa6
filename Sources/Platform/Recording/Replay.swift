import EntrupyAPI
import Foundation
import NIOConcurrencyHelpers
import Storage

/// An answer of a replay.
package struct ReplayedAnswer: Sendable {
    package let status: Int
    package let headers: [[String]]
    package let body: Data
    /// The reason why there is no answer; `nil` if there is one.
    package let failure: String?

    package init(status: Int, headers: [[String]], body: Data, failure: String? = nil) {
        self.status = status
        self.headers = headers
        self.body = body
        self.failure = failure
    }
}

/// Replays a recording: the same jobs, in the same order, at the same times, up to the first missing one
/// [D recording].
package final class Replay: Sendable {
    package let head: RecordingHead
    private let recording: Recording
    /// The entries that begin before the recording's end.
    private let entries: ArraySlice<RecordedEntry>
    private let tickets: [JobTicket]
    private let gate: ReplayGate
    private let state: NIOLockedValueBox<State>

    /// The header that connects a request with its ticket.
    package static let header = "X-Sim-Replay"

    private struct State {
        /// The number of recorded outcomes of each attempt that are not used yet.
        var expected: [String: Int] = [:]
        /// Attempts that wait for their recorded outcome.
        var sent: [String: [(webhook: OutgoingWebhook, outbox: Outbox)]] = [:]
        var report = ReplayReport()
        /// The index of the first entry with a difference.
        var differs: Int?
        /// The number of entries that were replayed completely.
        var made = 0
        var isStopped = false
    }

    /// Reads a recording.
    ///
    /// - Throws: ``RecordingError`` naming the invalid line; `CancellationError`.
    package init(path: String) async throws {
        let recording = try await RecordingReader.read(path)
        self.recording = recording
        head = recording.head
        let entries = recording.entries.prefix { $0.place < recording.end }
        self.entries = entries
        let gate = ReplayGate(startingAt: Instant(microseconds: recording.head.started_at))
        self.gate = gate
        tickets = entries.enumerated().map { .replaying($1, $0, upTo: recording.end, gate) }
        var state = State()
        state.report.recorded = recording.requests
        for outcome in recording.entries.compactMap(\.outcome) {
            state.expected[Self.key(outcome.namespace, outcome.delivery, outcome.number), default: 0] += 1
        }
        self.state = NIOLockedValueBox(state)
    }

    /// The configuration of the replay's namespaces, from the first line of the recording.
    package func configuration() throws -> NamespacesConfiguration {
        var configuration = NamespacesConfiguration(
            dataDirectory: nil, durability: .process,
            seed: try Seed.remembered(name: head.seed_name, text: head.seed_text), randomSeed: head.random_seed,
            settings: head.settings, autoCreates: head.auto_creates)
        configuration.allowsAnyTarget = head.allows_any_target
        configuration.replaysFrom = Instant(microseconds: head.started_at)
        return configuration
    }

    /// The number of requests in the recording.
    package var requests: Int { recording.requests }

    /// The recorded real time that the replay has reached.
    package var time: Instant { gate.time }

    /// The ticket, target and host of the request that the header identifies; `nil` if it identifies none.
    package func request(_ header: String?) -> (ticket: JobTicket, target: String, host: String?)? {
        guard let index = header.flatMap({ Int($0) }), tickets.indices.contains(index),
            let request = entries[index].request
        else { return nil }
        return (tickets[index], request.target, request.host)
    }

    private static func key(_ namespace: String, _ delivery: String, _ number: Int) -> String {
        "\(namespace) \(delivery) \(number)"
    }

    /// Takes over webhook attempts. Nothing is sent: the recording holds the outcome of each.
    package func send(_ webhooks: [OutgoingWebhook], _ namespace: String, _ outbox: Outbox) {
        for webhook in webhooks {
            let key = Self.key(namespace, webhook.deliveryID, webhook.number)
            let isExpected = state.withLockedValue { state in
                guard let left = state.expected[key], left > 0 else { return false }
                state.expected[key] = left - 1
                state.sent[key, default: []].append((webhook, outbox))
                return true
            }
            // No outcome was recorded: the subscription or the namespace was deleted first.
            if !isExpected { outbox.end() }
        }
    }

    /// Replays all entries, up to the first difference or the end of the recording.
    ///
    /// - Parameter ask: makes a request; ``header`` must hold the given index.
    package func run(
        _ namespaces: Namespaces, ask: @escaping @Sendable (RecordedRequest, Int) async -> ReplayedAnswer
    ) async -> ReplayReport {
        await withDiscardingTaskGroup { group in
            for (index, entry) in entries.enumerated() {
                guard await gate.turn(entry.place, of: ReplayGate.launcher) else { break }
                gate.begin(index)
                group.addTask {
                    await self.make(entry, index, namespaces, ask)
                    self.gate.finish(index)
                }
            }
            gate.finish(ReplayGate.launcher)
        }
        return state.withLockedValue { state in
            state.report.incomplete = incompleteness(state)
            return state.report
        }
    }

    /// Stops the replay.
    package func stop() {
        state.withLockedValue { $0.isStopped = true }
        gate.end()
    }

    /// The reason why the replay is incomplete, apart from a difference; `nil` if it is complete.
    private func incompleteness(_ state: State) -> String? {
        // A request whose last jobs are missing never finishes.
        let whole = entries.count { ($0.jobs.last?.place ?? 0) < recording.end }
        if state.isStopped, state.made < whole { return "the replay was interrupted" }
        if recording.isCut { return "the recording ends in the middle" }
        if state.differs == nil, state.made < whole {
            return "the recording contradicts itself: job \(gate.reached) waits for a later one"
        }
        return recording.requests == 0 ? "the recording holds no requests" : nil
    }

    private func make(
        _ entry: RecordedEntry, _ index: Int, _ namespaces: Namespaces,
        _ ask: @Sendable (RecordedRequest, Int) async -> ReplayedAnswer
    ) async {
        let ticket = tickets[index]
        var answer: ReplayedAnswer?
        if let request = entry.request {
            answer = await ask(request, index)
        } else if let outcome = entry.outcome {
            await settle(outcome, ticket, index, namespaces)
        } else if let name = entry.ticked {
            await JobTicket.$current.withValue(ticket) { await namespaces.find(name)?.tick() }
        } else if let name = entry.dropped {
            await JobTicket.$current.withValue(ticket) { try? await namespaces.delete(name) }
        }
        ticket.skipRemaining()
        // An entry that the end of the replay interrupted is not compared.
        guard !ticket.isCutShort else { return }
        state.withLockedValue { $0.made += 1 }
        if let request = entry.request, let answer { compare(request, answer, index) }
    }

    /// Gives an attempt its recorded outcome.
    private func settle(
        _ recorded: RecordedOutcome, _ ticket: JobTicket, _ index: Int, _ namespaces: Namespaces
    ) async {
        guard let namespace = namespaces.find(recorded.namespace) else {
            return differ(
                index, "a webhook's attempt", ["- in the namespace \(recorded.namespace)", "+ which does not exist"])
        }
        // The attempt itself may have fallen due since the last job, so due work runs first.
        let real = Instant(microseconds: entries[index].jobs[0].real)
        await JobTicket.$current.withValue(.standing(at: real)) { await namespace.tick() }
        let key = Self.key(recorded.namespace, recorded.delivery, recorded.number)
        let sent = state.withLockedValue { state -> (webhook: OutgoingWebhook, outbox: Outbox)? in
            state.sent[key]?.isEmpty == false ? state.sent[key]?.removeFirst() : nil
        }
        guard let sent else {
            return differ(
                index, "the webhook delivery \(recorded.delivery)",
                ["- attempt \(recorded.number) was made", "+ it was not"])
        }
        await JobTicket.$current.withValue(ticket) { await namespace.record(sent.webhook, recorded.outcome) }
        sent.outbox.end()
        if !ticket.isCutShort { state.withLockedValue { $0.report.outcomes += 1 } }
    }

    private func compare(_ request: RecordedRequest, _ answer: ReplayedAnswer, _ index: Int) {
        let comparison = AnswerComparison(request)
        let lines = comparison.differences(answer)
        state.withLockedValue { state in
            state.report.requests += 1
            if comparison.comparesBody { state.report.compared += 1 }
        }
        if !lines.isEmpty { differ(index, "\(request.method) \(request.target)", lines) }
    }

    /// Keeps the difference that comes first in the recording, and ends the replay.
    private func differ(_ index: Int, _ what: String, _ lines: [String]) {
        state.withLockedValue { state in
            guard state.differs.map({ index < $0 }) ?? true else { return }
            state.differs = index
            state.report.difference = .init(number: index + 1, what: what, lines: lines)
        }
        gate.end()
    }
}

/// Compares the answer of a replay with the recorded one.
struct AnswerComparison {
    private let request: RecordedRequest
    private let isControl: Bool
    private let path: String

    /// The headers that are compared. `Date` and headers about the connection are not.
    private static let headers = [
        "content-type", "retry-after", "x-request-id", "www-authenticate", "allow", "location", "content-disposition",
    ]
    /// Routes whose answers depend on the machine or on durations. Their bodies are not compared.
    private static let volatilePaths = [
        "/_sim/info", "/_sim/metrics", "/_sim/stats", "/_sim/requests", "/_sim/namespaces", "/_sim/bundle",
        "/_sim/events",
        "/_sim/ready",
    ]
    private static let volatileMembers: Set = ["database_bytes", "duration_ms", "uptime"]
    /// The route to wait for settling. The number of times it reads the clock depends on the machine's speed.
    private static let settlePath = "/_sim/settle"

    init(_ request: RecordedRequest) {
        self.request = request
        var path = request.target.prefix { $0 != "?" }
        if path.hasPrefix("/ns/") { path = path.dropFirst(4).drop { $0 != "/" } }
        self.path = String(path)
        isControl = self.path.hasPrefix("/_sim")
    }

    var comparesBody: Bool {
        request.answer != nil && request.unrepeatable != true && !Self.volatilePaths.contains { path.hasPrefix($0) }
    }

    /// The lines that differ; empty if the answers are equal.
    func differences(_ answer: ReplayedAnswer) -> [String] {
        if let failure = answer.failure { return ["- \(request.status)", "+ no answer: \(failure)"] }
        guard request.unrepeatable != true else { return [] }
        var was = ["status: \(request.status)"]
        var now = ["status: \(answer.status)"]
        for name in Self.headers {
            was += values(request.answer_headers, name)
            now += values(answer.headers, name)
        }
        if comparesBody, let recorded = request.answer {
            let (old, new) = (recorded.data, answer.body)
            if old != new {
                was += lines(old)
                now += lines(new)
            }
        }
        return Self.difference(was, now)
    }

    private func values(_ headers: [[String]], _ name: String) -> [String] {
        headers.filter { $0.count == 2 && $0[0].lowercased() == name }.map { header in
            "\(name): \(name == "x-request-id" ? Self.requestID(header[1]) : header[1])"
        }
    }

    /// Replaces request ids that do not come from a namespace's counter of platform requests. They depend on what
    /// else the process did.
    private static func requestID(_ id: String) -> String {
        id.hasPrefix("ctl_") ? "ctl_…" : id.hasPrefix("srv_") ? "srv_…" : id
    }

    /// Members of control answers that are not compared.
    private var leftOut: Set<String> {
        // Scenario results depend on the journal, and so on which of several requests ended first.
        path == Self.settlePath
            ? Self.volatileMembers.union(["clock"])
            : path.hasPrefix("/_sim/scenarios/")
                ? Self.volatileMembers.union(["found", "passed", "problem", "verified", "details", "error"])
                : Self.volatileMembers
    }

    private func lines(_ body: Data) -> [String] {
        guard let value = try? WireJSON.decode(JSONValue.self, from: body) else {
            return body.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map {
                String(decoding: $0, as: UTF8.self)
            }
        }
        var lines: [String] = []
        write(value, "", &lines)
        return lines
    }

    /// Whether a member is the text of an error, which a later release may word better [D replay-wording].
    private func isWording(_ key: String, _ path: String) -> Bool {
        guard request.status >= 400 else { return false }
        return path.isEmpty ? key == "error" : key == "problem" && path.hasPrefix("details[")
    }

    /// Writes one line for each value, with its path.
    private func write(_ value: JSONValue, _ path: String, _ lines: inout [String]) {
        switch value {
        case .object(let members) where !members.isEmpty:
            for key in members.keys.sorted()
            where !(isControl && leftOut.contains(key)) && !isWording(key, path) {
                write(members[key] ?? .null, path.isEmpty ? key : "\(path).\(key)", &lines)
            }
        case .array(let elements) where !elements.isEmpty:
            for (index, element) in elements.enumerated() {
                write(element, "\(path)[\(index)]", &lines)
            }
        case .string(let text) where path.hasSuffix("request_id"): lines.append("\(path): \(Self.requestID(text))")
        default: lines.append("\(path): \((try? StoredJSON.encode(value)) ?? "")")
        }
    }

    /// The maximum number of lines shown of a difference.
    private static let maxLines = 40
    /// The number of lines compared after the first difference. The cost grows with its square.
    private static let window = 500

    private static func difference(_ old: [String], _ new: [String]) -> [String] {
        // By bytes: a composed and a decomposed letter are different answers.
        let same = zip(old, new).prefix { $0.utf8.elementsEqual($1.utf8) }.count
        guard same < max(old.count, new.count) else { return [] }
        let (was, now) = (old[same...].prefix(window), new[same...].prefix(window))
        let changes = Array(now).difference(from: Array(was)) { $0.utf8.elementsEqual($1.utf8) }
        let lines = changes.removals.map(line) + changes.insertions.map(line)
        let more = max(old.count, new.count) - same > window ? ["… and perhaps more"] : []
        return Array(lines.prefix(maxLines))
            + (lines.count > maxLines ? ["… and \(lines.count - maxLines) more"] : more)
    }

    private static func line(_ change: CollectionDifference<String>.Change) -> String {
        switch change {
        case .remove(_, let text, _): "- \(text)"
        case .insert(_, let text, _): "+ \(text)"
        }
    }
}
