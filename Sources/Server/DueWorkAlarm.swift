import NIOConcurrencyHelpers
import NIOCore
import Simulation

/// Rings when the earliest due time of all namespaces has come.
///
/// There is one timer, and it is really removed when it is replaced. A cancelled `Task.sleep` is not: its memory stays
/// until its time has come, which is two hours for every capture.
final class DueWorkAlarm: Sendable {
    private struct State {
        /// The time at which the alarm will ring; `nil` if none is set.
        var time: Instant?
        var timer: Scheduled<Void>?
    }

    /// Has an element when the alarm rings, at most one in advance.
    let rings: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation
    private let loop: any EventLoop
    private let state = NIOLockedValueBox(State())

    /// The longest time, in microseconds, after which the alarm rings by itself: timers do not notice that the machine
    /// slept or that its clock was set.
    static let maxWait: Int64 = 60_000_000

    init(on loop: any EventLoop) {
        self.loop = loop
        (rings, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Wakes the scheduler if `time` is earlier than the alarm.
    ///
    /// - Parameter time: a namespace's new due time; `nil` if it has none.
    func ring(by time: Instant?) {
        guard let time, state.withLockedValue({ $0.time.map { time < $0 } ?? true }) else { return }
        signal.yield()
    }

    func set(to time: Instant, now: Instant) {
        let wait = min(time.microseconds - now.microseconds, Self.maxWait)
        let timer = loop.scheduleTask(in: .microseconds(wait)) { [signal] in
            _ = signal.yield()
        }
        replace(with: State(time: time, timer: timer))
    }

    /// Removes the timer. Every due time then rings at once.
    func clear() {
        replace(with: State())
    }

    /// Ends ``rings``.
    func stop() {
        clear()
        signal.finish()
    }

    private func replace(with new: State) {
        let old = state.withLockedValue { state in
            defer { state = new }
            return state.timer
        }
        old?.cancel()
    }
}
