import HTTPTypes
import Hummingbird
import Simulation

/// Finds the route of a request and answers with it, or refuses the request if no route matches: 404 with an envelope,
/// or 405 with the allowed methods [D unknown-routes].
final class RouteResponder: RequestResponder {
    private let router: RouterResponder<SimContext>
    private let routes: RouteTable

    init(router: RouterResponder<SimContext>, routes: RouteTable) {
        self.router = router
        self.routes = routes
    }

    func respond(to request: IncomingRequest) async throws -> Answer {
        let path = request.target.path
        let route = routes.route(request.method, path)
        // While the server is not ready there is no namespace, and only routes of the framework's router come here.
        guard let namespace = request.namespace, route?.isFrameworks != true else {
            return try await frameworksAnswer(to: request)
        }
        guard let route, let endpoint = route.endpoint(request.method) else { return await refuse(request, namespace) }
        request.context.coreContext.endpointPath.value = route.path
        var answer = await endpoint.answer(
            RoutedRequest(
                request: request, namespace: namespace, parameters: PathParameters(places: route.places, path: path),
                responder: self))
        answer.documented = endpoint.documented
        return answer
    }

    /// The answer of the framework's router, which has the routes of the server itself, or a refusal.
    private func frameworksAnswer(to request: IncomingRequest) async throws -> Answer {
        let response = try await router.respond(to: Self.withoutNamespace(request), context: request.context)
        guard let namespace = request.namespace, request.context.endpointPath == RouteTable.notFoundPath else {
            return Answer(response)
        }
        return await refuse(request, namespace)
    }

    private func refuse(_ request: IncomingRequest, _ namespace: Namespace) async -> Answer {
        request.context.coreContext.endpointPath.value = RouteTable.notFoundPath
        let refusal = routes.refusal(request.method, request.target.path)
        return await namespace.refuse(refusal, request.head).refusal(hasSDKError: request.target.hasSDKErrors)
    }

    private static func withoutNamespace(_ request: IncomingRequest) -> Request {
        let target = request.target
        if target.query.isEmpty, (request.http.head.path ?? "").isIdentical(to: target.path) { return request.http }
        var head = request.http.head
        head.path = target.path + target.query
        return Request(head: head, body: request.http.body)
    }
}

struct RoutedRequest: Sendable {
    let request: IncomingRequest
    let namespace: Namespace
    let parameters: PathParameters
    /// Found the route, and answers requests that the route makes itself.
    let responder: RouteResponder
}

struct PathParameters: Sendable {
    /// The parameters of the route, each with the number of its component.
    let places: [(name: String, index: Int)]
    /// The path of the request, without the namespace.
    let path: String

    /// The component that a parameter stands for, as it was sent; `nil` if the route has no such parameter.
    func value(of name: String) -> Substring? {
        guard let place = places.first(where: { $0.name == name }) else { return nil }
        let slash = UInt8(ascii: "/")
        let (start, end) = path.withBytes { bytes in
            var start = 0
            while start < bytes.count, bytes[start] == slash { start += 1 }
            for _ in 0..<place.index {
                while start < bytes.count, bytes[start] != slash { start += 1 }
                while start < bytes.count, bytes[start] == slash { start += 1 }
            }
            var end = start
            while end < bytes.count, bytes[end] != slash { end += 1 }
            return (start, end)
        }
        let text = path.utf8
        return path[text.index(text.startIndex, offsetBy: start)..<text.index(text.startIndex, offsetBy: end)]
    }
}
