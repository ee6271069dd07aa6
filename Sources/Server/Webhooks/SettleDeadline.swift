import NIOCore
import NIOPosix
import Platform

/// How long, in real time, an advance waits for receivers in all.
struct SettleDeadline: Sendable {
    /// The longest an advance can wait, and how long it does where the caller does not say [D].
    static let most = Span("10m")!
    static let usual = Span("60s")!

    private let deadline: NIODeadline

    init(_ span: Span) {
        deadline = .now() + .microseconds(span.microseconds)
    }

    /// Waits until nothing is under way; false where that takes too long.
    func settle(_ outbox: Outbox) async -> Bool {
        guard let ticket = JobTicket.current else { return await wait(outbox) }
        return await ticket.waited { await wait(outbox) }
    }

    private func wait(_ outbox: Outbox) async -> Bool {
        guard outbox.count > 0 else { return true }
        let ticket = outbox.ticket()
        let timer = MultiThreadedEventLoopGroup.singleton.any().scheduleTask(deadline: deadline) {
            outbox.giveUp(ticket)
        }
        defer { timer.cancel() }
        return await outbox.idle(ticket)
    }
}
