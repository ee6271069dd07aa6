import NIOConcurrencyHelpers

/// Measures how long a server is silent while its answer is awaited.
struct AnswerWatch: Sendable {
    struct Silence: Error {
        let limit: Duration
        let isInBody: Bool
    }

    private struct State {
        /// `nil` while nothing is awaited, for instance while a part is written to a file.
        var deadline: ContinuousClock.Instant?
        var limit = Duration.zero
        var isInBody = false
    }

    private let state = NIOLockedValueBox(State())
    /// Where the bytes of a download are counted.
    let progress: ProgressLine?

    /// Whether the answer has begun.
    var isInBody: Bool { state.withLockedValue { $0.isInBody } }

    /// Runs `read`, which waits for the server's next bytes, at most for `limit`.
    func waiting<Value>(_ limit: Duration, _ read: () async throws -> Value) async throws -> Value {
        extend(by: limit)
        defer { state.withLockedValue { $0.deadline = nil } }
        return try await read()
    }

    /// Notes that the server took or sent bytes: from now on it has `limit`.
    func extend(by limit: Duration) {
        state.withLockedValue {
            $0.deadline = .now + limit
            $0.limit = limit
        }
    }

    /// Notes that the answer has begun. Its parts have limits of their own.
    func beginBody() {
        state.withLockedValue {
            $0.isInBody = true
            $0.deadline = nil
        }
    }

    /// Waits until the server was silent for too long, or the task is cancelled.
    ///
    /// - Parameter pause: the time between two looks while nothing is awaited; the shortest limit, so that none is missed.
    func expire(lookingEvery pause: Duration) async throws -> Never {
        while true {
            let (now, state) = (ContinuousClock.now, state.withLockedValue { $0 })
            if let deadline = state.deadline, deadline <= now {
                throw Silence(limit: state.limit, isInBody: state.isInBody)
            }
            try await Task.sleep(until: min(state.deadline ?? now + pause, now + pause))
        }
    }
}
