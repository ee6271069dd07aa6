import AppComponentsAPI
import AppComponentsStorage
import Storage

// The database has the states of sessions and components as text. Only this file converts them.

extension WorkflowSessionRecord {
    /// The state: active until the session ends.
    var status: WorkflowSessionInfo.Status { endReason.map(WorkflowSessionInfo.Status.init(rawValue:)) ?? .active }

    mutating func end(_ status: WorkflowSessionInfo.Status, at moment: Instant) {
        (endedAt, endReason) = (moment, status.rawValue)
    }
}

extension ComponentRunRecord {
    var state: ComponentState.Status { ComponentState.Status(rawValue: status) }

    /// A component that starts.
    init(
        sessionID: String, starting component: Component, documentType: IdentityDocument?, issuingCountry: String?,
        location: String?, at moment: Instant
    ) {
        self.init(
            sessionID: sessionID, component: component.rawValue, status: ComponentState.Status.started.rawValue,
            documentType: documentType?.rawValue, issuingCountry: issuingCountry, location: location, startedAt: moment)
    }
}

extension Transaction {
    /// Ends a component. Writes.
    ///
    /// - Parameter failure: the error that ends it; `nil` if it succeeds.
    func end(_ run: ComponentRunRecord, _ failure: WorkflowFailure?, at moment: Instant) throws {
        let status: ComponentState.Status = failure == nil ? .finished : .failed
        try endComponentRun(
            sessionID: run.sessionID, component: run.component, status: status.rawValue, at: moment,
            error: failure?.rawValue)
    }

    /// Stores the end of a session. Writes.
    func end(_ session: WorkflowSessionRecord) throws {
        guard let endedAt = session.endedAt, let reason = session.endReason else { return }
        try endWorkflowSession(id: session.id, at: endedAt, reason: reason)
    }
}
