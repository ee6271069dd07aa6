import NIOConcurrencyHelpers
import Storage

/// An observer of a namespace's committed batches, called before their answers are sent. Called on the thread that ran
/// the batch, one batch at a time.
package protocol CommitObserver: Sendable {
    /// - Parameter state: the state after the batch; `nil` once the namespace is deleted.
    func committed(_ state: NamespaceState?)
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
extension Outbox: CommitObserver {
    package func committed(_ state: NamespaceState?) {
        adopt(generation: state?.generation ?? 0)
        guard let state else { return }
        let outgoing = state.outgoing
        guard !outgoing.isEmpty else { return }
        state.outgoing = []
        begin(outgoing.count)
        state.environment.webhooks.send(
            outgoing.map { WebhookAttempt(webhook: $0, namespace: state.name, outbox: self) })
    }
}

/// Committed values for readers outside the mailbox.
package final class CommittedValues: CommitObserver {
    private struct Values {
        var database: NamespaceDatabase?
        var secrets: KnownSecrets
        var idle: IdleNamespace?
        var timeToLive: Span?
        var wakeTime: Instant?
    }

    private let values: NIOLockedValueBox<Values>
    private let environment: Environment

    package init(_ state: NamespaceState?, idle: IdleNamespace?, _ environment: Environment) {
        self.environment = environment
        values = NIOLockedValueBox(
            Values(
                database: state?.database, secrets: state?.secrets ?? environment.secrets(with: environment.seed),
                idle: idle, timeToLive: state?.ttl ?? idle?.timeToLive,
                wakeTime: state.map(Self.wakeTime) ?? idle?.wakeTime))
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

    /// The time to live, in real time since the last request; `nil` if it has none. A reset or a restored snapshot may change it.
    package var timeToLive: Span? { values.withLockedValue { $0.timeToLive } }

    /// The real time at which the next work falls due; `nil` if nothing is scheduled, or if the clock is frozen.
    package var wakeTime: Instant? { values.withLockedValue { $0.wakeTime } }

    private static func wakeTime(_ state: NamespaceState) -> Instant? {
        state.nextDue.flatMap { state.clock.realTime(of: $0) }
    }

    package func committed(_ state: NamespaceState?) {
        let isOpen = state?.database.isOpen == true
        let wakeTime = state.flatMap(Self.wakeTime)
        let wakesAtOtherTime = values.withLockedValue { values in
            if values.database !== state?.database { values.database = state?.database }
            if let state {
                if values.secrets != state.secrets { values.secrets = state.secrets }
                values.timeToLive = state.ttl
            }
            if isOpen { values.idle = nil }
            defer { values.wakeTime = wakeTime }
            return values.wakeTime != wakeTime
        }
        if wakesAtOtherTime { environment.dueChanged(wakeTime) }
        if isOpen, let state, state.database.path != nil { environment.connections.used(state.name) }
    }
}
