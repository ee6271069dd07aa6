import Hummingbird
import NIOCore

/// The request context: what a responder knows besides the request itself.
struct SimContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        channel = source.channel
        coreContext = CoreRequestContextStorage(source: source)
    }
}
