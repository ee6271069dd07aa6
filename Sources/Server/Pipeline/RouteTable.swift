import Evidence
import HTTPTypes
import Hummingbird
import Simulation
import SimulationAPI

struct RouteTable: Sendable {
    /// The framework's endpoint path for a request that matches no route, with which the metrics count it.
    static let notFoundPath = "NotFound"
    /// Paths of a route whose last component may also be a name that a user has given. Other methods than those of that route
    /// belong to the route with a parameter; a refusal names only its own, which are described.
    private static let sharedPaths = ["/_sim/scenarios/start"]

    private let tree: RouteTree
    /// Those of the framework's router come last, without endpoints.
    private let routes: [Route]
    /// Used to tell a wrong method from an unknown path.
    private let operations: [(route: Int, parts: [String], method: String)]
    private let nearest: NearestRoute
    /// Knows what is meant by other paths, and which its own are not simulated; `nil` if nothing is known.
    private let platforms: Platforms?

    /// - Parameter documented: the documented edges; `nil` if nobody counts them.
    init(_ builder: RouteBuilder, documented: EdgeTable? = nil, _ platforms: Platforms? = nil) {
        self.platforms = platforms
        let own = builder.routes.map { route in documented.map { route.documented($0) } ?? route }
        let frameworks = Set(builder.router.routes.map(\.path.description)).sorted().map { Route($0) }
        let routes = own + frameworks
        self.routes = routes
        tree = RouteTree(routes.map(\.path))
        operations = builder.operations.compactMap { method, path in
            routes.firstIndex { $0.path.isIdentical(to: path) }.map { index in
                (route: index, parts: path.split(separator: "/").map(String.init), method: method.rawValue)
            }
        }
        nearest = NearestRoute(operations.map { ($0.parts, $0.method) })
    }

    /// The route of a request; `nil` if no route has the path. It lacks the method if none has both. It has no endpoints if the
    /// framework's router answers it.
    func route(_ method: HTTPRequest.Method, _ path: String) -> Route? {
        guard let route = tree.route(path).map({ routes[$0] }) else { return nil }
        guard route.endpoint(method) == nil, Self.sharedPaths.contains(path) else { return route }
        let parts = path.split(at: "/").map(String.init)
        return operations.first {
            Self.hasParameters($0.parts) && Self.matches($0.parts, parts) && routes[$0.route].endpoint(method) != nil
        }.map { routes[$0.route] } ?? route
    }

    /// The documented answers of the operation that a request is for; `nil` if it is for none.
    func documented(_ method: HTTPRequest.Method, _ path: String) -> AnswerEdges? {
        route(method, path)?.endpoint(method)?.documented
    }

    /// The error for a request that matches no route: 405 if the path exists with other methods, else 404.
    func refusal(_ method: HTTPRequest.Method, _ path: String) -> PlatformError {
        guard method != .connect else {
            // Its target is a host, which has no path.
            let problem = "CONNECT asks for a proxy, and this server is not one"
            return .unknownRoute(problem, [ErrorDetail("method", problem)], because: "CONNECT asks for a proxy")
        }
        let parts = path.split(at: "/").map(String.init)
        let matching = operations.filter { Self.matches($0.parts, parts) }
        // A path that a route names literally belongs to that route, even if another route's parameter matches it.
        let named = matching.filter { !Self.hasParameters($0.parts) }
        var methods = Set((named.isEmpty ? matching : named).map(\.method))
        if methods.contains("GET") { methods.insert("HEAD") }
        guard !methods.isEmpty else {
            let unsimulated = platforms?.all.flatMap(\.paths.unsimulated) ?? []
            if let known = unsimulated.first(where: { path.isIdentical(to: $0) || path.begins(with: "\($0)/") }) {
                return .unknownRoute(
                    "\(known) is not simulated",
                    [
                        ErrorDetail(
                            "path",
                            "not simulated: the vendor's platform has \(known), whose answers nobody has seen; docs/fidelity.md says in the row not-simulated what would settle it"
                        )
                    ], because: "the vendor's platform has \(known), and this program does not simulate it")
            }
            let advice = platforms?.advice(onUnknown: parts, method.rawValue).map { "; \($0)" }
            let near = advice ?? nearest.nearest(to: parts, method.rawValue).map { "; the nearest is \($0)" } ?? ""
            return .unknownRoute(
                "there is no route \(path)",
                [ErrorDetail("path", "does not match any route\(near); GET /openapi.yaml lists all routes")],
                because: "no route has this path\(near)")
        }
        let allowed = methods.sorted()
        return .methodNotAllowed(
            "\(path) does not answer \(method.rawValue); it answers \(allowed.joined(separator: ", "))",
            allowed: allowed)
    }

    private static func hasParameters(_ parts: [String]) -> Bool { parts.contains { $0.hasPrefix("{") } }

    private static func matches(_ pattern: [String], _ path: [String]) -> Bool {
        pattern.count == path.count && zip(pattern, path).allSatisfy { $0.hasPrefix("{") || $0.isIdentical(to: $1) }
    }
}
