import NIOCore
import NIOPosix
import Simulation

/// A deadline, in real time, for waits until webhook deliveries are done.
struct SettleDeadline: Sendable {
    /// The maximum and the default time that an advance of the clock waits for receivers [D advance-wait].
    static let max = Span("10m")!
    static let defaultWait = Span("60s")!

    private let deadline: NIODeadline

    init(_ span: Span) {
        deadline = .now() + .microseconds(span.microseconds)
    }

    /// Waits until no delivery attempt is in progress. Returns false if the deadline passes first.
    func waitForDeliveries(_ outbox: Outbox) async -> Bool {
        await outbox.sequencer.observe { await wait(outbox) }
    }

    private func wait(_ outbox: Outbox) async -> Bool {
        guard outbox.count > 0 else { return true }
        var timer: Scheduled<Void>?
        defer { timer?.cancel() }
        return await outbox.waitUntilIdle { cancel in
            timer = MultiThreadedEventLoopGroup.singleton.any().scheduleTask(deadline: deadline, cancel)
        }
    }
}
