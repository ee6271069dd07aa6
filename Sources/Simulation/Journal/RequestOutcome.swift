import SimulationAPI
import Storage

/// The decisions of a request's job besides the answer: those that the journal shows, and the fault that the server
/// still has to apply.
@usableFromInline
package struct RequestOutcome: Sendable {
    /// The number of the request in the journal.
    package let sequence: Int64
    /// The trace that the request belongs to; `nil` if it names none.
    package var trace: TraceContext?
    /// The time of the job, by the namespace's clock.
    package let at: Instant
    /// The user of the session; `nil` if the request has none.
    package var username: String?
    /// The fault that was triggered; `nil` if none was.
    package var fault: TriggeredFault?
    /// The id of the outcome rule that decided a result.
    package var outcomeID: String?
    /// The exceeded limits, by their names in the settings.
    package var limits: [String] = []
    /// The facts that decided the answer, not masked yet [D explain].
    package var facts: [DecidingFact] = []
    /// The fact behind a 403, 404 or 409, not masked yet; `nil` for other answers [D because].
    package var because: String?
    /// The events of the log that the request's job added: those after the first sequence number, up to the second.
    /// Both are equal if it changed nothing. `nil` if they are not known.
    package var changes: (after: Int64, through: Int64)?
    /// The namespace's ``NamespaceState/generation``, which changes at a reset.
    package let generation: Int
    /// The namespace's journal settings.
    package let journal: Settings.Journal
    /// The namespace's secrets.
    package let secrets: KnownSecrets

    package init(_ state: NamespaceState, _ sequence: Int64, at now: Instant, _ transaction: Transaction) throws {
        self.init(
            sequence, at: now, generation: state.generation, journal: state.settings.journal,
            secrets: try state.readSecrets(transaction))
        let last = try state.lastEventSequence(transaction)
        changes = (last, last)
    }

    /// - Parameter sequence: 0 for an entry of a bundle, which may have no number.
    package init(
        _ sequence: Int64 = 0, at: Instant, generation: Int, journal: Settings.Journal, secrets: KnownSecrets
    ) {
        self.sequence = sequence
        self.at = at
        self.generation = generation
        self.journal = journal
        self.secrets = secrets
    }

    /// Takes the events that the job has added until now.
    mutating func noteChanges(_ state: NamespaceState, _ transaction: Transaction) throws {
        changes?.through = try state.lastEventSequence(transaction)
    }

    /// Whether a fault lost the request before it was handled, or its client went while a fault held it.
    package var isLost: Bool {
        switch fault?.effect {
        case .loseRequest: true
        case .held(let held): held.isLost
        default: false
        }
    }

    /// The maximum size of each kept body, in bytes: 0 if the request is not kept.
    package var bodyLimit: Int { journal.entries > 0 ? journal.bodyBytes : 0 }
}

/// A fault that a request triggered. An object, because few requests have one and every outcome has room for it.
package final class TriggeredFault: Sendable {
    /// The id of the rule.
    package let id: String
    /// The part of the effect that remains to be done to the answer; `nil` if the job has done all.
    package let effect: AnswerEffect?
    /// The effect as the rule gave it; `nil` in bundles of older versions. It stays when the rule is deleted.
    package let document: JSONObject?
    /// The size of ``document`` as JSON, in bytes.
    package let bytes: Int

    package init(id: String, effect: AnswerEffect?, document: JSONObject? = nil, bytes: Int = 0) {
        self.id = id
        self.effect = effect
        self.document = document
        self.bytes = bytes
    }
}
