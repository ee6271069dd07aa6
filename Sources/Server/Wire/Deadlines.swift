import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// Deadlines that rarely pass. Starting and ending one wakes no thread; a timer for each would wake one twice.
final class Deadlines: Sendable {
    /// The deadlines for the bodies of all requests.
    static let shared = Deadlines(on: MultiThreadedEventLoopGroup.singleton.any())

    private struct State {
        var next = 0
        var open: [Int: (time: NIODeadline, passed: @Sendable () -> Void)] = [:]
        /// The time of the next check. `nil` if none is scheduled.
        var look: NIODeadline?
    }

    private let loop: any EventLoop
    private let state = NIOLockedValueBox(State())

    init(on loop: any EventLoop) {
        self.loop = loop
    }

    /// Starts a deadline and returns its id. Calls `passed` once if the deadline is not ended in time.
    func begin(in time: TimeAmount, passed: @escaping @Sendable () -> Void) -> Int {
        let deadline = loop.now + time
        let (id, mustLook) = state.withLockedValue { state in
            state.next += 1
            state.open[state.next] = (deadline, passed)
            let mustLook = state.look.map { deadline < $0 } ?? true
            if mustLook { state.look = deadline }
            return (state.next, mustLook)
        }
        if mustLook { look(at: deadline) }
        return id
    }

    /// Ends a deadline, so that it cannot pass any more.
    func end(_ id: Int) {
        state.withLockedValue { _ = $0.open.removeValue(forKey: id) }
    }

    private func look(at time: NIODeadline) {
        _ = loop.scheduleTask(deadline: time) { self.look() }
    }

    private func look() {
        let now = loop.now
        let (passed, next) = state.withLockedValue { state in
            let passed = state.open.filter { $0.value.time <= now }
            for id in passed.keys { state.open[id] = nil }
            let earlier = state.look.map { $0 > now } ?? false
            let next = state.open.values.map(\.time).min()
            // An earlier check is already scheduled.
            if earlier, let look = state.look, next.map({ look <= $0 }) ?? true { return (passed, NIODeadline?.none) }
            state.look = next
            return (passed, next)
        }
        for deadline in passed.values { deadline.passed() }
        if let next { look(at: next) }
    }
}
