import ServiceLifecycle
import Simulation

/// Removes images that nothing refers to any more, within seconds and while requests are served [D images-given-up].
struct ImageSweeper: Service {
    let namespaces: Namespaces
    let readiness: Readiness

    /// The time between two runs. A run does nothing if no image lost its last reference.
    private static let interval = Duration.seconds(5)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            // The first run, once the namespaces are open, also finds images left behind by a process that crashed.
            var isFull = true
            // The sleep throws when the server stops, which ends the loop.
            while (try? await Task.sleep(for: Self.interval)) != nil {
                guard readiness.isReady else { continue }
                await namespaces.sweepImages(isFull: isFull)
                isFull = false
            }
        }
    }
}
