import Evidence
import HTTPTypes
import Hummingbird
import Simulation

/// Answers the requests of a route. A struct, because a function in a collection is called through several wrappers.
struct Endpoint: Sendable {
    let answer: @Sendable (RoutedRequest) async -> Answer
    /// The documented answers; `nil` if it is not an operation of a platform.
    var documented: AnswerEdges?
}

/// The routes while they are added.
///
/// The framework's router finds the route of a path, but its handlers return only a response. An answer also contains
/// the outcome of its job. So the endpoints stand beside the router, and the response of a handler that is added here
/// is never sent. ``ServerRoutes`` adds routes to the router itself; their responses are sent.
final class RouteBuilder {
    let router = Router(context: SimContext.self, options: .autoGenerateHeadEndpoints)
    private(set) var routes: [String: Route] = [:]

    func on(_ method: HTTPRequest.Method, _ path: String, _ answer: @escaping @Sendable (RoutedRequest) async -> Answer)
    {
        let path = RouterPath(path)
        // Made once for each route: no request pays for a response that is not sent.
        let unsent = ErrorAnswer.response(.bug("the route \(path) has no endpoint"), requestID: "")
        router.on(path, method: method) { _, _ in unsent }
        routes[path.description, default: Route(path.description)].endpoints.append((method, Endpoint(answer: answer)))
    }
}

/// A path, and what answers each of its methods.
struct Route: Sendable {
    /// The parameters of the path, each with the number of its component.
    let places: [(name: String, index: Int)]
    fileprivate var endpoints: [(method: HTTPRequest.Method, endpoint: Endpoint)] = []

    /// - Parameter path: components, of which those in braces are parameters.
    fileprivate init(_ path: String) {
        places = path.split(separator: "/").enumerated().compactMap { index, part in
            part.first == "{" ? (String(part.dropFirst().dropLast()), index) : nil
        }
    }

    /// The route with the documented answers of each endpoint.
    func documented(_ table: EdgeTable, _ path: String) -> Route {
        var route = self
        for index in route.endpoints.indices {
            route.endpoints[index].endpoint.documented = table.answers(route.endpoints[index].method, path)
        }
        return route
    }

    /// The endpoint of a method; `nil` if the router itself has answered the request. HEAD is answered as GET.
    func endpoint(_ method: HTTPRequest.Method) -> Endpoint? {
        let method = method == .head ? .get : method
        return endpoints.first { $0.method == method }?.endpoint
    }
}
