import DequeModule
import EntrupyAPI
import NIOConcurrencyHelpers
import Storage

/// Something a listener hears of.
package struct FeedEntry: Sendable {
    /// What it is about, as a listener may choose it.
    package enum Topic: String, CaseIterable, Sendable {
        case request, state, webhook

        /// What a kind of event in the log is about.
        package init(ofKind kind: String) {
            self = kind == EventKind.webhookAttempted.rawValue ? .webhook : .state
        }
    }

    enum Content: Sendable {
        case request(JournaledRequest)
        case change(EventRecord)
        case worldReplaced
        case worldDeleted
    }

    /// Its place in the feed, from 1.
    package let number: Int64
    let content: Content

    /// About what it takes, in bytes.
    var bytes: Int {
        switch content {
        case .request(let request): 500 + request.path.utf8.count + (request.query?.utf8.count ?? 0)
        case .change(let event): 200 + event.data.utf8.count
        case .worldReplaced, .worldDeleted: 200
        }
    }

    /// Its place in the event log, where it has one.
    package var sequence: Int64? { if case .change(let event) = content { event.sequence } else { nil } }

    /// Nil for what every listener must hear of.
    package var topic: Topic? {
        switch content {
        case .request: .request
        case .change(let event): Topic(ofKind: event.kind)
        case .worldReplaced, .worldDeleted: nil
        }
    }

    /// What the event is called.
    package var name: String {
        switch content {
        case .request, .change: topic!.rawValue
        case .worldReplaced: "world.replaced"
        case .worldDeleted: "world.deleted"
        }
    }

    /// Its data: JSON on one line.
    package func data(namespace: String) throws -> String {
        switch content {
        case .request(let request): try StoredJSON.encode(request)
        case .change(let event): try StoredJSON.encode(StateChange(event))
        case .worldReplaced, .worldDeleted: try StoredJSON.encode(WorldChange(namespace: namespace))
        }
    }
}

/// What a listener begins with.
package struct FeedStart: Sendable {
    /// Tells the numbers of one run of the server from those of another.
    package let epoch: String
    /// What was missed and can be told.
    package let backlog: [FeedEntry]
    /// What was missed and cannot.
    package let gap: EventGap?
    /// Where a listener stands that has heard all this.
    package let number: Int64
}

