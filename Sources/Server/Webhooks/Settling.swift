import ServiceLifecycle
import Simulation
import SimulationAPI

/// Waits until a namespace has no results and webhooks left to deliver [D settle]. Tests call it instead of `sleep`.
struct Settling {
    let namespace: Namespace
    let head: RequestHead

    /// Answers once no result and no webhook is pending.
    ///
    /// - Returns: ``PlatformError/unsettled(_:)`` if the time is up. Also if the clock is frozen and only an advance
    ///   could release the rest: then as soon as no attempt is in progress.
    func settle(within span: Span) async -> Completed<Settlement> {
        let end = ContinuousClock.now + .microseconds(span.microseconds)
        let deadline = SettleDeadline(span)
        let sequencer = namespace.environment.sequencer
        // The number of looks depends on real time. All have the id of the first.
        var head = head
        while true {
            let isIdle = await deadline.waitForDeliveries(namespace.outbox)
            let begun = namespace.outbox.begun
            let completed = await namespace.answer(.success(FindUnsettled(inFlight: namespace.outbox.notedCount)), head)
            head.requestID = completed.requestID
            switch completed.result {
            case .failure(let error): return Completed(requestID: completed.requestID, result: .failure(error))
            case .success(let found):
                if found.settlement.settled {
                    // An attempt that fell due during this job has begun, and the job did not see it. Both the attempt
                    // and the time left are observed, so that a replay decides as the recording did.
                    let later = ContinuousClock.now < end ? namespace.outbox.begun - begun : 0
                    if sequencer.observe(later) > 0 { continue }
                    return Completed(requestID: completed.requestID, result: .success(found.settlement))
                }
                // A replay does not wait, and goes on as recorded.
                let left = end - ContinuousClock.now
                if isIdle, await sequencer.observe({ left > .zero ? await wait(found, left) : false }) { continue }
                return Completed(requestID: completed.requestID, result: .failure(.unsettled(found)))
            }
        }
    }

    /// Waits until the next pending event. Returns false if waiting cannot help.
    private func wait(_ found: FindUnsettled.Answer, _ left: Duration) async -> Bool {
        // An attempt that began in the meantime is waited for like the earlier ones.
        guard let wait = found.wait else { return namespace.outbox.count > 0 }
        do {
            try await cancelWhenGracefulShutdown {
                // At most 100 ms: the namespace's data may be replaced in the meantime.
                try await Task.sleep(
                    for: min(left, .microseconds(wait.microseconds) + .milliseconds(1), .milliseconds(100)))
            }
            return true
        } catch {
            return false
        }
    }
}
