import Logging
import ServiceLifecycle
import Simulation

/// Periodic background work: writes the logs of idle namespaces into their database files, and deletes namespaces
/// whose time to live has expired. Gives freed memory back. Says that the machine's clock was set.
struct MaintenanceTask: Sendable {
    let namespaces: Namespaces
    let logger: Logger
    var deletesExpired = true

    /// The time between two runs. A namespace is idle if it wrote nothing since the previous run.
    private static let interval = Duration.seconds(2)
    private static let runsBetweenTrims = 15

    func run() async {
        await cancelWhenGracefulShutdown {
            var runs = 0
            var trimmer = MemoryTrimmer()
            var step = SystemTime.step
            // The sleep throws when the server stops, which ends the loop.
            while (try? await Task.sleep(for: Self.interval)) != nil {
                runs += 1
                if runs.isMultiple(of: Self.runsBetweenTrims) { ProcessMemory.releaseFreed() }
                trimmer.run()
                say(SystemTime.step, after: &step)
                for namespace in namespaces.all() { namespace.checkpointIfIdle() }
                if deletesExpired { await namespaces.deleteExpired() }
            }
        }
    }

    private func say(_ step: Span?, after last: inout Span?) {
        let change = (step?.microseconds ?? 0) - (last?.microseconds ?? 0)
        guard abs(change) >= 1_000_000 else { return }
        last = step
        let direction = change > 0 ? "forward" : "back"
        logger.notice(
            "the machine's clock was set \(direction) by \(Span(microseconds: abs(change)).text); the namespaces' clocks go on as before, until the server starts again"
        )
    }
}
