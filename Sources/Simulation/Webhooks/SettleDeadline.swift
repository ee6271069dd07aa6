import NIOCore
import NIOPosix

/// A deadline, in real time, for waits until webhook deliveries are done.
package struct SettleDeadline: Sendable {
    /// The maximum and the default time that an advance of the clock waits for receivers [D advance-wait].
    package static let max = Span("10m")!
    package static let defaultWait = Span("60s")!

    private let wait: @Sendable (Outbox) async -> Bool

    package init(_ span: Span) {
        let deadline = NIODeadline.now() + .microseconds(span.microseconds)
        self.init { outbox in
            await outbox.sequencer.observe { await Self.wait(for: outbox, until: deadline) }
        }
    }

    /// - Parameter wait: waits instead; for tests.
    package init(_ wait: @escaping @Sendable (Outbox) async -> Bool) {
        self.wait = wait
    }

    /// Waits until no delivery attempt is in progress. Returns false if the deadline passes first.
    package func waitForDeliveries(_ outbox: Outbox) async -> Bool { await wait(outbox) }

    private static func wait(for outbox: Outbox, until deadline: NIODeadline) async -> Bool {
        guard outbox.count > 0 else { return true }
        var timer: Scheduled<Void>?
        defer { timer?.cancel() }
        return await outbox.waitUntilIdle { cancel in
            timer = MultiThreadedEventLoopGroup.singleton.any().scheduleTask(deadline: deadline, cancel)
        }
    }
}
