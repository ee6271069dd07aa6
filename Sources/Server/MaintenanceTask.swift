import ServiceLifecycle
import Simulation

/// Periodic background work: writes the logs of idle namespaces into their database files, and deletes namespaces
/// whose time to live has expired.
struct MaintenanceTask: Service {
    let namespaces: Namespaces

    /// The time between two runs. A namespace is idle if it wrote nothing since the previous run.
    private static let interval = Duration.seconds(2)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while (try? await Task.sleep(for: Self.interval)) != nil {
                for namespace in namespaces.all() { namespace.checkpointIfIdle() }
                await namespaces.dropUnused()
            }
        }
    }
}
