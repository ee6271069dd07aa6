import EntrupyAPI
import Foundation
import Platform
import ServiceLifecycle

/// Waits until a namespace has nothing more to do for what was asked of it: the end of every `sleep` in a test.
struct Settling {
    private let namespace: Namespace
    private let head: RequestHead

    init(_ namespace: Namespace, _ head: RequestHead) {
        self.namespace = namespace
        self.head = head
    }

    /// Answers once no result is to come and no webhook is to be sent.
    ///
    /// - Returns: ``PlatformError/unsettled(_:)`` if the time is up, or if only an advance of a frozen clock could bring what
    ///   is left: then at once, when no attempt is under way.
    func settle(within span: Span) async -> Completed<Settlement> {
        let end = ContinuousClock.now + .microseconds(span.microseconds)
        let patience = SettleDeadline(span)
        while true {
            let isIdle = await patience.settle(namespace.outbox)
            let begun = namespace.outbox.begun
            let completed = await namespace.answer(.success(FindUnsettled(underWay: namespace.outbox.notedCount)), head)
            switch completed.result {
            case .failure(let error): return Completed(requestID: completed.requestID, result: .failure(error))
            case .success(let found):
                if found.settlement.settled {
                    // An attempt that fell due as it looked has begun, and is not in what it found.
                    if namespace.outbox.hasBegun(since: begun), ContinuousClock.now < end { continue }
                    return Completed(requestID: completed.requestID, result: .success(found.settlement))
                }
                if isIdle, await waited(found, end - ContinuousClock.now) { continue }
                return Completed(requestID: completed.requestID, result: .failure(.unsettled(found.settlement)))
            }
        }
    }

    /// The same in a replay as it was then, without a wait.
    private func waited(_ found: FindUnsettled.Answer, _ left: Duration) async -> Bool {
        guard let ticket = JobTicket.current else { return left > .zero ? await wait(found, left) : false }
        return await ticket.waited { left > .zero ? await wait(found, left) : false }
    }

    /// Waits for the next of what is left; false where there is no use in it.
    private func wait(_ found: FindUnsettled.Answer, _ left: Duration) async -> Bool {
        // An attempt that began meanwhile is waited for like those before.
        guard let wait = found.wait else { return namespace.outbox.count > 0 }
        do {
            try await cancelWhenGracefulShutdown {
                // Not for as long as that: the world may be another one by then.
                try await Task.sleep(
                    for: min(left, .microseconds(wait.microseconds) + .milliseconds(1), .milliseconds(100)))
            }
            return true
        } catch {
            return false
        }
    }
}
