import Foundation
import NIOConcurrencyHelpers
import Storage

/// An attempt that is to be made now.
package struct OutgoingWebhook: Sendable {
    /// The world it comes from; one that a reset replaced has nothing more to say.
    let generation: Int
    let deliveryID: String
    /// From 1.
    let number: Int
    /// By the namespace's clock.
    let at: Instant
    package let subscriptionID: String
    package let url: String
    package let body: Data
    /// The value of `Entrupy-Signature` [P].
    package let signature: String
    /// How long the receiver has, in real time.
    package let timeout: Span
    /// Whether a fault keeps it from being sent.
    package let isDropped: Bool
}

/// What came of an attempt.
package struct WebhookOutcome: Sendable {
    let status: Int?
    let error: String?
    let milliseconds: Double
    let answer: String?

    var isSuccess: Bool { status.map { (200..<300).contains($0) } ?? false }

    /// - Parameters:
    ///   - status: the receiver's; nil where there was no answer.
    ///   - error: why there was none.
    ///   - milliseconds: how long it took, in real time.
    ///   - answer: the start of the answer's body.
    package init(status: Int?, error: String?, milliseconds: Double, answer: String?) {
        self.status = status
        self.error = error
        self.milliseconds = milliseconds
        self.answer = answer
    }
}

/// The attempts of a namespace that are under way: between the job that decided on them and the one that records what
/// came of them.
package final class Outbox: Sendable {
    private struct State {
        var generation = 0
        var underWay = 0
        var begun = 0
        var nextTicket = 0
        var waiting: [Int: CheckedContinuation<Bool, Never>] = [:]
        var givenUp: Set<Int> = []
    }

    private let state = NIOLockedValueBox(State())
    private let isStopping: @Sendable () -> Bool

    /// - Parameter isStopping: whether the server is to stop, so that nobody is to wait any more.
    init(isStopping: @escaping @Sendable () -> Bool) {
        self.isStopping = isStopping
    }

    /// Tells which world the namespace has now.
    func adopt(generation: Int) {
        state.withLockedValue { $0.generation = generation }
    }

    func begin(_ count: Int) {
        state.withLockedValue { state in
            state.underWay += count
            state.begun += count
        }
    }

    /// How many have begun so far.
    package var begun: Int { state.withLockedValue { $0.begun } }

    /// Whether any has begun since ``begun`` was read; in a replay, whether any had.
    package func hasBegun(since before: Int) -> Bool {
        let count = begun - before
        return (JobTicket.current?.noted(count) ?? count) > 0
    }

    /// An attempt is over, or will not be made.
    package func end() {
        let idle = state.withLockedValue { state -> [CheckedContinuation<Bool, Never>] in
            state.underWay -= 1
            guard state.underWay == 0 else { return [] }
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in idle { continuation.resume(returning: true) }
    }

    /// Whether a webhook's world is the namespace's still.
    package func isCurrent(_ webhook: OutgoingWebhook) -> Bool {
        state.withLockedValue { $0.generation == webhook.generation }
    }

    /// How many are under way, for an answer; in a replay, how many there were.
    package var notedCount: Int { JobTicket.current?.noted(count) ?? count }

    /// How many are under way.
    package var count: Int { state.withLockedValue { $0.underWay } }

    /// A name for a wait, to give it up by.
    package func ticket() -> Int {
        state.withLockedValue { state in
            state.nextTicket += 1
            return state.nextTicket
        }
    }

    /// Waits until none is under way; false where the wait was given up before, or the server is to stop.
    package func idle(_ ticket: Int) async -> Bool {
        await withCheckedContinuation { continuation in
            let answer = state.withLockedValue { state -> Bool? in
                if state.underWay == 0 { return true }
                if state.givenUp.remove(ticket) != nil { return false }
                // Asked under the lock: what begins to wait after `cancelAllWaits` sees it, what did before is ended by it.
                if isStopping() { return false }
                state.waiting[ticket] = continuation
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }

    /// Ends every wait. The server is to stop already, so that none begins after it.
    package func cancelAllWaits() {
        let continuations = state.withLockedValue { state in
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in continuations { continuation.resume(returning: false) }
    }

    /// Which world the namespace has now; 0 where it has none.
    var generation: Int { state.withLockedValue { $0.generation } }

    /// Ends a wait.
    package func giveUp(_ ticket: Int) {
        let continuation = state.withLockedValue { state -> CheckedContinuation<Bool, Never>? in
            if let continuation = state.waiting.removeValue(forKey: ticket) { return continuation }
            state.givenUp.insert(ticket)
            return nil
        }
        continuation?.resume(returning: false)
    }
}
