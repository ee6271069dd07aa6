import NIOConcurrencyHelpers
import SimulationAPI
import Storage

/// A request that a fault holds. Thread-safe.
package final class HeldRequest: Sendable {
    /// The request as a test knows it, with its secrets masked.
    let info: HeldInfo
    package let hold: Hold
    /// The rule that holds it.
    package let faultID: String
    let namespace: String
    /// The state of the namespace that the request came to.
    let generation: Int

    /// The reason for which the wait of a request ends. A recording has its number.
    enum Wake: Int, Sendable {
        /// A job has ended the hold.
        case ended = 0
        case timeOver = 1
        case clientGone = 2
        case stopping = 3
        case tooLarge = 4

        /// The end of a hold that no job has ended.
        fileprivate var end: HoldEnd {
            switch self {
            case .ended: .released
            case .timeOver: .timeOver
            case .clientGone: .clientGone
            case .stopping: .stopping
            case .tooLarge: .tooLarge
            }
        }
    }

    private struct State {
        var bytes: Int
        var end: HoldEnd?
        var wake: Wake?
        var waiter: CheckedContinuation<Wake, Never>?
    }

    private let state: NIOLockedValueBox<State>

    /// - Parameter bytes: the memory that it takes.
    init(_ info: HeldInfo, _ hold: Hold, faultID: String, in namespace: String, generation: Int, bytes: Int) {
        self.info = info
        self.hold = hold
        self.faultID = faultID
        self.namespace = namespace
        self.generation = generation
        state = NIOLockedValueBox(State(bytes: bytes))
    }

    /// The end of the hold; `nil` while the request is held.
    package var end: HoldEnd? { state.withLockedValue { $0.end } }

    /// Whether the request is never handled, and its client gets no answer.
    package var isLost: Bool { hold.moment == .before && losesAnswer }

    /// Whether its client gets no answer.
    package var losesAnswer: Bool { end?.losesAnswer ?? false }

    /// Whether its client gets another answer than the request's own, or none.
    package var decidesAnswer: Bool { end.map { !$0.continues } ?? false }

    /// The memory that the request takes, with its answer once there is one.
    var bytes: Int {
        get { state.withLockedValue { $0.bytes } }
        set { state.withLockedValue { $0.bytes = newValue } }
    }

    /// Ends the hold, unless it has ended. Call ``wake(_:)`` then, so that the wait of the request ends too.
    ///
    /// - Returns: whether this ended it.
    @discardableResult func close(_ end: HoldEnd) -> Bool {
        state.withLockedValue { state in
            guard state.end == nil else { return false }
            state.end = end
            return true
        }
    }

    /// Ends the hold for the reason that ended the wait of the request, unless a job has ended it.
    ///
    /// - Returns: the end. A client that has gone gets no answer, and its request is not handled, even if it was released.
    func end(after wake: Wake) -> HoldEnd {
        state.withLockedValue { state in
            if wake == .clientGone, state.end == nil || state.end?.continues == true { state.end = .clientGone }
            let end = state.end ?? wake.end
            state.end = end
            return end
        }
    }

    /// Ends the wait of the request. Nothing happens if it has ended.
    func wake(_ reason: Wake) {
        let waiter = state.withLockedValue { state -> CheckedContinuation<Wake, Never>? in
            if state.wake == nil { state.wake = reason }
            return state.waiter.take()
        }
        waiter?.resume(returning: reason)
    }

    /// Waits until a job ends the hold, its time is over, its client has gone, or the server stops.
    ///
    /// - Parameter caller: the client; `nil` only where a test needs none.
    func wait(_ caller: (any HoldingCaller)?) async -> Wake {
        let stop = caller?.watch(for: hold.span) { [weak self] in
            self?.wake(.timeOver)
        } hasGone: { [weak self] in
            self?.wake(.clientGone)
        }
        defer { stop?() }
        let reason = await withCheckedContinuation { continuation in
            let reason = state.withLockedValue { state -> Wake? in
                if state.wake == nil { state.waiter = continuation }
                return state.wake
            }
            if let reason { continuation.resume(returning: reason) }
        }
        // It may have gone at the same moment.
        return caller?.isGone == true ? .clientGone : reason
    }
}

/// A caller that tells when it goes, and has a clock of real time.
package protocol HoldingCaller: CallerPresence {
    /// Calls `timeIsOver` after some real time, and `hasGone` once no answer can reach the caller. Each may be called at once.
    ///
    /// - Returns: a function that stops the clock.
    func watch(
        for span: Span, timeIsOver: @escaping @Sendable () -> Void, hasGone: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void
}

/// The size of a request's body.
package protocol RequestSize: AnyObject, Sendable {
    /// The bytes of the body and of what was made of it, once it has been read.
    var keptBytes: Int { get }
}
