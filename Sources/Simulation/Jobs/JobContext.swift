import SimulationAPI
import Storage

/// The context of one job: an open transaction and the time of the job.
package struct JobContext {
    package let state: NamespaceState
    package let transaction: Transaction
    /// The namespace's time. It does not change during the job.
    package let now: Instant
    /// The language of display texts that the caller asked for.
    package var language: Language
    /// The address that the caller asked; `nil` for work of the simulator itself, and where the request names none.
    package var address: AskedAddress?

    package var settings: Settings { state.settings }

    /// Generates the next id or token of a kind. Writes.
    package func nextID(_ kind: IDKind) throws -> String {
        state.generator.text(
            kind, counter: try state.counters.next(kind, transaction), isOfFuture: settings.future.lengthensOpaque)
    }

    /// Adds an event to the event log, at the current time. Writes.
    ///
    /// - Parameter isOfClient: see ``NotedEvent/isOfClient``.
    package func record(
        _ kind: EventKind, _ subject: String, _ data: JSONObject = [:], isOfClient: Bool = true
    ) throws {
        try record(kind, subject, encoded: StoredJSON.encode(JSONValue.object(data)), isOfClient: isOfClient)
    }

    /// Adds an event whose data is already JSON. Writes.
    package func record(
        _ kind: EventKind, _ subject: String, encoded data: String, isOfClient: Bool = true
    ) throws {
        try insertEvent(at: now, kind, subject, encoded: data)
        note(event: kind, subject, encoded: data, try cause(), isOfClient: isOfClient)
    }

    /// Adds an event that happened at `moment`, which may lie before the current time. No reader of evidence hears of it: nobody
    /// has done that. Writes.
    package func insertEvent(at moment: Instant, _ kind: EventKind, _ subject: String, encoded data: String) throws {
        state.lastEvent = try transaction.insertEvent(
            at: moment, kind: kind.name, subject: subject, data: data, cause: cause())
    }

    /// Schedules work for `moment`. Writes.
    package func schedule(_ kind: DueKind, _ subject: String, at moment: Instant) throws {
        try transaction.insertDue(
            at: moment, kind: kind.name, subject: subject, cause: cause(), trace: state.cause.trace)
        if state.nextDue.map({ moment < $0 }) ?? true {
            state.nextDue = moment
        }
    }

    /// Removes work that is scheduled for `moment`. Writes.
    package func unschedule(_ kind: DueKind, _ subject: String, at moment: Instant) throws {
        try transaction.deleteDue(at: moment, kind: kind.name, subject: subject)
    }

    /// The cause of a change that the job makes; `nil` if it is not known. Writes.
    package func cause() throws -> Cause? { try state.cause.cause(self) }

    /// Notes something in the outcome of the request, if this job is a request's.
    package func note(_ change: (inout RequestOutcome.Fields) -> Void) {
        state.outcome?.change(change)
    }

    /// Undoes what a failed job has changed in memory. Its writes are undone already.
    ///
    /// - Returns: the error to answer with.
    /// - Throws: `error` if the whole transaction is lost.
    func undo(_ access: Access, to mark: NamespaceState.Mark, after error: any Error) throws -> PlatformError {
        if let error = error as? PlatformError {
            state.lastEvent = nil
            state.undo(to: mark)
            if access == .writes { state.invalidateRules() }
            return error
        }
        guard transaction.isOpen else { throw error }
        forget(to: mark)
        state.nextDue = try transaction.nextDue()?.dueAt
        if case StorageError.damaged(let problem) = error { return .bug(problem) }
        return error is StorageError ? state.storageFailed(error) : .bug("\(error)")
    }

    /// Drops what failed work has changed in memory. Its writes are undone already.
    private func forget(to mark: NamespaceState.Mark) {
        state.lastEvent = nil
        state.undo(to: mark)
        state.invalidateRules()
    }

    /// Whether work failed because of the disk. It may succeed later. Any other failure would happen again.
    func isStorageFailure(_ error: any Error) -> Bool {
        if !transaction.isOpen { return true }
        guard let error = error as? StorageError else { return false }
        switch error {
        case .refused, .damaged: return false
        default: return true
        }
    }

    /// Takes scheduled work that failed off the schedule, so that it does not hold up later work for ever. Its event has all
    /// that was known of it, and the time at which it was due. Writes [D failed-due-work].
    ///
    /// - Parameter mark: the state's mark before the work.
    func setAside(_ due: DueRecord, after error: any Error, to mark: NamespaceState.Mark) throws {
        forget(to: mark)
        state.cause.undone()
        state.subscriptionsChanged()
        try state.remakeParts()
        try transaction.deleteDue(id: due.id)
        try record(
            .dueWorkFailed, shownSubject(of: due),
            [
                "kind": .string(due.kind), "problem": .string(String("\(error)".prefix(1000))),
            ])
    }

    /// The subject of scheduled work as it may be shown.
    package func shownSubject(of due: DueRecord) -> String {
        state.environment.platforms.dueKind(due.kind)?.shown(due.subject) ?? due.subject
    }

    /// The address with which the URLs for the caller begin; `nil` if it is the server's own.
    package var followedAddress: AskedAddress? { state.environment.address.followed(address) }

    /// The base URL of this namespace, for the caller.
    package var publicURL: String {
        state.environment.address.url(ofNamespace: state.name, askedAt: address)
    }
}
