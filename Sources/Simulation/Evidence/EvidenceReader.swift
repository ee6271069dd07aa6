import SimulationAPI
import Storage

/// A reader of what happens in all namespaces of a server. It is told once that is committed, and changes nothing.
///
/// The events are noted in memory by the job that adds them: to read them from the log again would cost each batch of jobs a
/// statement.
package protocol EvidenceReader: Sendable {
    /// Whether it wants events of a kind.
    func wants(_ kind: EventKind) -> Bool
    /// Called on the thread that ran the batch, before its answers are sent.
    func committed(_ events: [NotedEvent], _ state: NamespaceState)
    /// Called when a request of the journal was sent again: what follows from it later is nothing that a client did.
    func resent(sequence: Int64, in namespace: String)
    /// Called when the server starts, for each namespace of an earlier process, before a job of it runs.
    func continued(_ namespace: String)
    /// Called once a namespace is deleted.
    func deleted(_ namespace: String)
}

/// An event as the job that added it noted it.
package struct NotedEvent: Sendable {
    package let kind: String
    package let subject: String
    /// A JSON object.
    package let data: String
    package let cause: Cause?
    /// The request or the control call behind it: the one that caused it, or that scheduled the work or sent the webhook that did;
    /// `nil` if none is known.
    package let root: Cause?
    /// The metadata of that request, if it is the job's own.
    package let metadata: RequestMetadata?
    /// Whether that request was sent again from the journal, as far as the job knows.
    package let isResent: Bool
    /// Whether it happens to something that a request of a client made, such as an item that it submitted.
    package let isOfClient: Bool

    /// The number of the request behind it; `nil` if none is.
    package var request: Int64? { if case .request(let sequence)? = root?.kind { sequence } else { nil } }
}

/// Tells a reader what a namespace has committed.
package struct EvidencePublisher: CommitObserver {
    let namespace: String
    let reader: any EvidenceReader

    package func committed(_ state: NamespaceState?) {
        guard let state else { return reader.deleted(namespace) }
        let noted = state.noted
        state.noted = []
        reader.committed(noted, state)
    }
}

extension EventKind {
    /// A delivery was cancelled with its subscription. Readers of evidence hear of it; the log has no such event.
    package static let webhookCancelled = EventKind("webhook.cancelled")
}

extension JobContext {
    /// Notes an event for the reader of evidence, if there is one that wants it.
    ///
    /// - Parameters:
    ///   - cause: `nil` if it is not known.
    ///   - isOfClient: see ``NotedEvent/isOfClient``.
    func note(
        event kind: EventKind, _ subject: String, encoded data: String, _ cause: Cause?, isOfClient: Bool = true
    ) {
        guard let reader = state.environment.evidence, reader.wants(kind) else { return }
        let origin = state.cause
        state.noted.append(
            NotedEvent(
                kind: kind.name, subject: subject, data: data, cause: cause, root: origin.root(self),
                metadata: origin.metadata, isResent: origin.isResent, isOfClient: isOfClient))
    }
}