/// Everything that happens in a namespace, under one sequence, for those who listen [D].
///
/// State changes come from the event log once they are committed, requests from the journal. Nothing is kept until somebody
/// listens, and nobody is waited for: a listener takes from what is kept when it likes, and one that has not taken what is
/// forgotten is dropped.
package final class EventFeed: Sendable {
    /// How much is kept for those who are slow and those who come back, and how many bytes of it.
    static let maxKept = 10_000
    static let maxBytes = 8 << 20

    private struct Listener {
        let topics: Set<FeedEntry.Topic>
        /// Yields when there is something to take, and finishes when there will be nothing more.
        let signal: AsyncStream<Void>.Continuation
        let drop: @Sendable () -> Void
        /// The number of the last entry it took, or passed over.
        var position: Int64
        /// Whether it is to hear that nothing happens.
        var hasBeat = false
    }

    private struct State {
        /// Empty while nothing is kept.
        var epoch = ""
        var kept: Deque<FeedEntry> = []
        var bytes = 0
        var last: Int64 = 0
        /// The place in the event log of the last change that was told.
        var sequence: Int64 = 0
        var generation = 0
        var listeners: [Int: Listener] = [:]
        var nextListener = 0
        /// Since when nobody has listened, by real time, as far as ``closeIfIdle(at:)`` has seen.
        var silentSince: Instant?
    }

    private let state = NIOLockedValueBox(State())

    /// Whether anything is kept.
    var isOn: Bool { state.withLockedValue { !$0.epoch.isEmpty } }

    /// Begins to keep what happens.
    ///
    /// - Parameters:
    ///   - epoch: where nothing was kept before, tells what follows from all that was.
    ///   - sequence: the last place in the event log.
    func open(epoch: String, sequence: Int64, generation: Int) {
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
    ///   - topics: what it wants to hear of.
    ///   - resume: the epoch and number of the last event it heard; nil: it begins now.
    ///   - drop: called when it takes too little.
    /// - Returns: what to begin with, when there is something to ``take(_:)``, and the listener's id.
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

    /// What a listener has not heard yet, and whether it is to hear that nothing happens; nil where it was dropped.
    package func take(_ id: Int) -> (entries: [FeedEntry], hasBeat: Bool)? {
        state.withLockedValue { state in
            guard let listener = state.listeners[id] else { return nil }
            state.listeners[id]?.position = state.last
            state.listeners[id]?.hasBeat = false
            let entries = state.kept.suffix(Int(state.last - listener.position))
            return (entries.filter { $0.topic.map(listener.topics.contains) ?? true }, listener.hasBeat)
        }
    }

    private static func start(
        _ state: State, _ resume: (epoch: String, number: Int64)?, _ topics: Set<FeedEntry.Topic>
    ) -> FeedStart {
        func start(_ backlog: [FeedEntry], _ gap: EventGap?) -> FeedStart {
            FeedStart(epoch: state.epoch, backlog: backlog, gap: gap, number: state.last)
        }
        guard let resume else { return start([], nil) }
        guard resume.epoch.isIdentical(to: state.epoch), resume.number <= state.last else {
            return start(
                [], EventGap(missed: nil, reason: "that event is from before a restart, or nobody listened for long"))
        }
        let first = state.kept.first?.number ?? state.last + 1
        let missed = max(0, first - resume.number - 1)
        return start(
            state.kept.filter { $0.number > resume.number && ($0.topic.map(topics.contains) ?? true) },
            missed > 0
                ? EventGap(missed: missed, reason: "only the last \(maxKept) events are kept, or fewer large ones")
                : nil)
    }

    /// Has a listener hear that nothing happens.
    package func beat(_ id: Int) {
        state.withLockedValue { state -> AsyncStream<Void>.Continuation? in
            state.listeners[id]?.hasBeat = true
            return state.listeners[id]?.signal
        }?.yield()
    }

    /// Removes a listener.
    package func leave(_ id: Int) {
        state.withLockedValue { $0.listeners.removeValue(forKey: id) }?.signal.finish()
    }

    /// How many listen.
    package var listeners: Int { state.withLockedValue { $0.listeners.count } }

    /// Tells of a request.
    func publish(_ request: @autoclosure () -> JournaledRequest) {
        guard isOn else { return }
        publish([.request(request())])
    }

    /// Tells of what the event log has since the last time, and of a world that took another's place.
    ///
    /// - Parameter read: the log after a sequence number.
    func follow(generation: Int, _ read: (Int64) throws -> [EventRecord]) rethrows {
        let known = state.withLockedValue { state -> (sequence: Int64, isReplaced: Bool)? in
            guard !state.epoch.isEmpty else { return nil }
            let isReplaced = state.generation != generation
            state.generation = generation
            if isReplaced { state.sequence = 0 }
            return (state.sequence, isReplaced)
        }
        guard let known else { return }
        if known.isReplaced { publish([.worldReplaced]) }
        let changes = try read(known.sequence)
        guard let last = changes.last else { return }
        state.withLockedValue { $0.sequence = last.sequence }
        publish(changes.map { .change($0) })
    }

    /// Tells that the world is gone, and sends everybody home.
    func close() {
        guard isOn else { return }
        publish([.worldDeleted])
        for signal in state.withLockedValue({ $0.listeners.values.map(\.signal) }) { signal.finish() }
    }

    /// How long it is kept for those who come back after the last has left, in real time.
    static let patience = Span(microseconds: 10 * Span.minute.microseconds)

    /// To be called now and then: keeps nothing any more where nobody has listened for long.
    func closeIfIdle(at now: Instant) {
        state.withLockedValue { state in
            guard !state.epoch.isEmpty, state.listeners.isEmpty else {
                state.silentSince = nil
                return
            }
            guard let since = state.silentSince else {
                state.silentSince = now
                return
            }
            guard since + Self.patience <= now else { return }
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
    /// An event of the log, as it is shown.
    func masked(_ event: EventRecord) -> EventRecord {
        var event = event
        event.subject = masked(text: event.subject)
        event.data = masked(json: event.data)
        return event
    }
}

extension StateChange {
    init(_ event: EventRecord) throws {
        self.init(
            sequence: event.sequence, at: event.at.epoch, kind: event.kind, subject: event.subject,
            data: try StoredJSON.decode(event.data))
    }
}

/// Begins to keep what happens, for a listener that is about to come.
package struct OpenFeed: OpenOperation {
    package static let access = Access.reads
    let feed: EventFeed

    package init(_ feed: EventFeed) {
        self.feed = feed
    }

    package func perform(_ job: JobContext) throws {
        let time = job.state.environment.realTime().microseconds
        feed.open(
            epoch: String(time, radix: 36), sequence: try job.transaction.lastEventSequence(),
            generation: job.state.generation)
    }
}

/// The event log after a sequence number, for a listener that wants to hear of the past first.
package struct ReadLog: OpenOperation {
    package static let access = Access.reads
    /// How many come at once.
    package static let page = 1000
    let sequence: Int64

    package init(after sequence: Int64) {
        self.sequence = sequence
    }

    package func perform(_ job: JobContext) throws -> [StateChange] {
        let secrets = Secrets(known: try job.state.readSecrets(job.transaction))
        return try job.transaction.events(after: sequence, limit: Self.page).map {
            try StateChange(secrets.masked($0))
        }
    }
}
