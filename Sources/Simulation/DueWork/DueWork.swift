/// A kind of scheduled work, and the rule that runs when its time has come.
package struct DueKind: Sendable {
    /// The name under which work is stored.
    package let name: String
    /// Whether the work is a consequence of a request, for which tests wait [D settle]. Timeouts are none.
    package let isConsequence: Bool
    /// The subject as it is shown: another text if the subject is a secret.
    package let shown: @Sendable (_ subject: String) -> String
    /// Runs the rule. Writes.
    ///
    /// - Parameter subject: the id of what the work is about.
    package let perform: @Sendable (_ subject: String, _ job: JobContext) throws -> Void

    package init(
        _ name: String, isConsequence: Bool = false, shown: @escaping @Sendable (String) -> String = { $0 },
        perform: @escaping @Sendable (_ subject: String, _ job: JobContext) throws -> Void
    ) {
        self.name = name
        self.isConsequence = isConsequence
        self.shown = shown
        self.perform = perform
    }
}

extension DueKind {
    package static let webhookAttempt = DueKind("webhook.attempt", isConsequence: true) {
        try Deliveries.attemptDue(deliveryID: $0, $1)
    }
    package static let scenarioAction = DueKind("scenario.action") { try Scenarios.act(index: $0, $1) }

    /// The engine's own kinds.
    package static let ofEngine: [DueKind] = [.webhookAttempt, .scenarioAction]
}
