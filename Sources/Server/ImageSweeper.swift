import Platform
import ServiceLifecycle

/// Removes images that nothing refers to any more, within seconds of their loss, while requests are served.
struct ImageSweeper: Service, CustomStringConvertible {
    let namespaces: Namespaces
    let readiness: Readiness
    var description: String { "image sweeper" }

    /// How often it looks; where nothing lost an image, there is nothing to do.
    private static let interval = Duration.seconds(5)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            // What a process that died left behind is found once, when the namespaces are open.
            var isFull = true
            while (try? await Task.sleep(for: Self.interval)) != nil {
                guard readiness.isReady else { continue }
                await namespaces.sweepImages(isFull: isFull)
                isFull = false
            }
        }
    }
}
