import Hummingbird

/// Passes a request to the router, and refuses it if no route matches: 404 with an envelope, or 405 with the allowed
/// methods [D unknown-routes].
struct RouteResponder: RequestResponder {
    let router: RouterResponder<SimContext>
    let routes: RouteTable

    func respond(to request: IncomingRequest) async throws -> Answer {
        var context = request.context
        let scope = request.namespace.map {
            RequestScope(namespace: $0, head: request.head, received: request.received)
        }
        context.scope = scope
        let response = try await router.respond(to: inside(request), context: context)
        guard context.coreContext.endpointPath.value == RouteTable.notFoundPath, let scope else {
            return Answer(response, scope?.outcome)
        }
        let refusal = routes.refusal(request.request.method, request.target.path)
        let completed = await scope.namespace.refuse(refusal, scope.head)
        return Answer(completed.refusal(hasSDKError: request.target.hasSDKErrors), completed.outcome)
    }

    /// The request without the namespace in its path.
    private func inside(_ request: IncomingRequest) -> Request {
        let path = request.target.path + request.target.query
        var head = request.request.head
        guard !(head.path ?? "").isIdentical(to: path) else { return request.request }
        head.path = path
        return Request(head: head, body: request.request.body)
    }
}
