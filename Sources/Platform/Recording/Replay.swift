import Crypto
import EntrupyAPI
import Foundation
import NIOConcurrencyHelpers
import Storage

/// Why a file cannot be replayed.
package struct RecordingError: Error, CustomStringConvertible {
    package let description: String
}

/// An answer of a replay.
package struct ReplayedAnswer: Sendable {
    package let status: Int
    package let headers: [[String]]
    package let body: Data
    /// Why there was none; nil where there was.
    package let failure: String?

    package init(status: Int, headers: [[String]], body: Data, failure: String? = nil) {
        self.status = status
        self.headers = headers
        self.body = body
        self.failure = failure
    }
}

/// A recording that is made again: the same jobs, in the same order, at the same times.
package final class Replay: Sendable {
    package let head: RecordingHead
    private let entries: [RecordedEntry]
    private let tickets: [JobTicket]
    private let gate: ReplayGate
    private let state: NIOLockedValueBox<State>

    /// The header by which a request finds its ticket.
    package static let header = "X-Sim-Replay"

    private struct State {
        /// How many outcomes were recorded of an attempt and not asked for yet.
        var expected: [String: Int] = [:]
        /// Attempts that wait for their outcome.
        var sent: [String: [(webhook: OutgoingWebhook, outbox: Outbox)]] = [:]
        var report = ReplayReport()
        /// Where in the order the first difference is.
        var differs: Int?
    }

    /// Reads a recording.
    ///
    /// - Throws: ``RecordingError`` with the line that is no recording's.
    package init(path: String) throws {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw RecordingError(description: "the recording \(path) cannot be read")
        }
        var lines = data.split(separator: UInt8(ascii: "\n"))
        // A process that was killed may have left half a line.
        if data.last != UInt8(ascii: "\n"), lines.count > 1 { lines.removeLast() }
        struct Kind: Decodable {
            let format: String
            let format_version: Int
        }
        guard let first = lines.first, let kind = try? WireJSON.decode(Kind.self, from: Data(first)),
            kind.format == "entrupy-sim recording"
        else {
            throw RecordingError(description: "\(path):1: is no recording of entrupy-sim; serve --record writes one")
        }
        guard kind.format_version <= RecordingHead.currentVersion else {
            throw RecordingError(
                description:
                    "\(path):1: was written by a newer version of entrupy-sim: its format is version \(kind.format_version), this program knows up to \(RecordingHead.currentVersion)"
            )
        }
        func decode<Value: Decodable>(_ type: Value.Type, _ index: Int) throws -> Value {
            do {
                return try WireJSON.decode(type, from: Data(lines[index]))
            } catch {
                throw RecordingError(description: "\(path):\(index + 1): is not as entrupy-sim writes it")
            }
        }
        head = try decode(RecordingHead.self, 0)
        var blobs: [String: RecordedBytes] = [:]
        var entries: [RecordedEntry] = []
        let written = try (1..<max(1, lines.count)).map { try decode(RecordedEntry.self, $0) }
        for blob in written.compactMap(\.blob) { blobs[Hex.string(SHA256.hash(data: blob.data))] = blob }
        for (index, entry) in written.enumerated() {
            var entry = entry
            if let hash = entry.request?.body?.sha256 {
                guard let blob = blobs[hash] else {
                    throw RecordingError(description: "\(path):\(index + 2): names a body that the recording lacks")
                }
                entry.request?.body = blob
            }
            if !entry.jobs.isEmpty { entries.append(entry) }
        }
        entries.sort { $0.place < $1.place }
        self.entries = entries
        let gate = ReplayGate(startingAt: Instant(microseconds: head.started_at))
        self.gate = gate
        tickets = entries.map { entry in
            .replaying(
                gate, entry.jobs, waits: entry.request?.waits ?? [], notes: entry.request?.notes ?? [],
                isUnrepeatable: entry.request?.unrepeatable ?? false)
        }
        var state = State()
        for outcome in entries.compactMap(\.outcome) {
            state.expected[Self.key(outcome.namespace, outcome.delivery, outcome.number), default: 0] += 1
        }
        self.state = NIOLockedValueBox(state)
    }

    /// How the namespaces of a replay are kept and made.
    package func configuration() throws -> NamespacesConfiguration {
        var configuration = NamespacesConfiguration(
            dataDirectory: nil, durability: .process,
            seed: try Seed.remembered(name: head.seed_name, text: head.seed_text), randomSeed: head.random_seed,
            settings: head.settings, autoCreates: head.auto_creates)
        configuration.allowsAnyTarget = head.allows_any_target
        configuration.replaysFrom = Instant(microseconds: head.started_at)
        return configuration
    }

    /// The real time, as far as the replay has come.
    package var time: Instant { gate.time }

    /// The ticket of a request that says which it is.
    package func ticket(_ header: String?) -> JobTicket? {
        header.flatMap { Int($0) }.flatMap { tickets.indices.contains($0) ? tickets[$0] : nil }
    }

    private static func key(_ namespace: String, _ delivery: String, _ number: Int) -> String {
        "\(namespace) \(delivery) \(number)"
    }

    /// Takes attempts over: nothing is sent, what came of each is known.
    package func send(_ webhooks: [OutgoingWebhook], _ namespace: String, _ outbox: Outbox) {
        for webhook in webhooks {
            let key = Self.key(namespace, webhook.deliveryID, webhook.number)
            let isExpected = state.withLockedValue { state in
                guard let left = state.expected[key], left > 0 else { return false }
                state.expected[key] = left - 1
                state.sent[key, default: []].append((webhook, outbox))
                return true
            }
            // One that nothing came of: its subscription or its world was gone before.
            if !isExpected { outbox.end() }
        }
    }

    /// Makes everything again, up to the first answer that differs.
    ///
    /// - Parameter ask: makes a request, with ``header`` saying which it is.
    package func run(
        _ namespaces: Namespaces, ask: @escaping @Sendable (RecordedRequest, Int) async -> ReplayedAnswer
    ) async -> ReplayReport {
        await withTaskGroup(of: Void.self) { group in
            for (index, entry) in entries.enumerated() {
                await gate.turn(entry.place)
                if state.withLockedValue({ $0.differs != nil }) { break }
                let ticket = tickets[index]
                if let request = entry.request {
                    group.addTask {
                        let answer = await ask(request, index)
                        ticket.passRest()
                        self.compare(request, answer, index)
                    }
                } else if let outcome = entry.outcome {
                    await settle(outcome, ticket, index, namespaces)
                } else if let name = entry.ticked {
                    await JobTicket.$current.withValue(ticket) { await namespaces.find(name)?.tick() }
                    ticket.passRest()
                } else if let name = entry.dropped {
                    await JobTicket.$current.withValue(ticket) { try? await namespaces.delete(name) }
                    ticket.passRest()
                }
            }
            // Whoever waits goes on, so that all end.
            if state.withLockedValue({ $0.differs != nil }) { for ticket in tickets { ticket.passRest() } }
            await group.waitForAll()
        }
        return state.withLockedValue { $0.report }
    }

    /// Gives an attempt the outcome it had.
    private func settle(
        _ recorded: RecordedOutcome, _ ticket: JobTicket, _ index: Int, _ namespaces: Namespaces
    ) async {
        defer { ticket.passRest() }
        guard let namespace = namespaces.find(recorded.namespace) else {
            return differ(
                index, "a webhook's attempt", ["- in the namespace \(recorded.namespace)", "+ which is not there"])
        }
        // The attempt may be what fell due since the last job, which nothing but time brings about.
        let real = Instant(microseconds: entries[index].jobs[0].real)
        await JobTicket.$current.withValue(.standing(at: real)) { await namespace.tick() }
        let key = Self.key(recorded.namespace, recorded.delivery, recorded.number)
        let sent = state.withLockedValue { state -> (webhook: OutgoingWebhook, outbox: Outbox)? in
            state.sent[key]?.isEmpty == false ? state.sent[key]?.removeFirst() : nil
        }
        guard let sent else {
            return differ(
                index, "the webhook delivery \(recorded.delivery)",
                ["- attempt \(recorded.number) was made", "+ it is not"])
        }
        await JobTicket.$current.withValue(ticket) { await namespace.record(sent.webhook, recorded.outcome) }
        sent.outbox.end()
        state.withLockedValue { $0.report.outcomes += 1 }
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

    /// Remembers the first difference in the order of the recording.
    private func differ(_ index: Int, _ what: String, _ lines: [String]) {
        state.withLockedValue { state in
            guard state.differs.map({ index < $0 }) ?? true else { return }
            state.differs = index
            state.report.difference = .init(number: index + 1, what: what, lines: lines)
        }
    }
}

