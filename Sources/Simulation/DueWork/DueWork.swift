import Storage

/// A kind of scheduled work, and the rule that runs when its time has come.
package struct DueKind: Sendable {
    /// The name under which work is stored.
    package let name: String
    /// Whether the work is a consequence of a request, for which tests wait [D settle]. Timeouts are not.
    package let isConsequence: Bool
    /// The subject as it is shown: another text if the subject is a secret.
    package let shown: @Sendable (_ subject: String) -> String
    /// The time since which the work is waited for, for progress bars; `nil` if it is not known.
    package let start: @Sendable (_ subject: String, _ job: JobContext) throws -> Instant?
    /// Runs the rule. Writes.
    ///
    /// - Parameter subject: the id of what the work is about.
    package let perform: @Sendable (_ subject: String, _ job: JobContext) throws -> Void

    package init(
        _ name: String, isConsequence: Bool = false, shown: @escaping @Sendable (String) -> String = { $0 },
        start: @escaping @Sendable (_ subject: String, _ job: JobContext) throws -> Instant? = { _, _ in nil },
        perform: @escaping @Sendable (_ subject: String, _ job: JobContext) throws -> Void
    ) {
        self.name = name
        self.isConsequence = isConsequence
        self.shown = shown
        self.start = start
        self.perform = perform
    }
}

extension DueKind {
    package static let webhookAttempt = DueKind(
        "webhook.attempt", isConsequence: true,
        start: { id, job in
            try job.transaction.attempts(deliveryID: id).last?.at ?? job.transaction.delivery(id: id)?.createdAt
        },
        perform: { try Deliveries.attemptDue(deliveryID: $0, $1) })
    package static let scenarioAction = DueKind("scenario.action") { try Scenarios.act(index: $0, $1) }

    /// The engine's own kinds.
    package static let ofEngine: [DueKind] = [.webhookAttempt, .scenarioAction]
}
