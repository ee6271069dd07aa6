/// A kind of event in the event log [D event-kinds].
struct EventKind: Sendable, Hashable {
    /// The name under which events are stored and shown.
    let name: String

    init(_ name: String) {
        self.name = name
    }
}

extension EventKind {
    static let subscriptionCreated = EventKind("subscription.created")
    static let subscriptionUpdated = EventKind("subscription.updated")
    static let subscriptionDeleted = EventKind("subscription.deleted")
    static let webhookAttempted = EventKind("webhook.attempted")
    static let seedLoaded = EventKind("seed.loaded")
    static let settingsChanged = EventKind("settings.changed")
    static let outcomeAdded = EventKind("outcome.added")
    static let outcomeMatched = EventKind("outcome.matched")
    static let outcomesRemoved = EventKind("outcome.removed")
    static let faultAdded = EventKind("fault.added")
    static let faultsRemoved = EventKind("fault.removed")
    static let scenarioStarted = EventKind("scenario.started")
    static let scenarioAction = EventKind("scenario.action")
    static let clockFrozen = EventKind("clock.frozen")
    static let clockAdvanced = EventKind("clock.advanced")
    static let clockResumed = EventKind("clock.resumed")

    /// The engine's own kinds.
    static let ofEngine: [EventKind] = [
        .subscriptionCreated, .subscriptionUpdated, .subscriptionDeleted, .webhookAttempted, .seedLoaded,
        .settingsChanged, .outcomeAdded, .outcomeMatched, .outcomesRemoved, .faultAdded, .faultsRemoved,
        .scenarioStarted, .scenarioAction, .clockFrozen, .clockAdvanced, .clockResumed,
    ]
}
