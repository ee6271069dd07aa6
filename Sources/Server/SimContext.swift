import Hummingbird
import NIOCore

/// The request context: what a responder knows besides the request itself.
struct SimContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The connection that the request arrived on.
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        channel = source.channel
        coreContext = CoreRequestContextStorage(source: source)
    }
}
