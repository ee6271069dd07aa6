import Hummingbird
import NIOCore
import Platform

/// The facts about a request that ``NamespaceResponder`` finds before any route runs.
///
/// This is a class because the framework copies a context about two dozen times per request.
final class RequestScope: Sendable {
    let namespace: Namespace
    let head: RequestHead
    /// Receives the body once it is read. `nil` for control requests if nothing is recorded.
    let received: ReceivedBody?

    init(namespace: Namespace, head: RequestHead, received: ReceivedBody?) {
        self.namespace = namespace
        self.head = head
        self.received = received
    }
}

/// The request context: everything a route knows besides the request itself.
struct SimContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// Set by ``NamespaceResponder``. `nil` while the server is not ready.
    var scope: RequestScope?
    /// The connection that the request arrived on.
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        channel = source.channel
        coreContext = CoreRequestContextStorage(source: source)
    }
}
