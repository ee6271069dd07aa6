import NIOConcurrencyHelpers
import Storage

/// An observer of a namespace's committed batches, called before their answers are sent. Called on the thread that ran
/// the batch, one batch at a time.
package protocol CommitObserver: Sendable {
    /// - Parameter state: the state after the batch; `nil` once the namespace is deleted.
    func committed(_ state: NamespaceState?)

    /// Removes and returns work that follows the batch, each in a job of its own. It has no answer, and a failure changes
    /// nothing.
    func takeWork(_ state: NamespaceState) -> [@Sendable (Transaction) throws -> Void]
}

extension CommitObserver {
    package func takeWork(_ state: NamespaceState) -> [@Sendable (Transaction) throws -> Void] { [] }
}

/// Queues what the platforms want to store after a batch, such as fresh renderings.
package struct PlatformWork: CommitObserver {
    package func committed(_ state: NamespaceState?) {}

    package func takeWork(_ state: NamespaceState) -> [@Sendable (Transaction) throws -> Void] {
        state.parts.compactMap { $0.takeCommitWork() }
    }
}

/// Keeps the references to images, so that a sweep spares them.
extension ImageReferences: CommitObserver {
    package func committed(_ state: NamespaceState?) {
        if let state { follow(state) }
    }
}

/// Publishes committed events on the namespace's feed, and closes the feed of a deleted one.
package struct EventPublisher: CommitObserver {
    package let feed: EventFeed

    /// The number of events read at a time.
    private static let page = 1000

    /// Publishes the events of the batch. If the event log cannot be read now, the next call publishes them.
    package func committed(_ state: NamespaceState?) {
        guard let state else { return feed.close() }
        guard feed.isOn, state.database.isOpen else { return }
        // If it fails, the next call publishes the same events.
        try? state.database.transaction { transaction in
            let secrets = Secrets(try state.readSecrets(transaction))
            try feed.follow(generation: state.generation) {
                try transaction.lastEventSequence()
            } _: {
                try transaction.events(after: $0, limit: Self.page).map { secrets.masked($0) }
            }
        }
    }
}

/// Starts the webhook attempts that the batch asked for.
package struct OutboxDispatcher: CommitObserver {
    package let namespace: String
    package let outbox: Outbox
    package let environment: Environment

    package func committed(_ state: NamespaceState?) {
        outbox.adopt(generation: state?.generation ?? 0)
        guard let outgoing = state?.takeOutgoing(), !outgoing.isEmpty else { return }
        outbox.begin(outgoing.count)
        environment.send(outgoing, namespace, outbox)
    }
}

/// The real time at which a namespace's next work falls due, as of its last batch.
package final class WakeTime: CommitObserver {
    private let time: NIOLockedValueBox<Instant?>
    private let changed: @Sendable (Instant?) -> Void

    /// `nil` if nothing is scheduled, or if the clock is frozen.
    package var next: Instant? { time.withLockedValue { $0 } }

    /// - Parameter changed: called with the new time when it has changed.
    package init(_ next: Instant?, changed: @escaping @Sendable (Instant?) -> Void) {
        time = NIOLockedValueBox(next)
        self.changed = changed
    }

    package static func next(_ state: NamespaceState) -> Instant? {
        state.nextDue.flatMap { state.clock.realTime(of: $0) }
    }

    package func committed(_ state: NamespaceState?) {
        let next = state.flatMap(Self.next)
        let isOther = time.withLockedValue { old in
            defer { old = next }
            return old != next
        }
        if isOther { changed(next) }
    }
}

/// The use of a namespace: its time to live, the real time of its last request, and the number of
/// requests in progress.
package final class Usage: CommitObserver {
    private let state: NIOLockedValueBox<(ttl: Span?, last: Instant, inFlight: Int)>

    /// The time to live, in real time since the last request; `nil` if it has none.
    package var timeToLive: Span? { state.withLockedValue { $0.ttl } }

    package init(timeToLive: Span?, at now: Instant) {
        state = NIOLockedValueBox((ttl: timeToLive, last: now, inFlight: 0))
    }

    /// Marks the beginning (1) or the end (-1) of a request.
    package func use(_ change: Int, at now: Instant) {
        state.withLockedValue { state in
            state.last = now
            state.inFlight += change
        }
    }

    /// Whether the time to live has expired and no request is in progress.
    package func hasExpired(at now: Instant) -> Bool {
        let (ttl, last, inFlight) = state.withLockedValue { $0 }
        return inFlight == 0 && ttl.map { last + $0 <= now } ?? false
    }

    /// A reset or a restored snapshot may change the time to live.
    package func committed(_ state: NamespaceState?) {
        if let state { self.state.withLockedValue { $0.ttl = state.ttl } }
    }
}

/// Committed values for readers outside the mailbox.
package final class CommittedValues: CommitObserver {
    private struct Values {
        var database: NamespaceDatabase?
        var secrets: KnownSecrets
        var idle: IdleNamespace?
    }

    private let values: NIOLockedValueBox<Values>
    private let connections: Connections

    package init(_ state: NamespaceState?, secrets: KnownSecrets, idle: IdleNamespace?, _ connections: Connections) {
        values = NIOLockedValueBox(Values(database: state?.database, secrets: secrets, idle: idle))
        self.connections = connections
    }

    /// The open database; `nil` once the namespace is deleted.
    package var database: NamespaceDatabase? { values.withLockedValue { $0.database } }

    /// The secrets to mask.
    package var secrets: KnownSecrets { values.withLockedValue { $0.secrets } }

    /// A summary while the database is closed; `nil` while it is open.
    package var idle: IdleNamespace? {
        get { values.withLockedValue { $0.idle } }
        set { values.withLockedValue { $0.idle = newValue } }
    }

    package func committed(_ state: NamespaceState?) {
        let isOpen = state?.database.isOpen == true
        values.withLockedValue {
            if $0.database !== state?.database { $0.database = state?.database }
            if let state, $0.secrets != state.secrets { $0.secrets = state.secrets }
            if isOpen { $0.idle = nil }
        }
        if isOpen, let state, state.database.path != nil { connections.used(state.name) }
    }
}
