/// A kind of event in the event log [D event-kinds].
package struct EventKind: Sendable, Hashable {
    /// The name under which events are stored and shown.
    package let name: String

    package init(_ name: String) {
        self.name = name
    }
}

extension EventKind {
    package static let userCreated = EventKind("user.created")
    package static let userUpdated = EventKind("user.updated")
    package static let subscriptionVerified = EventKind("subscription.verified")
    package static let subscriptionCreated = EventKind("subscription.created")
    package static let subscriptionUpdated = EventKind("subscription.updated")
    package static let subscriptionDeleted = EventKind("subscription.deleted")
    package static let webhookAttempted = EventKind("webhook.attempted")
    package static let seedLoaded = EventKind("seed.loaded")
    package static let settingsChanged = EventKind("settings.changed")
    package static let outcomeAdded = EventKind("outcome.added")
    package static let outcomeMatched = EventKind("outcome.matched")
    package static let outcomesRemoved = EventKind("outcome.removed")
    package static let faultAdded = EventKind("fault.added")
    package static let faultsRemoved = EventKind("fault.removed")
    package static let requestHeld = EventKind("request.held")
    package static let requestReleased = EventKind("request.released")
    package static let scenarioStarted = EventKind("scenario.started")
    package static let scenarioAction = EventKind("scenario.action")
    /// Scheduled work failed and was set aside.
    package static let dueWorkFailed = EventKind("due_work.failed")
    package static let clockFrozen = EventKind("clock.frozen")
    package static let clockAdvanced = EventKind("clock.advanced")
    package static let clockResumed = EventKind("clock.resumed")

    /// The engine's own kinds.
    package static let ofEngine: [EventKind] = [
        .userCreated, .userUpdated, .subscriptionCreated, .subscriptionVerified, .subscriptionUpdated,
        .subscriptionDeleted, .webhookAttempted,
        .seedLoaded,
        .settingsChanged, .outcomeAdded, .outcomeMatched, .outcomesRemoved, .faultAdded, .faultsRemoved, .requestHeld,
        .requestReleased, .scenarioStarted, .scenarioAction, .dueWorkFailed, .clockFrozen, .clockAdvanced,
        .clockResumed,
    ]
}
