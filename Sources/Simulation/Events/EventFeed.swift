import DequeModule
import NIOConcurrencyHelpers
import SimulationAPI
import Storage

/// An entry of the event feed.
package struct FeedEntry: Sendable {
    /// The topic of an entry. Listeners select topics.
    package enum Topic: String, CaseIterable, Sendable {
        case request, state, webhook

        /// The topic of an event kind.
        package init(ofKind kind: String) {
            self = kind == EventKind.webhookAttempted.name ? .webhook : .state
        }
    }

    /// A finished request, a state change, or the end of the namespace's data: by a reset or restore, or permanently.
    package enum Content: Sendable {
        case request(JournaledRequest)
        /// A request that was published before, whose answer did not reach its client.
        case undelivered(JournaledRequest)
        case change(EventRecord)
        case worldReplaced
        case worldDeleted
    }

    /// Its number in the feed, from 1.
    package let number: Int64
    package let content: Content

    /// Its approximate size in bytes.
    package var bytes: Int {
        switch content {
        case .request(let request), .undelivered(let request):
            [request.id, request.method, request.path, request.query, request.test, request.username]
                .reduce(500) { $0 + ($1?.utf8.count ?? 0) }
        case .change(let event): 200 + event.subject.utf8.count + event.data.utf8.count
        case .worldReplaced, .worldDeleted: 200
        }
    }

    /// Its sequence number in the event log; `nil` if it is not an event of the log.
    package var sequence: Int64? { if case .change(let event) = content { event.sequence } else { nil } }

    /// The topic; `nil` for entries that go to every listener.
    package var topic: Topic? {
        switch content {
        case .request, .undelivered: .request
        case .change(let event): Topic(ofKind: event.kind)
        case .worldReplaced, .worldDeleted: nil
        }
    }

    /// The name of the event.
    package var name: String {
        switch content {
        case .request, .change: topic!.rawValue
        case .undelivered: "request.undelivered"
        case .worldReplaced: "world.replaced"
        case .worldDeleted: "world.deleted"
        }
    }

    /// The data as JSON on one line.
    package func data(namespace: String) throws -> String {
        switch content {
        case .request(let request), .undelivered(let request): try StoredJSON.encode(request)
        case .change(let event): try StoredJSON.encode(StateChange(event))
        case .worldReplaced, .worldDeleted: try StoredJSON.encode(WorldChange(namespace: namespace))
        }
    }
}

/// The starting point of a listener.
package struct FeedStart: Sendable {
    /// Distinguishes the numbers of one run of the feed from those of another [D events].
    package let epoch: String
    /// Missed entries that are still kept.
    package let backlog: [FeedEntry]
    /// Missed entries that are lost; `nil` if there are none.
    package let gap: EventGap?
    /// The number of the feed's last entry.
    package let number: Int64
}

