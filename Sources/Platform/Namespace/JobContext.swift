import SimulationAPI
import Storage

/// The context of one job: an open transaction and the time of the job.
package struct JobContext {
    let state: NamespaceState
    let transaction: Transaction
    /// The namespace's time. It does not change during the job.
    let now: Instant
    /// The language of display texts that the caller asked for.
    var language: Language

    var settings: Settings { state.settings }
    var catalogue: Catalogue { state.seed.catalogue }

    /// Generates the next id or token of a kind. Writes.
    func nextID(_ kind: SeededGenerator.Kind) throws -> String {
        state.generator.text(kind, counter: try state.counters.next(kind, transaction))
    }

    /// Adds an event to the event log, at the current time. Writes.
    func record(_ kind: EventKind, _ subject: String, _ data: JSONObject = [:]) throws {
        try record(kind, subject, encoded: StoredJSON.encode(JSONValue.object(data)))
    }

    /// Adds an event whose data is already JSON. Writes.
    func record(_ kind: EventKind, _ subject: String, encoded data: String) throws {
        try transaction.insertEvent(at: now, kind: kind.rawValue, subject: subject, data: data)
    }

    /// Schedules work for `moment`. Writes.
    func schedule(_ kind: DueWork.Kind, _ subject: String, at moment: Instant) throws {
        try transaction.insertDue(at: moment, kind: kind.rawValue, subject: subject)
        if state.nextDue.map({ moment < $0 }) ?? true {
            state.nextDue = moment
        }
    }

    /// Removes work that is scheduled for `moment`. Writes.
    func unschedule(_ kind: DueWork.Kind, _ subject: String, at moment: Instant) throws {
        try transaction.deleteDue(at: moment, kind: kind.rawValue, subject: subject)
    }

    /// Notes something in the outcome of the request, if this job is a request's.
    func note(_ change: (inout RequestOutcome) -> Void) {
        if state.outcome != nil { change(&state.outcome!) }
    }

    /// The base URL of this namespace.
    var publicURL: String {
        state.environment.publicURL(ofNamespace: state.name)
    }
}

/// The kinds of events in the event log [D event-kinds].
enum EventKind: String, CaseIterable, Sendable {
    case userCreated = "user.created"
    case userUpdated = "user.updated"
    case sessionStarted = "session.started"
    case sessionEnded = "session.ended"
    case sessionExpired = "session.expired"
    case captureStarted = "capture.started"
    case imageUploaded = "image.uploaded"
    case captureSubmitted = "capture.submitted"
    case captureCancelled = "capture.cancelled"
    case captureTimedOut = "capture.timed_out"
    case itemSubmitted = "item.submitted"
    case itemsGenerated = "items.generated"
    case resultSet = "result.set"
    case resultChanged = "result.changed"
    /// The item stays under review, and its scheduled result is cancelled.
    case resultUnplanned = "result.unplanned"
    case flagSet = "flag.set"
    case flagCleared = "flag.cleared"
    case flagResolved = "flag.resolved"
    case certificateTransferred = "certificate.transferred"
    case partnerSessionStarted = "partner.session.started"
    case retakeRequested = "retake.requested"
    case retakeAnswered = "retake.answered"
    case supportMessage = "support.message"
    case subscriptionCreated = "subscription.created"
    case subscriptionUpdated = "subscription.updated"
    case subscriptionDeleted = "subscription.deleted"
    case webhookAttempted = "webhook.attempted"
    case seedLoaded = "seed.loaded"
    case catalogChanged = "catalog.changed"
    case settingsChanged = "settings.changed"
    case outcomeAdded = "outcome.added"
    case outcomeMatched = "outcome.matched"
    case outcomesRemoved = "outcome.removed"
    case faultAdded = "fault.added"
    case faultsRemoved = "fault.removed"
    case scenarioStarted = "scenario.started"
    case scenarioAction = "scenario.action"
    case clockFrozen = "clock.frozen"
    case clockAdvanced = "clock.advanced"
    case clockResumed = "clock.resumed"

    /// The kinds that appear in an item's timeline.
    static let shown: [EventKind] = [.itemSubmitted, .resultSet, .resultChanged, .flagSet, .flagCleared, .flagResolved]
}

/// Scheduled work, which runs when its time has come.
enum DueWork {
    enum Kind: String, Sendable, CaseIterable {
        case captureTimeout = "capture.timeout"
        case result = "result"
        case sessionExpiry = "session.expiry"
        case webhookAttempt = "webhook.attempt"
        case scenarioAction = "scenario.action"
    }

    /// Runs the rule named by a due row, which is already deleted. Writes.
    static func perform(_ due: DueRecord, _ job: JobContext) throws {
        switch Kind(rawValue: due.kind) {
        case .captureTimeout: try Captures.timeOut(captureID: due.subject, job)
        case .result: try Results.setPlannedResult(entrupyID: due.subject, job)
        case .sessionExpiry: try Sessions.expire(token: due.subject, job)
        case .webhookAttempt: try Deliveries.attemptDue(deliveryID: due.subject, job)
        case .scenarioAction: try Scenarios.act(index: due.subject, job)
        case nil: throw PlatformError.bug("due work of the unknown kind \(due.kind)")
        }
    }
}
