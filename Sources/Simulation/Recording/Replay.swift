import Foundation
import NIOConcurrencyHelpers
import SimulationAPI
import Storage

/// A request of a recording that was made again: the lines that differ from the recorded answer, empty if none do; and whether
/// the body was compared.
package typealias RepeatedRequest = (differences: [String], comparesBody: Bool)

/// A request of a recording, as the server must see it when it is made again.
package struct ReplayedRequest: Sendable {
    /// The recorded one. If it cannot be repeated because its body is not recorded, it takes its place, and its answer is not compared.
    package let request: RecordedRequest
    fileprivate let token: JobToken

    /// Runs the request at its place among all jobs.
    package func run<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        try await JobToken.$current.withValue(token, operation: body)
    }
}

/// Replays a recording: the same jobs, in the same order, at the same times, up to the first missing one
/// [D recording].
package final class Replay: Sendable {
    private let recording: Recording
    /// The first place that is not replayed.
    private let end: Int
    /// The entries that begin before ``end``.
    private let entries: ArraySlice<RecordedEntry>
    private let tokens: [JobToken]
    private let gate: ReplayGate
    private let state: NIOLockedValueBox<State>

    /// The header that connects a request with its token.
    package static let header = "X-Sim-Replay"

    private struct State {
        /// Attempts without an outcome so far. Some never get one, for instance those that are queued when a reset, a restore
        /// or a deletion ends their namespace's state.
        var sent: [String: [WebhookAttempt]] = [:]
        var report = ReplayReport()
        /// The index of the first entry with a difference.
        var differs: Int?
        /// The number of entries that were replayed completely.
        var made = 0
        var isStopped = false
        /// Whether the server goes on after the replay.
        var isOver = false
    }

    /// - Parameter last: the place of the last job that is replayed; `nil` for all up to the recording's end.
    package init(_ recording: Recording, upTo last: Int? = nil) {
        self.recording = recording
        let end = min(last.map { $0 + 1 } ?? recording.end, recording.end)
        self.end = end
        let entries = recording.entries.prefix { $0.place < end }
        self.entries = entries
        let gate = ReplayGate(startingAt: Instant(microseconds: recording.head.started_at))
        self.gate = gate
        tokens = entries.enumerated().map { .replaying($1, $0, upTo: end, gate) }
        var state = State()
        state.report.recorded = recording.requests
        self.state = NIOLockedValueBox(state)
    }

    /// The configuration of the replay's namespaces, from the first line of the recording.
    ///
    /// - Parameter platforms: the platforms of the server that made the recording.
    package func configuration(_ platforms: Platforms) throws -> NamespacesConfiguration {
        var configuration = NamespacesConfiguration(
            dataDirectory: nil, durability: .process,
            seed: try Seed.remembered(name: head.seed_name, text: head.seed_text, platforms),
            randomSeed: head.random_seed,
            settings: head.settings, autoCreates: head.auto_creates)
        configuration.allowsAnyTarget = head.allows_any_target
        configuration.jobOrder = .replaying(from: Instant(microseconds: head.started_at))
        return configuration
    }

    /// The settings and the moment with which the recorded server started.
    package var head: RecordingHead { recording.head }

    /// The number of requests in the recording.
    package var requests: Int { recording.requests }

    /// The recorded real time that the replay has reached; `nil` once its server goes on in real time.
    package var time: Instant? { state.withLockedValue { $0.isOver } ? nil : gate.time }

    /// Whether the replay was stopped before its end.
    package var isStopped: Bool { state.withLockedValue { $0.isStopped } }

    /// The place of the last job of the request that the index identifies.
    package func lastPlace(_ index: Int) -> Int { entries[index].lastPlace }

    /// The request that the header identifies; `nil` if it identifies none.
    package func request(_ header: String?) -> ReplayedRequest? {
        guard let index = header.flatMap({ Int($0) }), tokens.indices.contains(index),
            let request = entries[index].request ?? entries[index].held
        else { return nil }
        return ReplayedRequest(request: request, token: tokens[index])
    }

    private static func key(_ namespace: String, _ delivery: String, _ number: Int) -> String {
        "\(namespace) \(delivery) \(number)"
    }

    /// Takes over webhook attempts. Nothing is sent: the recording holds the outcome of each that ended.
    package func send(_ attempts: [WebhookAttempt]) {
        state.withLockedValue { state in
            for attempt in attempts {
                let key = Self.key(attempt.namespace, attempt.webhook.deliveryID, attempt.webhook.number)
                state.sent[key, default: []].append(attempt)
            }
        }
    }

    /// Replays all entries, up to the first difference or the end of the recording.
    ///
    /// - Parameter ask: makes a request, whose ``header`` must hold the given index, and compares the answer.
    package func run(
        _ namespaces: Namespaces, ask: @escaping @Sendable (RecordedRequest, Int) async -> RepeatedRequest
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

    /// Lets the server go on with the namespaces as they are: clocks stand at the time they show, and attempts without an outcome
    /// are given up. Call it after the replay, before other requests.
    ///
    /// - Throws: ``PlatformError`` if a namespace cannot be written.
    package func resume(with namespaces: Namespaces) async throws {
        for namespace in namespaces.all() { try await namespace.stopClock() }
        let open = state.withLockedValue { state in
            defer { state.sent = [:] }
            return state.sent.values.joined()
        }
        for attempt in open { attempt.end() }
        namespaces.forgetUnfinished()
        state.withLockedValue { $0.isOver = true }
        namespaces.environment.sequencer.endReplay()
    }

    /// The reason why the replay is incomplete, apart from a difference; `nil` if it is complete.
    private func incompleteness(_ state: State) -> String? {
        // A request whose last jobs are missing never finishes.
        let whole = entries.count { $0.lastPlace < end && !$0.isUnanswered }
        if state.isStopped, state.made < whole { return "the replay was interrupted" }
        if recording.isCut, end == recording.end { return "the recording is truncated: entries are missing" }
        if state.differs == nil, state.made < whole {
            return "the recording contradicts itself: job \(gate.reached) waits for a later one"
        }
        return recording.requests == 0 ? "the recording holds no requests" : nil
    }

    private func make(
        _ entry: RecordedEntry, _ index: Int, _ namespaces: Namespaces,
        _ ask: @Sendable (RecordedRequest, Int) async -> RepeatedRequest
    ) async {
        let token = tokens[index]
        var repeated: RepeatedRequest?
        if let request = entry.request ?? entry.held {
            repeated = await ask(request, index)
        } else {
            await JobToken.$current.withValue(token) {
                if let outcome = entry.outcome {
                    await settle(outcome, token, index, namespaces)
                } else if let loss = entry.undelivered {
                    // A request's number is at least 1.
                    await namespaces.find(loss.namespace)?.markUndelivered(sequence: loss.sequence ?? 0)
                } else if let name = entry.ticked {
                    await namespaces.find(name)?.tick()
                } else if let name = entry.dropped {
                    // A deletion that fails shows as a difference of later answers.
                    try? await namespaces.delete(name)
                }
            }
        }
        token.skipRemaining()
        // An entry that the end of the replay interrupted is not compared.
        guard !token.isCutShort, !entry.isUnanswered else { return }
        state.withLockedValue { $0.made += 1 }
        if let request = entry.request, let repeated { count(request, repeated, index) }
    }

    /// Gives an attempt its recorded outcome.
    private func settle(
        _ recorded: RecordedOutcome, _ token: JobToken, _ index: Int, _ namespaces: Namespaces
    ) async {
        guard let namespace = namespaces.find(recorded.namespace) else {
            return differ(
                index, "a webhook's attempt", ["- in the namespace \(recorded.namespace)", "+ which does not exist"])
        }
        // The attempt itself may have fallen due since the last job, so due work runs first.
        let real = Instant(microseconds: entries[index].jobs[0].real)
        await JobToken.$current.withValue(.fixedTime(real)) { await namespace.tick() }
        guard let sent = takeSent(recorded) else {
            return differ(
                index, "the webhook delivery \(recorded.delivery)",
                ["- attempt \(recorded.number) was made", "+ it was not"])
        }
        await namespace.record(sent.webhook, recorded.outcome)
        sent.end()
        if !token.isCutShort { state.withLockedValue { $0.report.outcomes += 1 } }
    }

    /// Removes the attempt that has this outcome.
    ///
    /// After a restore an attempt may be there twice, with the same number and time. Then the state it belongs to decides.
    private func takeSent(_ recorded: RecordedOutcome) -> WebhookAttempt? {
        let key = Self.key(recorded.namespace, recorded.delivery, recorded.number)
        return state.withLockedValue { state in
            guard let sent = state.sent[key] else { return nil }
            let found = sent.firstIndex {
                $0.webhook.at.microseconds == recorded.at && $0.isCurrent != recorded.was_replaced
            }
            return found.flatMap { state.sent[key]?.remove(at: $0) }
        }
    }

    private func count(_ request: RecordedRequest, _ repeated: RepeatedRequest, _ index: Int) {
        state.withLockedValue { state in
            state.report.requests += 1
            if repeated.comparesBody { state.report.compared += 1 }
        }
        if !repeated.differences.isEmpty {
            differ(index, "\(request.method) \(request.target)", repeated.differences)
        }
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