/// Everything that happens in a namespace, as one numbered sequence for listeners [D events].
///
/// State changes come from the event log after they are committed, requests from the journal. Nothing is kept until
/// the first listener arrives. The feed never waits for a listener: listeners take entries when they like, and a
/// listener that misses a discarded entry is dropped.
package final class EventFeed: Sendable {
    /// The maximum number of kept entries, and their maximum size in bytes.
    package static let maxKept = 10_000
    package static let maxBytes = 8 << 20

    private struct Listener {
        let topics: Set<FeedEntry.Topic>
        /// Yields when entries can be taken, and finishes when no more will come.
        let signal: AsyncStream<Void>.Continuation
        let drop: @Sendable () -> Void
        /// The number of the last entry it took or skipped.
        var position: Int64
        var needsHeartbeat = false
    }

    private struct State {
        /// Empty while the feed is closed.
        var epoch = ""
        var kept: Deque<FeedEntry> = []
        var bytes = 0
        var last: Int64 = 0
        /// The sequence number in the event log of the last published change.
        var sequence: Int64 = 0
        var generation = 0
        var listeners: [Int: Listener] = [:]
        var nextListener = 0
        /// The real time at which ``closeIfIdle(at:)`` first saw the feed without listeners; `nil` if it has some.
        var silentSince: Instant?
    }

    private let state = NIOLockedValueBox(State())

    /// Whether the feed is open.
    package var isOn: Bool { state.withLockedValue { !$0.epoch.isEmpty } }

    /// Opens the feed. Entries are kept from now on.
    ///
    /// - Parameters:
    ///   - epoch: the epoch of the feed; ignored if it is open already.
    ///   - sequence: the last sequence number in the event log.
    package func open(epoch: String, sequence: Int64, generation: Int) {
        state.withLockedValue { state in
            state.silentSince = nil
            guard state.epoch.isEmpty else { return }
            state.epoch = epoch
            state.sequence = sequence
            state.generation = generation
        }
    }

    /// Adds a listener.
    ///
    /// - Parameters:
    ///   - topics: the topics it wants.
    ///   - resume: the epoch and number of the last event it received; `nil` to begin now.
    ///   - drop: called when it is dropped for being too slow.
    /// - Returns: the starting point, a signal for each time ``take(_:)`` has something to return, and the listener's
    ///   id.
    package func listen(
        to topics: Set<FeedEntry.Topic>, resume: (epoch: String, number: Int64)?,
        drop: @escaping @Sendable () -> Void
    ) -> (start: FeedStart, signals: AsyncStream<Void>, id: Int) {
        let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        return state.withLockedValue { state in
            let id = state.nextListener
            state.nextListener += 1
            state.listeners[id] = Listener(topics: topics, signal: signal, drop: drop, position: state.last)
            return (Self.start(state, resume, topics), signals, id)
        }
    }

    /// The entries that a listener has not taken yet, and whether it is due a heartbeat; `nil` if it was dropped.
    package func take(_ id: Int) -> (entries: [FeedEntry], needsHeartbeat: Bool)? {
        state.withLockedValue { state in
            guard let listener = state.listeners[id] else { return nil }
            state.listeners[id]?.position = state.last
            state.listeners[id]?.needsHeartbeat = false
            let entries = state.kept.suffix(Int(state.last - listener.position))
            return (entries.filter { $0.topic.map(listener.topics.contains) ?? true }, listener.needsHeartbeat)
        }
    }

    private static func start(
        _ state: State, _ resume: (epoch: String, number: Int64)?, _ topics: Set<FeedEntry.Topic>
    ) -> FeedStart {
        var backlog: [FeedEntry] = []
        var gap: EventGap?
        if let resume, resume.epoch.isIdentical(to: state.epoch), resume.number <= state.last {
            backlog = state.kept.filter { $0.number > resume.number && ($0.topic.map(topics.contains) ?? true) }
            let missed = (state.kept.first?.number ?? state.last + 1) - resume.number - 1
            if missed > 0 {
                gap = EventGap(missed: missed, reason: "only the last \(maxKept) events are kept, or fewer large ones")
            }
        } else if resume != nil {
            gap = EventGap(missed: nil, reason: "the event is from before a restart or a long idle time")
        }
        return FeedStart(epoch: state.epoch, backlog: backlog, gap: gap, number: state.last)
    }

    /// Sends a heartbeat to a listener.
    package func heartbeat(_ id: Int) {
        state.withLockedValue { state -> AsyncStream<Void>.Continuation? in
            state.listeners[id]?.needsHeartbeat = true
            return state.listeners[id]?.signal
        }?.yield()
    }

    package func leave(_ id: Int) {
        state.withLockedValue { $0.listeners.removeValue(forKey: id) }?.signal.finish()
    }

    /// The number of listeners.
    package var listeners: Int { state.withLockedValue { $0.listeners.count } }

    /// Publishes one entry, which is made only while the feed is open.
    package func publish(_ content: @autoclosure () -> FeedEntry.Content) {
        if isOn { publish([content()]) }
    }

    /// Publishes new events of the log. Of a replaced state it publishes only that it was replaced: the log of the new
    /// one may be long, and listeners read it again anyway.
    ///
    /// - Parameters:
    ///   - last: returns the last sequence number of the log.
    ///   - read: returns some events after a sequence number, in order; none if there are no more.
    package func follow(
        generation: Int, last: () throws -> Int64, _ read: (Int64) throws -> [EventRecord]
    ) rethrows {
        let known = state.withLockedValue { state -> (sequence: Int64, isReplaced: Bool)? in
            guard !state.epoch.isEmpty else { return nil }
            return (state.sequence, state.generation != generation)
        }
        guard let known else { return }
        if known.isReplaced {
            let end = try last()
            state.withLockedValue { state in
                state.generation = generation
                state.sequence = end
            }
            return publish([.worldReplaced])
        }
        var sequence = known.sequence
        while true {
            let changes = try read(sequence)
            guard let last = changes.last else { return }
            sequence = last.sequence
            state.withLockedValue { $0.sequence = sequence }
            publish(changes.map { .change($0) })
        }
    }

    /// Publishes the deletion of the namespace and ends all listeners.
    package func close() {
        guard isOn else { return }
        publish([.worldDeleted])
        for signal in state.withLockedValue({ $0.listeners.values.map(\.signal) }) { signal.finish() }
    }

    /// The real time for which entries are kept after the last listener has left.
    package static let idleTimeout = Span(microseconds: 10 * Span.minute.microseconds)

    /// Closes the feed if it had no listener for ``idleTimeout``. Call it periodically.
    package func closeIfIdle(at now: Instant) {
        state.withLockedValue { state in
            guard !state.epoch.isEmpty, state.listeners.isEmpty else {
                state.silentSince = nil
                return
            }
            let since = state.silentSince ?? now
            state.silentSince = since
            guard since + Self.idleTimeout <= now else { return }
            state.epoch = ""
            state.kept = []
            state.bytes = 0
            state.silentSince = nil
        }
    }

    private func publish(_ contents: [FeedEntry.Content]) {
        let (dropped, signals) = state.withLockedValue { state in
            for content in contents {
                state.last += 1
                let entry = FeedEntry(number: state.last, content: content)
                state.kept.append(entry)
                state.bytes += entry.bytes
                while state.kept.count > Self.maxKept || state.bytes > Self.maxBytes,
                    let first = state.kept.popFirst()
                {
                    state.bytes -= first.bytes
                }
            }
            let forgotten = state.last - Int64(state.kept.count)
            let slow = state.listeners.filter { $0.value.position < forgotten }
            for id in slow.keys { state.listeners[id] = nil }
            return (Array(slow.values), state.listeners.values.map(\.signal))
        }
        for listener in dropped {
            listener.signal.finish()
            listener.drop()
        }
        for signal in signals { signal.yield() }
    }
}

