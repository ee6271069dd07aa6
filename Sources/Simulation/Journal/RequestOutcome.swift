import SimulationAPI
import Storage

/// The decisions of a request's job besides the answer: those that the journal shows, and the fault that the server
/// still has to apply.
///
/// A copy is one reference, since an answer is copied at each step of its way out; the first change of a copy makes another object.
@usableFromInline
package struct RequestOutcome: Sendable {
    /// The members, of which ``change(_:)`` sets the variables.
    package struct Fields {
        let sequence: Int64
        let at: Instant
        let generation: Int
        let journal: Settings.Journal
        let secrets: KnownSecrets
        /// The clock's moves until the job.
        let moved: Span
        package var future: NamespaceFuture?
        package var limit: LimitLeft?
        package var trace: TraceContext?
        package var username: String?
        package var fault: TriggeredFault?
        package var outcomeID: String?
        package var limits: [String] = []
        package var facts: [DecidingFact] = []
        package var because: String?
        package var state: RefusingState?
        package var changes: (after: Int64, through: Int64)?
    }

    /// `@unchecked Sendable`: only ``change(_:)`` changes the fields, of an object that nobody else has.
    private final class Storage: @unchecked Sendable {
        var fields: Fields

        init(_ fields: Fields) { self.fields = fields }
    }

    private var storage: Storage

    /// The number of the request in the journal.
    package var sequence: Int64 { storage.fields.sequence }
    /// The time of the job, by the namespace's clock.
    package var at: Instant { storage.fields.at }
    /// The time by which tests had moved the namespace's clock until the job.
    package var moved: Span { storage.fields.moved }
    /// The namespace's ``NamespaceState/generation``, which changes at a reset.
    package var generation: Int { storage.fields.generation }
    /// The namespace's journal settings.
    package var journal: Settings.Journal { storage.fields.journal }
    /// The namespace's secrets.
    package var secrets: KnownSecrets { storage.fields.secrets }
    /// How the namespace changes its answers; `nil` if it does not [D future].
    package var future: NamespaceFuture? { storage.fields.future }
    /// Whether settings change the answer.
    package var changesAnswer: Bool { storage.fields.future != nil || storage.fields.limit != nil }
    /// The tightest limit that counted the request; `nil` if none did, or answers do not show limits.
    package var limit: LimitLeft? { storage.fields.limit }
    /// The trace that the request belongs to; `nil` if it names none.
    package var trace: TraceContext? { storage.fields.trace }
    /// The user of the session; `nil` if the request has none.
    package var username: String? { storage.fields.username }
    /// The fault that was triggered; `nil` if none was.
    package var fault: TriggeredFault? { storage.fields.fault }
    /// The id of the outcome rule that decided a result.
    package var outcomeID: String? { storage.fields.outcomeID }
    /// The exceeded limits, by their names in the settings.
    package var limits: [String] { storage.fields.limits }
    /// The facts that decided the answer, not masked yet [D explain].
    package var facts: [DecidingFact] { storage.fields.facts }
    /// The fact behind a 403, 404 or 409, or an item without a result, not masked yet; `nil` for other answers [D because].
    package var because: String? { storage.fields.because }
    /// The state that refused the request, not masked yet; `nil` if none did [D explain].
    package var state: RefusingState? { storage.fields.state }
    /// The events of the log that the request's job added: those after the first sequence number, up to the second.
    /// Both are equal if it changed nothing. `nil` if they are not known.
    package var changes: (after: Int64, through: Int64)? { storage.fields.changes }

    /// Changes the members.
    package mutating func change(_ body: (inout Fields) -> Void) {
        if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.fields) }
        body(&storage.fields)
    }

    package init(_ state: NamespaceState, _ sequence: Int64, at now: Instant, _ transaction: Transaction) throws {
        self.init(
            sequence, at: now, moved: Span(microseconds: state.clock.moved), generation: state.generation,
            journal: state.settings.journal, secrets: try state.readSecrets(transaction))
        let last = try state.lastEventSequence(transaction)
        change {
            $0.changes = (last, last)
            $0.future = state.future
        }
    }

    /// - Parameter sequence: 0 for an entry of a bundle, which may have no number.
    package init(
        _ sequence: Int64 = 0, at: Instant, moved: Span = .zero, generation: Int, journal: Settings.Journal,
        secrets: KnownSecrets
    ) {
        storage = Storage(
            Fields(
                sequence: sequence, at: at, generation: generation, journal: journal, secrets: secrets, moved: moved))
    }

    /// Takes the events that the job has added until now.
    mutating func noteChanges(_ state: NamespaceState, _ transaction: Transaction) throws {
        guard let after = changes?.after else { return }
        let last = try state.lastEventSequence(transaction)
        change { $0.changes = (after, last) }
    }

    /// Whether a fault lost the request before it was handled, or its client went while a fault held it.
    package var isLost: Bool { fault?.effect?.isLost ?? false }

    /// The maximum size of each kept body, in bytes: 0 if the request is not kept.
    package var bodyLimit: Int { journal.entries > 0 ? journal.bodyBytes : 0 }
}

/// A fault that a request triggered. An object, because few requests have one and every outcome has room for it.
package final class TriggeredFault: Sendable {
    /// The id of the rule.
    package let id: String
    /// The part of the effect that remains to be done to the answer; `nil` if the job has done all.
    package let effect: AnswerEffect?
    package let proves: Set<RequestEffect.Proof>
    /// The effect as the rule gave it; `nil` if it is not known. It stays when the rule is deleted.
    package let document: JSONObject?
    /// The size of ``document`` as JSON, in bytes.
    package let bytes: Int

    package init(
        id: String, effect: AnswerEffect?, proves: Set<RequestEffect.Proof> = [.success], document: JSONObject? = nil,
        bytes: Int = 0
    ) {
        self.id = id
        self.effect = effect
        self.proves = proves
        self.document = document
        self.bytes = bytes
    }
}
