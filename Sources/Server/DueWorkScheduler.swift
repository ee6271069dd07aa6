import Foundation
import NIOConcurrencyHelpers
import ServiceLifecycle
import Simulation

/// Runs due work in namespaces with a running clock, even if no request arrives.
struct DueWorkScheduler: Sendable {
    let namespaces: Namespaces
    let alarm: DueWorkAlarm

    /// The namespaces whose due work is being run. One that takes long keeps no other waiting.
    private let running = NIOLockedValueBox<Set<ObjectIdentifier>>([])

    func run() async {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                for await _ in alarm.rings { startDue(in: &group) }
            }
        }
        alarm.stop()
    }

    /// Starts the due work of every namespace that has some, and sets the alarm to the next due time of the others.
    private func startDue(in group: inout DiscardingTaskGroup) {
        alarm.clear()
        let now = SystemTime.now()
        var next: Instant?
        for namespace in namespaces.unordered() {
            guard let time = namespace.wakeTime else { continue }
            if time > now {
                next = min(next ?? time, time)
            } else if running.withLockedValue({ $0.insert(ObjectIdentifier(namespace)).inserted }) {
                group.addTask { await runDue(namespace, since: time) }
            }
        }
        if let next { alarm.set(to: next, now: now) }
    }

    private func runDue(_ namespace: Namespace, since time: Instant) async {
        await namespace.tick()
        // If storage fails, the work stays due. Waits before the next try.
        if namespace.wakeTime == time { try? await Task.sleep(for: .seconds(1)) }
        _ = running.withLockedValue { $0.remove(ObjectIdentifier(namespace)) }
        alarm.ring(by: namespace.wakeTime)
    }
}