/// Compares the answer of a replay with the recorded one.
struct AnswerComparison {
    private let request: RecordedRequest
    private let isControl: Bool
    private let path: String

    /// Headers that are compared. `Date` and what the connection is about are none of them.
    private static let headers = [
        "content-type", "retry-after", "x-request-id", "www-authenticate", "allow", "location", "content-disposition",
    ]
    /// What tells of the machine, or of how long something took.
    private static let volatilePaths = [
        "/_sim/info", "/_sim/metrics", "/_sim/stats", "/_sim/requests", "/_sim/namespaces", "/_sim/bundle",
        "/_sim/events",
        "/_sim/ready",
    ]
    private static let volatileMembers: Set = ["database_bytes", "duration_ms", "uptime"]
    /// How often a settling looks at the clock depends on how fast the machine is.
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

    /// The lines that differ; none where the answers are the same.
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

    /// Ids of requests that no namespace counted follow from what else the process did.
    private static func requestID(_ id: String) -> String {
        id.hasPrefix("ctl_") ? "ctl_…" : id.hasPrefix("srv_") ? "srv_…" : id
    }

    /// Members of control answers that are not compared.
    private var leftOut: Set<String> {
        // What a scenario finds in the journal depends on which of several requests ended first.
        path == Self.settlePath
            ? Self.volatileMembers.union(["clock"])
            : path.hasPrefix("/_sim/scenarios/")
                ? Self.volatileMembers.union(["found", "passed", "problem", "verified", "details", "error"])
                : Self.volatileMembers
    }

    private func lines(_ body: Data) -> [String] {
        guard let value = try? WireJSON.decode(JSONValue.self, from: body) else {
            return String(decoding: body, as: UTF8.self).split(separator: "\n").map(String.init)
        }
        var lines: [String] = []
        write(value, "", &lines)
        return lines
    }

    /// A line for each value, under its path.
    private func write(_ value: JSONValue, _ path: String, _ lines: inout [String]) {
        switch value {
        case .object(let members) where !members.isEmpty:
            for key in members.keys.sorted() where !(isControl && leftOut.contains(key)) {
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

    /// The most lines of a difference that are shown.
    private static let mostLines = 40

    private static func difference(_ old: [String], _ new: [String]) -> [String] {
        guard old != new else { return [] }
        let changes = new.difference(from: old)
        let lines = changes.removals.map(line) + changes.insertions.map(line)
        return Array(lines.prefix(mostLines))
            + (lines.count > mostLines ? ["… and \(lines.count - mostLines) more"] : [])
    }

    private static func line(_ change: CollectionDifference<String>.Change) -> String {
        switch change {
        case .remove(_, let text, _): "- \(text)"
        case .insert(_, let text, _): "+ \(text)"
        }
    }
}
