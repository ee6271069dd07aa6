import Hummingbird
import NIOConcurrencyHelpers
import NIOCore
import Simulation

/// The facts about a request that the responders found before its route runs, and the outcome that the route leaves
/// for them: the router passes on nothing but the answer itself.
///
/// This is a class because the framework copies a context about two dozen times per request.
final class RequestScope: Sendable {
    let namespace: Namespace
    let head: RequestHead
    /// Receives the body once it is read. `nil` if neither the recording nor the journal needs it.
    let received: ReceivedBody?
    private let outcomeBox: NIOLockedValueBox<RequestOutcome?>

    /// The outcome of the request's job; `nil` before it has run.
    var outcome: RequestOutcome? { outcomeBox.withLockedValue { $0 } }

    init(namespace: Namespace, head: RequestHead, received: ReceivedBody?) {
        self.namespace = namespace
        self.head = head
        self.received = received
        outcomeBox = NIOLockedValueBox(nil)
    }

    /// The same request, counted as a control request or not.
    init(_ scope: RequestScope, isControl: Bool) {
        namespace = scope.namespace
        var head = scope.head
        head.isControl = isControl
        self.head = head
        received = scope.received
        outcomeBox = scope.outcomeBox
    }

    /// Leaves the outcome of a job for the responders.
    func finish<Value>(_ completed: Completed<Value>) -> Completed<Value> {
        if let outcome = completed.outcome { outcomeBox.withLockedValue { $0 = outcome } }
        return completed
    }
}

/// The request context: everything a controller knows besides the request itself.
struct SimContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// Set by ``RouteResponder``. `nil` while the server is not ready.
    var scope: RequestScope?
    /// The connection that the request arrived on.
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        channel = source.channel
        coreContext = CoreRequestContextStorage(source: source)
    }
}
