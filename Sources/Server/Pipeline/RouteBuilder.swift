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
/// The handlers of the framework's router return only a response. An answer also contains the outcome of its job. So
/// the framework's router has only the routes of the server itself, which ``ServerRoutes`` adds: they run no job.
final class RouteBuilder {
    let router = Router(context: SimContext.self, options: .autoGenerateHeadEndpoints)
    /// In the order in which they were added, each path once.
    private(set) var routes: [Route] = []

    func on(_ method: HTTPRequest.Method, _ path: String, _ answer: @escaping @Sendable (RoutedRequest) async -> Answer)
    {
        let path = RouterPath(path).description
        let index = routes.firstIndex { $0.path.isIdentical(to: path) } ?? routes.endIndex
        if index == routes.endIndex { routes.append(Route(path)) }
        routes[index].endpoints.append((method, Endpoint(answer: answer)))
    }

    /// The methods and paths of all routes, also of those of the framework's router. A path that answers GET answers HEAD too.
    var operations: [(method: HTTPRequest.Method, path: String)] {
        routes.flatMap { route in route.methods.map { ($0, route.path) } }
            + router.routes.map { ($0.method, $0.path.description) }
    }
}

/// A path, and what answers each of its methods.
struct Route: Sendable {
    /// The path with its parameters in braces, for instance `/sdk/captures/{capture_id}`.
    let path: String
    /// The parameters of the path, each with the number of its component.
    let places: [(name: String, index: Int)]
    fileprivate var endpoints: [(method: HTTPRequest.Method, endpoint: Endpoint)] = []

    var isFrameworks: Bool { endpoints.isEmpty }

    /// - Parameter path: components, of which those in braces are parameters.
    init(_ path: String) {
        self.path = path
        places = path.split(separator: "/").enumerated().compactMap { index, part in
            part.first == "{" ? (String(part.dropFirst().dropLast()), index) : nil
        }
    }

    fileprivate var methods: [HTTPRequest.Method] {
        endpoints.flatMap { $0.method == .get ? [.get, .head] : [$0.method] }
    }

    /// The route with the documented answers of each endpoint.
    func documented(_ table: EdgeTable) -> Route {
        var route = self
        for index in route.endpoints.indices {
            route.endpoints[index].endpoint.documented = table.answers(route.endpoints[index].method, path)
        }
        return route
    }

    /// The endpoint of a method; `nil` if it has none. HEAD is answered as GET.
    func endpoint(_ method: HTTPRequest.Method) -> Endpoint? {
        let method = method == .head ? .get : method
        return endpoints.first { $0.method == method }?.endpoint
    }
}