extension Secrets {
    /// An event of the log with its secrets masked.
    package func masked(_ event: EventRecord) -> EventRecord {
        var event = event
        event.subject = masked(text: event.subject)
        event.data = masked(json: event.data)
        return event
    }
}

extension StateChange {
    package init(_ event: EventRecord) throws {
        self.init(
            sequence: event.sequence, at: event.at.epoch, kind: event.kind, subject: event.subject,
            data: try StoredJSON.decode(event.data), cause: event.cause?.id)
    }
}

extension Namespace {
    /// Opens the feed for a new listener.
    package func openFeed(_ head: RequestHead) async -> Completed<Void> {
        await run(head, .reads) { [feed] job in
            let time = job.state.environment.realTime().microseconds
            feed.open(
                epoch: String(time, radix: 36), sequence: try job.transaction.lastEventSequence(),
                generation: job.state.generation)
        }
    }

    /// At most a thousand events of the log after a sequence number, for a listener that begins with past events.
    package func readLog(after sequence: Int64) async -> Completed<[StateChange]> {
        await run(.background, .reads) { job in
            let secrets = Secrets(try job.state.readSecrets(job.transaction))
            return try job.transaction.events(after: sequence, limit: 1000).map { try StateChange(secrets.masked($0)) }
        }
    }
}
