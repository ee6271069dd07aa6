import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// Deadlines that hardly ever pass: beginning one and ending it wakes no thread, which a timer of its own would, twice.
final class Deadlines: Sendable {
    /// Those of the bodies of all requests.
    static let shared = Deadlines(on: MultiThreadedEventLoopGroup.singleton.any())

    private struct State {
        var next = 0
        var open: [Int: (time: NIODeadline, passed: @Sendable () -> Void)] = [:]
        /// When somebody looks next; nil where nobody does.
        var look: NIODeadline?
    }

    private let loop: any EventLoop
    private let state = NIOLockedValueBox(State())

    init(on loop: any EventLoop) {
        self.loop = loop
    }

    /// Begins one; where it is not ended in time, `passed` is called, once.
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

    /// What it was for is done.
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
            // Somebody else looks earlier.
            if earlier, let look = state.look, next.map({ look <= $0 }) ?? true { return (passed, NIODeadline?.none) }
            state.look = next
            return (passed, next)
        }
        for deadline in passed.values { deadline.passed() }
        if let next { look(at: next) }
    }
}
