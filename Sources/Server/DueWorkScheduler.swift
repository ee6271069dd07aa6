import Foundation
import NIOCore
import Platform
import ServiceLifecycle

/// Runs due work in namespaces with a running clock, even if no request arrives.
struct DueWorkScheduler: Service {
    let namespaces: Namespaces
    /// Has one element for each change of a namespace's next due time.
    let changes: AsyncStream<Void>

    func run() async throws {
        await cancelWhenGracefulShutdown {
            // One task sleeps. Each change replaces it.
            var sleeper: Task<Void, Never>?
            for await _ in changes {
                sleeper?.cancel()
                sleeper = Task { await wakeAll() }
            }
            sleeper?.cancel()
        }
    }

    /// Sleeps until the earliest due time and runs the work. Returns when no namespace has a due time.
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
                // If storage fails, the work stays due. Waits before the next try.
                if first.0.wakeTime == first.1 { try? await Task.sleep(for: .seconds(1)) }
            }
        }
    }
}

/// The real time, which drives the namespaces' running clocks.
enum SystemTime {
    static func now() -> Instant {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Instant(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
    }
}
