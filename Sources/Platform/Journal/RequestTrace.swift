import NIOConcurrencyHelpers
import Storage

/// Collects what the jobs of a request find out about it, for the code that sends the answer and writes the journal.
package final class RequestTrace: Sendable {
    /// A fault's effect that remains to be applied to an answer.
    package enum Effect: Sendable {
        /// Nothing remains to be done.
        case none
        /// Delays the answer, in seconds.
        case delay(Double)
        case dropConnection
        /// Sends only this many bytes.
        case truncateBody(Int)
        case malformedJSON
        /// Sends this many bytes a second.
        case slowBody(Int)
    }

    /// The facts known so far.
    package struct Known: Sendable {
        /// The time of the job, by the namespace's clock; `nil` if none ran.
        package var at: Instant?
        /// The user of the session.
        package var username: String?
        /// The fault that was triggered: its rule's id, and the effect.
        package var fault: (id: String, effect: Effect)?
        /// The id of the outcome rule that decided the item's result.
        package var outcomeID: String?
        /// The exceeded limits, by their names in the settings.
        package var limits: [String] = []
        /// The namespace's ``NamespaceState/generation``, which changes at a reset.
        var generation = 0
        /// The namespace's journal settings.
        var journal: Settings.Journal?
        /// The namespace's secrets.
        var secrets: [String] = []

        /// The maximum size of each kept body, in bytes; `nil` if the request is not kept.
        package var bodyLimit: Int? { journal.flatMap { $0.entries > 0 ? $0.bodyBytes : nil } }
    }

    private let state = NIOLockedValueBox(Known())

    package init() {}

    package var known: Known { state.withLockedValue { $0 } }

    /// Starts the trace of a job. If the job is run again because its batch was lost, the trace starts again too.
    func begin(_ job: JobContext) throws {
        let secrets = try job.state.readSecrets(job.transaction)
        state.withLockedValue {
            $0 = Known(
                at: job.now, generation: job.state.generation, journal: job.settings.journal, secrets: secrets)
        }
    }

    func note(_ change: (inout Known) -> Void) {
        state.withLockedValue { change(&$0) }
    }
}
