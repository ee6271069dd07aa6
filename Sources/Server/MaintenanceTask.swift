import Platform
import ServiceLifecycle

/// Does what is best done while nobody asks: moves what namespaces have written into their database files, and drops those
/// that were made for a while and are not used.
struct MaintenanceTask: Service {
    let namespaces: Namespaces

    /// How often it looks; a namespace is at rest that wrote nothing in between.
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
