import Foundation
import NIOConcurrencyHelpers
import Storage

/// An attempt to deliver a webhook, ready to send.
package struct OutgoingWebhook: Sendable {
    /// The generation of the namespace's state it belongs to. After a reset, results of earlier generations are
    /// ignored.
    package let generation: Int
    package let deliveryID: String
    /// The number of the attempt, from 1.
    package let number: Int
    /// The time on the namespace's clock.
    package let at: Instant
    package let subscriptionID: String
    package let url: String
    /// The body of a POST; `nil` for a GET.
    package let body: Data?
    /// The headers beside those of every request.
    package let headers: [HeaderField]
    /// The form of the signature; `nil` if the attempt is not signed.
    package let signature: String?
    /// The receiver's time limit, in real time.
    package let timeout: Span
    /// Whether a fault keeps it from being sent. The attempt then counts as failed.
    package let isDropped: Bool
}

/// The result of one delivery attempt.
package struct WebhookOutcome: Sendable {
    package let status: Int?
    package private(set) var error: String?
    package let milliseconds: Double
    package let answer: String?
    private var isRefused = false

    package var isSuccess: Bool { !isRefused && status.map { (200..<300).contains($0) } ?? false }

    /// The outcome of a verification request to a domain: a success only if it answered 200 and a text
    /// [D webhook-verification].
    package func verified(by text: String) -> WebhookOutcome {
        guard isSuccess else { return self }
        var outcome = self
        if status != 200 {
            outcome.isRefused = true
            outcome.error = "answered \(status ?? 0) instead of 200"
        } else if answer?.trimmingCharacters(in: .whitespacesAndNewlines).isIdentical(to: text) != true {
            outcome.isRefused = true
            outcome.error = "did not answer the subscription's verification as text"
        }
        return outcome
    }

    /// - Parameters:
    ///   - status: the status of the receiver's answer; `nil` if there was no answer.
    ///   - error: the reason why there was no answer.
    ///   - milliseconds: the duration in real time.
    ///   - answer: the start of the answer's body.
    package init(status: Int?, error: String?, milliseconds: Double, answer: String?) {
        self.status = status
        self.error = error
        self.milliseconds = milliseconds
        self.answer = answer
    }
}

/// A delivery attempt in the hands of a sender, which ends it once.
package struct WebhookAttempt: Sendable {
    package let webhook: OutgoingWebhook
    /// The name of the namespace.
    package let namespace: String
    let outbox: Outbox

    /// Whether the attempt belongs to the namespace's current state.
    package var isCurrent: Bool { outbox.generation == webhook.generation }

    /// Records the outcome, and ends the attempt. A deleted namespace records nothing.
    package func end(_ outcome: WebhookOutcome) async {
        await outbox.namespace?.record(webhook, outcome)
        outbox.end()
    }

    /// Ends the attempt without an outcome. If it belongs to the namespace's current state, it is made again when the server starts
    /// again.
    package func end() { outbox.end() }
}

/// The delivery attempts of a namespace that are in flight: from the job that decides on an attempt to the job that
/// records its result. Thread-safe.
package final class Outbox: Sendable {
    private struct State {
        weak var namespace: Namespace?
        var generation = 0
        var inFlight = 0
        var begun = 0
        var nextWait = 0
        /// The waits that have begun and do not wait yet. One that is cancelled before it waits is no longer here.
        var pending: Set<Int> = []
        var waiting: [Int: CheckedContinuation<Bool, Never>] = [:]

        mutating func takeWaiting() -> [CheckedContinuation<Bool, Never>] {
            defer { waiting = [:] }
            return Array(waiting.values)
        }
    }

    private let state = NIOLockedValueBox(State())
    package let sequencer: JobSequencer
    private let isStopping: @Sendable () -> Bool

    /// - Parameter isStopping: whether the server is stopping; waits then end at once.
    package init(_ sequencer: JobSequencer, isStopping: @escaping @Sendable () -> Bool) {
        self.sequencer = sequencer
        self.isStopping = isStopping
    }

    /// Sets the namespace, which holds this.
    func attach(to namespace: Namespace) {
        state.withLockedValue { $0.namespace = namespace }
    }

    /// The namespace of the attempts; `nil` once it is gone.
    fileprivate var namespace: Namespace? { state.withLockedValue { $0.namespace } }

    /// Sets the current generation of the namespace's state.
    package func adopt(generation: Int) {
        state.withLockedValue { $0.generation = generation }
    }

    package func begin(_ count: Int) {
        state.withLockedValue { state in
            state.inFlight += count
            state.begun += count
        }
    }

    /// The number of attempts that have begun so far.
    package var begun: Int { state.withLockedValue { $0.begun } }

    /// Ends an attempt that is over or will not be made. The last one resumes every wait.
    package func end() {
        let idle = state.withLockedValue { state -> [CheckedContinuation<Bool, Never>] in
            state.inFlight -= 1
            return state.inFlight == 0 ? state.takeWaiting() : []
        }
        for continuation in idle { continuation.resume(returning: true) }
    }

    /// The number of attempts in flight, for an answer. A replay returns the recorded number.
    package var notedCount: Int { sequencer.observe(count) }

    /// The number of attempts in flight.
    package var count: Int { state.withLockedValue { $0.inFlight } }

    /// The number of waits that have begun and not ended; for tests.
    package var waitCount: Int { state.withLockedValue { $0.pending.count + $0.waiting.count } }

    /// Waits until no attempt is in flight. Returns false if the wait was cancelled or the server is stopping.
    ///
    /// - Parameter prepare: receives the function that cancels the wait. It may be called at any time; after the end of the wait it
    ///   does nothing.
    package func waitUntilIdle(
        _ prepare: (_ cancel: @escaping @Sendable () -> Void) -> Void = { _ in }
    ) async -> Bool {
        let id = state.withLockedValue { state in
            state.nextWait += 1
            state.pending.insert(state.nextWait)
            return state.nextWait
        }
        // Nothing of a wait outlives it: a cancellation that comes later finds no wait.
        defer { state.withLockedValue { _ = $0.pending.remove(id) } }
        prepare { [weak self] in self?.cancelWait(id) }
        return await withCheckedContinuation { continuation in
            let answer = state.withLockedValue { state -> Bool? in
                if state.inFlight == 0 { return true }
                // Checked under the lock, so that every wait sees either this check or `cancelAllWaits`.
                guard state.pending.remove(id) != nil, !isStopping() else { return false }
                state.waiting[id] = continuation
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }

    /// Cancels every wait. Call it once the server is stopping, so that no new wait begins.
    package func cancelAllWaits() {
        for continuation in state.withLockedValue({ $0.takeWaiting() }) { continuation.resume(returning: false) }
    }

    /// The current generation of the namespace's state; 0 if it has none.
    package var generation: Int { state.withLockedValue { $0.generation } }

    private func cancelWait(_ id: Int) {
        let continuation = state.withLockedValue { state in
            state.pending.remove(id)
            return state.waiting.removeValue(forKey: id)
        }
        continuation?.resume(returning: false)
    }
}
