import NIOConcurrencyHelpers
import Storage

/// What a request meets on its way: left by the jobs that look at it, for whoever sends the answer and keeps the journal.
package final class RequestTrace: Sendable {
    /// What a fault leaves to be done to an answer.
    package enum Effect: Sendable {
        /// The answer is what it is to be already.
        case none
        /// In seconds.
        case delay(Double)
        case dropConnection
        /// How many bytes are sent.
        case truncateBody(Int)
        case malformedJSON
        /// Bytes a second.
        case slowBody(Int)
    }

    /// What is known so far.
    package struct Known: Sendable {
        /// When the job ran, by the namespace's clock; nil where none did.
        package var at: Instant?
        /// Whose session it is.
        package var username: String?
        /// The fault that struck: its rule's id, and the effect.
        package var fault: (id: String, effect: Effect)?
        /// The outcome rule that decided what the submitted item gets.
        package var outcomeID: String?
        /// The limits that were exceeded, as the settings call them.
        package var limits: [String] = []
        /// Tells its world from the one that a reset puts in its place.
        var generation = 0
        /// What the namespace keeps of requests.
        var journal: Settings.Journal?
        /// The secrets of its namespace.
        var secrets: [String] = []

        /// How much is kept of each body, in bytes; nil: the request is not kept.
        package var bodyLimit: Int? { journal.flatMap { $0.entries > 0 ? $0.bodyBytes : nil } }
    }

    private let state = NIOLockedValueBox(Known())

    package init() {}

    package var known: Known { state.withLockedValue { $0 } }

    /// A job looks at the request. One that is run again, since its batch was lost, begins anew.
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
