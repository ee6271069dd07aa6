import Foundation
import NIOCore
import Platform
import ServiceLifecycle

/// Wakes running namespaces when something in them falls due, so that it happens though nobody asks.
struct DueWorkScheduler: Service {
    let namespaces: Namespaces
    /// One element for each time that some namespace's next due time has changed.
    let changes: AsyncStream<Void>

    func run() async throws {
        await cancelWhenGracefulShutdown {
            // One task sleeps; whoever changes a due time replaces it.
            var sleeper: Task<Void, Never>?
            for await _ in changes {
                sleeper?.cancel()
                sleeper = Task { await wakeAll() }
            }
            sleeper?.cancel()
        }
    }

    /// Sleeps until the first due time and runs it, as long as there is one.
    private func wakeAll() async {
        while !Task.isCancelled {
            let now = SystemTime.now()
            let sleeping = namespaces.all().compactMap { namespace in
                namespace.wakeTime.map { (namespace, $0) }
            }
            guard let first = sleeping.min(by: { $0.1 < $1.1 }) else { return }
            if first.1 > now {
                let wait = min(first.1.microseconds - now.microseconds, 3_600_000_000)
                try? await Task.sleep(for: .microseconds(wait))
            } else {
                await first.0.tick()
                // Where storage fails, what is due stays due: try again, but not all the time.
                if first.0.wakeTime == first.1 { try? await Task.sleep(for: .seconds(1)) }
            }
        }
    }
}

/// The real time, which namespaces' clocks run with.
enum SystemTime {
    static func now() -> Instant {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Instant(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
    }
}
