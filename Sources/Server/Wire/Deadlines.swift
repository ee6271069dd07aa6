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
        var nextCheck: NIODeadline?
    }

    private let loop: any EventLoop
    private let state = NIOLockedValueBox(State())

    init(on loop: any EventLoop) {
        self.loop = loop
    }

    /// Starts a deadline and returns its id. Calls `passed` once if the deadline is not ended in time.
    func begin(in time: TimeAmount, passed: @escaping @Sendable () -> Void) -> Int {
        let deadline = loop.now + time
        let (id, mustReschedule) = state.withLockedValue { state in
            state.next += 1
            state.open[state.next] = (deadline, passed)
            let mustReschedule = state.nextCheck.map { deadline < $0 } ?? true
            if mustReschedule { state.nextCheck = deadline }
            return (state.next, mustReschedule)
        }
        if mustReschedule { check(at: deadline) }
        return id
    }

    /// Ends a deadline, so that it cannot pass any more.
    func end(_ id: Int) {
        state.withLockedValue { _ = $0.open.removeValue(forKey: id) }
    }

    private func check(at time: NIODeadline) {
        _ = loop.scheduleTask(deadline: time) { self.check() }
    }

    private func check() {
        let now = loop.now
        let (passed, next) = state.withLockedValue { state in
            let passed = state.open.filter { $0.value.time <= now }
            for id in passed.keys { state.open[id] = nil }
            let next = state.open.values.map(\.time).min()
            // An earlier check is already scheduled.
            if let scheduled = state.nextCheck, scheduled > now, scheduled <= next ?? .distantFuture {
                return (passed, NIODeadline?.none)
            }
            state.nextCheck = next
            return (passed, next)
        }
        for deadline in passed.values { deadline.passed() }
        if let next { check(at: next) }
    }
}
