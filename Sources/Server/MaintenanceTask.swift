import ServiceLifecycle
import Simulation

/// Periodic background work: writes the logs of idle namespaces into their database files, and deletes namespaces
/// whose time to live has expired. Gives freed memory back.
struct MaintenanceTask: Service, CustomStringConvertible {
    let namespaces: Namespaces
    var deletesExpired = true
    var description: String { "maintenance task" }

    /// The time between two runs. A namespace is idle if it wrote nothing since the previous run.
    private static let interval = Duration.seconds(2)
    private static let runsBetweenTrims = 15

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var runs = 0
            var trimmer = MemoryTrimmer()
            // The sleep throws when the server stops, which ends the loop.
            while (try? await Task.sleep(for: Self.interval)) != nil {
                runs += 1
                if runs.isMultiple(of: Self.runsBetweenTrims) { ProcessMemory.giveBackFreed() }
                trimmer.run()
                for namespace in namespaces.all() { namespace.checkpointIfIdle() }
                if deletesExpired { await namespaces.deleteExpired() }
            }
        }
    }
}
